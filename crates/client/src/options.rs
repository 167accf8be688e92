//! The [`ClientOptions`].

use kube_wire::Encoding;

use crate::Timeouts;

/// User agent, rate limit, encoding and timeouts of a client.
#[derive(Debug, Clone)]
pub struct ClientOptions {
    /// `User-Agent` header of every request, as shown in audit logs. The crate's name and version by default.
    pub user_agent: String,
    /// Sustained requests per second; 20 by default, no limit if zero or negative. The first attempt of a watch is
    /// exempt, as in client-go.
    #[cfg(feature = "rate-limits")]
    pub qps: f32,
    /// Size of the token bucket: requests that may be sent at once after an idle period. 30 by default.
    #[cfg(feature = "rate-limits")]
    pub burst: u32,
    /// Whether the number of requests in flight is limited instead of their rate; `false` by default. `qps` and `burst`
    /// are then ignored.
    ///
    /// The limit grows from 4 to 16 while it is reached, and shrinks after responses 429. Waiting requests are sent in the
    /// order of their [`RequestPriority`](crate::RequestPriority). After a 429 with `Retry-After`, no request is sent for
    /// that time, at most 1 s. The first attempt of a watch and requests for Leases and Events do not wait and are not
    /// counted.
    pub adaptive: bool,
    /// Encoding of lists, watches and writes of types that support it (`--kube-api-content-type`). Protobuf by default.
    /// Other requests are JSON.
    pub content_type: Encoding,
    /// Timeouts of connections and requests; [`Timeouts::default`] by default.
    pub timeouts: Timeouts,
    /// Whether requests with another method than GET fail with [`Error::ReadOnly`](crate::Error::ReadOnly) before
    /// anything is sent; `false` by default. For programs that must not write, whatever their code and their rights.
    pub read_only: bool,
    /// Whether each distinct `Warning` header of a response is logged once; `true` by default.
    pub log_warnings: bool,
}

/// The defaults of kube-controller-manager: 20 requests per second, burst 30, protobuf.
impl Default for ClientOptions {
    fn default() -> Self {
        let user_agent = concat!(env!("CARGO_PKG_NAME"), "/", env!("CARGO_PKG_VERSION")).to_owned();
        Self {
            user_agent,
            #[cfg(feature = "rate-limits")]
            qps: 20.0,
            #[cfg(feature = "rate-limits")]
            burst: 30,
            adaptive: false,
            content_type: Encoding::Protobuf,
            timeouts: Timeouts::default(),
            read_only: false,
            log_warnings: true,
        }
    }
}

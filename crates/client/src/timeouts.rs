//! Timeouts of connections and requests.

use std::time::Duration;

/// Timeouts of the connections and requests of one client.
///
/// The defaults are for informers and writes. A client that renews a lease needs shorter ones: a silently dropped
/// connection must be detected before the lease expires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// Timeout from sending a request to its response headers, and again from there to the end of the body. The second
    /// does not apply to watches and [`Client::list_chunks`](crate::Client::list_chunks). 90 s by default:
    /// kube-apiserver ends every request except watches after 60 s.
    pub request: Duration,
    /// Timeout of a new connection, including TLS. 10 s by default; 30 s in client-go. TCP gets half of it, divided equally among the
    /// resolved addresses of one family, so that an address that drops packets leaves time for the next.
    pub connect: Duration,
    /// Time without a frame from the server after which an HTTP/2 ping is sent. 10 s by default; 30 s in client-go.
    pub ping_interval: Duration,
    /// Timeout of the ping response, after which the connection is closed and its requests fail. 5 s by default; 15 s in
    /// client-go.
    ///
    /// Without HTTP/2, a connection whose peer does not acknowledge data or TCP keep-alives is closed after the sum of
    /// both, on Linux.
    pub ping_timeout: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            request: Duration::from_secs(90),
            connect: Duration::from_secs(10),
            ping_interval: Duration::from_secs(10),
            ping_timeout: Duration::from_secs(5),
        }
    }
}

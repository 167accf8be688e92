//! Options of a client.

use kube_wire::Encoding;

use crate::Timeouts;

/// How a client presents and restrains itself.
#[derive(Debug, Clone)]
pub struct ClientOptions {
    /// Sent with every request; shows in audit logs.
    pub user_agent: String,
    /// Requests per second in the long run; zero or less for no limit. Watches are not counted, as in client-go.
    pub qps: f32,
    /// Requests that may be sent at once after a pause.
    pub burst: u32,
    /// The encoding to read lists and watches in, for types that can be read from it (`--kube-api-content-type`). Writes are
    /// always JSON.
    pub content_type: Encoding,
    /// How long to wait for connections and answers.
    pub timeouts: Timeouts,
}

/// kube-controller-manager's defaults: 20 requests a second, 30 at once, protobuf.
impl Default for ClientOptions {
    fn default() -> Self {
        let user_agent = concat!(env!("CARGO_PKG_NAME"), "/", env!("CARGO_PKG_VERSION")).to_owned();
        Self { user_agent, qps: 20.0, burst: 30, content_type: Encoding::Protobuf, timeouts: Timeouts::default() }
    }
}

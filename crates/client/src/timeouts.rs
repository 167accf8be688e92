//! How long a client waits for connections and answers.

use std::time::Duration;

/// Bounds on connections and requests of one client.
///
/// The defaults suit informers and writes. A client that renews a lease needs shorter ones, or a connection that died
/// without a word costs the lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// Time from sending a request to its answer, and again from there to the end of its body. Watches have only the first.
    /// 90 s: kube-apiserver ends every request but a watch after 60 s.
    pub request: Duration,
    /// Time for a new connection, TLS handshake included. Half of it is for TCP, in equal shares for all addresses of one
    /// family that the server's name has, so that an address which drops packets leaves time for the next. 30 s.
    pub connect: Duration,
    /// Time without a frame from the server after which an HTTP/2 ping is sent. 30 s, as client-go.
    pub ping_interval: Duration,
    /// Time for the answer to a ping, after which the connection is closed and its requests fail. 15 s, as client-go.
    pub ping_timeout: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            request: Duration::from_secs(90),
            connect: Duration::from_secs(30),
            ping_interval: Duration::from_secs(30),
            ping_timeout: Duration::from_secs(15),
        }
    }
}

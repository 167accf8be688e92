//! Error of the start of the HTTPS server.

use std::net::SocketAddr;

use crate::CertificateError;

/// Why the HTTPS server cannot be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServingError {
    /// The server certificate or the CA bundle for client certificates cannot be used.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
    /// The API server forbids (403) the lookup of the CA bundle for client certificates.
    #[error("unable to load configmap based client CA file: {0}; see --authentication-tolerate-lookup-failure")]
    Lookup(kube_controller_client::Error),
    /// The socket cannot be bound.
    #[error("cannot listen on {address}")]
    Listen {
        /// The configured address and port.
        address: SocketAddr,
        /// Error of the operating system.
        source: std::io::Error,
    },
    /// The thread of the server, or its runtime, cannot be started.
    #[error("cannot start the thread of the HTTPS server")]
    Thread(#[source] std::io::Error),
}

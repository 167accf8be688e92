//! Error of the configuration.

use std::path::PathBuf;

use tower::BoxError;

/// Error of loading or using a [`Config`](super::Config). The messages of the error and its sources are one line each.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The kubeconfig cannot be read, parsed or resolved.
    #[error("kubeconfig {path}", path = path.display())]
    Kubeconfig {
        /// Path of the kubeconfig.
        path: PathBuf,
        /// Reason, without the path.
        source: BoxError,
    },
    /// The service account of the Pod cannot be loaded, most often because the process does not run in a Pod.
    #[error("in-cluster configuration")]
    InCluster {
        /// Reason.
        source: BoxError,
    },
    /// The server's address is not an http or https URL.
    #[error("server address {url:?}")]
    Server {
        /// The address as given.
        url: String,
        /// Reason.
        source: BoxError,
    },
    /// A certificate, key, token, header, credential plugin or proxy cannot be used.
    #[error("cannot set up the connection to {server}")]
    Connection {
        /// URL of the server.
        server: String,
        /// Reason.
        source: BoxError,
    },
}

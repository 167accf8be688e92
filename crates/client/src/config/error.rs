//! Error of the configuration.

use std::{io, path::PathBuf};

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
    /// The text of a kubeconfig cannot be parsed or resolved.
    #[error("kubeconfig")]
    Text {
        /// Reason.
        source: BoxError,
    },
    /// There is neither a kubeconfig nor a service account of a Pod.
    #[error("no kubeconfig ({kubeconfig})")]
    Infer {
        /// Why there is no kubeconfig.
        kubeconfig: Box<ConfigError>,
        /// Why there is no service account.
        source: Box<ConfigError>,
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

impl ConfigError {
    pub(super) fn is_missing_file(&self) -> bool {
        let Self::Kubeconfig { source, .. } = self else { return false };
        source.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::NotFound)
    }
}

//! Error of applying objects.

use crate::manifest::Origin;

/// Error of applying objects.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ApplyError {
    /// The server does not serve the kind.
    #[error("{origin}: the server does not serve kind {kind:?} in {api_version}")]
    UnknownKind {
        /// Position of the object in its manifest.
        origin: Origin,
        /// `apiVersion` of the object.
        api_version: String,
        /// `kind` of the object.
        kind: String,
    },
    /// The server rejected the object.
    #[error("{origin}: {object}: {cause}")]
    Rejected {
        /// Position of the object in its manifest.
        origin: Origin,
        /// Kind, namespace and name of the object.
        object: String,
        /// Message of the server.
        cause: String,
    },
    /// The discovery document of a group version cannot be read.
    #[error("discovery of {api_version}: {cause}")]
    Discovery {
        /// `apiVersion` of the object.
        api_version: String,
        /// Message of the server or the decoder.
        cause: String,
    },
    /// A request failed without a response.
    #[error(transparent)]
    Client(#[from] kube_controller_client::Error),
}

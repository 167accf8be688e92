//! Bulk loading of objects without requests.

use std::sync::Arc;

use serde_json::Value;

use crate::cluster::Cluster;
use crate::kinds::Kind;
use crate::server::Server;

/// Error of [`Server::load`]: an unknown kind or a rejected object.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The server does not serve the kind of the object.
    #[error("the server does not serve kind {kind:?} in {api_version}")]
    UnknownKind {
        /// `apiVersion` of the object; empty if it has none.
        api_version: String,
        /// `kind` of the object; empty if it has none.
        kind: String,
    },
    /// The server rejected the object, for example because it is invalid or its namespace does not exist.
    #[error("{kind} {namespace}/{name}")]
    Rejected {
        /// Kind of the object.
        kind: String,
        /// Namespace of the object; empty if it has none.
        namespace: String,
        /// Name of the object; empty if it has none.
        name: String,
        /// Error that a create request would have returned.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl Server {
    /// Stores objects as if they had existed before the server was started, and returns their number.
    ///
    /// Each object needs `apiVersion` and `kind`; without a namespace, it goes to `default`. It must be valid; as in an update,
    /// parts may be invalid that an earlier version of the API server accepted, such as addresses with leading zeros. Uids and
    /// creation times are set by the server. Unlike a create, this keeps the status of Pods.
    ///
    /// # Errors
    /// [`LoadError`] for the first object that cannot be stored; the objects before it stay stored.
    pub fn load(&self, objects: impl IntoIterator<Item = Value>) -> Result<usize, LoadError> {
        let mut count = 0;
        for object in objects {
            self.shared().write(false, |cluster, options| {
                let kind = kind_of(cluster, &object)?;
                let text = |field| object["metadata"][field].as_str().unwrap_or_default().to_owned();
                let (namespace, name) = (text("namespace"), text("name"));
                let namespace = if kind.namespaced && namespace.is_empty() { "default".to_owned() } else { namespace };
                cluster.load(&kind, &namespace, object, options).map_err(|source| LoadError::Rejected {
                    kind: kind.name.clone(),
                    namespace,
                    name,
                    source: Box::new(source),
                })
            })?;
            count += 1;
        }
        Ok(count)
    }
}

fn kind_of(cluster: &Cluster, object: &Value) -> Result<Arc<Kind>, LoadError> {
    let text = |field| object[field].as_str().unwrap_or_default();
    let (api_version, name) = (text("apiVersion"), text("kind"));
    let found = cluster.kinds().all().iter().find(|kind| kind.name == name && kind.api_version() == api_version);
    found.cloned().ok_or_else(|| LoadError::UnknownKind { api_version: api_version.to_owned(), kind: name.to_owned() })
}

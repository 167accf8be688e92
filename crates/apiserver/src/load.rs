//! Objects put in place without a request.

use std::sync::Arc;

use serde_json::Value;

use crate::cluster::Cluster;
use crate::kinds::Kind;
use crate::server::Server;

/// How many objects are stored while everybody else waits.
const AT_ONCE: usize = 100;

/// An object that cannot be stored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The server does not serve objects of this kind.
    #[error("this server knows no kind {kind:?} in {api_version}")]
    UnknownKind {
        /// As the object says.
        api_version: String,
        /// As the object says.
        kind: String,
    },
    /// The rules of its kind refuse it.
    #[error("{kind} {namespace}/{name}")]
    Refused {
        /// What it is.
        kind: String,
        /// Empty where the kind has none.
        namespace: String,
        /// Empty where none is given.
        name: String,
        /// What a client would have been told.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl Server {
    /// Stores objects as if they had been there before the server has started: Pods keep the status that they have, which
    /// a create takes away. Each says its `apiVersion` and `kind`, and is held to the rules of its kind otherwise; uids
    /// and times of creation are made up. Returns how many there were; those before an error stay.
    pub fn load(&self, objects: impl IntoIterator<Item = Value>) -> Result<usize, LoadError> {
        let mut objects = objects.into_iter();
        let mut count = 0;
        loop {
            let some: Vec<Value> = objects.by_ref().take(AT_ONCE).collect();
            if some.is_empty() {
                return Ok(count);
            }
            count += some.len();
            self.shared().write(false, |cluster, options| {
                some.into_iter().try_for_each(|object| {
                    let kind = kind_of(cluster, &object)?;
                    let text = |field| object["metadata"][field].as_str().unwrap_or_default().to_owned();
                    let (namespace, name) = (text("namespace"), text("name"));
                    cluster.load(&kind, &namespace, object, options).map(drop).map_err(|source| LoadError::Refused {
                        kind: kind.name.clone(),
                        namespace,
                        name,
                        source: Box::new(source),
                    })
                })
            })?;
        }
    }
}

fn kind_of(cluster: &Cluster, object: &Value) -> Result<Arc<Kind>, LoadError> {
    let text = |field| object[field].as_str().unwrap_or_default();
    let (api_version, name) = (text("apiVersion"), text("kind"));
    let found = cluster.kinds().all().iter().find(|kind| kind.name == name && kind.api_version() == api_version);
    found.cloned().ok_or_else(|| LoadError::UnknownKind { api_version: api_version.to_owned(), kind: name.to_owned() })
}

//! Direct access to the objects of a server, without requests.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::Value;

use crate::cluster::{Cluster, Stored};
use crate::kinds::Kind;
use crate::server::Server;

impl Server {
    /// Returns all objects of a kind, ordered by namespace and name; empty if the kind is unknown. `group` is empty for
    /// core, `plural` is the resource name in paths.
    ///
    /// Each call parses the stored JSON; [`encoded_objects`](Self::encoded_objects) does not.
    pub fn objects(&self, group: &str, plural: &str) -> Vec<Value> {
        let Some((kind, objects)) = self.stored(group, plural) else { return Vec::new() };
        objects.iter().map(|object| decoded(&kind, object)).collect()
    }

    /// Returns the stored JSON of all objects of a kind without copying it, in the order of [`objects`](Self::objects).
    pub fn encoded_objects(&self, group: &str, plural: &str) -> Vec<Bytes> {
        let (_, objects) = self.stored(group, plural).unzip();
        objects.iter().flatten().map(|object| object.json.clone()).collect()
    }

    /// Returns one object; `None` if it does not exist or the kind is unknown. `namespace` is empty for cluster-scoped
    /// kinds.
    pub fn object(&self, group: &str, plural: &str, namespace: &str, name: &str) -> Option<Value> {
        let (kind, object) = self.shared().read(|cluster| {
            let kind = kind(cluster, group, plural)?;
            Some((Arc::clone(kind), cluster.get(kind, namespace, name).ok()?))
        })?;
        Some(decoded(&kind, &object))
    }

    fn stored(&self, group: &str, plural: &str) -> Option<(Arc<Kind>, Vec<Arc<Stored>>)> {
        self.shared().read(|cluster| {
            let kind = kind(cluster, group, plural)?;
            Some((Arc::clone(kind), cluster.list(kind, None)))
        })
    }

    /// Returns the last resource version assigned to an object. A [restore](Self::restore) sets it back.
    pub fn revision(&self) -> u64 {
        self.shared().read(Cluster::revision)
    }
}

impl Server {
    pub(crate) fn kind(&self, group: &str, plural: &str) -> Option<Arc<Kind>> {
        self.shared().read(|cluster| kind(cluster, group, plural).cloned())
    }
}

fn kind<'a>(cluster: &'a Cluster, group: &str, plural: &str) -> Option<&'a Arc<Kind>> {
    cluster.kinds().all().iter().find(|kind| kind.group == group && kind.plural == plural)
}

fn decoded(kind: &Kind, object: &Stored) -> Value {
    // Stored JSON was encoded by this server, so decoding cannot fail.
    let mut value = serde_json::from_slice(&object.json).unwrap_or_default();
    kind.to_served(&mut value);
    value
}

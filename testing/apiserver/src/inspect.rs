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
        self.stored(group, plural).iter().map(|object| object.value()).collect()
    }

    /// Returns the stored JSON of all objects of a kind without copying it, in the order of [`objects`](Self::objects).
    pub fn encoded_objects(&self, group: &str, plural: &str) -> Vec<Bytes> {
        self.stored(group, plural).iter().map(|object| object.json.clone()).collect()
    }

    /// Returns one object; `None` if it does not exist or the kind is unknown. `namespace` is empty for cluster-scoped
    /// kinds.
    pub fn object(&self, group: &str, plural: &str, namespace: &str, name: &str) -> Option<Value> {
        let object = self.shared().read(|cluster| cluster.get(kind(cluster, group, plural)?, namespace, name).ok())?;
        Some(object.value())
    }

    fn stored(&self, group: &str, plural: &str) -> Vec<Arc<Stored>> {
        let list = |cluster: &Cluster| kind(cluster, group, plural).map(|kind| cluster.list(kind, None));
        self.shared().read(list).unwrap_or_default()
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

//! Events: the API groups `v1` and `events.k8s.io/v1` serve the same objects.
//!
//! Upstream stores one object and converts it. Here each group has a copy of it, so that selectors, history and watches of
//! both work as those of other kinds. Copies have one uid and one resource version.

use std::sync::Arc;

use super::{Cluster, Stored};
use crate::kinds::{Kind, event};

impl Cluster {
    /// Stores the copy of an Event for the other group. Without effect on other kinds.
    pub(super) fn put_copy(&mut self, kind: &Kind, object: &Stored) {
        let Some(other) = self.other_group(kind) else { return };
        let converted = other.touch(event::converted(object.value(), &other));
        let mut prepared = converted.expect("the types have the same fields but for their names");
        let copy = Stored::new(&other, &mut prepared, object.revision);
        self.collections[other.index].put(Arc::new(copy), self.config.watch_history);
        self.touch(&other);
    }

    /// Removes the copy of a removed Event. Without effect on other kinds.
    pub(super) fn remove_copy(&mut self, kind: &Kind, last: &Stored) {
        let Some(other) = self.other_group(kind) else { return };
        let Some(copy) = self.find(&other, &last.namespace, &last.name) else { return };
        let copy = copy.at_revision(&other, last.revision);
        self.collections[other.index].remove(Arc::new(copy), self.config.watch_history);
        self.touch(&other);
    }

    fn other_group(&self, kind: &Kind) -> Option<Arc<Kind>> {
        self.kinds.find(event::other_group(kind)?, "v1", "events").cloned()
    }
}

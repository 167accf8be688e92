//! Index of Pods by labels.

mod label_sets;

use std::sync::Arc;

use hashbrown::HashMap;
use kube_wire::Index;

use self::label_sets::LabelSets;
use crate::{Labels, Pod, Text};

/// Index of Pods by namespace and labels. A query starts from the rarest key-value pair of the selector, so its cost
/// grows with the number of matches, not with the number of Pods in the namespace.
///
/// Pods with the same labels, such as those of a `ReplicaSet`, form one entry: the index maps pairs to sets of labels,
/// not to Pods.
#[derive(Clone, Debug, Default)]
pub struct PodIndex {
    namespaces: HashMap<Text, LabelSets>,
}

impl Index<Pod> for PodIndex {
    /// Replaces `old` by `new`, in place if the labels did not change.
    fn update(&mut self, old: Option<&Arc<Pod>>, new: Option<&Arc<Pod>>) {
        if let Some(old) = old {
            let stays = new
                .is_some_and(|new| old.labels == new.labels && old.namespace == new.namespace && old.name == new.name);
            if !stays {
                self.remove(old);
            }
        }
        if let Some(new) = new {
            self.namespaces.entry_ref(&new.namespace).or_default().insert(new);
        }
    }
}

impl PodIndex {
    fn remove(&mut self, pod: &Pod) {
        let Some(sets) = self.namespaces.get_mut(&pod.namespace) else { return };
        sets.remove(pod);
        if sets.is_empty() {
            self.namespaces.remove(&pod.namespace);
        }
    }

    /// Returns the Pods of a namespace whose labels contain every pair of the selector, sorted by name; all Pods for an
    /// empty selector.
    pub fn select(&self, namespace: &str, selector: &Labels) -> Vec<Arc<Pod>> {
        self.namespaces.get(namespace).map(|sets| sets.select(selector)).unwrap_or_default()
    }
}

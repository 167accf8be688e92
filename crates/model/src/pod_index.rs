//! Which Pods a Service selects.

mod label_sets;

use std::sync::Arc;

use hashbrown::HashMap;

use self::label_sets::LabelSets;
use crate::{Labels, Pod, Text};

/// Pods by namespace and labels. A selection starts from the rarest pair of its selector, so that it costs about its
/// matches, however many Pods share the namespace.
///
/// Pods that carry the same labels, as those of a `ReplicaSet` do, are filed together and match together: what is indexed
/// by pair are sets of labels, not Pods.
#[derive(Clone, Debug, Default)]
pub struct PodIndex {
    namespaces: HashMap<Text, LabelSets>,
}

impl PodIndex {
    /// Takes in that `old` became `new`; `None` stands for "not there". A Pod whose labels stay stays where it is.
    pub fn update(&mut self, old: Option<&Arc<Pod>>, new: Option<&Arc<Pod>>) {
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

    fn remove(&mut self, pod: &Pod) {
        let Some(sets) = self.namespaces.get_mut(&pod.namespace) else { return };
        sets.remove(pod);
        if sets.is_empty() {
            self.namespaces.remove(&pod.namespace);
        }
    }

    /// The Pods of a namespace that carry every pair of the selector, by name. An empty selector selects all.
    pub fn select(&self, namespace: &str, selector: &Labels) -> Vec<Arc<Pod>> {
        self.namespaces.get(namespace).map(|sets| sets.select(selector)).unwrap_or_default()
    }
}

//! Which Pods a Service selects.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::{Labels, Pod, Text};

/// Pods by namespace and label pair. A selection starts from the rarest pair of its selector, so that it costs about
/// its matches, however many Pods share the namespace.
#[derive(Clone, Debug, Default)]
pub struct PodIndex {
    namespaces: HashMap<Text, NamespacePods>,
}

/// Pods by name, so that selections come out in a stable order.
type Bucket = BTreeMap<Text, Arc<Pod>>;

#[derive(Clone, Debug, Default)]
struct NamespacePods {
    all: Bucket,
    /// By label key, then value.
    by_pair: HashMap<Text, HashMap<Text, Bucket>>,
}

impl PodIndex {
    /// Takes in that `old` became `new`; `None` stands for "not there".
    pub fn update(&mut self, old: Option<&Arc<Pod>>, new: Option<&Arc<Pod>>) {
        if let Some(old) = old {
            self.remove(old);
        }
        if let Some(new) = new {
            let namespace = self.namespaces.entry(new.namespace.clone()).or_default();
            namespace.all.insert(new.name.clone(), Arc::clone(new));
            for (key, value) in new.labels.pairs() {
                let values = namespace.by_pair.entry(key.clone()).or_default();
                values.entry(value.clone()).or_default().insert(new.name.clone(), Arc::clone(new));
            }
        }
    }

    fn remove(&mut self, pod: &Pod) {
        let Some(namespace) = self.namespaces.get_mut(&pod.namespace) else { return };
        namespace.all.remove(&pod.name);
        for (key, value) in pod.labels.pairs() {
            let Some(values) = namespace.by_pair.get_mut(key) else { continue };
            if let Some(bucket) = values.get_mut(value) {
                bucket.remove(&pod.name);
                if bucket.is_empty() {
                    values.remove(value);
                }
            }
            if values.is_empty() {
                namespace.by_pair.remove(key);
            }
        }
        if namespace.all.is_empty() {
            self.namespaces.remove(&pod.namespace);
        }
    }

    /// The Pods of a namespace that carry every pair of the selector, by name. An empty selector selects all.
    pub fn select(&self, namespace: &str, selector: &Labels) -> Vec<Arc<Pod>> {
        let Some(pods) = self.namespaces.get(namespace) else { return Vec::new() };
        if selector.is_empty() {
            return pods.all.values().cloned().collect();
        }
        let mut rarest: Option<&Bucket> = None;
        for (key, value) in selector.iter() {
            match pods.by_pair.get(key).and_then(|values| values.get(value)) {
                None => return Vec::new(),
                Some(bucket) if rarest.is_none_or(|best| bucket.len() < best.len()) => rarest = Some(bucket),
                Some(_) => {}
            }
        }
        let candidates = rarest.into_iter().flat_map(BTreeMap::values);
        candidates.filter(|pod| pod.labels.contains_all(selector)).cloned().collect()
    }
}

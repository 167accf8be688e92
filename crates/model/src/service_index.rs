//! Which Services a Pod belongs to.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use crate::{Labels, Service, Text};

/// Services by namespace and one pair of their selector, so that finding the Services of a Pod costs its labels and its
/// matches, however many Services share the namespace.
///
/// A Service is filed under the pair of its selector that the fewest Services were filed under when it came: selectors
/// that share a common pair (`tier: web`) and differ in another stay apart.
#[derive(Clone, Debug, Default)]
pub struct ServiceIndex {
    namespaces: HashMap<Text, NamespaceServices>,
}

#[derive(Clone, Debug, Default)]
struct NamespaceServices {
    /// Services whose selector is present and empty: they select every Pod.
    select_all: BTreeSet<Text>,
    /// By label key, then value: the Services filed there with their selectors.
    by_pair: HashMap<Text, HashMap<Text, BTreeMap<Text, Arc<Service>>>>,
    /// Where each Service is filed.
    filed: HashMap<Text, (Text, Text)>,
}

impl ServiceIndex {
    /// Takes in that `old` became `new`; `None` stands for "not there".
    pub fn update(&mut self, old: Option<&Arc<Service>>, new: Option<&Arc<Service>>) {
        if let Some(old) = old {
            self.remove(&old.namespace, &old.name);
        }
        if let Some(new) = new
            && let Some(selector) = &new.selector
        {
            self.namespaces.entry(new.namespace.clone()).or_default().insert(new, selector);
        }
    }

    fn remove(&mut self, namespace: &str, name: &str) {
        let Some(services) = self.namespaces.get_mut(namespace) else { return };
        services.remove(name);
        if services.filed.is_empty() && services.select_all.is_empty() {
            self.namespaces.remove(namespace);
        }
    }

    /// The names of the Services of a namespace whose selector matches these labels. A Service without a selector
    /// matches nothing; ExternalName Services match like any other (PP-7).
    pub fn select(&self, namespace: &str, labels: &Labels) -> BTreeSet<Text> {
        let Some(services) = self.namespaces.get(namespace) else { return BTreeSet::new() };
        let mut names = services.select_all.clone();
        for (key, value) in labels.iter() {
            let Some(bucket) = services.by_pair.get(key).and_then(|values| values.get(value)) else { continue };
            for (name, service) in bucket {
                if service.selector.as_ref().is_some_and(|selector| labels.contains_all(selector)) {
                    names.insert(name.clone());
                }
            }
        }
        names
    }
}

impl NamespaceServices {
    fn insert(&mut self, service: &Arc<Service>, selector: &Labels) {
        let filed_under = |(key, value): &&(Text, Text)| {
            self.by_pair.get(key).and_then(|values| values.get(value)).map_or(0, BTreeMap::len)
        };
        let Some((key, value)) = selector.pairs().iter().min_by_key(filed_under) else {
            self.select_all.insert(service.name.clone());
            return;
        };
        let bucket = self.by_pair.entry(key.clone()).or_default().entry(value.clone()).or_default();
        bucket.insert(service.name.clone(), Arc::clone(service));
        self.filed.insert(service.name.clone(), (key.clone(), value.clone()));
    }

    fn remove(&mut self, name: &str) {
        self.select_all.remove(name);
        let Some((key, value)) = self.filed.remove(name) else { return };
        let Some(values) = self.by_pair.get_mut(&key) else { return };
        if let Some(bucket) = values.get_mut(&value) {
            bucket.remove(name);
            if bucket.is_empty() {
                values.remove(&value);
            }
        }
        if values.is_empty() {
            self.by_pair.remove(&key);
        }
    }
}

//! Index of Services by selector.

use std::sync::Arc;

use hashbrown::{Equivalent, HashMap};
use kube_wire::Index;

use crate::by_name::ByName;
use crate::intern::Pair;
use crate::{Labels, Service, Text};

/// Index of Services by namespace and by one key-value pair of their selector. The cost of a query grows with the
/// number of the Pod's labels and of the matches, not with the number of Services in the namespace.
///
/// A Service is indexed under that pair of its selector which had the fewest Services when it was added. Selectors with
/// a common pair (`tier: web`) that differ in another are therefore kept apart.
#[derive(Clone, Debug, Default)]
pub struct ServiceIndex {
    namespaces: HashMap<Text, NamespaceServices>,
}

#[derive(Clone, Debug, Default)]
struct NamespaceServices {
    /// Services with an empty selector, which select every Pod.
    select_all: ByName<Service>,
    by_pair: HashMap<Pair, ByName<Service>>,
}

/// A borrowed pair for look-ups.
#[derive(Hash)]
struct BorrowedPair<'a>(&'a str, &'a str);

impl Equivalent<Pair> for BorrowedPair<'_> {
    fn equivalent(&self, pair: &Pair) -> bool {
        *pair.0 == *self.0 && *pair.1 == *self.1
    }
}

impl Index<Service> for ServiceIndex {
    fn update(&mut self, old: Option<&Arc<Service>>, new: Option<&Arc<Service>>) {
        if let Some(old) = old
            && let Some(selector) = &old.selector
        {
            self.remove(old, selector);
        }
        if let Some(new) = new
            && let Some(selector) = &new.selector
        {
            self.namespaces.entry_ref(&new.namespace).or_default().insert(new, selector);
        }
    }
}

impl ServiceIndex {
    fn remove(&mut self, service: &Service, selector: &Labels) {
        let Some(services) = self.namespaces.get_mut(&service.namespace) else { return };
        services.remove(&service.name, selector);
        if services.by_pair.is_empty() && services.select_all.as_slice().is_empty() {
            self.namespaces.remove(&service.namespace);
        }
    }

    /// Returns the names, sorted, of the Services of a namespace whose selector matches `labels`. A Service without a
    /// selector matches nothing; ExternalName Services match like others (PP-7).
    pub fn select(&self, namespace: &str, labels: &Labels) -> Vec<Text> {
        self.selecting(namespace, labels).into_iter().map(|service| service.name.clone()).collect()
    }

    /// Returns the Services that [`select`](Self::select) names, sorted by name.
    pub(crate) fn selecting(&self, namespace: &str, labels: &Labels) -> Vec<&Arc<Service>> {
        let Some(services) = self.namespaces.get(namespace) else { return Vec::new() };
        let candidates = labels.iter().filter_map(|(key, value)| services.by_pair.get(&BorrowedPair(key, value)));
        let matching = candidates.flat_map(ByName::as_slice).filter(|service| service.selects(labels));
        // Each Service is indexed once, so there are no duplicates.
        let mut selecting: Vec<&Arc<Service>> = matching.chain(services.select_all.as_slice()).collect();
        selecting.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        selecting
    }
}

impl NamespaceServices {
    fn insert(&mut self, service: &Arc<Service>, selector: &Labels) {
        let service_count = |pair: &&Pair| self.by_pair.get(*pair).map_or(0, |services| services.as_slice().len());
        match selector.pairs().iter().min_by_key(service_count) {
            None => self.select_all.insert(Arc::clone(service)),
            Some(pair) => self.by_pair.entry_ref(pair).or_default().insert(Arc::clone(service)),
        }
    }

    fn remove(&mut self, name: &str, selector: &Labels) {
        self.select_all.remove(name);
        for pair in selector.pairs() {
            let Some(services) = self.by_pair.get_mut(pair) else { continue };
            services.remove(name);
            if services.as_slice().is_empty() {
                self.by_pair.remove(pair);
            }
        }
    }
}

//! Index of objects by their selector.

use std::fmt;
use std::sync::Arc;

use educe::Educe;
use hashbrown::{Equivalent, HashMap};
use kube_wire::{Index, Object, ObjectKey};

use crate::by_name::ByName;
use crate::intern::Pair;
use crate::{Labels, Service, Text};

/// Object that selects others by their labels, which a [`SelectorIndex`] finds by the labels of a selected one.
pub trait Selecting: Object {
    /// Returns the pairs that every selected object has. `None` selects nothing, an empty selector everything.
    fn selector(&self) -> Option<&Labels>;

    /// Returns whether an object with these labels is selected. The default compares the pairs of the
    /// [`selector`](Self::selector); override it for further conditions, such as `matchExpressions`.
    fn selects(&self, labels: &Labels) -> bool {
        self.selector().is_some_and(|selector| labels.contains_all(selector))
    }

    /// Returns whether Pods that are not ready are published as ready; `false` by default.
    fn publishes_not_ready(&self) -> bool {
        false
    }
}

impl Selecting for Service {
    fn selector(&self) -> Option<&Labels> {
        self.selector.as_ref()
    }

    fn publishes_not_ready(&self) -> bool {
        self.publish_not_ready_addresses
    }
}

/// Index of selecting objects by namespace and by one key-value pair of their selector. The cost of a query grows with
/// the number of the labels and of the matches, not with the number of objects in the namespace.
///
/// An object is indexed under that pair of its selector which had the fewest objects when it was added. Selectors with
/// a common pair (`tier: web`) that differ in another are therefore kept apart.
///
/// ```
/// use std::sync::Arc;
/// use kube_endpoint_model::{Index as _, Labels, ObjectMeta, Selecting, SelectorIndex};
///
/// #[derive(serde::Deserialize)]
/// struct Pool {
///     metadata: ObjectMeta,
///     spec: Spec,
/// }
///
/// #[derive(serde::Deserialize)]
/// struct Spec {
///     selector: Labels,
/// }
///
/// kube_wire::object!(Pool, kube_wire::Resource::namespaced("example.com", "v1", "pools", "Pool"));
///
/// impl Selecting for Pool {
///     fn selector(&self) -> Option<&Labels> {
///         Some(&self.spec.selector)
///     }
/// }
///
/// let pool: Pool = serde_json::from_str(
///     r#"{"metadata": {"namespace": "shop", "name": "llama"}, "spec": {"selector": {"app": "llama"}}}"#,
/// )?;
/// let mut index = SelectorIndex::default();
/// index.update(None, Some(&Arc::new(pool)));
/// let labels: Labels = [("app", "llama"), ("version", "3")].into_iter().collect();
/// assert_eq!(index.keys("shop", &labels)[0].to_string(), "shop/llama");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Educe)]
#[educe(Clone(bound(false)), Default(bound(false)))]
pub struct SelectorIndex<T> {
    namespaces: HashMap<Text, Namespace<T>>,
}

/// Index of Services by namespace and selector.
pub type ServiceIndex = SelectorIndex<Service>;
#[derive(Educe)]
#[educe(Clone(bound(false)), Default(bound(false)))]
struct Namespace<T> {
    /// Objects with an empty selector.
    select_all: ByName<T>,
    by_pair: HashMap<Pair, ByName<T>>,
}

/// A borrowed pair for look-ups.
#[derive(Hash)]
struct BorrowedPair<'a>(&'a str, &'a str);

impl Equivalent<Pair> for BorrowedPair<'_> {
    fn equivalent(&self, pair: &Pair) -> bool {
        *pair.0 == *self.0 && *pair.1 == *self.1
    }
}

impl<T: Selecting> Index<T> for SelectorIndex<T> {
    fn update(&mut self, old: Option<&Arc<T>>, new: Option<&Arc<T>>) {
        if let Some(old) = old
            && let Some(selector) = old.selector()
        {
            self.remove(old, selector);
        }
        if let Some(new) = new
            && let Some(selector) = new.selector()
        {
            match self.namespaces.get_mut(new.namespace()) {
                Some(objects) => objects.insert(new, selector),
                None => self.namespaces.entry(new.key().namespace).or_default().insert(new, selector),
            }
        }
    }
}

impl<T: Selecting> SelectorIndex<T> {
    fn remove(&mut self, object: &T, selector: &Labels) {
        let Some(objects) = self.namespaces.get_mut(object.namespace()) else { return };
        objects.remove(object.name(), selector);
        if objects.by_pair.is_empty() && objects.select_all.as_slice().is_empty() {
            self.namespaces.remove(object.namespace());
        }
    }

    /// Returns the objects of a namespace that select an object with `labels`, sorted by name.
    pub fn selecting(&self, namespace: &str, labels: &Labels) -> Vec<&Arc<T>> {
        let Some(objects) = self.namespaces.get(namespace) else { return Vec::new() };
        let candidates = labels.iter().filter_map(|(key, value)| objects.by_pair.get(&BorrowedPair(key, value)));
        let candidates = candidates.flat_map(ByName::as_slice).chain(objects.select_all.as_slice());
        // Each object is indexed once, so there are no duplicates.
        let mut selecting: Vec<&Arc<T>> = candidates.filter(|object| object.selects(labels)).collect();
        selecting.sort_unstable_by(|a, b| a.name().cmp(b.name()));
        selecting
    }

    /// Returns the keys of the objects that [`selecting`](Self::selecting) returns.
    pub fn keys(&self, namespace: &str, labels: &Labels) -> Vec<ObjectKey> {
        self.selecting(namespace, labels).into_iter().map(|object| object.key()).collect()
    }
}

impl SelectorIndex<Service> {
    /// Returns the names, sorted, of the Services of a namespace whose selector matches `labels`. A Service without a
    /// selector matches nothing; ExternalName Services match like others (PP-7).
    pub fn select(&self, namespace: &str, labels: &Labels) -> Vec<Text> {
        self.selecting(namespace, labels).into_iter().map(|service| service.name.clone()).collect()
    }
}

impl<T: Selecting> Namespace<T> {
    fn insert(&mut self, object: &Arc<T>, selector: &Labels) {
        let count = |pair: &&Pair| self.by_pair.get(*pair).map_or(0, |objects| objects.as_slice().len());
        match selector.pairs().iter().min_by_key(count) {
            None => self.select_all.insert(Arc::clone(object)),
            Some(pair) => self.by_pair.entry_ref(pair).or_default().insert(Arc::clone(object)),
        }
    }

    fn remove(&mut self, name: &str, selector: &Labels) {
        self.select_all.remove(name);
        for pair in selector.pairs() {
            let Some(objects) = self.by_pair.get_mut(pair) else { continue };
            objects.remove(name);
            if objects.as_slice().is_empty() {
                self.by_pair.remove(pair);
            }
        }
    }
}

impl<T> fmt::Debug for SelectorIndex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SelectorIndex").field("namespaces", &self.namespaces.keys()).finish_non_exhaustive()
    }
}

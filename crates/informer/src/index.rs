//! Indexes over stored objects.

use std::{collections::BTreeMap, fmt, sync::Arc};

use educe::Educe;
use kube_wire::{Index, Object};

use crate::Objects;

/// Named indexes over objects (client-go: `Indexers`). The function of an index returns the values under which an
/// object is found.
///
/// A custom index type for one kind of query can be smaller and faster; see [`Builder::index`](crate::Builder::index).
///
/// ```
/// use kube_informer::{Index as _, NamedIndexes};
/// # struct Pod { node: String }
/// # impl kube_wire::Object for Pod {
/// #     fn namespace(&self) -> &str { "shop" }
/// #     fn name(&self) -> &str { "web" }
/// #     fn uid(&self) -> kube_wire::Uid { kube_wire::Uid::default() }
/// #     fn resource_version(&self) -> kube_wire::ResourceVersion { kube_wire::ResourceVersion::default() }
/// # }
/// let mut pods = NamedIndexes::new().with("node", |pod: &Pod| vec![pod.node.clone()]);
/// pods.update(None, Some(&std::sync::Arc::new(Pod { node: "a".to_owned() })));
/// assert_eq!(pods.bucket("node", "a").count(), 1);
/// assert_eq!(pods.bucket("node", "b").count(), 0);
/// ```
#[derive(Educe)]
#[educe(Clone(bound(false)), Default(bound(false)))]
pub struct NamedIndexes<T>(BTreeMap<Arc<str>, NamedIndex<T>>);

type NamesOf<T> = dyn Fn(&T) -> Vec<String> + Send + Sync;

#[derive(Educe)]
#[educe(Clone(bound(false)))]
struct NamedIndex<T> {
    names: Arc<NamesOf<T>>,
    buckets: BTreeMap<String, Objects<T>>,
}

impl<T: Object> NamedIndexes<T> {
    /// Returns an empty set of indexes.
    pub fn new() -> Self {
        Self(BTreeMap::new())
    }

    /// Adds an index, or replaces the one of this name. `names` returns the values of an object, any number of them.
    #[must_use]
    pub fn with(
        mut self,
        index: impl Into<Arc<str>>,
        names: impl Fn(&T) -> Vec<String> + Send + Sync + 'static,
    ) -> Self {
        self.0.insert(index.into(), NamedIndex { names: Arc::new(names), buckets: BTreeMap::new() });
        self
    }

    /// Iterates over the objects with the value `name` in `index`, ordered by namespace and name. Empty if there is no
    /// such index.
    pub fn bucket(&self, index: &str, name: &str) -> impl Iterator<Item = &Arc<T>> {
        let bucket = self.0.get(index).and_then(|index| index.buckets.get(name));
        bucket.into_iter().flat_map(Objects::iter)
    }

    /// Iterates over the values in `index`, in ascending order. Empty if there is no such index.
    pub fn names(&self, index: &str) -> impl Iterator<Item = &str> {
        self.0.get(index).into_iter().flat_map(|index| index.buckets.keys()).map(String::as_str)
    }
}

impl<T: Object> Index<T> for NamedIndexes<T> {
    fn update(&mut self, old: Option<&Arc<T>>, new: Option<&Arc<T>>) {
        for index in self.0.values_mut() {
            index.update(old, new);
        }
    }
}

impl<T: Object> NamedIndex<T> {
    fn update(&mut self, old: Option<&Arc<T>>, new: Option<&Arc<T>>) {
        let names = |object: Option<&Arc<T>>| object.map(|object| (self.names)(object)).unwrap_or_default();
        let (before, after) = (names(old), names(new));
        if let Some(old) = old {
            for name in before.iter().filter(|name| !after.contains(name)) {
                if let Some(bucket) = self.buckets.get_mut(name) {
                    bucket.remove(old.namespace(), old.name());
                    if bucket.is_empty() {
                        self.buckets.remove(name);
                    }
                }
            }
        }
        if let Some(new) = new {
            for name in after {
                self.buckets.entry(name).or_default().insert(new.clone());
            }
        }
    }
}

/// Prints the name of each index and its number of values.
impl<T> fmt::Debug for NamedIndexes<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.0.iter().map(|(name, index)| (name, index.buckets.len()))).finish()
    }
}

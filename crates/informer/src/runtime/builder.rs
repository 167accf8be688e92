//! Builder of caches.

use std::{any::type_name, fmt, sync::Arc};

use kube_wire::{ListParams, Resource};
use tokio_util::sync::CancellationToken;

use super::{Cache, CachedResource, Caches, cached::Cached, source::KubeSource, store::KubeStore, writes::OwnWrites};
use crate::{Builder, Informer, NamedIndexes, list_watch::Source};

/// Builder of a [`Cache`]: its namespace, selectors and indexes.
#[must_use]
pub struct CacheBuilder<K: CachedResource> {
    caches: Caches,
    source: KubeSource,
    informer: Builder<Cached<K>>,
    resource: Resource,
    namespace: Option<String>,
    selection: ListParams,
    indexes: NamedIndexes<Cached<K>>,
}

impl<K: CachedResource> CacheBuilder<K> {
    pub(super) fn new(caches: Caches, source: KubeSource) -> Self {
        let (group, version, plural, kind) = (K::group(&()), K::version(&()), K::plural(&()), K::kind(&()));
        let resource = Resource::discovered(&group, &version, &plural, &kind, K::is_namespaced());
        Self {
            caches,
            informer: Informer::builder(source.clone()).resource(resource),
            source,
            resource,
            namespace: None,
            selection: ListParams::default(),
            indexes: NamedIndexes::new(),
        }
    }

    /// Restricts the cache to one namespace. Default: that of the [`Caches`]. Without effect for a cluster-scoped resource.
    pub fn namespace(mut self, namespace: &str) -> Self {
        if K::is_namespaced() {
            self.informer = self.informer.namespace(namespace);
            self.namespace = Some(namespace.to_owned());
        }
        self
    }

    /// Restricts the cache to objects with matching labels, e.g. `app=web,!canary`.
    ///
    /// An own write that creates an object or changes its labels costs a read, which says whether they match.
    pub fn labels(mut self, selector: &str) -> Self {
        self.informer = self.informer.label_selector(selector);
        self.selection.label_selector = Some(selector.to_owned());
        self
    }

    /// Restricts the cache to objects with matching fields, e.g. `spec.nodeName=node-1`.
    ///
    /// Each own write costs a read, which says whether they match.
    pub fn fields(mut self, selector: &str) -> Self {
        self.informer = self.informer.field_selector(selector);
        self.selection.field_selector = Some(selector.to_owned());
        self
    }

    /// Adds an index for [`Cache::by_index`]. `values` returns the values under which an object is found, any number of
    /// them.
    pub fn index(mut self, index: &'static str, values: impl Fn(&K) -> Vec<String> + Send + Sync + 'static) -> Self {
        let of_cached = move |object: &Cached<K>| object.read(|object| values(object)).unwrap_or_default();
        self.indexes = self.indexes.with(index, of_cached);
        self
    }

    /// Builds the cache. [`Caches::run`] fills it.
    pub fn build(self) -> Cache<K> {
        let (mirror, store) = KubeStore::new();
        let informer = self.informer.index(self.indexes).mirror(mirror).build();
        self.caches.observe_writes(Arc::new(OwnWrites {
            resource: self.resource,
            namespace: self.namespace,
            selection: self.selection,
            source: Source::new(self.source),
            // The handle of the store is that of no handler: all subscribers get the events of own writes, which reconcilers
            // rely on, as those of `kube::runtime::finalizer` do.
            writes: informer.write_through(&informer.store_synced()),
        }));
        let ended = CancellationToken::new();
        self.caches.add(&informer, ended.clone());
        Cache { informer, store, ended }
    }
}

impl<K: CachedResource> fmt::Debug for CacheBuilder<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(type_name::<Self>()).field("informer", &self.informer).finish_non_exhaustive()
    }
}

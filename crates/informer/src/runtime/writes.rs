//! Own writes of the objects of a cache.

use std::time::Duration;

use futures::future::{BoxFuture, FutureExt as _};
use http::{Method, StatusCode, Uri};
use kube::ResourceExt as _;
use kube_wire::{ListParams, Object as _, Resource, ResourceVersion, Uid};
use tokio::time::timeout;

use super::{
    CachedResource,
    answer::{Consequence, consequence},
    cached::Cached,
    target::Target,
};
use crate::{WriteThrough, list_watch::Source};

/// Maximum time for which the answer to a write waits for a read of the object.
const READ_TIMEOUT: Duration = Duration::from_secs(5);

/// A cache as seen by the client whose writes enter it.
pub(super) trait Writable: Send + Sync {
    /// Returns the object of the cache that a request changes; `None` if it changes none.
    fn target(&self, method: &Method, uri: &Uri) -> Option<Target>;

    /// Takes the answer to a request that changes `target`, and is based on a version of it.
    fn answered<'a>(
        &'a self,
        target: &'a Target,
        based_on: Option<ResourceVersion>,
        answer: (StatusCode, &'a [u8]),
    ) -> BoxFuture<'a, ()>;
}

/// The own writes of one cache.
pub(super) struct OwnWrites<K> {
    pub(super) resource: Resource,
    pub(super) namespace: Option<String>,
    /// The selectors of the cache.
    pub(super) selection: ListParams,
    pub(super) source: Source,
    pub(super) writes: WriteThrough<Cached<K>>,
}

impl<K: CachedResource> OwnWrites<K> {
    /// Takes a state that the server has acknowledged.
    async fn written(&self, object: Cached<K>) {
        if self.selects(&object) {
            self.writes.begin(object.namespace(), object.name()).written(object);
        } else {
            self.read(object.namespace(), object.name(), object.uid()).await;
        }
    }

    /// Returns whether an object matches the selectors for sure.
    fn selects(&self, object: &Cached<K>) -> bool {
        if self.selection.field_selector.is_some() {
            return false;
        }
        let Some(stored) = self.writes.get(object.namespace(), object.name()) else {
            return self.selection.label_selector.is_none();
        };
        self.selection.label_selector.is_none()
            || object.read(|new| stored.read(|old| new.labels() == old.labels())) == Some(Some(true))
    }

    /// Asks the server for the object, and for whether the selectors match it. If that fails, the watch will show it. `uid` is
    /// that of the object that was written, empty if the answer did not show it.
    async fn read(&self, namespace: &str, name: &str, uid: Uid) {
        let read = self.source.list_by_name(&self.resource, namespace, name, self.selection.clone());
        match timeout(READ_TIMEOUT, read).await {
            Ok(Ok((Some(object), _))) => self.writes.begin(namespace, name).written(object),
            Ok(Ok((None, version))) => self.writes.begin(namespace, name).gone(uid, Some(version)),
            Ok(Err(error)) => tracing::debug!(%error, resource = %self.resource, name, "an own write cannot be read"),
            Err(_) => tracing::debug!(resource = %self.resource, name, "an own write is not read in time"),
        }
    }
}

impl<K: CachedResource> Writable for OwnWrites<K> {
    fn target(&self, method: &Method, uri: &Uri) -> Option<Target> {
        let target = Target::of(&self.resource, method, uri)?;
        self.namespace.as_ref().is_none_or(|it| *it == target.namespace).then_some(target)
    }

    fn answered<'a>(
        &'a self,
        target: &'a Target,
        based_on: Option<ResourceVersion>,
        answer: (StatusCode, &'a [u8]),
    ) -> BoxFuture<'a, ()> {
        let Target { namespace, name, deletes: _ } = target;
        async move {
            match consequence(&self.resource, target, based_on, answer) {
                Consequence::Nothing => {}
                Consequence::Written(object) => self.written(object).await,
                Consequence::Removed(uid) => self.writes.begin(namespace, name).gone(uid, None),
                Consequence::Unknown(name) => self.read(namespace, &name, Uid::default()).await,
                Consequence::Conflict(version) => {
                    if let Some(stored) = self.writes.get(namespace, name)
                        && stored.resource_version() == version
                    {
                        self.writes.begin(namespace, name).conflict(&stored);
                    }
                }
            }
        }
        .boxed()
    }
}

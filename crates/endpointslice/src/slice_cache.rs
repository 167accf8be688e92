//! Cache of slices that stores the responses to writes.

use std::sync::Arc;

use kube_controller_client::Error;
use kube_endpoint_model::EndpointSlice;

/// Cache of slices that stores the responses to own writes, so that the next sync reads the written state.
///
/// Implemented by the write-through handle of an informer (`kube_informer::WriteThrough`), with the feature `watch`,
/// and by `()`, which stores nothing, for programs that list the slices before each sync.
pub trait SliceCache: Send + Sync {
    /// Begins a write of a slice, before the request is sent.
    fn begin(&self, namespace: &str, name: &str) -> Box<dyn SliceWrite>;

    /// Returns whether the cache contains a slice with this name and UID, in any state. A cache that stores nothing
    /// returns `true`.
    fn holds(&self, slice: &EndpointSlice) -> bool {
        let stored = self.get(&slice.metadata.namespace, &slice.metadata.name);
        stored.is_some_and(|stored| stored.metadata.uid == slice.metadata.uid)
    }

    /// Returns the cached slice of this name, of any Service and manager; `None` if there is none.
    fn get(&self, namespace: &str, name: &str) -> Option<Arc<EndpointSlice>>;
}

/// Write of a slice, from before the request until its response. Dropping it without a report means that the response
/// was lost.
pub trait SliceWrite: Send {
    /// Stores the slice from the response to a create, an update, or a delete that waits for finalizers.
    fn written(self: Box<Self>, slice: EndpointSlice);

    /// Removes a slice that the server has deleted.
    fn deleted(self: Box<Self>, slice: &EndpointSlice);

    /// Reports that the server rejected a write based on this state of the slice, because the slice has changed or is
    /// gone.
    fn conflict(self: Box<Self>, slice: &EndpointSlice);

    /// Reports that the write failed with this error for another reason.
    fn failed(self: Box<Self>, error: &Error);
}

/// Drops all responses.
impl SliceCache for () {
    fn begin(&self, _: &str, _: &str) -> Box<dyn SliceWrite> {
        Box::new(())
    }

    fn holds(&self, _: &EndpointSlice) -> bool {
        true
    }

    fn get(&self, _: &str, _: &str) -> Option<Arc<EndpointSlice>> {
        None
    }
}

/// Drops the response.
impl SliceWrite for () {
    fn written(self: Box<Self>, _: EndpointSlice) {}

    fn deleted(self: Box<Self>, _: &EndpointSlice) {}

    fn conflict(self: Box<Self>, _: &EndpointSlice) {}

    fn failed(self: Box<Self>, _: &Error) {}
}

#[cfg(feature = "watch")]
impl SliceCache for kube_informer::WriteThrough<EndpointSlice> {
    fn begin(&self, namespace: &str, name: &str) -> Box<dyn SliceWrite> {
        Box::new(kube_informer::WriteThrough::begin(self, namespace, name))
    }

    fn get(&self, namespace: &str, name: &str) -> Option<Arc<EndpointSlice>> {
        kube_informer::WriteThrough::get(self, namespace, name)
    }
}

#[cfg(feature = "watch")]
impl SliceWrite for kube_informer::OwnWrite<EndpointSlice> {
    fn written(self: Box<Self>, slice: EndpointSlice) {
        kube_informer::OwnWrite::written(*self, slice);
    }

    fn deleted(self: Box<Self>, slice: &EndpointSlice) {
        kube_informer::OwnWrite::deleted(*self, slice);
    }

    fn conflict(self: Box<Self>, slice: &EndpointSlice) {
        kube_informer::OwnWrite::conflict(*self, slice);
    }

    fn failed(self: Box<Self>, error: &Error) {
        kube_informer::OwnWrite::failed(*self, error);
    }
}

//! The cache that answers to writes of slices go into.

use std::sync::Arc;

use kube_endpoint_model::EndpointSlice;

/// Cache of slices that takes in the answers to own writes, so that the next sync reads them back.
///
/// With the feature `watch`, the write-through handle of an informer (`kube_informer::WriteThrough`) is one. `()` is one for
/// programs that read the slices from the server before each sync.
pub trait SliceCache: Send + Sync {
    /// A write of a slice is about to be sent.
    fn begin(&self, namespace: &str, name: &str) -> Box<dyn SliceWrite>;

    /// Whether the cache holds this very slice, in any state; `true` if that is unknown.
    fn holds(&self, slice: &EndpointSlice) -> bool {
        let stored = self.get(&slice.metadata.namespace, &slice.metadata.name);
        stored.is_some_and(|stored| stored.metadata.uid == slice.metadata.uid)
    }

    /// The cached slice of this name, of any Service and manager; `None` if that is unknown.
    fn get(&self, namespace: &str, name: &str) -> Option<Arc<EndpointSlice>>;
}

/// A write of a slice. Dropping it says that the write failed or was not answered.
pub trait SliceWrite: Send {
    /// The server answered this slice to a create, an update, or a delete that waits for finalizers.
    fn written(self: Box<Self>, slice: EndpointSlice);

    /// The server deleted this slice.
    fn deleted(self: Box<Self>, slice: &EndpointSlice);

    /// The server refused the write on top of this state of the slice as outdated.
    fn refused(self: Box<Self>, slice: &EndpointSlice);
}

/// Drops the answers.
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

/// Drops the answer.
impl SliceWrite for () {
    fn written(self: Box<Self>, _: EndpointSlice) {}

    fn deleted(self: Box<Self>, _: &EndpointSlice) {}

    fn refused(self: Box<Self>, _: &EndpointSlice) {}
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

    fn refused(self: Box<Self>, slice: &EndpointSlice) {
        kube_informer::OwnWrite::refused(*self, slice);
    }
}

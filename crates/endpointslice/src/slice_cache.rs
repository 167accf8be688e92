//! The cache that answers to writes of slices go into.

use kube_endpoint_model::EndpointSlice;

/// Cache of slices that takes in the answers to own writes, so that the next sync reads them back.
///
/// With the feature `watch`, the write-through handle of an informer (`kube_informer::WriteThrough`) is one. `()` is one for
/// programs that read the slices from the server before each sync.
pub trait SliceCache: Send + Sync {
    /// The server answered this slice to a create, an update, or a delete that waits for finalizers.
    fn written(&self, slice: EndpointSlice);

    /// The server deleted this slice.
    fn deleted(&self, slice: &EndpointSlice);

    /// The server refused a write on top of this state of the slice as outdated.
    fn refused(&self, slice: &EndpointSlice);

    /// Whether the cache holds this very slice, in any state; `true` if that is unknown.
    fn holds(&self, slice: &EndpointSlice) -> bool;
}

/// Drops the answers.
impl SliceCache for () {
    fn written(&self, _: EndpointSlice) {}

    fn deleted(&self, _: &EndpointSlice) {}

    fn refused(&self, _: &EndpointSlice) {}

    fn holds(&self, _: &EndpointSlice) -> bool {
        true
    }
}

#[cfg(feature = "watch")]
impl SliceCache for kube_informer::WriteThrough<EndpointSlice> {
    fn written(&self, slice: EndpointSlice) {
        kube_informer::WriteThrough::written(self, slice);
    }

    fn deleted(&self, slice: &EndpointSlice) {
        kube_informer::WriteThrough::deleted(self, slice);
    }

    fn refused(&self, slice: &EndpointSlice) {
        kube_informer::WriteThrough::refused(self, slice);
    }

    fn holds(&self, slice: &EndpointSlice) -> bool {
        kube_informer::WriteThrough::holds(self, slice)
    }
}

//! Handler of slice events, and an informer as the cache of a reconciler.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use kube_ambient::{Defect, is_enabled};
use kube_controller::{ControllerBuilder, Owns};
use kube_endpoint_model::{EndpointSlice, ObjectKey, SliceIndex};
use kube_informer::{Event, HandlerHandle, Informer, WriteThrough};

use crate::options::Options;
use crate::reconciler::Reconciler;
use crate::slice_cache::{SliceCache, SliceWrite};
use crate::slice_events::{self, Terminating};

/// Minimum delay after a change of a slice (upstream: `endpointSliceChangeMinSyncDelay`).
pub(crate) const SLICE_CHANGE_DELAY: Duration = Duration::from_secs(1);

/// Adds a handler that enqueues the owners whose slices another client changed, after `delay` (see [`slice_events`]).
///
/// `options` are those of the reconciler. Pass the returned handle to [`Informer::write_through`], and the result to
/// [`ReconcilerBuilder::cache`](crate::ReconcilerBuilder::cache), so that own writes enqueue nothing.
pub fn watch_slices(
    controller: &mut ControllerBuilder<ObjectKey>,
    slices: &Informer<EndpointSlice, SliceIndex>,
    options: &Options,
    terminating: Terminating,
    delay: Duration,
) -> HandlerHandle {
    let options = options.clone();
    let terminating = if is_enabled(Defect::TerminatingMirrorIgnored) { Terminating::Ignored } else { terminating };
    #[cfg(feature = "defects")]
    let mut untracked = crate::untracked::Untracked::default();
    controller.watch(slices, "slices", move |event: &Event<EndpointSlice>, keys| {
        #[cfg(feature = "defects")]
        if untracked.ignores(event, &options.controller) {
            return;
        }
        for owner in slice_events::owners_to_sync(event.states(), &options, terminating) {
            // Not contested: a list may contain many changes of one owner.
            if event.is_from_list() {
                keys.add_after(owner, delay);
            } else {
                keys.add_contested(owner, delay);
            }
        }
    })
}

/// Informer of slices as the cache of a reconciler.
pub(crate) struct InformerCache {
    slices: Informer<EndpointSlice, SliceIndex>,
    /// Set by the handler of the controller or, without one, by the first write.
    writes: OnceLock<WriteThrough<EndpointSlice>>,
}

impl InformerCache {
    pub(crate) fn new(slices: &Informer<EndpointSlice, SliceIndex>) -> Self {
        InformerCache { slices: slices.clone(), writes: OnceLock::new() }
    }

    /// Returns the slices of an owner that a controller with these options manages, without those that are being
    /// deleted (ES-5).
    pub(crate) fn existing(&self, owner: &ObjectKey, options: &Options) -> Vec<Arc<EndpointSlice>> {
        let value = options.label_value(&owner.name);
        let mut slices =
            self.slices.lister().read(|_, index| index.managed_slices(&owner.namespace, &value, &options.controller));
        slices.retain(|slice| slice.metadata.deletion_timestamp.is_none());
        slices
    }

    fn writes(&self) -> &WriteThrough<EndpointSlice> {
        self.writes.get_or_init(|| self.slices.write_through(&self.slices.store_synced()))
    }
}

impl SliceCache for Arc<InformerCache> {
    fn begin(&self, namespace: &str, name: &str) -> Box<dyn SliceWrite> {
        Box::new(self.writes().begin(namespace, name))
    }

    fn get(&self, namespace: &str, name: &str) -> Option<Arc<EndpointSlice>> {
        self.slices.lister().get(namespace, name)
    }
}

/// A slice that another client changed, created or deleted is repaired a second later. Slices that are being deleted do
/// not count.
impl Owns for Reconciler {
    type Object = EndpointSlice;
    type Index = SliceIndex;

    fn informer(&self) -> Option<&Informer<EndpointSlice, SliceIndex>> {
        self.slices.as_ref().map(|cache| &cache.slices)
    }

    fn watch(&self, controller: &mut ControllerBuilder<ObjectKey>) {
        let Some(cache) = &self.slices else { return };
        let options = self.options();
        let handler = watch_slices(controller, &cache.slices, options, Terminating::Ignored, SLICE_CHANGE_DELAY);
        // A second controller gets the events of own writes.
        let _ = cache.writes.set(cache.slices.write_through(&handler));
    }

    fn is_gated(&self) -> bool {
        Reconciler::is_gated(self)
    }
}

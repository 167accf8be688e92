//! Handler of slice events.

use std::time::Duration;

use kube_controller::{ControllerBuilder, Owns};
use kube_endpoint_model::{EndpointSlice, ObjectKey, SliceIndex};
use kube_informer::{Event, HandlerHandle, Informer};

use crate::options::Options;
use crate::reconciler::Reconciler;
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
    controller.watch(slices, "slices", move |event: &Event<EndpointSlice>, keys| {
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

/// A slice that another client changed, created or deleted is repaired a second later. Slices that are being deleted do
/// not count.
impl Owns for Reconciler {
    type Object = EndpointSlice;
    type Index = SliceIndex;

    fn informer(&self) -> Option<&Informer<EndpointSlice, SliceIndex>> {
        self.slices.as_ref()
    }

    fn watch(&self, controller: &mut ControllerBuilder<ObjectKey>) {
        let Some(slices) = &self.slices else { return };
        let handler = watch_slices(controller, slices, self.options(), Terminating::Ignored, SLICE_CHANGE_DELAY);
        // A second controller gets the events of own writes.
        let _ = self.cache.set(slices.write_through(&handler));
    }

    fn is_gated(&self) -> bool {
        Reconciler::is_gated(self)
    }
}

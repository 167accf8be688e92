//! Handler of slice events.

use std::time::Duration;

use kube_ambient::{Defect, is_enabled};
use kube_controller::ControllerBuilder;
use kube_endpoint_model::{EndpointSlice, ObjectKey, SliceIndex, Text};
use kube_informer::{Event, HandlerHandle, Informer};

use crate::slice_events::{self, Terminating};

/// Adds a handler that enqueues the Services whose slices another client changed, after `delay` (see [`slice_events`]).
///
/// `manager` is the managed-by value of the slices of this controller. Pass the returned handle to
/// [`Informer::write_through`], and the result to [`ReconcilerBuilder::cache`](crate::ReconcilerBuilder::cache), so
/// that own writes enqueue nothing.
pub fn watch_slices(
    controller: &mut ControllerBuilder<ObjectKey>,
    slices: &Informer<EndpointSlice, SliceIndex>,
    manager: impl Into<Text>,
    terminating: Terminating,
    delay: Duration,
) -> HandlerHandle {
    let manager = manager.into();
    let terminating = if is_enabled(Defect::TerminatingMirrorIgnored) { Terminating::Ignored } else { terminating };
    #[cfg(feature = "defects")]
    let mut untracked = crate::untracked::Untracked::default();
    controller.watch(slices, "slices", move |event: &Event<EndpointSlice>, keys| {
        #[cfg(feature = "defects")]
        if untracked.ignores(event, &manager) {
            return;
        }
        for service in slice_events::services_to_sync(event.states(), &manager, terminating) {
            // Not contested: a list may contain many changes of one Service.
            if event.is_from_list() {
                keys.add_after(service, delay);
            } else {
                keys.add_contested(service, delay);
            }
        }
    })
}

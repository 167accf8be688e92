//! The handler of slice events.

use std::time::Duration;

use kube_ambient::{Defect, has};
use kube_controller::KeyWaker;
use kube_endpoint_model::{Cause, Change, EndpointSlice, ObjectKey, SliceIndex};
use kube_informer::{Event, HandlerHandle, Informer};

use crate::slice_events::{self, Terminating};

/// Adds a handler that wakes the Services whose slices someone else changed, after `delay` (see [`slice_events`]).
///
/// `controller` is the managed-by value of the slices that count. Give the handle to [`Informer::write_through`], and that to
/// [`ReconcilerBuilder::cache`](crate::ReconcilerBuilder::cache), so that own writes wake nothing.
pub fn watch_slices(
    slices: &Informer<EndpointSlice, SliceIndex>,
    controller: &'static str,
    terminating: Terminating,
    waker: KeyWaker<ObjectKey, Cause>,
    delay: Duration,
) -> HandlerHandle {
    let terminating = if has(Defect::TerminatingMirrorIgnored) { Terminating::Ignored } else { terminating };
    #[cfg(feature = "defects")]
    let mut untracked = crate::untracked::Untracked::default();
    let handle = move |event: Event<EndpointSlice>| {
        #[cfg(feature = "defects")]
        if untracked.ignores(&event, controller) {
            return;
        }
        let change = || event.news().map(Change::of_slice);
        for service in slice_events::woken_services(event.states(), controller, terminating) {
            // A list may bring many changes of one Service at once.
            if event.is_from_list() {
                waker.wake_after(service, delay, change);
            } else {
                waker.wake_undone(service, delay, change);
            }
        }
    };
    slices.add_handler(handle).named("slices")
}

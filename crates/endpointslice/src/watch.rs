//! Hearing of changes of slices.

use std::sync::Arc;
use std::time::Duration;

use kube_controller::KeyWaker;
use kube_endpoint_model::{Cause, Change, EndpointSlice, ObjectKey, SliceIndex};
use kube_informer::{Event, HandlerHandle, Informer};

use crate::slice_events;
use crate::tracker::SliceTracker;

/// Wakes the Services that changes of slices concern: those whose slices someone else changed after `delay`, those that
/// wait for the cache at once (see [`slice_events`]). `controller` is the managed-by value of the slices that count, and
/// `tracker` the one its syncs use. What others did is followed to its write; what comes while slices of the Service are
/// being written is taken for the echo of that, ahead of its answer, and not followed.
pub fn watch_slices(
    slices: &Informer<EndpointSlice, SliceIndex>,
    controller: &'static str,
    tracker: Arc<SliceTracker>,
    waker: KeyWaker<ObjectKey, Cause>,
    delay: Duration,
) -> HandlerHandle {
    let handle = move |event: Event<EndpointSlice>| {
        // Asked first: once the writes have ended, their echo cannot be told from news any more.
        let echo = tracker.is_writing(event.object());
        let woken = slice_events::woken_services(event.states(), controller, &tracker);
        for service in woken.changed {
            waker.wake_after(service, delay, || event.news().filter(|_| !echo).map(Change::of_slice));
        }
        for service in woken.waiting {
            waker.resume(service);
        }
    };
    slices.add_handler(handle).named("slices")
}

//! Hearing of changes of slices.

use std::sync::Arc;
use std::time::Duration;

use kube_controller::Propagation;
use kube_endpoint_model::{Cause, Change, EndpointSlice, ObjectKey, SliceIndex};
use kube_informer::{Event, HandlerHandle, Informer};
use kube_workqueue::Queue;

use crate::slice_events;
use crate::tracker::SliceTracker;

/// Puts the Services that changes of slices wake into `queue`: those whose slices someone else changed after `delay`,
/// those that wait for the cache at once (see [`slice_events`]). `controller` is the managed-by value of the slices
/// that count, and `tracker` the one its syncs use. `propagation` is told of what others did; what comes while slices of
/// the Service are being written is taken for the echo of that, ahead of its answer, and not told of.
pub fn watch_slices(
    slices: &Informer<EndpointSlice, SliceIndex>,
    controller: &'static str,
    tracker: Arc<SliceTracker>,
    queue: Queue<ObjectKey>,
    propagation: Propagation<ObjectKey, Cause>,
    delay: Duration,
) -> HandlerHandle {
    let handle = move |event: Event<EndpointSlice>| {
        // Asked first: once the writes have ended, their echo cannot be told from news any more.
        let echo = tracker.is_writing(event.object());
        let woken = slice_events::woken_services(event.states(), controller, &tracker);
        for service in woken.changed {
            if let Some(states) = event.news().filter(|_| !echo) {
                let Change { cause, since } = Change::of_slice(states);
                propagation.woken(&service, cause, since);
            }
            queue.add_after(service, delay);
        }
        for service in woken.waiting {
            queue.add(service);
        }
    };
    slices.add_handler(handle).named("slices")
}

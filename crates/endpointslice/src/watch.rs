//! Hearing of changes of slices.

use std::sync::Arc;
use std::time::Duration;

use kube_endpoint_model::{EndpointSlice, ObjectKey, SliceIndex};
use kube_informer::{Event, HandlerHandle, Informer};
use kube_workqueue::Queue;

use crate::slice_events;
use crate::tracker::SliceTracker;

/// Puts the Services that changes of slices wake into `queue`: those whose slices someone else changed after `delay`,
/// those that wait for the cache at once (see [`slice_events`]). `controller` is the managed-by value of the slices
/// that count, and `tracker` the one its syncs use.
pub fn watch_slices(
    slices: &Informer<EndpointSlice, SliceIndex>,
    controller: &'static str,
    tracker: Arc<SliceTracker>,
    queue: Queue<ObjectKey>,
    delay: Duration,
) -> HandlerHandle {
    let handle = move |event: Event<EndpointSlice>| {
        let woken = slice_events::woken_services(event.states(), controller, &tracker);
        for service in woken.changed {
            queue.add_after(service, delay);
        }
        for service in woken.waiting {
            queue.add(service);
        }
    };
    slices.add_handler(handle).named("slices")
}

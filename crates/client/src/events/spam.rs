//! Rate limit of events per object, as client-go's `EventSourceObjectSpamFilter`.

use jiff::Timestamp;
use kube_wire::ResourceVersion;
use lru::LruCache;

use super::{EventType, ObjectReference, RecordedEvent};

/// Size of a token bucket, in events (client-go: `defaultSpamBurst`).
const BURST: f64 = 25.0;
/// Seconds until a token is added (client-go: `1 / defaultSpamQPS`).
const REFILL_SECONDS: f64 = 300.0;

/// Token bucket of an object and event type. An event without a token is dropped, not delayed.
#[derive(Debug)]
pub(super) struct Bucket {
    tokens: f64,
    last: Timestamp,
}

/// Takes a token for an event. Returns whether there was one, that is, whether the event may be written.
pub(super) fn try_accept(buckets: &mut LruCache<(ObjectReference, EventType), Bucket>, event: &RecordedEvent) -> bool {
    // All versions of an object share one bucket.
    let object = ObjectReference { resource_version: ResourceVersion::default(), ..event.object.clone() };
    let bucket = buckets.get_or_insert_mut((object, event.event_type), || Bucket { tokens: BURST, last: event.at });
    let elapsed = event.at.duration_since(bucket.last).as_secs_f64().max(0.0);
    bucket.tokens = (bucket.tokens + elapsed / REFILL_SECONDS).min(BURST);
    // Not the latest time: after a clock that was ahead, no token would be added until that time.
    bucket.last = event.at;
    let accepted = bucket.tokens >= 1.0;
    if accepted {
        bucket.tokens -= 1.0;
    }
    accepted
}

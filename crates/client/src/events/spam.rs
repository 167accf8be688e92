//! Rate limit of events per object, as client-go's `EventSourceObjectSpamFilter`.

use jiff::Timestamp;

use super::{EventType, Note, ObjectReference, lru::Lru};

/// Size of a token bucket, in events (client-go: `defaultSpamBurst`).
const BURST: f64 = 25.0;
/// Seconds until a token is added (client-go: `1 / defaultSpamQPS`).
const REFILL_SECONDS: f64 = 300.0;

/// Token bucket per object and event type. An event without a token is dropped, not delayed.
#[derive(Debug)]
pub(super) struct SpamFilter {
    buckets: Lru<(ObjectReference, EventType), Bucket>,
}

#[derive(Debug)]
struct Bucket {
    tokens: f64,
    last: Timestamp,
}

impl SpamFilter {
    pub(super) fn new(capacity: usize) -> Self {
        Self { buckets: Lru::new(capacity) }
    }

    /// Takes a token for an event. Returns whether there was one, that is, whether the event may be written.
    pub(super) fn admits(&mut self, note: &Note) -> bool {
        // All versions of an object share one bucket.
        let about = ObjectReference { resource_version: String::new(), ..note.about.clone() };
        let bucket = self.buckets.entry(&(about, note.event_type), || Bucket { tokens: BURST, last: note.at });
        let elapsed = note.at.duration_since(bucket.last).as_secs_f64().max(0.0);
        bucket.tokens = (bucket.tokens + elapsed / REFILL_SECONDS).min(BURST);
        bucket.last = bucket.last.max(note.at);
        let admits = bucket.tokens >= 1.0;
        if admits {
            bucket.tokens -= 1.0;
        }
        admits
    }
}

//! Silence for sources that talk too much about one object.

use jiff::Timestamp;

use super::{EventType, Note, ObjectReference, lru::Lru};

/// Events about one object before silence.
const BURST: f64 = 25.0;
/// Afterwards, one event in this many seconds.
const REFILL_SECONDS: f64 = 300.0;

/// A token bucket per object and type. It does not lend: an event without a token is dropped, not delayed.
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

    /// Whether the note may be written.
    pub(super) fn admits(&mut self, note: &Note) -> bool {
        // The state of the object does not matter, only which one it is.
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

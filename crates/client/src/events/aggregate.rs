//! Aggregation of similar events into one, as client-go's `EventAggregator` does.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};

use super::{EventType, Note, ObjectReference, lru::Lru};

/// Number of different messages at which events start to be combined (client-go: `defaultAggregateMaxEvents`).
const SIMILAR: usize = 10;
/// Time without a similar event after which the messages are forgotten (client-go:
/// `defaultAggregateIntervalInSeconds`).
const INTERVAL: SignedDuration = SignedDuration::from_secs(600);

/// Key of the Event object to write to. With a message it identifies equal events; without one, similar events.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Key {
    about: ObjectReference,
    event_type: EventType,
    reason: String,
    message: Option<String>,
}

/// Different messages per object, type and reason.
#[derive(Debug)]
pub(super) struct Aggregator {
    seen: Lru<Key, Seen>,
}

#[derive(Debug)]
struct Seen {
    messages: BTreeSet<String>,
    last: Timestamp,
}

impl Aggregator {
    pub(super) fn new(capacity: usize) -> Self {
        Self { seen: Lru::new(capacity) }
    }

    /// Returns the event to write in place of `note`, and the key of the Event object to write it to.
    pub(super) fn aggregate(&mut self, note: Note) -> (Note, Key) {
        let similar = Key {
            about: ObjectReference { resource_version: String::new(), ..note.about.clone() },
            event_type: note.event_type,
            reason: note.reason.clone(),
            message: None,
        };
        let seen = self.seen.entry(&similar, || Seen { messages: BTreeSet::new(), last: note.at });
        if note.at.duration_since(seen.last) > INTERVAL {
            seen.messages.clear();
        }
        seen.last = note.at;
        if !seen.messages.contains(&note.message) {
            seen.messages.insert(note.message.clone());
        }
        if seen.messages.len() < SIMILAR {
            let key = Key { message: Some(note.message.clone()), ..similar };
            return (note, key);
        }
        // Bounds the set, which stays one below the limit; client-go drops an arbitrary message too (`PopAny`).
        seen.messages.pop_first();
        let message = format!("(combined from similar events): {}", note.message);
        (Note { message, ..note }, similar)
    }
}

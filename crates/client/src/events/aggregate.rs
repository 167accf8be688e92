//! Many similar notes become one.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};

use super::{EventType, Note, ObjectReference, lru::Lru};

/// From this many different messages on, notes are combined.
const SIMILAR: usize = 10;
/// After this long without a similar note, counting starts anew.
const INTERVAL: SignedDuration = SignedDuration::from_secs(600);

/// Notes of one key are written to one event: equal notes, or (without a message) similar ones.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Key {
    about: ObjectReference,
    event_type: EventType,
    reason: String,
    message: Option<String>,
}

/// Counts the different messages per object, type and reason.
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

    /// The note to write in place of this one, and the key of the event to write it to.
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
        // Enough to know that there are many; which ones does not matter.
        seen.messages.pop_first();
        let message = format!("(combined from similar events): {}", note.message);
        (Note { message, ..note }, similar)
    }
}

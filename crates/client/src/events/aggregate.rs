//! Aggregation of similar events into one, as client-go's `EventAggregator` does.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use kube_wire::ResourceVersion;
use lru::LruCache;

use super::{EventType, ObjectReference, RecordedEvent};

/// Number of different messages at which events start to be combined (client-go: `defaultAggregateMaxEvents`).
const MAX_SIMILAR: usize = 10;
/// Time without a similar event after which the messages are forgotten (client-go:
/// `defaultAggregateIntervalInSeconds`).
const INTERVAL: SignedDuration = SignedDuration::from_secs(600);

/// Key of the Event object to write to. With a message it identifies equal events; without one, similar events.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Key {
    object: ObjectReference,
    event_type: EventType,
    reason: String,
    message: Option<String>,
}

/// Different messages of one object, type and reason.
#[derive(Debug)]
pub(super) struct Similar {
    messages: BTreeSet<String>,
    last_timestamp: Timestamp,
}

/// Returns the event to write in place of `event`, and the key of the Event object to write it to.
pub(super) fn aggregate(records: &mut LruCache<Key, Similar>, event: RecordedEvent) -> (RecordedEvent, Key) {
    let similar = Key {
        object: ObjectReference { resource_version: ResourceVersion::default(), ..event.object.clone() },
        event_type: event.event_type,
        reason: event.reason.clone(),
        message: None,
    };
    let record =
        records.get_or_insert_mut_ref(&similar, || Similar { messages: BTreeSet::new(), last_timestamp: event.at });
    if event.at.duration_since(record.last_timestamp) > INTERVAL {
        record.messages.clear();
    }
    record.last_timestamp = event.at;
    if !record.messages.contains(&event.message) {
        record.messages.insert(event.message.clone());
    }
    if record.messages.len() < MAX_SIMILAR {
        let key = Key { message: Some(event.message.clone()), ..similar };
        return (event, key);
    }
    // Bounds the set, which stays one below the limit; client-go drops an arbitrary message too (`PopAny`).
    record.messages.pop_first();
    let message = format!("(combined from similar events): {}", event.message);
    (RecordedEvent { message, ..event }, similar)
}

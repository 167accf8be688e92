//! Correlation of events: aggregation, counting and spam filter, as in client-go's `EventCorrelator`. Time is in the
//! events.

use std::num::NonZeroUsize;

use jiff::Timestamp;
use lru::LruCache;

use super::{
    EventType, ObjectReference, RecordedEvent,
    aggregate::{Key, Similar, aggregate},
    name::event_name,
    spam::{Bucket, try_accept},
};

/// Maximum number of entries in each cache (client-go: `maxLruCacheEntries`).
const CAPACITY: NonZeroUsize = NonZeroUsize::new(4096).expect("not zero");

/// An Event object to create or update.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct EventWrite {
    pub(super) event: RecordedEvent,
    /// Name of the Event object.
    pub(super) name: String,
    /// Number of occurrences. If greater than one, the Event object should already exist.
    pub(super) count: i32,
    pub(super) first_timestamp: Timestamp,
}

/// State of the correlation: aggregated messages, counts and token buckets.
#[derive(Debug)]
pub(super) struct Correlator {
    similar: LruCache<Key, Similar>,
    observations: LruCache<Key, Option<Observation>>,
    buckets: LruCache<(ObjectReference, EventType), Bucket>,
}

#[derive(Debug, Clone)]
struct Observation {
    name: String,
    count: i32,
    first_timestamp: Timestamp,
}

impl Correlator {
    pub(super) fn new() -> Self {
        Self {
            similar: LruCache::sparse(CAPACITY),
            observations: LruCache::sparse(CAPACITY),
            buckets: LruCache::sparse(CAPACITY),
        }
    }

    /// Returns what to write for an event, or `None` if the spam filter drops it.
    pub(super) fn correlate(&mut self, event: RecordedEvent) -> Option<EventWrite> {
        let (event, key) = aggregate(&mut self.similar, event);
        let observed = self.observations.get_or_insert_mut(key, || None);
        let observation = match observed.take() {
            Some(last) => Observation { count: last.count.saturating_add(1), ..last },
            None => Observation { name: event_name(&event.object.name, event.at), count: 1, first_timestamp: event.at },
        };
        *observed = Some(observation.clone());
        // As upstream, events dropped by the spam filter are counted.
        let Observation { name, count, first_timestamp } = observation;
        try_accept(&mut self.buckets, &event).then_some(EventWrite { event, name, count, first_timestamp })
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn event(object: &str, reason: &str, message: &str, second: i64) -> RecordedEvent {
        RecordedEvent {
            object: ObjectReference {
                name: object.to_owned(),
                namespace: "shop".to_owned(),
                ..ObjectReference::of("v1", "Service")
            },
            event_type: EventType::Warning,
            reason: reason.to_owned(),
            message: message.to_owned(),
            at: Timestamp::from_second(1_800_000_000 + second).unwrap(),
        }
    }

    /// Formats each write as `MESSAGE xCOUNT`, and a dropped event as `-`.
    fn correlate_all(events: impl IntoIterator<Item = RecordedEvent>) -> Vec<String> {
        let mut correlator = Correlator::new();
        let text = |write: EventWrite| format!("{} x{}", write.event.message, write.count);
        events.into_iter().map(|event| correlator.correlate(event).map_or_else(|| "-".to_owned(), text)).collect()
    }

    #[test]
    fn equal_events_increase_the_count_of_the_first() {
        let mut correlator = Correlator::new();
        let first = correlator.correlate(event("web", "Failed", "m", 0)).unwrap();
        let mut later = event("web", "Failed", "m", 5);
        later.object.resource_version = 7.into();
        let second = correlator.correlate(later).unwrap();
        assert_eq!((first.count, second.count), (1, 2));
        assert_eq!((&second.name, second.first_timestamp), (&first.name, first.event.at));
        assert_eq!(second.event.at.duration_since(first.event.at).as_secs(), 5);
    }

    #[test]
    fn different_object_reason_or_message_is_a_different_event() {
        let events = [("web", "Failed", "m"), ("db", "Failed", "m"), ("web", "Slow", "m"), ("web", "Failed", "n")];
        let written = correlate_all(events.map(|(object, reason, message)| event(object, reason, message, 0)));
        assert_eq!(written, ["m x1", "m x1", "m x1", "n x1"]);
    }

    // client-go: TestEventCorrelator, "create-many-events-reasonMessage"
    #[test]
    fn similar_events_are_combined_from_the_tenth_on() {
        let written = correlate_all((0..12).map(|at| event("web", "Failed", &format!("m{at}"), at)));
        let expect: Vec<_> = (0..9).map(|at| format!("m{at} x1")).collect();
        assert_eq!(written[..9], expect);
        assert_eq!(
            written[9..],
            [
                "(combined from similar events): m9 x1",
                "(combined from similar events): m10 x2",
                "(combined from similar events): m11 x3"
            ]
        );
    }

    // client-go: TestEventCorrelator, "create-many-events-reasonMessage-over-interval"
    #[rstest]
    #[case::within(600, "(combined from similar events): m9 x1")]
    #[case::after(601, "m9 x1")]
    fn similar_messages_are_forgotten_after_ten_minutes_without_events(#[case] pause: i64, #[case] expect: &str) {
        let events = (0..9).map(|at| event("web", "Failed", &format!("m{at}"), 0));
        let written = correlate_all(events.chain([event("web", "Failed", "m9", pause)]));
        assert_eq!(written[9], expect);
    }

    // client-go: TestEventSpamFilter, TestEventCorrelator "event-one-object-burst"
    #[test]
    fn spam_filter_limits_events_per_object() {
        let many = (0..26).map(|_| event("web", "Failed", "m", 0));
        let later =
            [event("web", "Failed", "m", 299), event("web", "Failed", "m", 300), event("web", "Failed", "m", 301)];
        let other = [event("db", "Failed", "m", 301)];
        let written = correlate_all(many.chain(later).chain(other));
        assert_eq!(written[24..], ["m x25", "-", "-", "m x28", "-", "m x1"]);
    }

    #[test]
    fn backward_clock_does_not_refill_the_spam_filter() {
        let written = correlate_all((0..30).map(|at| event("web", "Failed", "m", -100 * at)));
        assert_eq!((written[24].as_str(), written[25].as_str()), ("m x25", "-"));
    }

    #[test]
    fn events_before_a_clock_that_was_ahead_refill_the_spam_filter() {
        let ahead = event("web", "Failed", "m", 1_000_000);
        let seconds = std::iter::repeat_n(0, 25).chain([300]);
        let written = correlate_all([ahead].into_iter().chain(seconds.map(|at| event("web", "Failed", "m", at))));
        assert_eq!(written[24..], ["m x25", "-", "m x27"]);
    }
}

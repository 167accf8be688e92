//! Correlation of events: aggregation, counting and spam filter, as in client-go's `EventCorrelator`. Time is in the
//! events.

use jiff::Timestamp;

use super::{
    Note,
    aggregate::{Aggregator, Key},
    lru::Lru,
    name::event_name,
    spam::SpamFilter,
};

/// Maximum number of entries in each cache (client-go: `maxLruCacheEntries`).
const CAPACITY: usize = 4096;

/// An Event object to create or update.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) note: Note,
    /// Name of the Event object.
    pub(super) name: String,
    /// Number of occurrences. If greater than one, the Event object should already exist.
    pub(super) count: i32,
    pub(super) first: Timestamp,
}

/// State of the correlation: aggregated messages, counts and token buckets.
#[derive(Debug)]
pub(super) struct Correlator {
    aggregator: Aggregator,
    written: Lru<Key, Option<Observation>>,
    spam: SpamFilter,
}

#[derive(Debug, Clone)]
struct Observation {
    name: String,
    count: i32,
    first: Timestamp,
}

impl Correlator {
    pub(super) fn new() -> Self {
        Self { aggregator: Aggregator::new(CAPACITY), written: Lru::new(CAPACITY), spam: SpamFilter::new(CAPACITY) }
    }

    /// Returns what to write for an event, or `None` if the spam filter drops it.
    pub(super) fn correlate(&mut self, note: Note) -> Option<Entry> {
        let (note, key) = self.aggregator.aggregate(note);
        let observed = self.written.entry(&key, || None);
        let seen = match observed.take() {
            Some(before) => Observation { count: before.count.saturating_add(1), ..before },
            None => Observation { name: event_name(&note.about.name, note.at), count: 1, first: note.at },
        };
        *observed = Some(seen.clone());
        // As upstream, events dropped by the spam filter are counted.
        let Observation { name, count, first } = seen;
        self.spam.admits(&note).then_some(Entry { note, name, count, first })
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::events::{EventType, ObjectReference};

    fn note(object: &str, reason: &str, message: &str, second: i64) -> Note {
        Note {
            about: ObjectReference {
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

    /// Formats each entry as `MESSAGE xCOUNT`, and a dropped event as `-`.
    fn play(notes: impl IntoIterator<Item = Note>) -> Vec<String> {
        let mut correlator = Correlator::new();
        let text = |entry: Entry| format!("{} x{}", entry.note.message, entry.count);
        notes.into_iter().map(|note| correlator.correlate(note).map_or_else(|| "-".to_owned(), text)).collect()
    }

    #[test]
    fn equal_notes_are_counted_in_the_first_event() {
        let mut correlator = Correlator::new();
        let first = correlator.correlate(note("web", "Failed", "m", 0)).unwrap();
        let mut later = note("web", "Failed", "m", 5);
        later.about.resource_version = "7".to_owned();
        let second = correlator.correlate(later).unwrap();
        assert_eq!((first.count, second.count), (1, 2));
        assert_eq!((&second.name, second.first), (&first.name, first.note.at));
        assert_eq!(second.note.at.duration_since(first.note.at).as_secs(), 5);
    }

    #[test]
    fn other_objects_reasons_and_messages_are_other_events() {
        let notes = [("web", "Failed", "m"), ("db", "Failed", "m"), ("web", "Slow", "m"), ("web", "Failed", "n")];
        let written = play(notes.map(|(object, reason, message)| note(object, reason, message, 0)));
        assert_eq!(written, ["m x1", "m x1", "m x1", "n x1"]);
    }

    // client-go: TestEventCorrelator, "create-many-events-reasonMessage"
    #[test]
    fn similar_notes_are_combined_from_the_tenth_on() {
        let written = play((0..12).map(|at| note("web", "Failed", &format!("m{at}"), at)));
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
    fn counting_starts_anew_after_ten_quiet_minutes(#[case] pause: i64, #[case] expect: &str) {
        let notes = (0..9).map(|at| note("web", "Failed", &format!("m{at}"), 0));
        let written = play(notes.chain([note("web", "Failed", "m9", pause)]));
        assert_eq!(written[9], expect);
    }

    // client-go: TestEventSpamFilter, TestEventCorrelator "event-one-object-burst"
    #[test]
    fn a_chatty_source_is_silenced_for_one_object() {
        let many = (0..26).map(|_| note("web", "Failed", "m", 0));
        let later = [note("web", "Failed", "m", 299), note("web", "Failed", "m", 300), note("web", "Failed", "m", 301)];
        let other = [note("db", "Failed", "m", 301)];
        let written = play(many.chain(later).chain(other));
        assert_eq!(written[24..], ["m x25", "-", "-", "m x28", "-", "m x1"]);
    }

    #[test]
    fn a_clock_that_goes_back_changes_nothing() {
        let written = play((0..30).map(|at| note("web", "Failed", "m", -100 * at)));
        assert_eq!((written[24].as_str(), written[25].as_str()), ("m x25", "-"));
    }
}

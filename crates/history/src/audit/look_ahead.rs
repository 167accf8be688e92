//! Puts writes in their order.

use std::collections::{BTreeMap, HashMap};

use jiff::Timestamp;
use kube_endpoint_model::ObjectKey;

use super::write::{Effect, Write};
use crate::Kind;

/// Largest number of writes that wait.
const MOST: usize = 16 << 10;
/// Largest length of the requests and answers of the writes that wait, in bytes. What is kept of them is shorter.
const LONGEST: usize = 64 << 20;

/// Writes that wait for earlier ones.
///
/// A log has the requests in about the order in which they were answered. Writes leave by time; of those of one object, by the
/// version of the object first, because a request that was answered later may have been applied earlier.
#[derive(Default)]
pub(super) struct LookAhead {
    writes: BTreeMap<Place, Write>,
    /// Waiting writes of each object that have a version.
    of_object: HashMap<(Kind, ObjectKey), BTreeMap<Version, Place>>,
    /// Number of all writes so far.
    count: u64,
    /// Length of the requests and answers.
    length: usize,
}

/// Time and number of a write.
type Place = (Timestamp, u64);

/// Version and number of a write. Before the numbers comes whether it is a removal: old servers answer one with the last version of the
/// object.
type Version = (u64, bool, u64);

fn version(write: &Write, (_, number): Place) -> Version {
    (write.version, matches!(write.effect, Effect::Removed(_)), number)
}

impl LookAhead {
    pub(super) fn is_full(&self) -> bool {
        self.writes.len() >= MOST || self.length >= LONGEST
    }

    /// Returns the lowest version of an object after a waiting write.
    pub(super) fn lowest_version(&self) -> Option<u64> {
        self.of_object.values().filter_map(|versions| Some(versions.first_key_value()?.0.0)).min()
    }

    pub(super) fn push(&mut self, write: Write) {
        self.count += 1;
        self.length += write.length;
        let place = (write.seen, self.count);
        if write.version > 0 {
            let of_object = self.of_object.entry((write.kind, write.key.clone())).or_default();
            of_object.insert(version(&write, place), place);
        }
        self.writes.insert(place, write);
    }

    /// Removes the first write. One that was applied before a write with an earlier time gets that time.
    pub(super) fn pop(&mut self) -> Option<Write> {
        let (first, write) = self.writes.first_key_value()?;
        let (first, seen) = (*first, write.seen);
        let earlier = self.applied_before(first, write);
        let place = earlier.unwrap_or(first);
        let write = self.writes.remove(&place)?;
        self.length -= write.length;
        if write.version > 0 {
            let object = (write.kind, write.key.clone());
            if let Some(of_object) = self.of_object.get_mut(&object) {
                of_object.remove(&version(&write, place));
                if of_object.is_empty() {
                    self.of_object.remove(&object);
                }
            }
        }
        Some(Write { seen, ..write })
    }

    /// Returns the first waiting write that was applied before this one.
    fn applied_before(&self, place: Place, write: &Write) -> Option<Place> {
        let of_object = self.of_object.get(&(write.kind, write.key.clone()))?;
        let (lowest, first) = of_object.first_key_value()?;
        let other = self.writes.get(first)?;
        let is_before = match write.effect {
            _ if write.version > 0 => *lowest < version(write, place),
            // Nothing is written to an object after its deletion.
            Effect::Removed(_) => !write.uid.is_empty() && other.uid == write.uid,
            _ => false,
        };
        is_before.then_some(*first)
    }
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;
    use kube_endpoint_model::Uid;
    use rstest::rstest;

    use super::*;
    use crate::audit::write::Incarnation;
    use crate::{Action, Author};

    /// Parses time, object, version and UID, such as `2 a 7 u1`; `!` at the end is a removal.
    fn write(text: &str) -> Write {
        let words: Vec<&str> = text.split(' ').collect();
        let version = words[2].parse().unwrap();
        Write {
            kind: Kind::Pod,
            key: ObjectKey::new("shop", words[1]),
            uid: Uid::from(words[3].trim_end_matches('!')),
            version,
            seen: Timestamp::UNIX_EPOCH + SignedDuration::from_secs(words[0].parse().unwrap()),
            author: Author::default(),
            action: Action::Changed,
            effect: if words[3].ends_with('!') { Effect::Removed(Incarnation::default()) } else { Effect::Unknown },
            length: 1,
        }
    }

    #[rstest]
    #[case::by_time(&["2 a 2 u", "1 a 1 u"], "1 a 1 u, 2 a 2 u")]
    #[case::by_version(&["1 a 9 u", "2 b 5 v", "3 a 8 u", "4 a 7 u"], "1 a 7 u, 1 a 8 u, 1 a 9 u, 2 b 5 v")]
    #[case::removed_last(&["1 a 0 u!", "2 a 9 u", "3 a 8 u"], "1 a 8 u, 1 a 9 u, 1 a 0 u")]
    #[case::removed_at_the_last_version(&["1 a 9 u!", "2 a 9 u", "3 a 8 u"], "1 a 8 u, 1 a 9 u, 1 a 9 u")]
    #[case::created_again(&["1 a 0 u!", "2 a 9 w"], "1 a 0 u, 2 a 9 w")]
    #[case::twice(&["1 a 5 u", "1 a 5 u"], "1 a 5 u, 1 a 5 u")]
    fn writes_leave_in_order(#[case] writes: &[&str], #[case] expected: &str) {
        let mut waiting = LookAhead::default();
        for text in writes {
            waiting.push(write(text));
        }
        let order: Vec<String> = std::iter::from_fn(|| waiting.pop())
            .map(|it| format!("{} {} {} {}", it.seen.as_second(), it.key.name, it.version, it.uid))
            .collect();
        assert_eq!(order.join(", "), expected);
        assert_eq!((waiting.length, waiting.of_object.len()), (0, 0));
    }

    #[test]
    fn waiting_writes_are_bounded() {
        let mut waiting = LookAhead::default();
        let mut number = 0;
        while !waiting.is_full() {
            waiting.push(Write { length: 1 << 20, ..write("1 a 1 u") });
            number += 1;
        }
        assert_eq!(number, LONGEST >> 20);
    }
}

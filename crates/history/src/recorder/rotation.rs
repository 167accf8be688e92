//! Which segments are kept: not more than a number of bytes, and not longer than a time.

use std::collections::VecDeque;
use std::io;

use jiff::{SignedDuration, Timestamp};

use super::store::{LONGEST_SEGMENT, OLDEST_SEGMENT, SegmentLimits, Space};

/// Time without a step of the clock after which its age is trusted: a Node may boot with a clock in the future.
const TRUSTED: SignedDuration = SignedDuration::from_hours(1);
/// Longest time between two calls that is no step of the clock.
const STEP: SignedDuration = SignedDuration::from_secs(60);

/// The segments of a store, oldest first. The last one is the present one.
#[derive(Clone, Debug)]
pub(super) struct Rotation {
    limit: u64,
    max_age: SignedDuration,
    /// Beginning and length of each segment.
    segments: VecDeque<(Timestamp, u64)>,
    length: u64,
    /// Times of the clock after its last step, and now; `None` before the first call of `too_old`.
    clock: Option<(Timestamp, Timestamp)>,
}

impl Rotation {
    /// Returns no segments, which may have `limit` bytes and be kept for `max_age`.
    pub(super) fn new(limit: u64, max_age: SignedDuration) -> Rotation {
        Rotation { limit, max_age, segments: VecDeque::new(), length: 0, clock: None }
    }

    /// Adds a segment after all others.
    pub(super) fn push(&mut self, started: Timestamp, bytes: u64) {
        self.segments.push_back((started, bytes));
        self.length += bytes;
    }

    /// Adds bytes to the last segment.
    pub(super) fn grow(&mut self, bytes: u64) {
        if let Some((_, length)) = self.segments.back_mut() {
            *length += bytes;
            self.length += bytes;
        }
    }

    /// Removes the oldest segment.
    pub(super) fn pop(&mut self) {
        if let Some((_, length)) = self.segments.pop_front() {
            self.length -= length;
        }
    }

    /// Returns the number of the oldest segments to remove before the last one grows by `more` bytes. Fails if the
    /// removal of all others is not enough.
    pub(super) fn before_growth(&self, more: u64) -> io::Result<usize> {
        self.before(more, self.segments.len().saturating_sub(1))
    }

    /// Returns the number of the oldest segments to remove before one of `bytes` is added. Fails if the removal of all
    /// is not enough.
    pub(super) fn before_push(&self, bytes: u64) -> io::Result<usize> {
        self.before(bytes, self.segments.len())
    }

    fn before(&self, more: u64, removable: usize) -> io::Result<usize> {
        let mut length = self.length.saturating_add(more);
        let mut lengths = self.segments.iter().take(removable).map(|(_, length)| *length);
        let mut count = 0;
        while length > self.limit {
            length -= lengths
                .next()
                .ok_or_else(|| io::Error::other(format!("{more} bytes are more than the limit of {}", self.limit)))?;
            count += 1;
        }
        Ok(count)
    }

    /// Returns the number of the oldest segments of which everything is too old: the next one began before, of those with a
    /// time that is not in the future. At most one at the first call, and none for an hour after it or a step of the clock.
    pub(super) fn too_old(&mut self, now: Timestamp) -> usize {
        let is_first = self.clock.is_none();
        let (since, last) = self.clock.unwrap_or((now, now));
        let since = if now.duration_since(last).abs() > STEP { now } else { since };
        self.clock = Some((since, now));
        let most = if now.duration_since(since) >= TRUSTED { usize::MAX } else { usize::from(is_first) };
        let oldest = now.saturating_sub(self.max_age).unwrap_or(Timestamp::MIN);
        let known = self.segments.iter().map(|(started, _)| *started).enumerate().skip(1).filter(|(_, it)| *it <= now);
        known.take_while(|(_, started)| *started <= oldest).last().map_or(0, |(number, _)| number).min(most)
    }

    /// Returns the space of the segments. That of all is there for the next one, as the oldest are removed.
    pub(super) fn space(&self) -> Space {
        let Rotation { limit, length, segments, .. } = self;
        let free = limit - segments.back().map_or(0, |(_, length)| *length).min(*limit);
        let oldest = segments.front().map(|(started, _)| *started);
        Space { limit: *limit, length: *length, free, room: *limit, oldest }
    }

    /// Returns when the last segment ends, which began with a state of this length. The removal of a segment removes at most a
    /// sixteenth of the bytes, unless the states are longer, and a twenty-fourth of the time.
    pub(super) fn segment_limits(&self, state: u64) -> SegmentLimits {
        let length =
            (self.limit / 16).min(LONGEST_SEGMENT).max(state.saturating_mul(2)).min(self.limit - self.limit / 4);
        let age = (self.max_age / 24).clamp(SignedDuration::from_secs(1), OLDEST_SEGMENT);
        SegmentLimits { length, age, records: 0 }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn hour(hour: i64) -> Timestamp {
        Timestamp::from_second(hour * 3_600).unwrap()
    }

    /// Segments of 10 bytes, each an hour.
    fn rotation(segments: i64) -> Rotation {
        let mut rotation = Rotation::new(100, SignedDuration::from_hours(24));
        for at in 0..segments {
            rotation.push(hour(at), 10);
        }
        rotation
    }

    #[rstest]
    #[case::fits(3, 70, Some(0))]
    #[case::one(3, 71, Some(1))]
    #[case::all_others(3, 90, Some(2))]
    #[case::too_long(3, 91, None)]
    #[case::none(0, 100, Some(0))]
    #[case::none_too_long(0, 101, None)]
    fn the_oldest_segments_make_way(#[case] segments: i64, #[case] more: u64, #[case] expected: Option<usize>) {
        assert_eq!(rotation(segments).before_growth(more).ok(), expected);
    }

    #[rstest]
    #[case::fits(90, Some(1))]
    #[case::all(100, Some(2))]
    #[case::too_long(101, None)]
    fn a_new_segment_may_replace_all(#[case] bytes: u64, #[case] expected: Option<usize>) {
        assert_eq!(rotation(2).before_push(bytes).ok(), expected);
    }

    /// At the first call, after a step to a time, and a minute before and at an hour after it.
    #[rstest]
    #[case::young(0, 22, [0, 0, 0, 0])]
    #[case::next_one_is_old(0, 24, [0, 0, 0, 1])]
    #[case::never_the_last(0, 1_000, [0, 0, 0, 2])]
    #[case::after_a_pause(25, 1_000, [1, 0, 0, 2])]
    #[case::set_back(1_000, 0, [1, 0, 0, 0])]
    fn a_segment_is_too_old_once_the_next_one_is(#[case] first: i64, #[case] now: i64, #[case] expected: [usize; 4]) {
        let mut rotation = rotation(3);
        let mut counts = vec![rotation.too_old(hour(first))];
        counts.extend((0..=60).map(|minute| rotation.too_old(hour(now) + SignedDuration::from_mins(minute))));
        assert_eq!([0, 1, 60, 61].map(|at| counts[at]), expected);
    }

    #[rstest]
    #[case::in_the_future([0, 1_000, 2, 3], [0, 0, 2])]
    #[case::in_the_past([0, 1, -1_000, 3], [0, 2, 2])]
    fn a_segment_with_a_wrong_time_does_not_matter(#[case] starts: [i64; 4], #[case] expected: [usize; 3]) {
        let mut rotation = rotation(0);
        for started in starts {
            rotation.push(hour(started), 10);
        }
        let counts: Vec<_> =
            (23 * 60..=26 * 60).map(|minute| rotation.too_old(hour(0) + SignedDuration::from_mins(minute))).collect();
        assert_eq!([60, 120, 180].map(|at| counts[at]), expected);
    }

    #[test]
    fn bytes_are_counted() {
        let mut rotation = rotation(2);
        rotation.grow(5);
        let space = Space { limit: 100, length: 25, free: 85, room: 100, oldest: Some(hour(0)) };
        assert_eq!(rotation.space(), space);
        rotation.pop();
        assert_eq!(rotation.space(), Space { length: 15, oldest: Some(hour(1)), ..space });
    }

    #[rstest]
    #[case::sixteenth(16 << 20, 100, 1 << 20)]
    #[case::longest(1 << 40, 100, 16 << 20)]
    #[case::long_state(16 << 20, 3 << 20, 6 << 20)]
    #[case::state_of_half_the_limit(16 << 20, 8 << 20, 12 << 20)]
    fn segments_follow_the_limit(#[case] limit: u64, #[case] state: u64, #[case] expected: u64) {
        let rotation = Rotation::new(limit, SignedDuration::from_hours(2));
        let limits = SegmentLimits { length: expected, age: SignedDuration::from_mins(5), records: 0 };
        assert_eq!(rotation.segment_limits(state), limits);
    }
}

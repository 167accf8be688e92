//! Examples and laws of the intervals.

use proptest::collection::vec;
use proptest::prelude::*;
use rstest::rstest;

use super::*;
use Urgency::{High, Normal};

const ZERO: Duration = Duration::ZERO;

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// A change and the sync that it needs, in milliseconds since the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Recorded {
    at: u64,
    urgency: Urgency,
    due: u64,
}

fn pacing<K: Clone + Eq + Hash>(batching: Batching) -> Pacing<K> {
    let mut pacing = Pacing::default();
    pacing.set_batching(batching);
    pacing
}

/// Records changes of one key at these times, with adaptive batching.
fn record(changes: impl IntoIterator<Item = (u64, Urgency)>, min_delay: Duration) -> Vec<Recorded> {
    record_in(pacing(Batching::Adaptive), changes, min_delay)
}

fn record_in(
    mut pacing: Pacing<&'static str>,
    changes: impl IntoIterator<Item = (u64, Urgency)>,
    min_delay: Duration,
) -> Vec<Recorded> {
    let start = Instant::now();
    let record = |(at, urgency)| {
        let delay = pacing.record_change("web", urgency, min_delay, start + millis(at));
        Recorded { at, urgency, due: at + u64::try_from(delay.as_millis()).expect("short") }
    };
    changes.into_iter().map(record).collect()
}

/// Returns the times at which the queue hands out the key: the earliest one counts, and serves all changes before it.
fn syncs(changes: &[Recorded]) -> Vec<u64> {
    let (mut syncs, mut waiting) = (Vec::new(), None);
    for change in changes {
        if let Some(due) = waiting.take_if(|due| *due <= change.at) {
            syncs.push(due);
        }
        waiting = Some(waiting.map_or(change.due, |due: u64| due.min(change.due)));
    }
    syncs.extend(waiting);
    syncs
}

/// Changes every `step` milliseconds until `end`.
fn steady(step: u64, end: u64, urgency: Urgency) -> impl Iterator<Item = (u64, Urgency)> {
    (0..end / step).map(move |number| (number * step, urgency))
}

#[rstest]
#[case::continuous(steady(10, 5_000, Normal).collect(), &[0, 100, 300, 700, 1_500, 2_500, 3_500, 4_500, 5_500])]
#[case::continuous_removals(
    steady(10, 1_000, High).collect(), &[0, 100, 300, 500, 700, 900, 1_100])]
#[case::five_a_second(steady(200, 3_000, Normal).collect(), &[0, 200, 400, 800, 1_600, 2_600, 3_600])]
#[case::changes_that_no_interval_combines(steady(600, 3_000, Normal).collect(), &[0, 600, 1_200, 1_800, 2_400])]
#[case::lone_changes(vec![(0, Normal), (5_000, High), (10_000, Normal)], &[0, 5_000, 10_000])]
#[case::two_changes_at_once(vec![(0, Normal), (1, Normal), (2, Normal)], &[0, 100])]
fn a_key_that_keeps_changing_is_synced_at_growing_intervals(
    #[case] changes: Vec<(u64, Urgency)>,
    #[case] expected: &[u64],
) {
    assert_eq!(syncs(&record(changes, ZERO)), expected);
}

// upstream: what a sync of a small Service takes with its write, and what one of a large Service takes. The first sync after
// the start sets it.
#[rstest]
#[case::continuous(20, steady(1, 100, Normal).collect(), &[0, 20, 40, 60, 80, 100])]
#[case::removals(20, steady(1, 100, High).collect(), &[0, 20, 40, 60, 80, 100])]
#[case::changes_further_apart(20, steady(25, 200, Normal).collect(), &[0, 25, 50, 75, 100, 125, 150, 175])]
#[case::lone_changes(200, vec![(0, Normal), (250, High), (500, Normal)], &[0, 250, 500])]
#[case::two_changes_of_a_large_service(200, vec![(0, Normal), (5, High)], &[0, 100])]
#[case::two_changes_at_once(20, vec![(0, Normal), (1, Normal), (2, Normal)], &[0, 20])]
#[case::large_service(150, steady(1, 500, Normal).collect(), &[0, 100, 250, 400, 550])]
#[case::removals_of_a_huge_service(9_000, steady(1, 800, High).collect(), &[0, 100, 600, 1_100])]
fn by_default_syncs_are_as_far_apart_as_those_of_upstream(
    #[case] interval: u64,
    #[case] changes: Vec<(u64, Urgency)>,
    #[case] expected: &[u64],
) {
    let mut pacing = pacing(Batching::None);
    pacing.set_interval(&"web", millis(interval));
    assert_eq!(syncs(&record_in(pacing, changes, ZERO)), expected);
}

#[test]
fn a_removal_brings_waiting_additions_forward() {
    let continuous = steady(10, 2_600, Normal);
    let recorded = record(continuous.chain([(2_610, High), (2_620, Normal)]), ZERO);
    let [.., before, removal, after] = &recorded[..] else { panic!("too few changes") };
    // The previous sync was due at 2,500 ms.
    assert_eq!((before.due, removal.due, after.due), (3_500, 2_700, 2_700));

    let continuous = steady(10, 2_900, Normal);
    let recorded = record(continuous.chain([(2_910, High)]), ZERO);
    assert_eq!(recorded.last().map(|it| it.due), Some(2_910), "no removal within the last 200 ms");
}

// upstream: the batch period starts with the first change.
#[rstest]
#[case::at_a_slow_rate(steady(600, 3_000, Normal).collect(), &[500, 1_100, 1_700, 2_300, 2_900])]
#[case::continuous(steady(10, 3_000, Normal).collect(), &[500, 1_000, 1_500, 2_000, 2_800, 3_800])]
#[case::removals(steady(10, 2_000, High).collect(), &[500, 1_000, 1_500, 2_000])]
fn the_batch_period_is_the_minimum_delay(#[case] changes: Vec<(u64, Urgency)>, #[case] expected: &[u64]) {
    assert_eq!(syncs(&record(changes, millis(500))), expected);
}

#[test]
fn quiet_keys_are_removed() {
    let (start, mut pacing) = (Instant::now(), pacing(Batching::Adaptive));
    for key in 0..1_000 {
        pacing.record_change(key, Normal, ZERO, start);
    }
    for key in 0..10 {
        pacing.record_change(key, Normal, ZERO, start + QUIET_AFTER / 2);
    }
    pacing.record_change(5_000, Normal, ZERO, start + QUIET_AFTER);
    assert_eq!(pacing.keys.len(), 11);
    assert!(pacing.keys.capacity() < 100, "{}", pacing.keys.capacity());
    assert_eq!(pacing.record_change(0, Normal, ZERO, start + 3 * QUIET_AFTER), ZERO);
    assert_eq!(pacing.keys.len(), 1);
}

#[test]
fn the_interval_of_a_large_service_outlasts_quiet_times_until_it_is_reset() {
    let (start, mut pacing) = (Instant::now(), pacing(Batching::None));
    let second = |pacing: &mut Pacing<_>, at| {
        pacing.record_change("web", Normal, ZERO, start + millis(at));
        pacing.record_change("web", Normal, ZERO, start + millis(at))
    };
    pacing.set_interval(&"web", millis(60));
    assert_eq!([second(&mut pacing, 0), second(&mut pacing, 60_000)], [millis(60); 2]);
    pacing.set_interval(&"web", ZERO);
    assert_eq!(second(&mut pacing, 120_000), NONE.first);
    assert!(pacing.intervals.is_empty());
}

#[test]
fn keys_are_paced_independently() {
    let (now, mut pacing) = (Instant::now(), pacing(Batching::Adaptive));
    assert_eq!(pacing.record_change("web", Normal, ZERO, now), ZERO);
    assert_eq!(pacing.record_change("web", Normal, ZERO, now), ADAPTIVE.first);
    assert_eq!(pacing.record_change("shop", Normal, ZERO, now), ZERO);
}

/// Changes with pauses of up to 3 s, mostly short ones.
fn changes() -> impl Strategy<Value = Vec<(u64, Urgency)>> {
    let pause = prop_oneof![6 => 0..20_u64, 3 => 0..400_u64, 1 => 0..3_000_u64];
    let urgency = prop_oneof![3 => Just(Normal), 1 => Just(High)];
    vec((pause, urgency), 1..200).prop_map(|changes| {
        let mut now = 0;
        let mut at = |pause| {
            now += pause;
            now
        };
        changes.into_iter().map(|(pause, urgency)| (at(pause), urgency)).collect()
    })
}

fn min_delay() -> impl Strategy<Value = u64> {
    prop_oneof![3 => Just(0), 1 => 0..2_000_u64]
}

fn as_millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).expect("short")
}

proptest! {
    #[test]
    fn no_delay_is_longer_than_its_limit(changes in changes(), min_delay in min_delay()) {
        for it in record(changes, millis(min_delay)) {
            let limit = if it.urgency == High { ADAPTIVE.urgent } else { ADAPTIVE.longest };
            prop_assert!(it.due - it.at <= as_millis(limit).max(min_delay), "{it:?}");
        }
    }

    #[test]
    fn by_default_no_delay_is_longer_than_20_ms(changes in changes(), min_delay in min_delay()) {
        for it in record_in(pacing(Batching::None), changes, millis(min_delay)) {
            prop_assert!(it.due - it.at <= 20.max(min_delay), "{it:?}");
        }
    }

    #[test]
    fn a_due_time_is_never_postponed(changes in changes(), min_delay in min_delay()) {
        let recorded = record(changes, millis(min_delay));
        for pair in recorded.windows(2) {
            let [first, second] = pair else { unreachable!() };
            prop_assert!(second.at >= first.due || second.due <= first.due, "{first:?}, {second:?}");
        }
    }

    #[test]
    fn a_quiet_key_has_no_delay(changes in changes(), min_delay in min_delay()) {
        let recorded = record(changes, millis(min_delay));
        for pair in recorded.windows(2) {
            let [first, second] = pair else { unreachable!() };
            if second.at >= first.at.max(first.due) + as_millis(QUIET_AFTER) {
                prop_assert_eq!(second.due, second.at + min_delay);
            }
        }
    }

    #[test]
    fn syncs_are_at_least_the_shortest_interval_apart(changes in changes(), min_delay in min_delay()) {
        for pair in syncs(&record(changes, millis(min_delay))).windows(2) {
            prop_assert!(pair[0] + as_millis(ADAPTIVE.first) <= pair[1], "{pair:?}");
        }
    }

    /// After the four doublings from 100 ms to 1 s, there is one sync per second without removals, and one per 200 ms
    /// with them.
    #[test]
    fn syncs_of_continuous_changes_are_bounded(
        pauses in vec((0..499_u64, any::<bool>()), 1..500),
        removals in any::<bool>(),
    ) {
        let (mut now, mut changes) = (0, Vec::new());
        for (pause, urgent) in pauses {
            now += pause;
            changes.push((now, if urgent && removals { High } else { Normal }));
        }
        let count = syncs(&record(changes, ZERO)).len() as u64;
        let interval = as_millis(if removals { ADAPTIVE.urgent } else { ADAPTIVE.longest });
        prop_assert!(count <= 6 + now / interval, "{count} syncs in {now} ms");
    }
}

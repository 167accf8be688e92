//! Tables of settling, slow and stalled writers, resolution and bounds.

use kube_endpoint_model::well_known::{ENDPOINTS_CONTROLLER_NAME as ENDPOINTS, SLICE_CONTROLLER_NAME as ENDPOINTSLICE};
use kube_endpoints_explain::{Kind, ObjectRef};
use rstest::rstest;

use super::*;

const SETTLE: Duration = Duration::from_secs(30);
const EMPTY: bool = true;
const PENDING: bool = false;

/// A ledger and its start.
struct Rig {
    ledger: Ledger,
    start: Instant,
}

impl Rig {
    fn new(follows_lease: bool) -> Rig {
        Rig { ledger: Ledger::new(SETTLE, follows_lease), start: Instant::now() }
    }

    fn at(&self, seconds: u64) -> Instant {
        self.start + Duration::from_secs(seconds)
    }

    /// Compares the plan for a Service and records the mismatch if it is one.
    fn compare(&mut self, seconds: u64, name: &str, fingerprint: (u64, u64), is_empty: bool) -> Decision {
        self.compare_after(Cause::Change, seconds, name, fingerprint, is_empty)
    }

    fn compare_after(
        &mut self,
        cause: Cause,
        seconds: u64,
        name: &str,
        (inputs, outputs): (u64, u64),
        is_empty: bool,
    ) -> Decision {
        let (now, key) = (self.at(seconds), key(name));
        let fingerprint = Fingerprint { inputs, outputs };
        let decision =
            self.ledger.compare(now, Comparison { controller: ENDPOINTSLICE, key: &key, fingerprint, cause, is_empty });
        if decision == Decision::Mismatch {
            let classes = BTreeSet::from([DifferenceClass::Content, DifferenceClass::Metadata]);
            self.ledger.record(now, (ENDPOINTSLICE, &key), classes, vec![object()]);
        }
        decision
    }

    fn lease(&mut self, seconds: u64, holder: &str, renewed: i64) {
        self.lease_of(Duration::from_secs(15), seconds, holder, renewed);
    }

    fn lease_of(&mut self, duration: Duration, seconds: u64, holder: &str, renewed: i64) {
        let renewed = Some(jiff::Timestamp::from_second(renewed).unwrap());
        let reading = LeaseReading::Lease { holder: holder.to_owned(), renewed, duration };
        self.ledger.observe_lease(self.at(seconds), reading);
    }

    fn clean_for(&self, seconds: u64) -> Option<u64> {
        self.ledger.clean_for(self.at(seconds)).map(|clean| clean.as_secs())
    }
}

fn key(name: &str) -> ObjectKey {
    ObjectKey::new("shop", name)
}

fn object() -> ObjectMismatch {
    ObjectMismatch {
        object: ObjectRef { kind: Kind::EndpointSlice, namespace: "shop".to_owned(), name: "web-1".to_owned() },
        class: DifferenceClass::Content,
        codes: Vec::new(),
        expected: None,
        actual: None,
        omitted: 0,
    }
}

fn again(seconds: u64) -> Decision {
    Decision::Again(Duration::from_secs(seconds))
}

/// Time of a comparison, its fingerprint, whether the plan is empty, and the decision.
type Step = (u64, (u64, u64), bool, Decision);

#[rstest]
#[case::empty_plan(&[(0, (1, 1), EMPTY, Decision::Done), (60, (1, 1), EMPTY, Decision::Done)])]
#[case::lasting_difference(&[
    (0, (1, 1), PENDING, again(30)),
    (10, (1, 1), PENDING, again(20)),
    (30, (1, 1), PENDING, Decision::Mismatch),
    (31, (1, 1), PENDING, Decision::Done),
])]
#[case::difference_after_an_empty_plan(&[
    (0, (1, 1), EMPTY, Decision::Done),
    (100, (2, 1), PENDING, again(30)),
    (129, (2, 1), PENDING, again(1)),
    (130, (2, 1), PENDING, Decision::Mismatch),
])]
#[case::inputs_change(&[
    (0, (1, 1), PENDING, again(30)),
    (29, (2, 1), PENDING, again(30)),
    (58, (3, 1), PENDING, again(30)),
    (88, (3, 1), PENDING, Decision::Mismatch),
])]
#[case::outputs_change(&[
    (0, (1, 1), PENDING, again(30)),
    (29, (1, 2), PENDING, again(30)),
    (59, (1, 2), PENDING, Decision::Mismatch),
])]
#[case::writer_catches_up(&[
    (0, (1, 1), PENDING, again(30)),
    (1, (1, 2), EMPTY, Decision::Done),
    (31, (2, 2), PENDING, again(30)),
])]
#[case::change_of_an_open_mismatch(&[
    (0, (1, 1), PENDING, again(30)),
    (30, (1, 1), PENDING, Decision::Mismatch),
    (40, (2, 1), PENDING, again(30)),
    (70, (2, 1), PENDING, Decision::Mismatch),
])]
#[tokio::test(start_paused = true)]
async fn a_difference_is_a_mismatch_once_both_sides_have_settled(#[case] steps: &[Step]) {
    let mut rig = Rig::new(false);
    for (seconds, fingerprint, is_empty, expect) in steps {
        assert_eq!(rig.compare(*seconds, "web", *fingerprint, *is_empty), *expect, "at {seconds} s");
    }
}

#[tokio::test(start_paused = true)]
async fn a_slow_writer_that_drains_its_backlog_causes_no_mismatch() {
    let mut rig = Rig::new(false);
    let names: Vec<String> = (0..300).map(|number| format!("app-{number}")).collect();
    for name in &names {
        rig.compare(0, name, (1, 1), PENDING);
    }
    // One Service per second; all others are compared every 10 s.
    for (seconds, name) in (1..).zip(&names) {
        assert_eq!(rig.compare(seconds, name, (1, 2), EMPTY), Decision::Done);
        if seconds % 10 == 0 {
            for late in &names[usize::try_from(seconds).unwrap()..] {
                let decision = rig.compare(seconds, late, (1, 1), PENDING);
                assert!(matches!(decision, Decision::Again(_)), "{late} at {seconds} s: {decision:?}");
            }
        }
    }
    let required = |rig: &mut Rig, seconds| {
        let at = rig.at(seconds);
        rig.ledger.required_period(at).as_secs()
    };
    assert_eq!(required(&mut rig, 300), 600);
    assert_eq!(required(&mut rig, 300 + 700), 30, "after 10 minutes without slow writes");
}

#[tokio::test(start_paused = true)]
async fn a_repaired_mismatch_does_not_delay_others_for_hours() {
    let mut rig = Rig::new(false);
    rig.compare(0, "web", (1, 1), PENDING);
    rig.compare(30, "web", (1, 1), PENDING);
    rig.compare(20_000, "web", (1, 2), EMPTY);
    assert_eq!(rig.compare(20_001, "api", (1, 1), PENDING), again(600), "the limit of one delay");
    assert_eq!(rig.compare(21_300, "api", (1, 1), PENDING), Decision::Mismatch);
}

/// Readings of the Lease every 10 s, each `(holder, renewal)`, from 0 s on. The difference exists from 12 s on.
#[rstest]
#[case::renewed(&[("a", 0), ("a", 8), ("a", 18), ("a", 28), ("a", 38), ("a", 48)], Some(50))]
#[case::stalled_at_the_start(&[("a", 0), ("a", 0), ("a", 0), ("a", 30), ("a", 38), ("a", 48), ("a", 58), ("a", 68)], Some(60))]
#[case::never_renewed(&[("a", 0); 12], None)]
#[case::stalls_and_resumes(
    &[("a", 0), ("a", 8), ("a", 12), ("a", 12), ("a", 12), ("a", 42), ("a", 52), ("a", 62), ("a", 72), ("a", 82)],
    Some(80)
)]
#[case::gap_between_two_readings(
    &[("a", 0), ("a", 1), ("a", 19), ("a", 29), ("a", 39), ("a", 49), ("a", 59)],
    Some(50)
)]
#[case::other_holder(
    &[("a", 0), ("a", 8), ("a", 18), ("b", 28), ("b", 38), ("b", 48), ("b", 58), ("b", 68)],
    Some(60)
)]
#[case::released(&[("a", 0), ("a", 8), ("", 18), ("", 18), ("", 18), ("", 18), ("", 18), ("", 18)], None)]
#[tokio::test(start_paused = true)]
async fn a_stalled_writer_stops_the_count(#[case] readings: &[(&str, i64)], #[case] mismatch_at: Option<u64>) {
    let mut rig = Rig::new(true);
    let mut found = None;
    for (number, (holder, renewed)) in (0..).zip(readings) {
        rig.lease(number * 10, holder, *renewed);
        let seconds = number * 10 + if number == 1 { 2 } else { 0 };
        if number >= 1 && rig.compare(seconds, "web", (1, 1), PENDING) == Decision::Mismatch {
            found = found.or(Some(seconds));
        }
    }
    assert_eq!(found, mismatch_at);
}

/// The Lease is renewed every second, and read less often than it expires.
#[rstest]
#[tokio::test(start_paused = true)]
async fn slow_readings_are_no_gap(#[values(2, 5, 9, 11, 15, 60)] duration: u64, #[values(10, 20)] period: u64) {
    let mut rig = Rig::new(true);
    let mut found = None;
    for number in 0..10 {
        let seconds = number * period;
        rig.lease_of(Duration::from_secs(duration), seconds, "a", i64::try_from(seconds).unwrap());
        if number >= 1 && rig.compare(seconds, "web", (1, 1), PENDING) == Decision::Mismatch {
            found = found.or(Some(seconds));
        }
    }
    assert_eq!(found, Some(if period == 10 { 40 } else { 60 }));
}

#[rstest]
#[case::renewed(("a", 29), 40)]
#[case::gap(("a", 20), 10)]
#[case::other_holder(("b", 29), 20)]
#[tokio::test(start_paused = true)]
async fn the_clean_time_starts_anew_with_the_renewals(#[case] (holder, renewed): (&str, i64), #[case] expected: u64) {
    let mut rig = Rig::new(true);
    rig.lease(0, "a", 0);
    rig.lease(10, "a", 9);
    rig.compare(10, "web", (1, 1), EMPTY);
    rig.lease(20, "a", 19);
    rig.lease(30, holder, renewed);
    rig.lease(40, holder, 39);
    rig.lease(50, holder, 49);
    assert_eq!(rig.clean_for(50), Some(expected));
}

#[tokio::test(start_paused = true)]
async fn without_readings_of_an_existing_lease_nothing_is_a_mismatch() {
    let mut rig = Rig::new(true);
    assert_eq!(rig.compare(0, "web", (1, 1), PENDING), again(10));
    assert_eq!(rig.compare(1_000, "web", (1, 1), PENDING), again(10));
    assert!(rig.ledger.is_writer_stalled(rig.at(1_000)));
    // All requests fail after these readings.
    rig.lease(1_001, "a", 1);
    rig.lease(1_011, "a", 11);
    assert_eq!(rig.compare(1_012, "web", (1, 1), PENDING), again(29));
    assert_eq!(rig.compare(1_045, "web", (1, 1), PENDING), again(10));
}

#[tokio::test(start_paused = true)]
async fn without_a_lease_time_alone_decides() {
    let mut rig = Rig::new(true);
    rig.compare(0, "web", (1, 1), PENDING);
    rig.ledger.observe_lease(rig.at(0), LeaseReading::Unavailable);
    assert_eq!(rig.compare(30, "web", (1, 1), PENDING), Decision::Mismatch);
}

#[tokio::test(start_paused = true)]
async fn a_mismatch_is_resolved_when_the_plan_is_empty_or_the_service_is_gone() {
    let mut rig = Rig::new(false);
    assert_eq!(rig.clean_for(0), None, "nothing is compared yet");
    for name in ["web", "api", "db"] {
        rig.compare(0, name, (1, 1), PENDING);
        assert_eq!(rig.compare(30, name, (1, 1), PENDING), Decision::Mismatch);
    }
    let content = |rig: &Rig| rig.ledger.open_by_class()[&(ENDPOINTSLICE, DifferenceClass::Content)];
    assert_eq!((rig.ledger.open(), content(&rig), rig.clean_for(31)), (3, 3, None));
    rig.compare(40, "web", (1, 2), EMPTY);
    assert_eq!((rig.ledger.open(), content(&rig), rig.clean_for(41)), (2, 2, None));
    let at = rig.at(50);
    rig.ledger.forget(at, ENDPOINTSLICE, &key("api"));
    rig.ledger.prune(at, ENDPOINTSLICE, |it| *it != key("db"));
    rig.ledger.prune(at, ENDPOINTS, |_| false);
    assert_eq!((rig.ledger.open(), content(&rig), rig.clean_for(60)), (0, 0, Some(10)));
    assert_eq!(rig.ledger.services(), 1);
    let resolved = rig.ledger.mismatches().iter().filter_map(|it| it.resolved).map(|it| it - rig.start);
    let resolved: Vec<u64> = resolved.map(|it| it.as_secs()).collect();
    assert_eq!(resolved, [50, 50, 40]);
}

#[tokio::test(start_paused = true)]
async fn only_the_last_mismatches_have_details_and_open_ones_come_first() {
    let mut rig = Rig::new(false);
    for number in 0..150 {
        let name = format!("app-{number}");
        rig.compare(0, &name, (1, 1), PENDING);
        rig.compare(30, &name, (1, 1), PENDING);
    }
    assert_eq!((rig.ledger.open(), rig.ledger.mismatches().iter().count()), (150, 100));
    rig.compare(40, "app-7", (1, 2), EMPTY);
    let shown = |rig: &Rig| rig.ledger.mismatches().iter().map(|it| it.key.name.to_string()).collect::<Vec<_>>();
    assert_eq!(shown(&rig).last().map(String::as_str), Some("app-7"));
    rig.compare(41, "late", (1, 1), PENDING);
    // The plan of app-7 took 40 s, so that the required period is 80 s.
    rig.compare(121, "late", (1, 1), PENDING);
    let names = shown(&rig);
    assert_eq!((names.len(), names[0].as_str(), names.contains(&"app-7".to_owned())), (100, "late", false));
}

#[tokio::test(start_paused = true)]
async fn changes_and_ages_are_counted() {
    let mut rig = Rig::new(false);
    rig.compare(0, "web", (1, 1), EMPTY);
    rig.compare(1, "api", (1, 1), EMPTY);
    rig.compare(2, "web", (2, 1), PENDING);
    rig.compare(3, "web", (2, 2), EMPTY);
    rig.compare(4, "web", (3, 2), EMPTY);
    assert_eq!((rig.ledger.changes(), rig.ledger.services(), rig.ledger.unsettled()), (2, 2, 0));
    assert_eq!(rig.ledger.oldest_comparison(rig.at(11)).as_secs(), 10);
    rig.compare(12, "api", (1, 1), PENDING);
    assert_eq!((rig.ledger.oldest_comparison(rig.at(14)).as_secs(), rig.ledger.unsettled()), (10, 1));
}

/// Plans that Kubernetes computes only at the next sync.
#[rstest]
#[case::first_sync(&[(Cause::Other, PENDING)], true)]
#[case::orphan_found_by_a_comparison(&[(Cause::Comparison, PENDING)], false)]
#[case::change(&[(Cause::Other, EMPTY), (Cause::Change, PENDING)], true)]
#[case::change_without_sync(&[(Cause::Other, EMPTY), (Cause::Comparison, PENDING)], false)]
#[case::retry(&[(Cause::Other, EMPTY), (Cause::Comparison, PENDING), (Cause::Other, PENDING)], false)]
#[case::synced_later(&[(Cause::Other, EMPTY), (Cause::Comparison, PENDING), (Cause::Change, PENDING)], true)]
#[case::compared_after_a_sync(&[(Cause::Other, EMPTY), (Cause::Change, PENDING), (Cause::Comparison, PENDING)], true)]
fn a_difference_counts_once_the_writer_syncs(#[case] compared: &[(Cause, bool)], #[case] expected: bool) {
    let mut rig = Rig::new(false);
    for (at, (cause, is_empty)) in (0..).zip(compared) {
        rig.compare_after(*cause, at, "web", (1, 1), *is_empty);
    }
    assert_eq!((rig.ledger.unsettled(), rig.ledger.untriggered()), (expected.into(), (!expected).into()));
    let decision = rig.compare_after(Cause::Comparison, 60, "web", (1, 1), PENDING);
    assert_eq!(decision == Decision::Mismatch, expected);
}

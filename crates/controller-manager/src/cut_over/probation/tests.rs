use proptest::prelude::*;
use rstest::rstest;

use super::*;

const LIMIT: Limit = Limit { fraction: 0.01, minimum: 20 };

/// A probation with a clock and a number of slices.
struct Rig {
    probation: Probation,
    now: Instant,
    objects: usize,
}

impl Rig {
    fn new(limit: Limit) -> Rig {
        let mut probation = Probation::new(limit, ["a", "b"]);
        let now = Instant::now();
        assert!(!probation.is_over_for("a", now));
        Rig { probation, now, objects: 300 }
    }

    fn plan(&mut self, key: usize, explained: bool, vanished: bool, writes: Vec<WriteId>) -> Decision {
        let key = ObjectKey::new("shop", format!("web-{key}"));
        let plan = Plan { controller: "a", key: &key, is_explained: explained, has_vanished: vanished, writes };
        self.probation.decide(self.now, plan, self.objects, |at| format!("{key} {at}"))
    }

    /// Reviews an unexplained plan with these writes, and again after the recheck.
    fn unexplained(&mut self, key: usize, writes: Vec<WriteId>) -> Decision {
        assert_eq!(self.plan(key, false, false, writes.clone()), Decision::Recheck);
        self.now += RECHECK;
        self.plan(key, false, false, writes)
    }

    fn counted(&self) -> usize {
        self.probation.counted.len()
    }
}

fn updates(count: usize, version: u64) -> Vec<WriteId> {
    (0..count).map(|at| WriteId::Replace(format!("slice-{at}").into(), version.into())).collect()
}

#[rstest]
#[case::minimum(0.01, 20, 300, Some(20))]
#[case::equal(0.01, 20, 2_000, Some(20))]
#[case::fraction(0.01, 20, 2_199, Some(21))]
#[case::large(0.01, 20, 100_000, Some(1_000))]
#[case::none_allowed(0.0, 0, 100_000, Some(0))]
#[case::almost_all(0.999, 0, 1_000, Some(999))]
#[case::disabled(1.0, 20, 300, None)]
#[case::disabled_above_one(7.5, 20, 300, None)]
fn limit_is_a_fraction_of_all_slices(
    #[case] fraction: f64,
    #[case] minimum: usize,
    #[case] objects: usize,
    #[case] expected: Option<usize>,
) {
    assert_eq!(Limit { fraction, minimum }.of(objects), expected);
}

#[test]
fn explained_writes_are_not_counted() {
    let mut rig = Rig::new(LIMIT);
    for key in 0..100 {
        assert_eq!(rig.plan(key, true, false, updates(3, 1)), Decision::Send);
    }
    assert_eq!(rig.counted(), 0);
}

#[test]
fn unexplained_writes_up_to_the_limit_are_sent() {
    let mut rig = Rig::new(LIMIT);
    for key in 0..20 {
        assert_eq!(rig.unexplained(key, updates(1, 1)), Decision::Send);
    }
    let Decision::Stop(stop) = rig.unexplained(20, updates(1, 1)) else { panic!("the limit is exceeded") };
    assert_eq!((stop.planned, stop.limit, stop.objects), (21, 20, 300));
    let examples: Vec<String> = (0..10).map(|key| format!("shop/web-{key} 0")).collect();
    assert_eq!(stop.examples, examples, "at most ten");
}

#[test]
fn a_plan_beyond_the_limit_is_withheld_as_a_whole() {
    let mut rig = Rig::new(LIMIT);
    assert_eq!(rig.unexplained(0, updates(20, 1)), Decision::Send);
    assert!(matches!(rig.unexplained(1, updates(2, 1)), Decision::Stop(Stop { planned: 22, .. })));
    let mut rig = Rig::new(LIMIT);
    assert!(matches!(rig.unexplained(0, updates(21, 1)), Decision::Stop(Stop { planned: 21, .. })));
}

#[test]
fn no_limit_sends_everything_at_once() {
    let mut rig = Rig::new(Limit { fraction: 1.0, minimum: 0 });
    for key in 0..1_000 {
        assert_eq!(rig.plan(key, false, true, updates(2, 1)), Decision::Send);
    }
}

/// The event that explains a plan may be later than the sync.
#[test]
fn an_explanation_before_the_recheck_is_in_time() {
    let mut rig = Rig::new(Limit { fraction: 0.0, minimum: 0 });
    assert_eq!(rig.plan(0, false, false, updates(1, 1)), Decision::Recheck);
    rig.now += RECHECK / 2;
    assert_eq!(rig.plan(0, false, false, updates(1, 1)), Decision::Recheck, "an earlier sync does not count it");
    assert_eq!(rig.plan(0, true, false, updates(1, 1)), Decision::Send);
    // The consequence of an explained write, such as the merge of two slices.
    assert_eq!(rig.plan(0, false, false, updates(5, 2)), Decision::Send);
    assert_eq!(rig.counted(), 0);
    assert_eq!(rig.plan(0, false, true, updates(1, 2)), Decision::Recheck, "but not one without its inputs");
}

#[test]
fn a_consequence_of_an_unexplained_write_counts() {
    let mut rig = Rig::new(LIMIT);
    assert_eq!(rig.unexplained(0, updates(2, 1)), Decision::Send);
    assert_eq!(rig.plan(0, false, false, updates(2, 2)), Decision::Send);
    assert_eq!(rig.counted(), 4);
}

#[test]
fn a_retry_of_a_failed_write_does_not_count_again() {
    let mut rig = Rig::new(LIMIT);
    let writes = [updates(2, 1), vec![WriteId::Create(0, Some(1)), WriteId::Create(1, Some(1))]].concat();
    assert_eq!(rig.unexplained(0, writes.clone()), Decision::Send);
    for _ in 0..50 {
        assert_eq!(rig.plan(0, false, false, writes.clone()), Decision::Send);
    }
    assert_eq!(rig.counted(), 4);
    assert_eq!(rig.plan(0, false, false, vec![WriteId::Create(0, Some(2))]), Decision::Send);
    assert_eq!(rig.counted(), 5, "another create");
}

#[test]
fn period_starts_with_the_first_sync_of_each_controller() {
    let (start, second) = (Instant::now(), Duration::from_secs(1));
    let mut probation = Probation::new(LIMIT, ["a", "b"]);
    assert!(!probation.is_over(start + 100 * PERIOD), "no controller has started");
    assert!(!probation.is_over_for("a", start));
    assert!(!probation.is_over_for("a", start + PERIOD.saturating_sub(second)));
    assert!(!probation.is_over_for("b", start + PERIOD.saturating_sub(second)));
    assert!(probation.is_over_for("a", start + PERIOD));
    assert!(!probation.is_over(start + PERIOD), "the other controller started later");
    assert!(probation.is_over(start + 2 * PERIOD));
}

proptest! {
    /// Whatever is planned, at most `limit` unexplained writes are sent.
    #[test]
    fn at_most_the_limit_is_sent(
        plans in proptest::collection::vec((0_usize..6, any::<bool>(), any::<bool>(), 1_usize..8, 0_u64..3), 1..80),
        minimum in 0_usize..40,
    ) {
        let mut rig = Rig::new(Limit { fraction: 0.0, minimum });
        let mut sent = HashSet::new();
        for (key, explained, vanished, count, version) in plans {
            let explained = explained && !vanished;
            rig.now += RECHECK;
            let writes = updates(count, version);
            match rig.plan(key, explained, vanished, writes.clone()) {
                Decision::Stop(stop) => {
                    prop_assert!(stop.planned > minimum && stop.examples.len() <= EXAMPLES);
                    break;
                }
                Decision::Send if vanished => sent.extend(writes.into_iter().map(|write| (key, write))),
                Decision::Send | Decision::Recheck => {}
            }
        }
        prop_assert!(sent.len() <= minimum);
    }
}

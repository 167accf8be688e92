//! Tests of the election rules, response by response. `UPSTREAM_TESTS.md` maps the tests of client-go to these.

use std::time::{Duration, Instant};

use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube_lease_election::{Answer, Elector, End, LeaseName, Next, Now, Request, Timing};
use rstest::rstest;

const SECOND: Duration = Duration::from_secs(1);

/// One elector and its clock.
struct Bench {
    elector: Elector,
    now: Now,
    start: Instant,
}

impl Bench {
    fn new() -> Self {
        let lease = LeaseName { namespace: "foo".to_owned(), name: "bar".to_owned() };
        let elector = Elector::new(lease, "baz".to_owned(), Timing::default(), 7);
        let now = Now { at: tokio::time::Instant::now().into_std(), wall: Timestamp::UNIX_EPOCH };
        Self { elector, now, start: now.at }
    }

    /// Returns a bench whose elector has led since second 0, with the Lease at resource version 1.
    fn leading() -> Self {
        let mut bench = Self::new();
        bench.sends("get", Answer::Missing);
        bench.sends("create", written(1));
        assert!(bench.leads());
        bench
    }

    fn pass(&mut self, time: Duration) {
        self.now.at += time;
        self.now.wall += time;
    }

    fn next(&mut self) -> Next {
        self.elector.next(self.now)
    }

    /// Advances the clock to the next request, which must have this verb, and returns its Lease.
    #[track_caller]
    fn asks(&mut self, verb: &str) -> Option<Lease> {
        for _ in 0..3 {
            match self.next() {
                Next::Wait(until) => {
                    let wait = until - self.now.at;
                    self.pass(wait);
                }
                Next::Send { request, .. } => {
                    let (found, lease) = match request {
                        Request::Get => ("get", None),
                        Request::Create(lease) => ("create", Some(lease)),
                        Request::Update(lease) => ("update", Some(lease)),
                    };
                    assert_eq!(found, verb);
                    if found == "update" {
                        let version = lease.as_ref().and_then(|lease| lease.metadata.resource_version.as_deref());
                        assert_ne!(version.unwrap_or_default(), "", "update without a resource version");
                    }
                    return lease;
                }
                Next::Ended(end) => panic!("{end:?} instead of {verb}"),
            }
        }
        panic!("waits forever instead of {verb}");
    }

    #[track_caller]
    fn sends(&mut self, verb: &str, answer: Answer) -> Option<Lease> {
        let lease = self.asks(verb);
        self.elector.answer(self.now, answer);
        lease
    }

    /// Returns the time until the next action; zero if a request is due.
    fn waits(&mut self) -> Duration {
        match self.next() {
            Next::Wait(until) => until - self.now.at,
            _ => Duration::ZERO,
        }
    }

    fn leads(&self) -> bool {
        self.elector.lead().is_some()
    }

    /// Returns the seconds from the start to the end of the term.
    fn term_ends(&self) -> Option<f64> {
        self.elector.lead().map(|lead| (lead.until - self.start).as_secs_f64())
    }
}

fn written(version: u32) -> Answer {
    Answer::Written { uid: "uid".to_owned(), resource_version: version.to_string() }
}

/// Returns a Lease at resource version 5.
fn lease(holder: &str, seconds: i32) -> Lease {
    Lease {
        metadata: ObjectMeta {
            namespace: Some("foo".to_owned()),
            name: Some("bar".to_owned()),
            resource_version: Some("5".to_owned()),
            ..ObjectMeta::default()
        },
        spec: Some(LeaseSpec {
            holder_identity: Some(holder.to_owned()),
            lease_duration_seconds: Some(seconds),
            lease_transitions: Some(0),
            ..LeaseSpec::default()
        }),
    }
}

fn found(holder: &str, seconds: i32) -> Answer {
    Answer::Found(lease(holder, seconds))
}

fn renewed_by(holder: &str, second: i64) -> Lease {
    let mut lease = lease(holder, 15);
    let time = Timestamp::from_second(second).expect("valid time");
    lease.spec.as_mut().expect("no spec").renew_time = Some(time.into());
    lease
}

#[track_caller]
fn transitions(lease: Option<Lease>) -> Option<i32> {
    lease.expect("no Lease").spec.expect("no spec").lease_transitions
}

#[test]
fn acquire_from_no_object() {
    let mut bench = Bench::new();
    bench.sends("get", Answer::Missing);
    let lease = bench.sends("create", written(1));
    assert_eq!(transitions(lease), Some(0));
    assert!(bench.leads() && bench.elector.leader() == "baz");
}

#[rstest]
#[case::without_a_record(Lease { spec: None, ..lease("", 0) })]
#[case::unled(lease("", 0))]
#[case::released(lease("", 1))]
fn acquire_what_nobody_holds(#[case] unled: Lease) {
    let mut bench = Bench::new();
    bench.sends("get", Answer::Found(unled));
    assert_eq!(transitions(bench.sends("update", written(6))), Some(1));
    assert!(bench.leads());
}

#[test]
fn acquire_from_led_object_after_its_own_duration() {
    let mut bench = Bench::new();
    bench.sends("get", found("bing", 3));
    // One attempt before, and one exactly at the end of the holder's 3 s, not of this elector's 15 s.
    bench.sends("get", found("bing", 3));
    bench.sends("get", found("bing", 3));
    assert_eq!(bench.now.at - bench.start, 3 * SECOND);
    assert_eq!(transitions(bench.sends("update", written(6))), Some(1));
    assert!(bench.leads());
}

#[test]
fn acquire_from_led_unacked_object() {
    let mut bench = Bench::new();
    // A holder without a lease duration is not replaced before the next attempt.
    bench.sends("get", found("bing", 0));
    assert!(!bench.leads() && bench.waits() >= 2 * SECOND);
    bench.sends("get", found("bing", 0));
    assert_eq!(transitions(bench.sends("update", written(6))), Some(1));
}

#[test]
fn do_not_acquire_from_led_acked_object() {
    let mut bench = Bench::new();
    for second in 0..20 {
        bench.sends("get", Answer::Found(renewed_by("bing", second)));
        let wait = bench.waits();
        assert!((2 * SECOND..=Duration::from_millis(4_400)).contains(&wait), "{wait:?}");
    }
    assert!(!bench.leads() && bench.elector.leader() == "bing");
}

/// A holder whose clock is wrong by years counts as alive while it renews.
#[test]
fn times_in_the_lease_decide_nothing() {
    let mut bench = Bench::new();
    for second in [-4_000_000_000, 4_000_000_000, 0] {
        bench.sends("get", Answer::Found(renewed_by("bing", second)));
    }
    assert!(!bench.leads());
    let last_seen = bench.now.at;
    while !bench.leads() {
        match bench.next() {
            Next::Send { request: Request::Get, .. } => {
                bench.elector.answer(bench.now, Answer::Found(renewed_by("bing", 0)));
            }
            Next::Send { .. } => bench.elector.answer(bench.now, written(6)),
            Next::Wait(until) => bench.now.at = until,
            Next::Ended(end) => panic!("{end:?}"),
        }
    }
    assert_eq!(bench.now.at - last_seen, 15 * SECOND);
}

#[test]
fn renew_already_acquired_object() {
    let mut bench = Bench::new();
    // An earlier write of this candidate whose response was lost.
    bench.sends("get", found("baz", 15));
    assert_eq!(transitions(bench.sends("update", written(6))), Some(0));
    assert!(bench.leads());
}

#[test]
fn fast_path_renews_without_reading() {
    let mut bench = Bench::leading();
    for version in 2..10 {
        assert_eq!(bench.waits(), 2 * SECOND);
        let lease = bench.sends("update", written(version)).expect("no Lease");
        assert_eq!(lease.metadata.resource_version, Some((version - 1).to_string()));
    }
    assert_eq!((bench.elector.slow_paths(), bench.term_ends()), (0, Some(26.0)));
}

#[rstest]
#[case::refused(Answer::Refused)]
#[case::unknown(Answer::Unknown)]
fn slow_path_when_the_optimistic_update_fails(#[case] answer: Answer) {
    let mut bench = Bench::leading();
    bench.sends("update", answer);
    bench.sends("get", found("baz", 15));
    bench.sends("update", written(6));
    assert_eq!((bench.elector.slow_paths(), bench.term_ends()), (1, Some(12.0)));
}

#[test]
fn the_term_counts_from_when_the_renewal_was_sent() {
    let mut bench = Bench::leading();
    bench.asks("update");
    bench.pass(3 * SECOND);
    bench.elector.answer(bench.now, written(2));
    assert_eq!(bench.term_ends(), Some(12.0), "sent at 2, answered at 5");
}

#[test]
fn an_answer_after_the_term_renews_nothing() {
    let mut bench = Bench::leading();
    bench.asks("update");
    bench.pass(10 * SECOND);
    bench.elector.answer(bench.now, written(2));
    assert_eq!(bench.next(), Next::Ended(End::Lost));
}

/// A process is stopped for 1 min between sending the create and receiving the response.
#[test]
fn an_acquisition_that_took_too_long_begins_no_term() {
    let mut bench = Bench::new();
    bench.sends("get", Answer::Missing);
    bench.asks("create");
    bench.pass(60 * SECOND);
    bench.elector.answer(bench.now, written(1));
    assert!(!bench.leads());
    bench.sends("get", found("baz", 15));
    bench.sends("update", written(6));
    assert!(bench.leads());
}

#[test]
fn a_leader_that_cannot_renew_stops_at_its_deadline() {
    let mut bench = Bench::leading();
    let mut sent = 0;
    loop {
        match bench.next() {
            Next::Send { give_up, .. } => {
                sent += 1;
                assert!(give_up <= bench.start + 10 * SECOND, "deadline after the end of the term");
                bench.elector.answer(bench.now, Answer::Unknown);
            }
            Next::Wait(until) => bench.now.at = until,
            Next::Ended(end) => break assert_eq!(end, End::Lost),
        }
    }
    assert_eq!(bench.now.at - bench.start, 10 * SECOND);
    assert_eq!(sent, 8, "one update and one read every 2 s");
}

#[test]
fn a_leader_that_sees_another_holder_stops_at_once() {
    let mut bench = Bench::leading();
    bench.sends("update", Answer::Refused);
    bench.sends("get", found("bing", 15));
    assert_eq!((bench.next(), bench.leads()), (Next::Ended(End::Lost), false));
    assert_eq!(bench.elector.leader(), "bing");
}

/// The holder is cleared manually: the leader acquires the lease again, which counts as a transition.
#[test]
fn a_leader_whose_name_was_removed_stays() {
    let mut bench = Bench::leading();
    bench.sends("update", Answer::Refused);
    bench.sends("get", found("", 15));
    assert_eq!(transitions(bench.sends("update", written(6))), Some(1));
    assert_eq!(bench.term_ends(), Some(12.0));
}

#[test]
fn a_leader_whose_lease_was_deleted_creates_it_again() {
    let mut bench = Bench::leading();
    bench.sends("update", Answer::Missing);
    bench.sends("get", Answer::Missing);
    bench.sends("create", written(9));
    assert_eq!(bench.term_ends(), Some(12.0));
}

#[test]
fn a_candidate_waits_out_the_holder_of_a_lease_that_was_deleted() {
    let mut bench = Bench::new();
    bench.sends("get", found("bing", 15));
    let seen = bench.now.at;
    while bench.now.at < seen + 15 * SECOND {
        bench.sends("get", Answer::Missing);
        bench.waits();
        bench.pass(SECOND);
    }
    bench.sends("get", Answer::Missing);
    bench.sends("create", written(9));
    assert!(bench.leads());
}

#[rstest]
#[case::refused(Answer::Refused)]
#[case::unknown(Answer::Unknown)]
fn a_candidate_that_loses_the_race_waits(#[case] answer: Answer) {
    let mut bench = Bench::new();
    bench.sends("get", found("", 1));
    bench.sends("update", answer);
    assert!(!bench.leads() && bench.waits() >= 2 * SECOND);
}

#[test]
fn a_request_that_is_given_up_counts_as_unknown() {
    let mut bench = Bench::leading();
    bench.asks("update");
    bench.pass(5 * SECOND);
    bench.sends("get", found("baz", 15));
    bench.sends("update", written(6));
    assert_eq!(bench.term_ends(), Some(17.0));
}

#[test]
fn a_release_seen_by_a_watch_is_taken_up_at_once() {
    let mut bench = Bench::new();
    bench.sends("get", Answer::Found(renewed_by("bing", 0)));
    bench.pass(SECOND);
    bench.elector.observe(bench.now, renewed_by("bing", 1));
    assert!(bench.waits() >= SECOND, "a renewal triggered an attempt");
    bench.elector.observe(bench.now, lease("", 1));
    assert_eq!(bench.waits(), Duration::ZERO);
    bench.sends("get", found("", 1));
    bench.sends("update", written(6));
    assert!(bench.leads());
}

#[test]
fn what_a_watch_saw_counts_as_seen() {
    let mut bench = Bench::new();
    bench.sends("get", Answer::Found(renewed_by("bing", 0)));
    bench.pass(SECOND);
    bench.elector.observe(bench.now, renewed_by("bing", 1));
    let seen = bench.now.at;
    loop {
        match bench.next() {
            Next::Send { request: Request::Get, .. } => {
                bench.elector.answer(bench.now, Answer::Found(renewed_by("bing", 1)));
            }
            Next::Wait(until) => bench.now.at = until,
            other => break assert!(matches!(other, Next::Send { request: Request::Update(_), .. }), "{other:?}"),
        }
    }
    assert_eq!(bench.now.at - seen, 15 * SECOND);
}

#[test]
fn release_gives_back_in_one_request() {
    let mut bench = Bench::leading();
    bench.elector.stop();
    let lease = bench.asks("update").expect("no Lease");
    assert!(!bench.leads(), "still leads while the release is sent");
    let spec = lease.spec.expect("no spec");
    assert_eq!((spec.holder_identity.as_deref(), spec.lease_duration_seconds), (Some(""), Some(1)));
    assert_eq!(spec.lease_transitions, Some(0));
    bench.elector.answer(bench.now, written(2));
    assert_eq!((bench.next(), bench.elector.leader()), (Next::Ended(End::Released), ""));
}

#[test]
fn release_while_a_renewal_is_under_way() {
    let mut bench = Bench::leading();
    bench.asks("update");
    bench.elector.stop();
    // The renewal may or may not have been applied, so the Lease is read. It may also be applied after the read.
    bench.sends("get", found("baz", 15));
    bench.sends("update", Answer::Refused);
    bench.sends("get", found("baz", 15));
    bench.sends("update", written(8));
    assert_eq!(bench.next(), Next::Ended(End::Released));
}

#[test]
fn release_while_an_acquisition_is_under_way() {
    let mut bench = Bench::new();
    bench.sends("get", found("", 1));
    bench.asks("update");
    bench.elector.stop();
    bench.sends("get", found("baz", 15));
    bench.sends("update", written(8));
    assert_eq!(bench.next(), Next::Ended(End::Released));
}

#[rstest]
#[case::somebody_elses(found("bing", 15))]
#[case::nobodys(found("", 1))]
#[case::gone(Answer::Missing)]
#[case::unknown(Answer::Unknown)]
fn release_of_what_is_not_held_any_more(#[case] answer: Answer) {
    let mut bench = Bench::leading();
    bench.elector.stop();
    bench.sends("update", Answer::Refused);
    bench.sends("get", answer);
    assert_eq!(bench.next(), Next::Ended(End::Stopped));
}

#[test]
fn a_candidate_that_is_stopped_leaves_the_lease_alone() {
    let mut bench = Bench::new();
    bench.sends("get", found("bing", 15));
    bench.elector.stop();
    assert_eq!(bench.next(), Next::Ended(End::Stopped));
}

#[test]
fn a_leader_that_is_stopped_after_its_term_leaves_the_lease_alone() {
    let mut bench = Bench::leading();
    bench.pass(11 * SECOND);
    bench.elector.stop();
    assert_eq!(bench.next(), Next::Ended(End::Stopped));
}

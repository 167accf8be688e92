//! Tests of the election rules, response by response.

mod harness;

use std::time::Duration;

use k8s_openapi::api::coordination::v1::Lease;
use kube_lease_election::{End, Next, Request, RequestOutcome};
use rstest::rstest;

use self::harness::{Harness, SECOND, found, lease, renewed_by, transitions, written};

#[rstest]
#[case::no_object(RequestOutcome::NotFound, "create", 0)]
#[case::without_a_record(RequestOutcome::Found(Lease { spec: None, ..lease("", 0) }), "update", 1)]
#[case::unled(found("", 0), "update", 1)]
#[case::released(found("", 1), "update", 1)]
// An earlier write of this candidate whose response was lost.
#[case::own(found("baz", 15), "update", 0)]
fn acquire_from_object_without_other_holder(
    #[case] read: RequestOutcome,
    #[case] write: &str,
    #[case] expected_transitions: i32,
) {
    let mut harness = Harness::new();
    harness.exchange("get", read);
    assert_eq!(transitions(harness.exchange(write, written(6))), Some(expected_transitions));
    assert!(harness.is_leading() && harness.elector.leader() == "baz");
}

#[test]
fn acquire_from_led_object_after_its_own_duration() {
    let mut harness = Harness::new();
    harness.exchange("get", found("bing", 3));
    // One attempt before, and one exactly at the end of the holder's 3 s, not of this elector's 15 s.
    harness.exchange("get", found("bing", 3));
    harness.exchange("get", found("bing", 3));
    assert_eq!(harness.now.at - harness.start, 3 * SECOND);
    assert_eq!(transitions(harness.exchange("update", written(6))), Some(1));
    assert!(harness.is_leading());
}

#[test]
fn acquire_from_led_unacked_object() {
    let mut harness = Harness::new();
    // A holder without a lease duration is not replaced before the next attempt.
    harness.exchange("get", found("bing", 0));
    assert!(!harness.is_leading() && harness.time_to_next_action() >= 2 * SECOND);
    harness.exchange("get", found("bing", 0));
    assert_eq!(transitions(harness.exchange("update", written(6))), Some(1));
}

#[test]
fn do_not_acquire_from_led_acked_object() {
    let mut harness = Harness::new();
    for second in 0..20 {
        harness.exchange("get", RequestOutcome::Found(renewed_by("bing", second)));
        let wait = harness.time_to_next_action();
        assert!((2 * SECOND..=Duration::from_millis(4_400)).contains(&wait), "{wait:?}");
    }
    assert!(!harness.is_leading() && harness.elector.leader() == "bing");
}

/// A holder whose clock is wrong by years counts as alive while it renews.
#[test]
fn times_in_the_lease_are_ignored() {
    let mut harness = Harness::new();
    for second in [-4_000_000_000, 4_000_000_000, 0] {
        harness.exchange("get", RequestOutcome::Found(renewed_by("bing", second)));
    }
    assert!(!harness.is_leading());
    let last_observed = harness.now.at;
    while !harness.is_leading() {
        match harness.next() {
            Next::Send { request: Request::Get, .. } => {
                harness.elector.record_outcome(harness.now, RequestOutcome::Found(renewed_by("bing", 0)));
            }
            Next::Send { .. } => harness.elector.record_outcome(harness.now, written(6)),
            Next::Wait(until) => harness.now.at = until,
            Next::Ended(end) => panic!("{end:?}"),
        }
    }
    assert_eq!(harness.now.at - last_observed, 15 * SECOND);
}

#[test]
fn fast_path_renews_without_reading() {
    let mut harness = Harness::leading();
    for version in 2..10 {
        assert_eq!(harness.time_to_next_action(), 2 * SECOND);
        let lease = harness.exchange("update", written(version)).expect("no Lease");
        assert_eq!(lease.metadata.resource_version, Some((version - 1).to_string()));
    }
    assert_eq!((harness.elector.slow_path_count(), harness.term_end_seconds()), (0, Some(26.0)));
}

/// The server answers again after an outage.
#[test]
fn retry_now_ends_the_wait_of_a_leader_and_of_a_candidate() {
    let mut leader = Harness::leading();
    assert_eq!(leader.time_to_next_action(), 2 * SECOND);
    leader.elector.retry_now();
    leader.expect_request("update");
    leader.elector.retry_now();
    leader.elector.record_outcome(leader.now, written(2));
    assert!(leader.is_leading(), "a request in flight is not affected");

    let mut candidate = Harness::new();
    candidate.exchange("get", RequestOutcome::Unknown);
    assert!(candidate.time_to_next_action() >= 2 * SECOND);
    candidate.elector.retry_now();
    candidate.exchange("get", found("bing", 15));
    assert!(!candidate.is_leading());
}

#[rstest]
#[case::rejected(RequestOutcome::Rejected, found("baz", 15), "update", (0, 1))]
#[case::unknown(RequestOutcome::Unknown, found("baz", 15), "update", (0, 1))]
// The holder is cleared manually: the acquisition by the leader counts as a transition, and not as a slow path.
#[case::holder_cleared(RequestOutcome::Rejected, found("", 15), "update", (1, 0))]
#[case::deleted(RequestOutcome::NotFound, RequestOutcome::NotFound, "create", (0, 0))]
fn slow_path_when_the_optimistic_update_fails(
    #[case] outcome: RequestOutcome,
    #[case] read: RequestOutcome,
    #[case] write: &str,
    #[case] (expected_transitions, slow_paths): (i32, u64),
) {
    let mut harness = Harness::leading();
    harness.exchange("update", outcome);
    harness.exchange("get", read);
    assert_eq!(transitions(harness.exchange(write, written(6))), Some(expected_transitions));
    assert_eq!((harness.elector.slow_path_count(), harness.term_end_seconds()), (slow_paths, Some(12.0)));
}

#[test]
fn term_is_measured_from_sending_the_renewal() {
    let mut harness = Harness::leading();
    harness.expect_request("update");
    harness.advance(3 * SECOND);
    harness.elector.record_outcome(harness.now, written(2));
    assert_eq!(harness.term_end_seconds(), Some(12.0), "sent at 2, answered at 5");
}

#[test]
fn response_after_the_term_does_not_renew() {
    let mut harness = Harness::leading();
    harness.expect_request("update");
    harness.advance(10 * SECOND);
    harness.elector.record_outcome(harness.now, written(2));
    assert_eq!(harness.next(), Next::Ended(End::Lost));
}

/// A process is stopped for 1 min between sending the create and receiving the response.
#[test]
fn late_response_to_an_acquisition_starts_no_term() {
    let mut harness = Harness::new();
    harness.exchange("get", RequestOutcome::NotFound);
    harness.expect_request("create");
    harness.advance(60 * SECOND);
    harness.elector.record_outcome(harness.now, written(1));
    assert!(!harness.is_leading());
    harness.exchange("get", found("baz", 15));
    harness.exchange("update", written(6));
    assert!(harness.is_leading());
}

#[test]
fn leader_that_cannot_renew_stops_at_its_deadline() {
    let mut harness = Harness::leading();
    let mut sent = 0;
    loop {
        match harness.next() {
            Next::Send { deadline, .. } => {
                sent += 1;
                assert!(deadline <= harness.start + 10 * SECOND, "deadline after the end of the term");
                harness.elector.record_outcome(harness.now, RequestOutcome::Unknown);
            }
            Next::Wait(until) => harness.now.at = until,
            Next::Ended(end) => break assert_eq!(end, End::Lost),
        }
    }
    assert_eq!(harness.now.at - harness.start, 10 * SECOND);
    assert_eq!(sent, 8, "one update and one read every 2 s");
}

#[test]
fn leader_that_reads_another_holder_stops_at_once() {
    let mut harness = Harness::leading();
    harness.exchange("update", RequestOutcome::Rejected);
    harness.exchange("get", found("bing", 15));
    assert_eq!((harness.next(), harness.is_leading()), (Next::Ended(End::Lost), false));
    assert_eq!(harness.elector.leader(), "bing");
}

#[test]
fn candidate_waits_for_the_expiry_of_a_deleted_lease() {
    let mut harness = Harness::new();
    harness.exchange("get", found("bing", 15));
    let observed_at = harness.now.at;
    while harness.now.at < observed_at + 15 * SECOND {
        harness.exchange("get", RequestOutcome::NotFound);
        harness.time_to_next_action();
        harness.advance(SECOND);
    }
    harness.exchange("get", RequestOutcome::NotFound);
    harness.exchange("create", written(9));
    assert!(harness.is_leading());
}

#[rstest]
#[case::rejected(RequestOutcome::Rejected)]
#[case::unknown(RequestOutcome::Unknown)]
fn candidate_that_fails_to_acquire_waits(#[case] outcome: RequestOutcome) {
    let mut harness = Harness::new();
    harness.exchange("get", found("", 1));
    harness.exchange("update", outcome);
    assert!(!harness.is_leading() && harness.time_to_next_action() >= 2 * SECOND);
}

#[test]
fn request_without_outcome_counts_as_unknown() {
    let mut harness = Harness::leading();
    harness.expect_request("update");
    harness.advance(5 * SECOND);
    harness.exchange("get", found("baz", 15));
    harness.exchange("update", written(6));
    assert_eq!(harness.term_end_seconds(), Some(17.0));
}

#[test]
fn watched_release_triggers_an_attempt_at_once() {
    let mut harness = Harness::new();
    harness.exchange("get", RequestOutcome::Found(renewed_by("bing", 0)));
    harness.advance(SECOND);
    harness.elector.observe(harness.now, renewed_by("bing", 1));
    assert!(harness.time_to_next_action() >= SECOND, "a renewal triggered an attempt");
    harness.elector.observe(harness.now, lease("", 1));
    assert_eq!(harness.time_to_next_action(), Duration::ZERO);
    harness.exchange("get", found("", 1));
    harness.exchange("update", written(6));
    assert!(harness.is_leading());
}

#[test]
fn watched_renewal_extends_the_expiry_of_the_holder() {
    let mut harness = Harness::new();
    harness.exchange("get", RequestOutcome::Found(renewed_by("bing", 0)));
    harness.advance(SECOND);
    harness.elector.observe(harness.now, renewed_by("bing", 1));
    let observed_at = harness.now.at;
    loop {
        match harness.next() {
            Next::Send { request: Request::Get, .. } => {
                harness.elector.record_outcome(harness.now, RequestOutcome::Found(renewed_by("bing", 1)));
            }
            Next::Wait(until) => harness.now.at = until,
            other => break assert!(matches!(other, Next::Send { request: Request::Update(_), .. }), "{other:?}"),
        }
    }
    assert_eq!(harness.now.at - observed_at, 15 * SECOND);
}

#[test]
fn release_is_one_request() {
    let mut harness = Harness::leading();
    harness.elector.stop();
    let lease = harness.expect_request("update").expect("no Lease");
    assert!(!harness.is_leading(), "still leads while the release is sent");
    let spec = lease.spec.expect("no spec");
    assert_eq!((spec.holder_identity.as_deref(), spec.lease_duration_seconds), (Some(""), Some(1)));
    assert_eq!(spec.lease_transitions, Some(0));
    harness.elector.record_outcome(harness.now, written(2));
    assert_eq!((harness.next(), harness.elector.leader()), (Next::Ended(End::Released), ""));
}

#[test]
fn release_while_a_renewal_is_in_flight() {
    let mut harness = Harness::leading();
    harness.expect_request("update");
    harness.elector.stop();
    // The renewal may or may not have been applied, so the Lease is read. It may also be applied after the read.
    harness.exchange("get", found("baz", 15));
    harness.exchange("update", RequestOutcome::Rejected);
    harness.exchange("get", found("baz", 15));
    harness.exchange("update", written(8));
    assert_eq!(harness.next(), Next::Ended(End::Released));
}

#[test]
fn release_while_an_acquisition_is_in_flight() {
    let mut harness = Harness::new();
    harness.exchange("get", found("", 1));
    harness.expect_request("update");
    harness.elector.stop();
    harness.exchange("get", found("baz", 15));
    harness.exchange("update", written(8));
    assert_eq!(harness.next(), Next::Ended(End::Released));
}

#[rstest]
#[case::other_holder(found("bing", 15))]
#[case::no_holder(found("", 1))]
#[case::deleted(RequestOutcome::NotFound)]
#[case::unknown(RequestOutcome::Unknown)]
fn release_of_a_lease_that_is_no_longer_held(#[case] outcome: RequestOutcome) {
    let mut harness = Harness::leading();
    harness.elector.stop();
    harness.exchange("update", RequestOutcome::Rejected);
    harness.exchange("get", outcome);
    assert_eq!(harness.next(), Next::Ended(End::Stopped));
}

#[test]
fn stopped_candidate_does_not_write() {
    let mut harness = Harness::new();
    harness.exchange("get", found("bing", 15));
    harness.elector.stop();
    assert_eq!(harness.next(), Next::Ended(End::Stopped));
}

#[test]
fn leader_stopped_after_its_term_does_not_write() {
    let mut harness = Harness::leading();
    harness.advance(11 * SECOND);
    harness.elector.stop();
    assert_eq!(harness.next(), Next::Ended(End::Stopped));
}

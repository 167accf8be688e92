//! Annotations of the Lease that a candidate changes.

use k8s_openapi::api::coordination::v1::Lease;
use kube_lease_election::RequestOutcome;
use rstest::rstest;

use super::harness::{Harness, SECOND, found, lease, written};

const NAME: &str = "example.com/state";

fn annotate(harness: &mut Harness, value: Option<&str>) {
    harness.elector.annotate(NAME.to_owned(), value.map(str::to_owned));
}

fn value(lease: Option<&Lease>) -> Option<&str> {
    lease?.metadata.annotations.as_ref()?.get(NAME).map(String::as_str)
}

/// Returns the outcome of a read of this Lease with an annotation.
fn found_with(mut lease: Lease, text: &str) -> RequestOutcome {
    lease.metadata.annotations = Some([(NAME.to_owned(), text.to_owned())].into());
    RequestOutcome::Found(lease)
}

#[test]
fn is_set_with_the_next_renewal_and_kept_by_later_ones() {
    let mut harness = Harness::leading();
    annotate(&mut harness, Some("a"));
    assert_eq!(harness.time_to_next_action(), 2 * SECOND, "a change sends no request of its own");
    for version in 2..5 {
        assert_eq!(value(harness.exchange("update", written(version)).as_ref()), Some("a"));
        assert_eq!(value(harness.elector.lease()), Some("a"));
    }
    harness.elector.stop();
    assert_eq!(value(harness.exchange("update", written(6)).as_ref()), Some("a"), "the release keeps it");
}

#[test]
fn is_part_of_the_create() {
    let mut harness = Harness::new();
    annotate(&mut harness, Some("a"));
    harness.exchange("get", RequestOutcome::NotFound);
    assert_eq!(value(harness.exchange("create", written(1)).as_ref()), Some("a"));
}

#[test]
fn is_removed_with_the_acquisition() {
    let mut harness = Harness::new();
    annotate(&mut harness, None);
    harness.exchange("get", found_with(lease("", 1), "a"));
    assert_eq!(value(harness.elector.lease()), Some("a"));
    assert_eq!(value(harness.exchange("update", written(6)).as_ref()), None);
    assert_eq!(value(harness.elector.lease()), None);
}

#[test]
fn is_part_of_the_release() {
    let mut harness = Harness::leading();
    annotate(&mut harness, Some("a"));
    harness.elector.stop();
    assert_eq!(value(harness.exchange("update", written(2)).as_ref()), Some("a"));
}

/// The write may have failed, so that it is repeated on the state that is read next.
#[rstest]
#[case::rejected(RequestOutcome::Rejected)]
#[case::unknown(RequestOutcome::Unknown)]
fn is_written_again_after_a_write_without_success(#[case] outcome: RequestOutcome) {
    let mut harness = Harness::leading();
    annotate(&mut harness, Some("a"));
    harness.exchange("update", outcome);
    harness.exchange("get", found("baz", 15));
    assert_eq!(value(harness.exchange("update", written(6)).as_ref()), Some("a"));
}

/// An acknowledged change is not repeated: a person can remove the annotation.
#[test]
fn change_by_another_client_is_kept() {
    let mut harness = Harness::leading();
    annotate(&mut harness, Some("a"));
    harness.exchange("update", written(2));
    harness.exchange("update", RequestOutcome::Rejected);
    harness.exchange("get", found("baz", 15));
    assert_eq!(value(harness.exchange("update", written(6)).as_ref()), None);
}

#[test]
fn change_during_a_request_is_written_with_the_next() {
    let mut harness = Harness::leading();
    annotate(&mut harness, Some("a"));
    assert_eq!(value(harness.expect_request("update").as_ref()), Some("a"));
    annotate(&mut harness, Some("b"));
    harness.elector.record_outcome(harness.now, written(2));
    assert_eq!(value(harness.elector.lease()), Some("a"));
    assert_eq!(value(harness.exchange("update", written(3)).as_ref()), Some("b"));
}

/// Data of the leader outlives a Lease that is deleted by mistake.
#[test]
fn is_kept_when_a_deleted_lease_is_created_again() {
    let mut harness = Harness::new();
    harness.exchange("get", found_with(lease("", 1), "a"));
    harness.exchange("update", RequestOutcome::Rejected);
    harness.exchange("get", RequestOutcome::NotFound);
    assert_eq!(value(harness.exchange("create", written(7)).as_ref()), Some("a"));
}

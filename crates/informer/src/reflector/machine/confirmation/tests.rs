use rstest::rstest;

use super::{
    super::{
        Action, Failure, ListRequest, Observation,
        tests::{CONFIRM_AFTER, NO_STREAM, epoch, listed, machine, page, run_script, synced},
    },
    *,
};

/// A list lacks most objects.
const LACKS: Observation = Observation::Held { most: true, missing: true };
/// A list has most objects in another state.
const DIFFERS: Observation = Observation::Held { most: true, missing: false };
/// A list lacks many objects, but not most.
const LACKS_SOME: Observation = Observation::Held { most: false, missing: true };
const GONE: Observation = Observation::Probed { gone: true };
const EXISTS: Observation = Observation::Probed { gone: false };

use Observation::{Failed, ListFailed};

/// Each script starts with a store at version 5 whose watch has expired.
#[rstest]
#[case::withdrawn(vec![LACKS, listed("9")], "stream 5, confirm, wait 15000, list newest paged, watch 9")]
#[case::confirmed(
    vec![LACKS, LACKS, GONE, listed("9")],
    "stream 5, confirm, wait 15000, list newest paged, probe, store, watch 9"
)]
#[case::only_other_states(
    vec![DIFFERS, DIFFERS, listed("9")],
    "stream 5, confirm, wait 15000, list newest paged, store, watch 9"
)]
#[case::second_list_lacks_none(
    vec![LACKS, DIFFERS, listed("9")],
    "stream 5, confirm, wait 15000, list newest paged, store, watch 9"
)]
#[case::held_in_the_fallback_of_the_stream(
    vec![NO_STREAM, LACKS, listed("9")],
    "stream 5, list from 5, confirm, wait 15000, list newest paged, watch 9"
)]
#[case::contradicted(
    vec![LACKS, LACKS, EXISTS, LACKS, GONE, listed("9")],
    "stream 5, confirm, wait 15000, list newest paged, probe, confirm, wait 30000, list newest paged, probe, store, watch 9"
)]
#[case::contradicted_and_withdrawn(
    vec![LACKS, LACKS, EXISTS, listed("9")],
    "stream 5, confirm, wait 15000, list newest paged, probe, confirm, wait 30000, list newest paged, watch 9"
)]
#[case::intervals_double_up_to_two_minutes(
    vec![LACKS, LACKS, EXISTS, LACKS, EXISTS, LACKS, EXISTS, LACKS, EXISTS],
    "stream 5, confirm, wait 15000, list newest paged, probe, confirm, wait 30000, list newest paged, probe, confirm, \
     wait 60000, list newest paged, probe, confirm, wait 120000, list newest paged, probe, confirm, wait 120000, \
     list newest paged"
)]
#[case::pages(
    vec![LACKS, page("a"), LACKS, GONE, listed("9")],
    "stream 5, confirm, wait 15000, list newest paged, list newest paged page a, probe, store, watch 9"
)]
#[case::page_expired(
    vec![LACKS, page("a"), ListFailed(Failure::Expired), LACKS, GONE],
    "stream 5, confirm, wait 15000, list newest paged, list newest paged page a, list newest, probe, store"
)]
// The next list confirms as well, since every list reads the most recent state while one is held.
#[case::list_fails(
    vec![LACKS, ListFailed(Failure::Other), NO_STREAM, LACKS, GONE],
    "stream 5, confirm, wait 15000, list newest paged, wait 1600, stream, list newest paged, probe, store"
)]
#[case::streaming_list_confirms(
    vec![LACKS, ListFailed(Failure::Other), LACKS, GONE, listed("9")],
    "stream 5, confirm, wait 15000, list newest paged, wait 1600, stream, probe, store, watch 9"
)]
#[case::lacks_some(vec![LACKS_SOME, GONE, listed("9")], "stream 5, probe, store, watch 9")]
#[case::lacks_some_that_exist(
    vec![LACKS_SOME, EXISTS, LACKS_SOME, EXISTS, LACKS_SOME, GONE, listed("9")],
    "stream 5, probe, confirm, wait 15000, list newest paged, probe, confirm, wait 30000, list newest paged, probe, store, \
     watch 9"
)]
#[case::held_again_later(
    vec![LACKS, LACKS, EXISTS, listed("9"), Failed(Failure::Expired), LACKS],
    "stream 5, confirm, wait 15000, list newest paged, probe, confirm, wait 30000, list newest paged, watch 9, expired, \
     wait 1600, stream 9, confirm, wait 15000, list newest paged"
)]
fn held_lists(#[case] script: Vec<Observation>, #[case] expect: &str) {
    let script = [synced("5"), Failed(Failure::Expired)].into_iter().chain(script);
    assert_eq!(run_script(script).join(", "), format!("stream, expired, wait 800, {expect}"));
}

/// The connection of a streaming list that is held is closed.
#[test]
fn end_of_a_held_stream_changes_nothing() {
    let (mut machine, now) = (machine(), epoch());
    machine.observe(synced("5"), now, 0.0);
    machine.relist_after_restore();
    assert!(matches!(machine.next(now, 0.0), Action::Stream { .. }));
    assert_eq!(machine.observe(LACKS, now, 0.0), Some(RelistCause::Confirm));
    assert_eq!(machine.observe(Observation::Ended, now, 0.0), None);
    assert_eq!(machine.next(now, 0.0), Action::WaitToConfirm { shortest: CONFIRM_AFTER, longest: CONFIRM_AFTER });
    let newest = ListRequest { version: None, limit: Some(500), continue_token: None };
    assert_eq!(machine.next(now, 0.0), Action::List(newest));
}

/// A restore of etcd that another informer detects while a list is held or probed: the list of the restored state is
/// confirmed like any other.
#[test]
fn restore_while_a_list_is_held_is_confirmed() {
    let (mut machine, now) = (machine(), epoch());
    machine.observe(synced("5"), now, 0.0);
    machine.observe(LACKS, now, 0.0);
    machine.observe(LACKS, now, 0.0);
    machine.relist_after_restore();
    assert!(matches!(machine.next(now, 0.0), Action::WaitToConfirm { .. }));
    assert!(matches!(machine.next(now, 0.0), Action::Stream { version, .. } if version.is_empty()));
    assert_eq!(machine.observe(LACKS, now, 0.0), None);
    assert_eq!(machine.next(now, 0.0), Action::Probe);
}

/// Long intervals after contradictions may be shortened, but not below the first one; a restore shortens them at once.
#[rstest]
#[case::no_restore(false, 30)]
#[case::restore(true, 15)]
fn interval_after_a_contradiction(#[case] restored: bool, #[case] longest: u64) {
    let (mut machine, now) = (machine(), epoch());
    machine.observe(synced("5"), now, 0.0);
    for observation in [LACKS, LACKS, EXISTS] {
        machine.observe(observation, now, 0.0);
    }
    if restored {
        machine.relist_after_restore();
    }
    let expected = Action::WaitToConfirm { shortest: CONFIRM_AFTER, longest: Duration::from_secs(longest) };
    assert_eq!(machine.next(now, 0.0), expected);
}

#[rstest]
#[case::none(0.0, 15_000)]
#[case::most(1.0, 16_500)]
fn a_tenth_of_the_interval_is_random(#[case] jitter: f64, #[case] expect: u64) {
    let (mut machine, now) = (machine(), epoch());
    machine.observe(synced("5"), now, 0.0);
    machine.observe(LACKS, now, jitter);
    let longest = Duration::from_millis(expect);
    assert_eq!(machine.next(now, jitter), Action::WaitToConfirm { shortest: CONFIRM_AFTER, longest });
}

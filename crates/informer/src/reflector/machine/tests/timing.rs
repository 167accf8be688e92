//! Requests that depend on the time since the last ones.

use rstest::rstest;

use super::*;

/// client-go: `VeryShortWatchError` (IN-12).
#[rstest]
#[case::very_short(999, false, Some(RelistCause::Short))]
#[case::long_enough(1000, false, None)]
#[case::short_with_an_event(1, true, None)]
fn very_short_watch_fails(#[case] millis: u64, #[case] event: bool, #[case] expect: Option<RelistCause>) {
    let (mut machine, mut now) = (machine(), epoch());
    machine.observe(listed("5"), now, 0.0);
    now += Duration::from_secs(10);
    assert!(matches!(machine.next(now, 0.0), Action::Watch { .. }));
    if event {
        machine.observe(progress("6"), now, 0.0);
    }
    now += Duration::from_millis(millis);
    assert_eq!(machine.observe(Ended, now, 0.0), expect);
    assert_eq!(matches!(machine.next(now, 0.0), Action::Retry { .. }), expect.is_some());
}

/// A watch that was open without an event shows that the server had its version, which has expired since. A streaming
/// list continues as a watch.
#[rstest]
#[case::at_once(1_000, false, None)]
#[case::later(1_001, false, Some(RelistCause::Expired))]
#[case::stream_at_once(1_000, true, None)]
#[case::stream_later(1_001, true, Some(RelistCause::Expired))]
fn a_quiet_watch_that_expires_again(#[case] millis: u64, #[case] streams: bool, #[case] expect: Option<RelistCause>) {
    let (mut machine, mut now) = (machine(), epoch());
    machine.observe(synced("5"), now, 0.0);
    assert!(matches!(machine.next(now, 0.0), Action::Watch { .. }));
    assert_eq!(machine.observe(Failed(Failure::Expired), now, 0.0), Some(RelistCause::Expired));
    assert!(matches!(machine.next(now, 0.0), Action::Stream { .. }));
    machine.observe(synced("6"), now, 0.0);
    if !streams {
        assert!(matches!(machine.next(now, 0.0), Action::Watch { .. }));
    }
    now += Duration::from_millis(millis);
    assert_eq!(machine.observe(Failed(Failure::Expired), now, 0.0), expect);
    assert_eq!(matches!(machine.next(now, 0.0), Action::Stream { .. }), expect.is_some());
}

/// A server that does not support streaming lists may end them at once.
#[test]
fn very_short_stream_falls_back_to_a_list() {
    let (mut machine, now) = (machine(), epoch());
    assert!(matches!(machine.next(now, 0.0), Action::Stream { .. }));
    assert_eq!(machine.observe(Ended, now, 0.0), None);
    assert!(matches!(machine.next(now, 0.0), Action::List(_)));
}

// client-go: TestWatchTimeout
#[rstest]
#[case(0.0, 300)]
#[case(0.5, 450)]
#[case(0.999, 599)]
fn watches_last_five_to_ten_minutes(#[case] jitter: f64, #[case] expect: u64) {
    let (mut machine, now, timeout) = (machine(), epoch(), Duration::from_secs(expect));
    assert_eq!(machine.next(now, jitter), Action::Stream { version: ResourceVersion::default(), timeout });
    machine.observe(listed("5"), now, 0.0);
    assert_eq!(machine.next(now, jitter), Action::Watch { version: 5.into(), timeout });
}

// Seeds 33, 71 and 78 of the simulation: an interrupted watch is resumed only if the server has not fallen behind it.
#[rstest]
#[case::early(Duration::from_secs(10), "verify")]
#[case::right_before_the_timeout(MIN_WATCH_TIMEOUT.saturating_sub(EARLY_END), "watch 5")]
#[case::at_the_timeout(MIN_WATCH_TIMEOUT, "watch 5")]
fn a_watch_that_ends_before_its_timeout_is_verified(#[case] after: Duration, #[case] expected: &str) {
    let (mut machine, now) = (machine(), epoch());
    let mut requests = Vec::new();
    record_request(&mut machine, now, &mut requests);
    machine.observe(synced("5"), now, 0.0);
    machine.observe(Ended, now + after, 0.0);
    record_request(&mut machine, now + after, &mut requests);
    assert_eq!(requests, ["stream", expected]);
}

#[test]
fn restore_found_by_another_informer_causes_a_list_of_the_most_recent_state() {
    let (mut machine, now) = (machine(), epoch());
    let mut requests = Vec::new();
    record_request(&mut machine, now, &mut requests);
    machine.observe(synced("5"), now, 0.0);
    machine.relist_after_restore();
    record_request(&mut machine, now, &mut requests);
    assert_eq!(requests, ["stream", "stream"]);
}

/// Feeds a machine whose watch runs lists that are held, or are not, and returns its requests with the time since the
/// list before in tenths of a second.
#[rstest]
#[case::grows(&[true, true, true, true, true, true], &[10, 20, 40, 80, 100, 100])]
#[case::starts_over(&[true, true, false, true], &[10, 20, 0, 10])]
fn lists_follow_a_held_one_at_growing_intervals(#[case] held: &[bool], #[case] expected: &[u128]) {
    let (mut machine, mut now) = (machine(), epoch());
    machine.next(now, 0.0);
    let mut intervals = Vec::new();
    for (number, held) in held.iter().enumerate() {
        machine.observe(Observation::Listed { version: "5".into(), held: *held }, now, 0.0);
        assert_eq!(machine.is_held(), *held);
        assert!(matches!(machine.next(now, 0.0), Action::Watch { .. }), "events are applied in between");
        intervals.push(machine.recheck_at().map_or(0, |at| (at - now).as_millis() / 100));
        now = machine.recheck_at().unwrap_or(now);
        let cause = machine.observe(Failed(Failure::ListRequested(RelistCause::Confirm)), now, 0.0);
        assert_eq!(cause, Some(RelistCause::Confirm));
        let request = ListRequest { version: None, limit: Some(PAGE_SIZE), continue_token: None };
        assert_eq!(machine.next(now, 0.0), Action::List(request), "the most recent state after list {number}");
    }
    assert_eq!(intervals, expected);
}

#[test]
fn streaming_lists_are_tried_again_after_an_hour() {
    let (mut machine, now) = (machine(), epoch());
    machine.observe(Failed(Failure::NoBookmark), now, 0.0);
    machine.observe(listed("5"), now, 0.0);
    machine.observe(Failed(Failure::Expired), now + Duration::from_secs(3599), 0.0);
    assert!(matches!(machine.next(now + Duration::from_secs(3599), 0.0), Action::List(_)));
    machine.observe(listed("6"), now + Duration::from_secs(3599), 0.0);
    machine.observe(progress("7"), now + Duration::from_secs(3599), 0.0);
    machine.observe(Failed(Failure::Expired), now + Duration::from_secs(3600), 0.0);
    assert!(matches!(machine.next(now + Duration::from_secs(3600), 0.0), Action::Stream { .. }));
}

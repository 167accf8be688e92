use proptest::prelude::*;
use rstest::rstest;

use super::*;

const BUSY: Failure = Failure::Busy { retry_after: None };

/// Plays what happened, one second apart, and returns what was asked from first to last.
fn play(script: impl IntoIterator<Item = Happened>) -> Vec<String> {
    let mut machine = Machine::new(BackoffPolicy::default());
    let mut now = epoch();
    let mut asked = Vec::new();
    let mut ask = |machine: &mut Machine, now: Instant| {
        loop {
            match machine.next(now, 0.0) {
                Next::Wait(wait) => asked.push(format!("wait {}", wait.as_millis())),
                Next::List(ListRequest { version, limit, page }) => {
                    let version = version.map_or_else(|| "newest".to_owned(), |version| format!("from {version}"));
                    let limit = if limit.is_some() { " paged" } else { "" };
                    let page = page.map(|page| format!(" page {page}")).unwrap_or_default();
                    return asked.push(format!("list {version}{limit}{page}"));
                }
                Next::Watch { version, .. } => return asked.push(format!("watch {version}")),
            }
        }
    };
    ask(&mut machine, now);
    for happened in script {
        now += Duration::from_secs(1);
        let quiet = matches!(happened, Happened::Progress { .. });
        machine.happened(happened, now, 0.0);
        if !quiet {
            ask(&mut machine, now);
        }
    }
    asked
}

#[expect(clippy::disallowed_methods, reason = "an arbitrary point in time to count from")]
fn epoch() -> Instant {
    Instant::from_std(std::time::Instant::now())
}

fn page(next: &str) -> Happened {
    Happened::Page { next: next.to_owned() }
}

fn listed(version: &str) -> Happened {
    Happened::Listed { version: version.to_owned() }
}

fn progress(version: &str) -> Happened {
    Happened::Progress { version: version.to_owned() }
}

use Happened::{ListFailed, WatchEnded, WatchFailed};

#[rstest]
// client-go: TestReflectorListAndWatch, TestReflectorRelistIsPaginated...
#[case::plain([listed("5")], "list from 0 paged, watch 5")]
#[case::pages([page("a"), page("b"), listed("5")], "list from 0 paged, list newest paged page a, list newest paged page b, watch 5")]
// client-go: TestReflectorResyncDoesNotRelist; a server that ends its watch has lost nothing
#[case::resumed([listed("5"), progress("6"), WatchEnded], "list from 0 paged, watch 5, watch 6")]
#[case::resumed_in_silence([listed("5"), WatchEnded], "list from 0 paged, watch 5, watch 5")]
// client-go: TestReflectorExpiredExactResourceVersion, TestReflectorFullListIfExpired
#[case::page_expired(
    [page("a"), ListFailed(Failure::Expired), listed("9")],
    "list from 0 paged, list newest paged page a, list from 0, watch 9"
)]
#[case::watch_expired(
    [listed("5"), progress("6"), WatchFailed(Failure::Expired), listed("9")],
    "list from 0 paged, watch 5, wait 800, list from 6, watch 9"
)]
#[case::relist_expired(
    [listed("5"), WatchFailed(Failure::Expired), ListFailed(Failure::Expired), listed("9")],
    "list from 0 paged, watch 5, wait 800, list from 5, list newest paged, watch 9"
)]
// client-go: TestReflectorListNonPaginatedTooLargeResourceVersion: a server restored from an older backup
#[case::server_behind(
    [listed("5"), WatchFailed(Failure::Other), ListFailed(Failure::Ahead), listed("3")],
    "list from 0 paged, watch 5, wait 800, list from 5, list newest paged, watch 3"
)]
#[case::watch_ahead(
    [listed("5"), WatchFailed(Failure::Ahead), listed("3")],
    "list from 0 paged, watch 5, wait 800, list newest paged, watch 3"
)]
#[case::newest_expired(
    [ListFailed(Failure::Expired), ListFailed(Failure::Expired), listed("3")],
    "list from 0 paged, list newest paged, wait 800, list newest paged, watch 3"
)]
// client-go: TestReflectorBackoffOnTooManyRequests / connection refused: no list needed
#[case::away(
    [listed("5"), WatchFailed(Failure::Unreachable), WatchFailed(BUSY), WatchEnded],
    "list from 0 paged, watch 5, wait 800, watch 5, wait 1600, watch 5, watch 5"
)]
#[case::away_at_first(
    [ListFailed(Failure::Unreachable), ListFailed(Failure::Unreachable), listed("5")],
    "list from 0 paged, wait 800, list from 0 paged, wait 1600, list from 0 paged, watch 5"
)]
#[case::page_lost(
    [page("a"), ListFailed(Failure::Unreachable), listed("5")],
    "list from 0 paged, list newest paged page a, wait 800, list from 0 paged, watch 5"
)]
#[case::patience(
    [ListFailed(Failure::Busy { retry_after: Some(Duration::from_secs(7)) }), listed("5")],
    "list from 0 paged, wait 7000, list from 0 paged, watch 5"
)]
#[case::broken_event(
    [listed("5"), progress("6"), WatchFailed(Failure::Other), listed("7")],
    "list from 0 paged, watch 5, wait 800, list from 6, watch 7"
)]
#[case::no_version([listed(""), WatchFailed(Failure::Other)], "list from 0 paged, watch , wait 800, list newest paged")]
fn asks(#[case] script: impl IntoIterator<Item = Happened>, #[case] expect: &str) {
    assert_eq!(play(script).join(", "), expect);
}

/// client-go: `VeryShortWatchError`.
#[rstest]
#[case::very_short(999, false, "wait 800")]
#[case::long_enough(1000, false, "watch")]
#[case::short_but_busy(1, true, "watch")]
fn a_watch_that_is_cut_at_once_is_trouble(#[case] millis: u64, #[case] event: bool, #[case] expect: &str) {
    let (mut machine, mut now) = (Machine::new(BackoffPolicy::default()), epoch());
    machine.happened(listed("5"), now, 0.0);
    assert!(matches!(machine.next(now, 0.0), Next::Watch { .. }));
    if event {
        machine.happened(progress("6"), now, 0.0);
    }
    now += Duration::from_millis(millis);
    machine.happened(WatchEnded, now, 0.0);
    let next = match machine.next(now, 0.0) {
        Next::Wait(wait) => format!("wait {}", wait.as_millis()),
        Next::List(_) => "list".to_owned(),
        Next::Watch { .. } => "watch".to_owned(),
    };
    assert_eq!(next, expect);
}

#[rstest]
#[case(0.0, 300)]
#[case(0.5, 450)]
#[case(0.999, 599)]
fn watches_last_five_to_ten_minutes(#[case] jitter: f64, #[case] expect: u64) {
    let (mut machine, now) = (Machine::new(BackoffPolicy::default()), epoch());
    machine.happened(listed("5"), now, 0.0);
    let expect = Next::Watch { version: "5".to_owned(), timeout: Duration::from_secs(expect) };
    assert_eq!(machine.next(now, jitter), expect);
}

fn trouble() -> impl Strategy<Value = Failure> {
    prop_oneof![
        Just(Failure::Expired),
        Just(Failure::Ahead),
        Just(BUSY),
        Just(Failure::Unreachable),
        Just(Failure::Other)
    ]
}

proptest! {
    /// Whatever goes wrong in whatever order: after three requests in vain at most, there is a pause.
    #[test]
    fn never_hammers_a_server_in_trouble(
        script in prop::collection::vec((trouble(), 0..10u32, 0.0..1.0f64), 1..100),
    ) {
        let (mut machine, mut now, mut in_vain) = (Machine::new(BackoffPolicy::default()), epoch(), 0);
        for (failure, dice, jitter) in script {
            let asked = machine.next(now, jitter);
            now += Duration::from_millis(10);
            let happened = match (asked, dice) {
                (Next::Wait(wait), _) => {
                    prop_assert!(wait >= Duration::from_millis(800), "{wait:?}");
                    now += wait;
                    in_vain = 0;
                    continue;
                }
                (Next::List(_), 0) => Happened::Listed { version: "5".to_owned() },
                (Next::List(_), 1) => Happened::Page { next: "p".to_owned() },
                (Next::List(_), _) => Happened::ListFailed(failure),
                (Next::Watch { .. }, 0..3) => Happened::WatchEnded,
                (Next::Watch { .. }, _) => Happened::WatchFailed(failure),
            };
            in_vain = if matches!(happened, Happened::Listed { .. } | Happened::Page { .. }) { 0 } else { in_vain + 1 };
            prop_assert!(in_vain <= 3, "{machine:?}");
            machine.happened(happened, now, jitter);
        }
    }
}

mod pauses;
mod timing;

use rstest::rstest;

use super::{failures::EARLY_END, *};

const BUSY: Failure = Failure::Busy { retry_after: None };

fn machine() -> Machine {
    Machine::new(BackoffPolicy::default(), Encoding::Protobuf)
}

/// Feeds the machine these results, one second apart. Returns its requests in order, and the cause of each relist.
fn run_script(script: impl IntoIterator<Item = Observation>) -> Vec<String> {
    let (mut machine, mut now) = (machine(), epoch());
    let (mut requests, mut requested_at) = (Vec::new(), now);
    record_request(&mut machine, now, &mut requests);
    for observation in script {
        // Servers end a watch at its timeout, or slightly before.
        now += Duration::from_secs(1);
        if observation == Ended {
            now = now.max(requested_at + MIN_WATCH_TIMEOUT.saturating_sub(EARLY_END));
        }
        let continues = match observation {
            Observation::Progress { .. } | Observation::ResponseStarted(_) => true,
            Observation::Listed { .. } => matches!(machine.phase, Phase::Stream { .. }),
            _ => false,
        };
        if let Some(cause) = machine.observe(observation, now, 0.0) {
            requests.push(cause.as_str().to_owned());
        }
        if !continues {
            record_request(&mut machine, now, &mut requests);
            requested_at = now;
        }
    }
    requests
}

/// Appends the next request, and the wait before it, if any.
fn record_request(machine: &mut Machine, now: Instant, requests: &mut Vec<String>) {
    loop {
        let action = machine.next(now, 0.0);
        let json = if machine.encoding() == Encoding::Json { " json" } else { "" };
        match action {
            Action::Wait(wait) => requests.push(format!("wait {}", wait.as_millis())),
            Action::Retry { requested: None, .. } => requests.push("retry".to_owned()),
            Action::Retry { requested: Some(after), .. } => requests.push(format!("retry after {}", after.as_millis())),
            Action::Stream { version, .. } => return requests.push(format!("stream{}{json}", spaced(&version))),
            Action::List(ListRequest { version, limit, continue_token }) => {
                let version = version.map_or_else(|| "newest".to_owned(), |version| format!("from {version}"));
                let limit = if limit.is_some() { " paged" } else { "" };
                let page = continue_token.map(|token| format!(" page {token}")).unwrap_or_default();
                return requests.push(format!("list {version}{limit}{page}{json}"));
            }
            Action::Verify => return requests.push("verify".to_owned()),
            Action::Watch { version, .. } => return requests.push(format!("watch{}{json}", spaced(&version))),
        }
    }
}

fn spaced(version: &ResourceVersion) -> String {
    if version.is_empty() { String::new() } else { format!(" {version}") }
}

#[expect(clippy::disallowed_methods, reason = "an arbitrary point in time to count from")]
fn epoch() -> Instant {
    Instant::from_std(std::time::Instant::now())
}

fn page(continue_token: &str) -> Observation {
    Observation::Page { continue_token: continue_token.to_owned() }
}

fn listed(version: &str) -> Observation {
    Observation::Listed { version: version.into(), held: false }
}

fn verified(version: &str) -> Observation {
    Observation::Verified { version: version.into() }
}

/// The end of a streaming list, which continues as a watch.
fn synced(version: &str) -> Observation {
    listed(version)
}

fn progress(version: &str) -> Observation {
    Observation::Progress { version: version.into(), added: false }
}

fn added(version: &str) -> Observation {
    Observation::Progress { version: version.into(), added: true }
}

/// The server does not support streaming lists.
const NO_STREAM: Observation = Observation::Failed(Failure::Other);

use Observation::{Ended, Failed, ListFailed, ResponseStarted};

#[rstest]
// client-go: TestWatchList
#[case::bookmark([added("3"), added("2"), synced("5"), Ended], "stream, watch 5")]
#[case::stream_ends_before_the_bookmark([added("3"), Ended, synced("5")], "stream, list from 0 paged, watch 5")]
#[case::stream_busy([Failed(BUSY), Failed(Failure::Unreachable), synced("5")], "stream, retry after 1000, stream, retry, stream")]
// A server that pages lists without a limit, and whose pages expire.
#[case::every_page_expires(
    [NO_STREAM, page("a"), ListFailed(Failure::Expired), page("b"), ListFailed(Failure::Expired), page("c"),
     ListFailed(Failure::Expired), page("d"), ListFailed(Failure::Expired)],
    "stream, list from 0 paged, list newest paged page a, list from 0, list newest paged page b, list newest paged, \
     list newest paged page c, list newest, list newest paged page d, wait 800, stream"
)]
#[case::established_watch_expires(
    [synced("5"), progress("6"), Failed(Failure::Expired), synced("9"), Ended],
    "stream, expired, stream 6, watch 9"
)]
#[case::stream_expired(
    [synced("5"), Failed(Failure::Other), Failed(Failure::Expired), synced("9"), Ended],
    "stream, failed, wait 800, stream 5, stream, watch 9"
)]
#[case::stream_ahead(
    [synced("5"), Failed(Failure::Ahead), Failed(Failure::Ahead), listed("3")],
    "stream, ahead, stream, list newest paged, watch 3"
)]
// Each round tries a streaming list first: the server may have been upgraded.
#[case::no_stream(
    [NO_STREAM, listed("5"), Failed(Failure::Other), NO_STREAM, listed("7")],
    "stream, list from 0 paged, watch 5, failed, wait 800, stream 5, list from 5, watch 7"
)]
// client-go: TestReflectorListAndWatch, TestReflectorWatchListPageSize
#[case::pages(
    [NO_STREAM, page("a"), page("b"), listed("5")],
    "stream, list from 0 paged, list newest paged page a, list newest paged page b, watch 5"
)]
// client-go: TestReflectorPaginatingNonConsistentReadsIfWatchCacheDisabled
#[case::pages_from_then_on(
    [NO_STREAM, page("a"), listed("5"), Failed(Failure::Other), NO_STREAM],
    "stream, list from 0 paged, list newest paged page a, watch 5, failed, wait 800, stream 5, list from 5 paged"
)]
// client-go: TestReflectorResyncWithResourceVersion; a watch that the server ends loses no event
#[case::resumed([synced("5"), progress("6"), Ended, Ended], "stream, watch 6, watch 6")]
// client-go: TestReflectorExpiredExactResourceVersion, TestReflectorFullListIfExpired
#[case::page_expired(
    [NO_STREAM, page("a"), ListFailed(Failure::Expired), listed("9")],
    "stream, list from 0 paged, list newest paged page a, list from 0, watch 9"
)]
#[case::relist_expired(
    [synced("5"), Failed(Failure::Other), NO_STREAM, ListFailed(Failure::Expired), listed("9")],
    "stream, failed, wait 800, stream 5, list from 5, list newest paged, watch 9"
)]
// client-go: TestReflectorFullListIfTooLarge: a server restored from an older backup
#[case::server_behind(
    [synced("5"), Failed(Failure::Other), NO_STREAM, ListFailed(Failure::Ahead), listed("3")],
    "stream, failed, wait 800, stream 5, list from 5, list newest paged, watch 3"
)]
#[case::newest_expired(
    [NO_STREAM, ListFailed(Failure::Expired), ListFailed(Failure::Expired), NO_STREAM, listed("3")],
    "stream, list from 0 paged, list newest paged, wait 800, stream, list newest paged, watch 3"
)]
// client-go: TestBackoffOnTooManyRequests, TestNoRelistOnTooManyRequests
#[case::unreachable_and_busy(
    [synced("5"), Failed(Failure::Unreachable), Failed(BUSY), verified("5"), Failed(BUSY), Ended],
    "stream, retry, verify, retry after 1000, verify, watch 5, retry after 1000, watch 5, watch 5"
)]
#[case::resumed_after_unreachable(
    [synced("5"), Failed(Failure::Unreachable), verified("7"), Ended],
    "stream, retry, verify, watch 5, watch 5"
)]
#[case::restored_while_unreachable(
    [synced("5"), Failed(Failure::Unreachable), verified("4"), synced("4"), Ended],
    "stream, retry, verify, ahead, stream, watch 4"
)]
// client-go: TestReflectorListAndWatchInitConnBackoff
#[case::list_fails(
    [NO_STREAM, ListFailed(Failure::Unreachable), NO_STREAM, ListFailed(Failure::Other), synced("5"), Ended],
    "stream, list from 0 paged, retry, stream, list from 0 paged, wait 800, stream, watch 5"
)]
#[case::page_lost(
    [NO_STREAM, page("a"), ListFailed(Failure::Unreachable), synced("5"), Ended],
    "stream, list from 0 paged, list newest paged page a, retry, stream, watch 5"
)]
#[case::retry_after(
    [Failed(Failure::Busy { retry_after: Some(Duration::from_secs(7)) }), synced("5"), Ended],
    "stream, retry after 7000, stream, watch 5"
)]
#[case::retry_after_is_capped(
    [Failed(Failure::Busy { retry_after: Some(Duration::from_secs(u32::MAX.into())) }), synced("5"), Ended],
    "stream, retry after 30000, stream, watch 5"
)]
#[case::no_version([NO_STREAM, listed(""), Failed(Failure::Other), NO_STREAM], "stream, list from 0 paged, watch, failed, wait 800, stream, list newest paged")]
// client-go: TestReflectorResourceVersionUpdate, and IN-11
#[case::unordered(
    [NO_STREAM, listed(""), added("7"), added("6"), Ended, progress("8"), added("9"), Ended],
    "stream, list from 0 paged, watch, watch, watch 9"
)]
#[case::json_only([ResponseStarted(Encoding::Json), synced("5"), Ended], "stream, watch 5 json")]
#[case::not_acceptable(
    [Failed(Failure::NotAcceptable), synced("5"), Ended],
    "stream, stream json, watch 5 json"
)]
#[case::never_acceptable(
    [Failed(Failure::NotAcceptable), Failed(Failure::NotAcceptable), ListFailed(Failure::NotAcceptable)],
    "stream, stream json, list from 0 paged json, wait 800, stream json"
)]
#[case::watch_not_acceptable([synced("5"), Failed(Failure::NotAcceptable), Ended], "stream, watch 5 json, watch 5 json")]
#[case::unreadable(
    [synced("5"), progress("6"), Failed(Failure::Unreadable), synced("7"), Ended],
    "stream, failed, wait 800, stream 6 json, watch 7 json"
)]
#[case::unreadable_stream([Failed(Failure::Unreadable), Failed(Failure::Unreadable)], "stream, stream json, list from 0 paged json")]
#[case::unreadable_list(
    [NO_STREAM, ListFailed(Failure::Unreadable)],
    "stream, list from 0 paged, wait 800, stream json"
)]
#[case::protobuf_again_with_the_next_watch(
    [ResponseStarted(Encoding::Json), synced("5")].into_iter().chain(vec![progress("6"); 600]).chain([Ended, Ended]),
    "stream, watch 6, watch 6"
)]
#[case::protobuf_again_with_the_next_round(
    [Failed(Failure::Unreadable), synced("5")].into_iter().chain(vec![progress("6"); 600]).chain([Failed(Failure::Other)]),
    "stream, stream json, failed, wait 800, stream 6"
)]
// All pages of a list are requested in one encoding.
#[case::no_change_within_a_list(
    [Failed(Failure::NotAcceptable), NO_STREAM, page("a")].into_iter().chain(vec![progress(""); 600]).chain([page("b"), listed("5")]),
    "stream, stream json, list from 0 paged json, list newest paged page a json, list newest paged page b json, watch 5"
)]
// A watch that fails is resumed; meanwhile a list keeps the store current every 10 s.
#[case::watches_fail_and_lists_work(
    [synced("5")].into_iter().chain(vec![Failed(Failure::ServerError); 10]).chain([listed("7"), Failed(Failure::ServerError)]),
    "stream, retry, watch 5, retry, watch 5, retry, watch 5, retry, watch 5, retry, watch 5, retry, watch 5, retry, \
     watch 5, retry, watch 5, retry, watch 5, failed, retry, list from 5, retry, watch 7, retry, watch 7"
)]
#[case::watches_and_lists_fail(
    [synced("5")].into_iter().chain(vec![progress("6"); 20]).chain(vec![Failed(Failure::Unreachable); 10])
        .chain([ListFailed(Failure::ServerError), Failed(Failure::ServerError)]),
    "stream, retry, verify, retry, verify, retry, verify, retry, verify, retry, verify, retry, verify, retry, verify, \
     retry, verify, retry, verify, failed, retry, list from 6, retry, verify, retry, verify"
)]
// After a list, a watch that is answered with 410 again is repeated, with a list every 10 s.
#[case::expired_again_and_again(
    [synced("5"), Failed(Failure::Expired), synced("6")].into_iter().chain(vec![Failed(Failure::Expired); 10])
        .chain([synced("7"), progress("8"), Failed(Failure::Expired)]),
    "stream, expired, stream 5, retry, watch 6, retry, watch 6, retry, watch 6, retry, watch 6, retry, watch 6, retry, \
     watch 6, retry, watch 6, retry, watch 6, retry, watch 6, expired, retry, stream 6, expired, stream 8"
)]
#[case::stream_without_a_bookmark(
    [added("3"), Failed(Failure::NoBookmark), listed("5"), Failed(Failure::Expired), listed("9")],
    "stream, list from 0 paged, watch 5, expired, list from 5, watch 9"
)]
#[case::stream_rejected_by_a_server_error(
    [Failed(Failure::ServerError), ListFailed(Failure::ServerError), Failed(Failure::ServerError), listed("5")],
    "stream, retry, list from 0 paged, retry, stream, retry, list from 0 paged, watch 5"
)]
#[case::stream_ends_with_an_error_event(
    [ResponseStarted(Encoding::Protobuf), Failed(Failure::ServerError), listed("5")],
    "stream, list from 0 paged, watch 5"
)]
#[case::connection_of_a_stream_lost(
    [ResponseStarted(Encoding::Protobuf), Failed(Failure::Unreachable), listed("5")],
    "stream, retry, list from 0 paged, watch 5"
)]
fn next_requests(#[case] script: impl IntoIterator<Item = Observation>, #[case] expect: &str) {
    assert_eq!(run_script(script).join(", "), expect);
}

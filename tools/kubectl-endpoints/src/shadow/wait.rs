//! `shadow --wait`: reads the page again until the comparison has been clean for some time.

use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, sleep};

use crate::output::message;
use crate::page::Refused;

/// Maximum time between two reads of the page.
const PERIOD: Duration = Duration::from_secs(10);
/// Minimum time between two reads of the page, which has whole seconds.
const MIN_PERIOD: Duration = Duration::from_secs(1);
/// Time after which the progress is printed although nothing but the time has changed.
const REMINDER: Duration = Duration::from_secs(300);

/// Time of nothing but status 401 after which the wait ends: the files of the configuration have been read again by then.
const REJECTED: Duration = Duration::from_secs(300);

/// What a report means for the wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The comparison has been clean for the required time.
    Clean,
    /// A comparison has panicked, so that it will never count as clean.
    Panicked,
    /// It is clean, and has to be for this time longer.
    Remaining(Duration),
    /// It is not clean, or nothing is compared: number of open mismatches.
    NotClean(u64),
}

/// Calls `read` again, beginning with `report`, until the comparison has been clean for `required`, at most for `timeout`.
/// Prints the progress on standard error. Returns the last report, and whether it is clean.
///
/// A page that cannot be read is tried again: the process may restart, after which its time starts anew. Fails if the credentials are
/// not accepted any more.
pub(super) async fn until_clean(
    read: impl AsyncFn() -> anyhow::Result<Value>,
    report: Value,
    required: Duration,
    timeout: Duration,
) -> anyhow::Result<(Value, bool)> {
    let (mut report, mut progress, start) = (report, Progress::default(), Instant::now());
    loop {
        let state = state(&report, required);
        match state {
            State::Clean => return Ok((report, true)),
            State::Panicked => {
                message("error: ", format_args!("the comparison cannot become clean: {}", summary(&report)));
                return Ok((report, false));
            }
            State::Remaining(_) | State::NotClean(_) => progress.show(kind(state), summary(&report)),
        }
        let mut rejected = None;
        loop {
            let left = timeout.saturating_sub(start.elapsed());
            if left.is_zero() {
                message("error: ", format_args!("timed out waiting for a clean comparison: {}", summary(&report)));
                return Ok((report, false));
            }
            let period = if let State::Remaining(remaining) = state { remaining } else { required };
            sleep(period.clamp(MIN_PERIOD, PERIOD).min(left)).await;
            match read().await {
                Ok(next) => {
                    report = next;
                    break;
                }
                Err(error) => {
                    rejected = rejected.or(Some(Instant::now())).filter(|_| Refused::is(401, &error));
                    if rejected.is_some_and(|since| since.elapsed() >= REJECTED) {
                        return Err(error.context("the token is not accepted any more"));
                    }
                    progress.show("unreadable".to_owned(), &format!("{error:#}"));
                }
            }
        }
    }
}

/// Returns what a report means. The required period of the report is the time after which a difference becomes a mismatch.
fn state(report: &Value, required: Duration) -> State {
    if report["panics"].as_u64().unwrap_or_default() > 0 {
        return State::Panicked;
    }
    let open = report["openMismatches"].as_u64().unwrap_or_default();
    let clean = report["cleanSeconds"].as_u64().map(Duration::from_secs);
    let settles = report["requiredPeriodSeconds"].as_f64().and_then(|it| Duration::try_from_secs_f64(it).ok());
    let required = required.max(settles.unwrap_or_default());
    match clean {
        Some(clean) if open == 0 && report["servicesCompared"] != 0 => {
            if clean >= required {
                State::Clean
            } else {
                State::Remaining(required.saturating_sub(clean))
            }
        }
        _ => State::NotClean(open),
    }
}

pub(super) fn summary(report: &Value) -> &str {
    report["summary"].as_str().unwrap_or_default()
}

/// Returns a text that differs between states that are worth a line of their own.
fn kind(state: State) -> String {
    match state {
        State::NotClean(open) => format!("{open} open"),
        State::Clean | State::Panicked | State::Remaining(_) => "clean".to_owned(),
    }
}

/// The lines on standard error.
#[derive(Default)]
struct Progress {
    /// Kind and time of the last line.
    last: Option<(String, Instant)>,
}

impl Progress {
    /// Prints a line if its kind differs from that of the last line, or after [`REMINDER`].
    fn show(&mut self, kind: String, text: &str) {
        let now = Instant::now();
        if self.last.as_ref().is_none_or(|(last, at)| *last != kind || *at + REMINDER <= now) {
            message("waiting: ", text);
            self.last = Some((kind, now));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use rstest::rstest;
    use serde_json::json;

    use super::*;

    const HOUR: Duration = Duration::from_secs(3_600);

    #[rstest]
    #[case::clean(json!({}), State::Clean)]
    #[case::too_short(json!({"cleanSeconds": 3_500}), State::Remaining(Duration::from_secs(100)))]
    #[case::slow_writer(json!({"requiredPeriodSeconds": 4_000.0}), State::Remaining(Duration::from_secs(400)))]
    #[case::mismatches(json!({"openMismatches": 2, "cleanSeconds": null}), State::NotClean(2))]
    #[case::stalled_writer(json!({"cleanSeconds": null}), State::NotClean(0))]
    #[case::nothing_compared(json!({"servicesCompared": 0}), State::NotClean(0))]
    #[case::panicked(json!({"panics": 1}), State::Panicked)]
    fn reports_have_a_state(#[case] changes: Value, #[case] expected: State) {
        let mut report = json!({"openMismatches": 0, "cleanSeconds": 3_600, "servicesCompared": 7, "panics": 0,
            "requiredPeriodSeconds": 30.0});
        report.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        assert_eq!(state(&report, HOUR), expected);
    }

    /// A token expires during the wait; before that, it is rejected once, as while it is replaced.
    #[tokio::test(start_paused = true)]
    async fn a_wait_ends_if_the_token_is_not_accepted_any_more() {
        let report = || json!({"openMismatches": 1});
        let (start, reads) = (Instant::now(), Cell::new(0));
        let read = async || {
            reads.set(reads.get() + 1);
            if reads.get() == 2 { Ok(report()) } else { Err(Refused::new(401, "/shadow".to_owned()).into()) }
        };
        let ended = until_clean(read, report(), HOUR, 24 * HOUR).await;
        let error = ended.expect_err("an error");
        assert_eq!(format!("{error:#}"), "the token is not accepted any more: /shadow");
        assert_eq!(start.elapsed(), 3 * PERIOD + REJECTED);
    }

    #[tokio::test(start_paused = true)]
    async fn a_timeout_may_have_any_length() {
        let report = json!({"openMismatches": 0, "cleanSeconds": 1, "servicesCompared": 7});
        let ended = until_clean(async || Ok(json!({})), report, Duration::ZERO, Duration::MAX).await;
        assert!(ended.expect("an end").1);
    }

    /// As while the process restarts behind a proxy.
    #[tokio::test(start_paused = true)]
    async fn a_wait_goes_on_after_other_failures() {
        let reads = Cell::new(0_u16);
        let read = async || {
            reads.set(reads.get() + 1);
            Err(Refused::new(if reads.get().is_multiple_of(9) { 503 } else { 401 }, String::new()).into())
        };
        let (_, is_clean) = until_clean(read, json!({"openMismatches": 1}), HOUR, HOUR).await.expect("a timeout");
        assert!(!is_clean);
    }
}

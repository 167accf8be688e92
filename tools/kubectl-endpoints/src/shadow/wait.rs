//! `shadow --wait`: reads the page again until the comparison has been clean for some time.

use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, sleep};

use super::read;
use crate::output::message;
use crate::page::Page;

/// Maximum time between two reads of the page.
const PERIOD: Duration = Duration::from_secs(10);
/// Minimum time between two reads of the page, which has whole seconds.
const MIN_PERIOD: Duration = Duration::from_secs(1);
/// Time after which the progress is printed although nothing but the time has changed.
const REMINDER: Duration = Duration::from_secs(300);

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

/// Reads `page` again, beginning with `report`, until the comparison has been clean for `required`, at most for `timeout`.
/// Prints the progress on standard error. Returns the last report, and whether it is clean.
///
/// A page that cannot be read is tried again: the process may restart, after which its time starts anew.
pub(super) async fn until_clean(page: &Page, report: Value, required: Duration, timeout: Duration) -> (Value, bool) {
    let (mut report, mut progress, end) = (report, Progress::default(), Instant::now() + timeout);
    loop {
        let state = state(&report, required);
        match state {
            State::Clean => return (report, true),
            State::Panicked => {
                message("error: ", format_args!("the comparison cannot become clean: {}", summary(&report)));
                return (report, false);
            }
            State::Remaining(_) | State::NotClean(_) => progress.show(kind(state), summary(&report)),
        }
        loop {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                message("error: ", format_args!("timed out waiting for a clean comparison: {}", summary(&report)));
                return (report, false);
            }
            let period = if let State::Remaining(remaining) = state { remaining } else { required };
            sleep(period.clamp(MIN_PERIOD, PERIOD).min(left)).await;
            match read(page).await {
                Ok(next) => {
                    report = next;
                    break;
                }
                Err(error) => progress.show("unreadable".to_owned(), &format!("{error:#}")),
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
}

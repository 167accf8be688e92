//! The page `/shadow`: the state of the comparison as text and as JSON.

use std::fmt::Write as _;
use std::time::Duration;

use jiff::Timestamp;
use kube_endpoints_explain::thousands;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::ledger::Ledger;
use crate::mismatches::{Mismatch, ObjectMismatch};

/// Current time of both clocks, to show instants as dates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Now {
    pub(crate) instant: Instant,
    pub(crate) wall: Timestamp,
}

impl Now {
    pub(crate) fn get() -> Now {
        Now { instant: Instant::now(), wall: kube_ambient::now() }
    }

    fn shown(self, at: Instant) -> String {
        let wall = self.wall - self.instant.saturating_duration_since(at);
        wall.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
    }
}

/// Time without a mismatch that the book recommends before a switch.
pub(crate) const RECOMMENDED: Duration = Duration::from_secs(3_600);

/// Returns one line: open mismatches, or the time without one beside the [recommended](RECOMMENDED) time, and the changes
/// compared.
pub(crate) fn summary(ledger: &mut Ledger, now: Instant, panics: u64) -> String {
    let (open, changes) = (ledger.open(), thousands(ledger.changes()));
    if panics > 0 {
        let panicked = if panics == 1 { "sync" } else { "syncs" };
        return format!("{panics} {panicked} panicked, {changes} changes compared: do not switch");
    }
    if open == 0 && ledger.is_writer_stalled(now) {
        return format!("The Lease of the writer is not renewed, {changes} changes compared: do not switch");
    }
    let Some(clean) = ledger.clean_for(now) else {
        if open == 0 {
            return "No Service compared yet: do not switch".to_owned();
        }
        let mismatches = if open == 1 { "mismatch" } else { "mismatches" };
        return format!("{open} {mismatches}, {changes} changes compared: do not switch");
    };
    let (is_safe, clean) = (is_safe(ledger, now, panics), short(clean));
    if is_safe {
        format!("Clean for {clean} (1h recommended), {changes} changes compared: ready to switch")
    } else {
        format!("Clean for {clean} of the recommended 1h, {changes} changes compared: too early to switch")
    }
}

/// Returns whether the comparison has been clean for the [recommended](RECOMMENDED) time, and for so long that a difference
/// would have become a mismatch.
fn is_safe(ledger: &mut Ledger, now: Instant, panics: u64) -> bool {
    let required = ledger.required_period(now).max(RECOMMENDED);
    panics == 0
        && ledger.clean_for(now).is_some_and(|clean| clean >= required)
        && !ledger.is_writer_stalled(now)
        && ledger.services() > 0
}

/// State of the comparison, to decide whether the compared controllers can take over.
#[derive(Clone, Debug)]
pub struct Report {
    /// For people; the first line is a summary.
    pub text: String,
    /// The same for programs.
    pub json: Value,
}

pub(crate) fn report(ledger: &mut Ledger, now: Now, panics: u64) -> Report {
    let summary_line = summary(ledger, now.instant, panics);
    let mismatches: Vec<Value> = ledger.mismatches().iter().map(|it| mismatch_json(it, now)).collect();
    let json = json!({
        "summary": summary_line,
        "isSafeToSwitch": is_safe(ledger, now.instant, panics),
        "openMismatches": ledger.open(),
        "cleanSeconds": ledger.clean_for(now.instant).map(|it| it.as_secs()),
        "recommendedCleanSeconds": RECOMMENDED.as_secs(),
        "changesCompared": ledger.changes(),
        "servicesCompared": ledger.services(),
        "unsettled": ledger.unsettled(),
        "untriggered": ledger.untriggered(),
        "oldestComparisonSeconds": ledger.oldest_comparison(now.instant).as_secs(),
        "requiredPeriodSeconds": ledger.required_period(now.instant).as_secs_f64(),
        "panics": panics,
        "mismatches": mismatches,
    });
    Report { text: text(ledger, now, &summary_line, panics), json }
}

fn text(ledger: &Ledger, now: Now, summary: &str, panics: u64) -> String {
    let oldest = short(ledger.oldest_comparison(now.instant));
    let mut text = format!("{summary}\n");
    // Writing to a String does not fail.
    let _ = writeln!(
        text,
        "{} Services compared, the oldest comparison {oldest} ago; {} differences not settled, {} by changes that trigger \
         no sync; {panics} panics",
        ledger.services(),
        ledger.unsettled(),
        ledger.untriggered()
    );
    for Mismatch { controller, key, classes, objects, first_seen, resolved } in ledger.mismatches().iter() {
        let classes: Vec<&str> = classes.iter().map(|class| class.as_str()).collect();
        let state = match resolved {
            None => "open".to_owned(),
            Some(at) => format!("resolved {}", now.shown(*at)),
        };
        let (classes, first) = (classes.join(", "), now.shown(*first_seen));
        let _ = writeln!(text, "\n{key}: {classes}; {controller}, first seen {first}, {state}");
        for ObjectMismatch { object, class, codes, expected, actual, omitted } in objects {
            let codes: Vec<&str> = codes.iter().map(|code| code.as_str()).collect();
            let _ = writeln!(text, "  {object}: {class} {}", codes.join(" "));
            for (side, json) in [("expected", expected), ("actual", actual)] {
                let _ = writeln!(text, "    {side}: {}", json.as_deref().unwrap_or("no object"));
            }
            if *omitted > 0 {
                let _ = writeln!(text, "    {omitted} endpoints or subsets are not shown");
            }
        }
    }
    text
}

fn mismatch_json(mismatch: &Mismatch, now: Now) -> Value {
    let Mismatch { controller, key, classes, objects, first_seen, resolved } = mismatch;
    let side = |json: &Option<Box<str>>| json.as_deref().and_then(|it| serde_json::from_str(it).ok());
    let object = |it: &ObjectMismatch| {
        let ObjectMismatch { object, class, codes, expected, actual, omitted } = it;
        let (expected, actual): (Option<Value>, Option<Value>) = (side(expected), side(actual));
        json!({
            "object": object, "class": class, "codes": codes,
            "expected": expected, "actual": actual, "omitted": omitted,
        })
    };
    json!({
        "controller": controller,
        "namespace": key.namespace.as_str(),
        "service": key.name.as_str(),
        "classes": classes,
        "objects": objects.iter().map(object).collect::<Vec<_>>(),
        "firstSeen": now.shown(*first_seen),
        "resolved": resolved.map(|at| now.shown(at)),
    })
}

/// Returns a duration in its two largest units: `1h2m`, `5m0s`, `7s`.
fn short(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let (hours, minutes, seconds) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    match (hours, minutes) {
        (0, 0) => format!("{seconds}s"),
        (0, _) => format!("{minutes}m{seconds}s"),
        _ => format!("{hours}h{minutes}m"),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use kube_endpoint_model::ObjectKey;

    use super::*;
    use crate::ledger::{Cause, Comparison, Fingerprint};

    #[rstest]
    #[case::early(34, "Clean for 34s of the recommended 1h, 1 changes compared: too early to switch", false)]
    #[case::almost(3_599, "Clean for 59m59s of the recommended 1h, 1 changes compared: too early to switch", false)]
    #[case::long_enough(3_600, "Clean for 1h0m (1h recommended), 1 changes compared: ready to switch", true)]
    fn clean_time_is_shown_beside_the_recommended_time(
        #[case] seconds: u64,
        #[case] expected: &str,
        #[case] is_safe: bool,
    ) {
        let (mut ledger, start) = (Ledger::new(Duration::from_secs(30), false), Instant::now());
        for inputs in [1, 2] {
            let (key, fingerprint) = (ObjectKey::new("shop", "web"), Fingerprint { inputs, outputs: 1 });
            let (controller, cause) = ("endpoints-controller", Cause::Change);
            ledger.compare(start, Comparison { controller, key: &key, fingerprint, cause, is_empty: true });
        }
        let now = Now { instant: start + Duration::from_secs(seconds), wall: Timestamp::UNIX_EPOCH };
        let Report { text, json } = report(&mut ledger, now, 0);
        assert_eq!(text.lines().next(), Some(expected));
        let found = ["summary", "isSafeToSwitch", "cleanSeconds", "recommendedCleanSeconds"].map(|it| json[it].clone());
        assert_eq!(found, [json!(expected), json!(is_safe), json!(seconds), json!(3_600)]);
        let panicked = report(&mut ledger, now, 1);
        assert_eq!((&panicked.json["isSafeToSwitch"], panicked.text.contains("do not switch")), (&json!(false), true));
    }

    #[rstest]
    #[case(59, "59s")]
    #[case(60, "1m0s")]
    #[case(3_720, "1h2m")]
    fn durations_have_two_units(#[case] seconds: u64, #[case] expect: &str) {
        assert_eq!(short(Duration::from_secs(seconds)), expect);
    }
}

//! Plans for people.

use std::fmt::Write as _;

use crate::duration::shown;
use crate::evidence::Evidence;
use crate::plan::{LeftOverBecause, ObjectState, Plan, PlannedObject, Verdict};
use crate::readers::{Confidence, Reader};
use crate::savings::{Savings, WritesFrom};

/// Number of lines of a list.
const LINES: usize = 20;
const KIB: usize = 1_024;

/// Returns a plan as text. Lists have at most 20 lines.
pub fn text(plan: &Plan) -> String {
    let mut text = String::new();
    let scope = plan.namespace.as_ref().map_or_else(|| "all namespaces".to_owned(), |it| format!("namespace {it}"));
    let count = |is: fn(&Verdict) -> bool| plan.objects.iter().filter(|it| is(&it.verdict)).count();
    let safe = count(|it| matches!(it, Verdict::Safe));
    let not_safe = count(|it| matches!(it, Verdict::NotSafe { .. }));
    line(&mut text, format_args!("Endpoints of {scope}: {}", answer(&plan.verdict)));
    reasons(&mut text, &plan.verdict, "  ");
    let objects = plan.objects.len();
    line(
        &mut text,
        format_args!(
            "\nManaged Endpoints: {objects}; safe to delete: {safe}, not safe: {not_safe}, unknown: {}",
            objects - safe - not_safe
        ),
    );
    let notable = plan.objects.iter().filter(|it| it.verdict != plan.verdict && it.verdict != Verdict::Safe);
    list(&mut text, notable, object);
    evidence(&mut text, &plan.findings.evidence);
    readers(&mut text, &plan.findings.readers);
    if !plan.findings.writers.is_empty() {
        line(&mut text, format_args!("\nEndpoints that others write: {}", plan.findings.writers.len()));
        list(&mut text, plan.findings.writers.iter(), |text, writer| {
            let managers = if writer.managers.is_empty() { "unknown".to_owned() } else { writer.managers.join(", ") };
            line(
                text,
                format_args!("  {}/{} (written by {managers}): {}", writer.namespace, writer.name, writer.advice),
            );
        });
    }
    if !plan.findings.left_overs.is_empty() {
        line(&mut text, format_args!("\nLeft over: {}", plan.findings.left_overs.len()));
        list(&mut text, plan.findings.left_overs.iter(), |text, it| {
            let because = match it.because {
                LeftOverBecause::ServiceGone => "its Service does not exist",
                LeftOverBecause::SelectorGone => "its Service has no selector",
            };
            line(text, format_args!("  {}/{}: {because}", it.namespace, it.name));
        });
    }
    savings(&mut text, &plan.findings.savings);
    text
}

fn line(text: &mut String, line: std::fmt::Arguments<'_>) {
    // A String takes everything.
    let _ = writeln!(text, "{line}");
}

fn list<T>(text: &mut String, items: impl Iterator<Item = T>, mut each: impl FnMut(&mut String, T)) {
    let mut items = items.fuse();
    items.by_ref().take(LINES).for_each(|item| each(text, item));
    let more = items.count();
    if more > 0 {
        line(text, format_args!("  {more} more, see -o json"));
    }
}

fn answer(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Safe => "safe to retire",
        Verdict::NotSafe { .. } => "not safe to retire",
        Verdict::Unknown { .. } => "unknown whether it is safe to retire them",
    }
}

fn reasons(text: &mut String, verdict: &Verdict, indent: &str) {
    let (because, needs): (&[String], &[String]) = match verdict {
        Verdict::Safe => (&[], &[]),
        Verdict::NotSafe { because } => (because, &[]),
        Verdict::Unknown { because, needs } => (because, needs),
    };
    for it in because {
        line(text, format_args!("{indent}because {it}"));
    }
    for it in needs {
        line(text, format_args!("{indent}needed: {it}"));
    }
}

fn object(text: &mut String, object: &PlannedObject) {
    let PlannedObject { namespace, name, state, verdict, .. } = object;
    let state = match state {
        ObjectState::Current => "",
        ObjectState::LeftOver => ", left over",
        ObjectState::Differs => ", differs",
    };
    let (answer, first, more) = match verdict {
        Verdict::Safe => ("safe", "", 0),
        Verdict::NotSafe { because } => ("not safe", because.first().map_or("", String::as_str), because.len()),
        Verdict::Unknown { because, .. } => ("unknown", because.first().map_or("", String::as_str), because.len()),
    };
    let more = if more > 1 { format!("; {} more", more - 1) } else { String::new() };
    line(text, format_args!("  {namespace}/{name}{state}: {answer}: {first}{more}"));
}

fn evidence(text: &mut String, evidence: &Evidence) {
    match &evidence.log {
        None => line(text, format_args!("\nAudit log: none")),
        Some(log) => {
            let time = log.from.zip(log.until).map(|(from, until)| {
                let covered = shown(until.duration_since(from));
                format!("{covered}, {} to {}, ", from.strftime("%Y-%m-%dT%H:%MZ"), until.strftime("%Y-%m-%dT%H:%MZ"))
            });
            let (time, s) = (time.unwrap_or_default(), if log.files == 1 { "" } else { "s" });
            let servers = evidence.api_servers.map(|it| format!(", API servers: {it}")).unwrap_or_default();
            line(
                text,
                format_args!(
                    "\nAudit log: {time}{} file{s}, events: {}, reads of Endpoints: {}{servers}",
                    log.files, log.events, log.reads
                ),
            );
        }
    }
    for unread in &evidence.unread {
        line(text, format_args!("  not read: {}: {}", unread.kind, unread.because));
    }
}

fn readers(text: &mut String, readers: &[Reader]) {
    let (expected, others): (Vec<&Reader>, Vec<&Reader>) = readers.iter().partition(|it| it.expected.is_some());
    if !others.is_empty() {
        line(text, format_args!("\nReaders: {}", others.len()));
        list(text, others.into_iter(), reader);
    }
    if !expected.is_empty() {
        line(text, format_args!("\nReaders that are expected: {}", expected.len()));
        list(text, expected.into_iter(), |text, reader| {
            line(text, format_args!("  {}: {}", reader.who, reader.expected.as_deref().unwrap_or_default()));
        });
    }
}

fn reader(text: &mut String, reader: &Reader) {
    let confidence = match reader.confidence {
        Confidence::Seen => "seen",
        Confidence::Known => "known",
        Confidence::Could => "could",
    };
    let mut parts = Vec::new();
    if let Some(request) = reader.requests.first() {
        let last = request.last.strftime("%Y-%m-%dT%H:%M:%SZ");
        let more = reader.requests.len() + reader.more_requests - 1;
        let more = if more > 0 { format!(" and {more} others") } else { String::new() };
        let agent = request.agent.split(' ').next().unwrap_or_default();
        parts.push(format!("{} ({agent}), {} times, last at {last}{more}", request.what(), request.count));
    }
    parts.extend(reader.programs.iter().map(|program| format!("runs {} ({})", program.name, program.image)));
    if let Some(right) = reader.rights.first() {
        let namespace = right.namespace.as_ref().map(|it| format!(" in namespace {it}")).unwrap_or_default();
        parts.push(format!("may read them{namespace} by {}", right.binding));
    }
    if let Some(pod) = &reader.pod {
        parts.push(format!("Pods: {}, such as {pod}", reader.pods));
    }
    line(text, format_args!("  {confidence:<5}  {}: {}", reader.who, parts.join("; ")));
}

fn savings(text: &mut String, savings: &Savings) {
    let Savings { objects, bytes, writes_a_day, writes_from, watchers, bytes_to_watchers_a_day } = savings;
    line(text, format_args!("\nSaved Endpoints: {objects}; their size: {} KiB", bytes / KIB));
    if let Some(writes) = writes_a_day {
        let (at_least, from) = match writes_from {
            WritesFrom::LastWrites => ("at least ", "from the last write of each object"),
            WritesFrom::History => ("", "from the history"),
        };
        line(text, format_args!("  writes a day: {at_least}{writes}, {from}"));
    }
    if let (Some(watchers), Some(bytes)) = (watchers, bytes_to_watchers_a_day) {
        line(
            text,
            format_args!(
                "  to watchers a day: about {} KiB, for {watchers} other than controllers",
                bytes / KIB as u64
            ),
        );
    }
}

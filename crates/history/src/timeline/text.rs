//! Timelines for people.

use std::fmt::Write as _;

use jiff::{SignedDuration, Timestamp};
use kube_endpoints_explain::controls_terminal;

use super::entry::{Cause, EndpointChange, EndpointState, Entry, Hints, Written};
use super::fold::{Burst, Line};
use super::{Action, Timeline};

/// Formats lines and gaps by their times, which are in UTC.
pub fn lines(timeline: &Timeline, lines: &[Line]) -> String {
    let mut all: Vec<(Timestamp, String)> = lines.iter().map(|line| (time_of(line), line_of(line))).collect();
    all.extend(
        timeline
            .gaps
            .iter()
            .map(|gap| (gap.until, format!("changes since {} may be missing: {}", at(gap.from), gap.reason))),
    );
    all.sort_by_key(|(time, _)| *time);
    all.into_iter().fold(String::new(), |mut text, (time, line)| {
        let _ = writeln!(text, "{}  {}", at(time), printable(&line));
        text
    })
}

/// Returns one line, in which names and managers cannot control the terminal.
pub(crate) fn printable(line: &str) -> String {
    line.replace('\n', " ").replace(controls_terminal, "\u{fffd}")
}

pub(crate) fn time_of(line: &Line) -> Timestamp {
    match line {
        Line::Entry(entry) => entry.time,
        Line::Burst(burst) => burst.from,
    }
}

pub(crate) fn line_of(line: &Line) -> String {
    match line {
        Line::Entry(entry) => entry_line(entry),
        Line::Burst(burst) => burst_line(burst),
    }
}

fn entry_line(entry: &Entry) -> String {
    let Entry { time: _, endpoint, hints, cause, ready, written } = entry;
    let effect = match (endpoint, hints) {
        (Some(endpoint), _) => format!("{}, {ready} ready", endpoint_text(endpoint)),
        (None, Some(hints)) => format!("hints: {} -> {}", hinted(hints.from), hinted(hints.to)),
        (None, None) => return format!("no effect: {}", cause_text(cause)),
    };
    let written = match written {
        Some(written) => written_text(written),
        None if entry.is_in_no_slice() => "; in no slice".to_owned(),
        None => String::new(),
    };
    format!("{effect}: {}{written}", cause_text(cause))
}

fn endpoint_text(EndpointChange { address, pod, from, to, ports }: &EndpointChange) -> String {
    let pod = pod.as_ref().map(|pod| format!(" (Pod {pod})")).unwrap_or_default();
    match ports {
        Some(ports) if from == to => format!("{address}{pod}: {} -> {}", listed(&ports.from), listed(&ports.to)),
        _ => format!("{address}{pod}: {} -> {}", state(*from), state(*to)),
    }
}

fn listed(ports: &[String]) -> String {
    if ports.is_empty() { "no ports".to_owned() } else { format!("ports {}", ports.join(",")) }
}

pub(crate) fn cause_text(Cause { object, action, reason, ended, manager, user }: &Cause) -> String {
    let reason = match reason {
        Some(reason) if *ended => format!("no longer {} {}; ", reason.code, reason.message),
        Some(reason) => format!("{} {}; ", reason.code, reason.message),
        None => String::new(),
    };
    let by = by(&(manager.clone(), user.clone()));
    format!("{reason}{object} was {}{by}", self::action(*action))
}

/// Returns the names of a manager and a user, after ` by `; nothing if both are unknown.
pub(super) fn by(names: &(Option<String>, Option<String>)) -> String {
    match names {
        (Some(manager), Some(user)) => format!(" by {manager} ({user})"),
        (Some(name), None) | (None, Some(name)) => format!(" by {name}"),
        (None, None) => String::new(),
    }
}

pub(super) fn action(action: Action) -> &'static str {
    match action {
        Action::Created => "created",
        Action::Changed => "changed",
        Action::Deleted => "deleted",
    }
}

fn written_text(Written { object, manager, after }: &Written) -> String {
    let by = manager.as_ref().map(|manager| format!(" by {manager}")).unwrap_or_default();
    format!("; {object} was written{by} {} later", duration(*after))
}

fn burst_line(burst: &Burst) -> String {
    let Burst { from, to, pods, added, removed, fewest_ready, ready, entries, not_written } = burst;
    let what = match (*added, *removed) {
        (0, 0) => format!("{pods} Pods changed"),
        (added, 0) => format!("{added} Pods became ready"),
        (0, removed) => format!("{removed} Pods were removed"),
        (added, removed) if added == removed => format!("{added} Pods replaced"),
        (added, removed) => format!("{added} Pods became ready and {removed} were removed"),
    };
    let missing = match not_written {
        0 => String::new(),
        missing => format!(", {missing} in no slice"),
    };
    let time = duration(to.duration_since(*from));
    format!("{what} in {time}, never fewer than {fewest_ready} ready, {ready} at the end ({entries} changes{missing})")
}

fn state(state: EndpointState) -> &'static str {
    match state {
        EndpointState::Absent => "absent",
        EndpointState::NotReady => "not ready",
        EndpointState::NoPort => "without a port",
        EndpointState::Ready => "ready",
        EndpointState::Draining => "draining",
        EndpointState::Terminating => "terminating",
    }
}

fn hinted(hints: Hints) -> &'static str {
    match hints {
        Hints::None => "none",
        Hints::Zones => "zones",
        Hints::Nodes => "Nodes",
    }
}

pub(crate) fn at(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

pub(crate) fn duration(duration: SignedDuration) -> String {
    match duration.as_millis() {
        milliseconds @ ..1_000 => format!("{milliseconds} ms"),
        _ => format!("{:.1} s", duration.as_secs_f64()),
    }
}

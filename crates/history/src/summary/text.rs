//! Summaries for people.

use std::fmt::Write as _;

use jiff::{SignedDuration, Timestamp};
use kube_endpoints_explain::thousands;

use super::{Flapping, List, ManagerWrites, Origin, Outage, Propagation, Summary, Writes};
use crate::timeline::{self, Unknown, at, cause_text, printable};

/// Formats a summary. Times are in UTC.
pub fn lines(summary: &Summary) -> String {
    let end = summary.until;
    let mut text = overview(summary) + "\n";
    section(&mut text, "Outages", &summary.outages, |it| outage(it, end));
    section(&mut text, "Not ready since their creation, or since before", &summary.not_yet_ready, |it| outage(it, end));
    section(&mut text, "Slowest from ready Pod to slice", &summary.propagation, propagation);
    section(&mut text, "Most writes", &summary.writes, writes);
    section(&mut text, "Flapping Pods", &summary.flapping, flapping);
    section(&mut text, "Unknown", &summary.gaps, gap);
    text
}

fn section<T>(text: &mut String, title: &str, list: &List<T>, line: impl Fn(&T) -> String) {
    if list.total == 0 {
        return;
    }
    let _ = writeln!(text, "\n{title}: {}", thousands(list.total));
    for item in &list.items {
        let _ = writeln!(text, "  {}", printable(&line(item)));
    }
    if list.omitted() > 0 {
        let _ = writeln!(text, "  and {} more", thousands(list.omitted()));
    }
}

/// Returns what a summary is about, in one sentence.
pub(super) fn overview(summary: &Summary) -> String {
    let Summary { from, until, services, changes, .. } = summary;
    let (services, changes) = (counted(*services, "Service"), counted(*changes, "change"));
    format!("From {} to {}: {services}, {changes} of endpoints.", at(*from), at(*until))
}

/// Returns a number with its noun.
pub(super) fn counted(count: usize, noun: &str) -> String {
    format!("{} {noun}{}", thousands(count), if count == 1 { "" } else { "s" })
}

fn outage(outage: &Outage, end: Timestamp) -> String {
    let duration = duration(outage.duration(end));
    let lasts = if outage.until.is_none() { " until the end" } else { "" };
    let Outage { service, from, cause, .. } = outage;
    let (namespace, name) = (&service.namespace, &service.name);
    format!("{namespace}/{name}  {}  {duration}{lasts}: {}", at(*from), origin(cause))
}

pub(super) fn origin(origin: &Origin) -> String {
    match origin {
        Origin::Change(cause) => cause_text(cause),
        Origin::Before(Some(reason)) => format!("before: {} {}", reason.code, reason.message),
        Origin::Before(None) => "before".to_owned(),
    }
}

fn propagation(it: &Propagation) -> String {
    let Propagation { service, pod, address, ready, slice, manager, after } = it;
    let (namespace, name, after) = (&service.namespace, &service.name, duration(*after));
    let pod = pod.as_ref().map(|pod| format!(" (Pod {pod})")).unwrap_or_default();
    let by = manager.as_ref().map(|manager| format!(" by {manager}")).unwrap_or_default();
    let shown = slice
        .as_ref()
        .map_or_else(|| format!("in no slice after {after}"), |slice| format!("{slice} was written{by} {after} later"));
    format!("{namespace}/{name}  {}  {address}{pod}: {shown}", at(*ready))
}

fn writes(it: &Writes) -> String {
    let Writes { service, slices, endpoints, managers } = it;
    let (namespace, name) = (&service.namespace, &service.name);
    format!("{namespace}/{name}  {}: {}", written(*slices, *endpoints), by_manager(managers))
}

pub(super) fn written(slices: u64, endpoints: u64) -> String {
    format!("{} of slices, {} of Endpoints", thousands(slices), thousands(endpoints))
}

pub(super) fn by_manager(managers: &[ManagerWrites]) -> String {
    let of_manager = |it: &ManagerWrites| {
        format!("{} {}", it.manager.as_deref().unwrap_or("unknown"), thousands(it.slices + it.endpoints))
    };
    managers.iter().map(of_manager).collect::<Vec<_>>().join(", ")
}

fn flapping(it: &Flapping) -> String {
    let Flapping { pod, services, changes } = it;
    let services = if services.is_empty() { "no Service".to_owned() } else { services.join(", ") };
    format!("{}/{}  {} changes, of {services}", pod.namespace, pod.name, thousands(changes))
}

fn gap(it: &Unknown) -> String {
    format!("{} to {}: {}", at(it.from), at(it.until), it.reason)
}

/// Formats a duration: in milliseconds, in seconds, or in units down to seconds.
pub(super) fn duration(duration: SignedDuration) -> String {
    let seconds = duration.as_secs();
    match (seconds / 3_600, seconds / 60 % 60, seconds % 60) {
        (0, 0, _) => timeline::duration(duration),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

//! Whether audit logs show enough to say that no program reads Endpoints.

use std::collections::{BTreeSet, HashSet};

use jiff::{SignedDuration, Timestamp};
use kube_endpoints_history::audit::reads::{LogFile, Reads, hour};
use serde::{Deserialize, Serialize};

use crate::duration::shown;

/// Age of the last event at which a log no longer tells about the present.
const OLDEST_END: SignedDuration = SignedDuration::from_hours(24);
/// Number of hours in a row without a read of Endpoints by anybody, from which on the log has a gap. The controllers that watch
/// Endpoints begin a new watch at least every hour, because the API server ends each.
const LONGEST_SILENCE: i64 = 3;
/// Number of lines of a file that may be no audit event: the first and the last one, which a rotation has cut off.
const FOREIGN_LINES: u64 = 2;
const SECONDS_OF_AN_HOUR: i64 = 3_600;

/// How much is known of who reads Endpoints.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Evidence {
    /// Time that an audit log must cover, in seconds.
    pub asked_seconds: i64,
    /// Number of API servers whose logs are asked for; `None` if it is unknown, and for one log of all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_servers: Option<usize>,
    /// What the audit log shows; `None` without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log: Option<LogEvidence>,
    /// Why the audit log does not suffice; empty if it does.
    pub shortfalls: Vec<Shortfall>,
    /// What could not be read from the cluster.
    pub unread: Vec<Unread>,
}

/// What an audit log shows.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LogEvidence {
    /// Number of files.
    pub files: usize,
    /// Number of audit events.
    pub events: u64,
    /// Time of the first event; `None` without events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<Timestamp>,
    /// Time of the last event that is not after the plan; `None` without events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// Number of requests that have read Endpoints, also those of controllers.
    pub reads: u64,
}

/// Why an audit log does not suffice.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Shortfall {
    /// What is not known, a sentence.
    pub because: String,
    /// What would make it known, a sentence.
    pub needs: String,
}

/// Objects that could not be read from the cluster.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Unread {
    /// Kind of the objects.
    pub kind: String,
    /// Answer of the API server.
    pub because: String,
}

/// What an audit log has to show.
#[derive(Clone, Copy, Debug)]
pub struct Demand {
    /// Time that it must cover.
    pub time: SignedDuration,
    /// Time of the plan.
    pub now: Timestamp,
    /// Number of API servers, each of which logs its own requests; `None` if it is unknown.
    pub api_servers: Option<usize>,
    /// Whether the files are one log of all API servers.
    pub is_merged: bool,
}

impl Shortfall {
    pub(crate) fn new(because: impl Into<String>, needs: impl Into<String>) -> Shortfall {
        Shortfall { because: because.into(), needs: needs.into() }
    }
}

impl Evidence {
    /// Returns what the logs show, and why that does not suffice.
    pub fn of(reads: Option<&Reads>, demand: &Demand, unread: Vec<Unread>) -> Evidence {
        let log = reads.map(|reads| log_evidence(reads, demand.now));
        let shortfalls = match (reads, &log) {
            (Some(reads), Some(log)) => shortfalls(reads, log, demand),
            _ => vec![Shortfall::new(
                "there is no audit log, so that nothing is known of who reads Endpoints",
                format!("--audit-log with the audit logs of all API servers of the last {}", shown(demand.time)),
            )],
        };
        let api_servers = demand.api_servers.filter(|_| !demand.is_merged);
        Evidence { asked_seconds: demand.time.as_secs(), api_servers, log, shortfalls, unread }
    }
}

fn log_evidence(reads: &Reads, now: Timestamp) -> LogEvidence {
    let last = reads.files.iter().filter_map(|file| file.last).max();
    LogEvidence {
        files: reads.files.len(),
        events: reads.files.iter().map(|file| file.events).sum(),
        from: reads.files.iter().filter_map(|file| file.first).min(),
        until: last.map(|last| last.min(now)),
        reads: reads.requests().map(|(_, seen)| seen.count).sum(),
    }
}

fn shortfalls(reads: &Reads, log: &LogEvidence, demand: &Demand) -> Vec<Shortfall> {
    let time = shown(demand.time);
    let (Some(from), Some(until)) = (log.from, log.until) else {
        return vec![Shortfall::new("the files have no audit event", "audit logs of kube-apiserver")];
    };
    let mut found = Vec::new();
    let covered = until.duration_since(from);
    if covered < demand.time {
        let because = format!("the audit log covers {}, and not {time}", shown(covered));
        found.push(Shortfall::new(because, format!("audit logs of at least {time}")));
    }
    let age = demand.now.duration_since(until);
    if age > OLDEST_END {
        let because = format!("the audit log ends {} before the plan", shown(age));
        found.push(Shortfall::new(because, "audit logs that end at most a day before the plan"));
    }
    let policy =
        "an audit policy that records get, list and watch of Endpoints by all users, at level Metadata or above";
    if reads.reads_of_all_kinds == 0 {
        found.push(Shortfall::new("the audit log has no reads at all: its policy does not record them", policy));
    } else if reads.hours.is_empty() {
        let because =
            "the audit log has reads, but none of Endpoints, not even by controllers: its policy does not record them";
        found.push(Shortfall::new(because, policy));
    } else if let Some((first, hours)) = silence(&reads.hours, window(until, demand.time)) {
        let because = format!(
            "from {first} on, the audit log has no read of Endpoints for {hours} hours, although controllers read them all the time: \
             it has a gap"
        );
        found.push(Shortfall::new(because, "an audit log without gaps"));
    }
    found.extend(servers(reads, window(until, demand.time), demand));
    found.extend(reads.files.iter().flat_map(file_shortfalls));
    if reads.is_incomplete {
        found.push(Shortfall::new(
            "more different requests read Endpoints than can be kept apart",
            "a shorter audit log",
        ));
    }
    found
}

/// Returns the hours that a log has to cover.
fn window(until: Timestamp, time: SignedDuration) -> std::ops::RangeInclusive<i64> {
    let from = until.checked_sub(time).unwrap_or(Timestamp::MIN);
    hour(from)..=hour(until)
}

/// Returns the longest time without a read, and its number of hours; `None` if no time is too long.
fn silence(hours: &BTreeSet<i64>, window: std::ops::RangeInclusive<i64>) -> Option<(Timestamp, i64)> {
    let (start, end) = window.into_inner();
    let mut longest = (0, start);
    let mut before = start - 1;
    for next in hours.range(start..=end).copied().chain([end + 1]) {
        longest = longest.max((next - before - 1, before + 1));
        before = next;
    }
    let (length, first) = longest;
    (length >= LONGEST_SILENCE).then(|| (start_of(first), length))
}

fn start_of(hour: i64) -> Timestamp {
    Timestamp::from_second(hour.saturating_mul(SECONDS_OF_AN_HOUR)).unwrap_or(Timestamp::MIN)
}

/// Returns a shortfall if logs of some API servers are missing for some time.
fn servers(reads: &Reads, window: std::ops::RangeInclusive<i64>, demand: &Demand) -> Option<Shortfall> {
    if demand.is_merged || reads.files.iter().all(|file| file.is_of_all_servers) {
        return None;
    }
    let needs = "the files of each API server, or --merged-log if the files are one log of all API servers";
    let Some(servers) = demand.api_servers else {
        let because = "the number of API servers is unknown, and each logs only its own requests";
        return Some(Shortfall::new(because, needs));
    };
    if servers < 2 {
        return None;
    }
    // Files of one server do not overlap, but for copies, which share requests. The middle of an hour: a rotation at
    // its beginning is usual.
    let logged = |hour: i64| {
        let middle = hour.saturating_mul(SECONDS_OF_AN_HOUR).saturating_add(SECONDS_OF_AN_HOUR / 2);
        let covers = |file: &&LogFile| {
            let is_within = file
                .first
                .zip(file.last)
                .is_some_and(|(first, last)| (first.as_second()..=last.as_second()).contains(&middle));
            is_within && file.hours.range(hour - 1..=hour + 1).next().is_some()
        };
        let mut counted = HashSet::new();
        let found = reads.files.iter().filter(covers).map(|file| {
            let ids: HashSet<u64> = file.hours.range(hour - 1..=hour + 1).filter_map(|(_, id)| *id).collect();
            let is_copy = !counted.is_disjoint(&ids);
            counted.extend(ids);
            if is_copy {
                0
            } else if file.is_of_all_servers {
                servers
            } else {
                1
            }
        });
        found.sum::<usize>()
    };
    // The first and the last hour can be covered in part.
    let (start, end) = window.into_inner();
    let fewest = (start + 1..end).map(|hour| (logged(hour), hour)).min()?;
    let (found, hour) = fewest;
    (found < servers).then(|| {
        let because = format!(
            "the cluster has {servers} API servers, each of which logs only its own requests, and at {} only {found} of them {}",
            start_of(hour),
            if found == 1 { "has a log" } else { "have logs" }
        );
        Shortfall::new(because, needs)
    })
}

fn file_shortfalls(file: &LogFile) -> Vec<Shortfall> {
    let mut found = Vec::new();
    if let Some(error) = &file.unreadable {
        found.push(Shortfall::new(format!("{} could not be read to its end: {error}", file.name), "an intact file"));
    }
    if file.too_long > 0 {
        let because = format!("{} events of {} are longer than 8 MiB, and were not read", file.too_long, file.name);
        found.push(Shortfall::new(because, "a log at level Metadata"));
    }
    if file.foreign > FOREIGN_LINES {
        let because = format!("{} lines of {} are no audit event", file.foreign, file.name);
        found.push(Shortfall::new(because, "an intact file"));
    }
    found
}

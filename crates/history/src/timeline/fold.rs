//! Many changes in a short time, as one line.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use super::entry::{EndpointChange, EndpointState, Entry};

/// Time without a change that ends a burst.
const PAUSE: SignedDuration = SignedDuration::from_secs(30);
/// Number of Pods whose changes are a burst.
const FEWEST: usize = 5;

/// An entry, or several at once.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Line {
    /// One change.
    Entry(Box<Entry>),
    /// A rollout, or another change of many Pods.
    Burst(Burst),
}

/// Changes of at least five Pods, with pauses below 30 s.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Burst {
    /// Time of the first change.
    pub from: Timestamp,
    /// Time of the last change.
    pub to: Timestamp,
    /// Number of Pods that have changed.
    pub pods: usize,
    /// Number of Pods that became ready.
    pub added: usize,
    /// Number of Pods that ceased to be ready.
    pub removed: usize,
    /// Smallest number of ready endpoints.
    pub fewest_ready: usize,
    /// Number of ready endpoints at the end.
    pub ready: usize,
    /// Number of entries.
    pub entries: usize,
    /// Of the entries with an effect, the number that no slice has shown.
    pub not_written: usize,
}

impl From<Entry> for Line {
    fn from(entry: Entry) -> Line {
        Line::Entry(Box::new(entry))
    }
}

/// Folds entries that follow each other closely.
pub fn fold(entries: &[Entry]) -> Vec<Line> {
    let close = |before: &Entry, after: &Entry| after.time.duration_since(before.time) < PAUSE;
    let mut lines = Vec::new();
    for run in entries.chunk_by(close) {
        let pods: BTreeSet<&str> = run.iter().filter_map(|entry| entry.endpoint.as_ref()?.pod.as_deref()).collect();
        if pods.len() < FEWEST {
            lines.extend(run.iter().cloned().map(Line::from));
        } else {
            lines.extend(burst(run).map(Line::Burst));
        }
    }
    lines
}

fn burst(run: &[Entry]) -> Option<Burst> {
    let (first, last) = (run.first()?, run.last()?);
    let pods = |is_counted: fn(&EndpointChange) -> bool| {
        let changes = run.iter().filter_map(|entry| entry.endpoint.as_ref());
        let counted = changes.filter(|it| is_counted(it)).filter_map(|it| it.pod.as_deref());
        counted.collect::<BTreeSet<_>>().len()
    };
    let with_effect = run.iter().filter(|entry| entry.has_effect());
    Some(Burst {
        from: first.time,
        to: last.time,
        pods: pods(|_| true),
        added: pods(EndpointChange::became_ready),
        removed: pods(|it| it.from == EndpointState::Ready && it.to != EndpointState::Ready),
        fewest_ready: with_effect.map(|entry| entry.ready).min().unwrap_or(last.ready),
        ready: last.ready,
        entries: run.len(),
        not_written: run.iter().filter(|entry| entry.is_in_no_slice()).count(),
    })
}

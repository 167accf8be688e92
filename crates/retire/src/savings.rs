//! What a cluster saves without managed Endpoints.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::facts::FoundEndpoints;

/// What a cluster saves without managed Endpoints.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Savings {
    /// Number of objects.
    pub objects: usize,
    /// Length of all objects as the API server sends them, in bytes.
    pub bytes: usize,
    /// Number of writes in a day; `None` if it is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub writes_a_day: Option<u64>,
    /// What the number of writes is based on.
    pub writes_from: WritesFrom,
    /// Number of programs that watch all Endpoints, without the controllers'; `None` without an audit log. A program that runs in
    /// several Pods counts once, so that there can be more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub watchers: Option<u64>,
    /// Estimate of what the API server sends to these watchers in a day, in bytes: writes by average length by watchers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_to_watchers_a_day: Option<u64>,
}

/// What a number of writes is based on.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum WritesFrom {
    /// The last write of each object: there are at least so many.
    #[default]
    LastWrites,
    /// A history.
    History,
}

/// Number of writes of Endpoints in a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WriteRate {
    /// Number of writes.
    pub writes: u64,
    /// Time in which they were counted.
    pub time: SignedDuration,
}

const DAY: SignedDuration = SignedDuration::from_hours(24);

impl Savings {
    pub(crate) fn of(
        managed: &[&FoundEndpoints],
        rate: Option<WriteRate>,
        watchers: Option<u64>,
        now: Timestamp,
    ) -> Savings {
        let bytes = managed.iter().map(|found| found.written.length).sum();
        let last_write = |found: &&&FoundEndpoints| found.written.managers.iter().filter_map(|it| it.time).max();
        let is_recent = |time: Timestamp| now.duration_since(time) <= DAY;
        let (writes_a_day, writes_from) = if let Some(rate) = rate.filter(|rate| rate.time.is_positive()) {
            let a_day =
                u128::from(rate.writes) * DAY.as_millis().unsigned_abs() / rate.time.as_millis().unsigned_abs().max(1);
            (u64::try_from(a_day).ok(), WritesFrom::History)
        } else {
            let recent = managed.iter().filter(|found| last_write(found).is_some_and(is_recent)).count();
            (Some(recent as u64), WritesFrom::LastWrites)
        };
        let average = bytes as u64 / (managed.len() as u64).max(1);
        let bytes_to_watchers_a_day = writes_a_day
            .zip(watchers)
            .and_then(|(writes, watchers)| writes.checked_mul(average)?.checked_mul(watchers));
        Savings { objects: managed.len(), bytes, writes_a_day, writes_from, watchers, bytes_to_watchers_a_day }
    }
}

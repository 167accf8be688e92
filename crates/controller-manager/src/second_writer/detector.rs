//! Decides whether writes by other clients are those of a second controller.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::time::Duration;

use kube_wire::ObjectKey;
use tokio::time::Instant;

/// Label of writes whose field manager could not be read.
pub(super) const UNKNOWN: &str = "unknown";
/// Label of the writes of all further field managers.
pub(super) const OTHER: &str = "other";
/// Maximum number of field managers with a label of their own.
const MAX_MANAGERS: usize = 20;
/// Time in which writes are counted together.
const WINDOW: Duration = Duration::from_secs(60);
/// Number of different objects that a second writer writes within [`WINDOW`].
const OBJECTS: usize = 5;
/// Number of writes of one object by a second writer within [`WINDOW`].
const REPEATS: usize = 5;
/// Time without writes by a second writer after which there is none any more.
const QUIET: Duration = Duration::from_secs(5 * 60);
/// Minimum time between two warnings.
const WARNING_INTERVAL: Duration = Duration::from_secs(60);

/// An object of this program's controllers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Object {
    /// Plural name of its resource.
    pub(super) resource: &'static str,
    pub(super) key: ObjectKey,
}

impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.resource, self.key)
    }
}

/// Writes by others since the previous warning.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Warning {
    /// Number of writes, by label of the field manager.
    pub(super) writes: BTreeMap<String, u64>,
    pub(super) example: Object,
}

/// Counts writes by other clients, by field manager. Pure: the time is an argument.
///
/// A field manager is a second writer once it has written [`OBJECTS`] different objects, or one object [`REPEATS`] times,
/// within [`WINDOW`].
#[derive(Debug, Default)]
pub(super) struct Detector {
    /// Field managers that have a label of their own.
    labels: BTreeSet<String>,
    /// Writes within [`WINDOW`] and their field managers. Their number is limited by the rate at which managers are read.
    recent: Vec<(Instant, String, Object)>,
    /// Field managers of the second writer; empty without one.
    writers: BTreeSet<String>,
    /// Time of the last write by one of these.
    last: Option<Instant>,
    /// Time at which the last second writer was found to have stopped.
    stopped: Option<Instant>,
    unreported: Option<Warning>,
    warned: Option<Instant>,
}

impl Detector {
    /// Records a write by another client at `at`, and returns the label of its field manager. `None` as the manager
    /// means that it could not be read; such writes count for metrics and warnings only.
    ///
    /// The writes of one manager are recorded in order. Others may be recorded late, while their manager is read.
    pub(super) fn record(&mut self, manager: Option<&str>, object: Object, at: Instant) -> &str {
        self.advance(at);
        let label = match manager {
            None => UNKNOWN,
            Some(manager) => {
                if self.labels.len() < MAX_MANAGERS {
                    self.labels.insert(manager.to_owned());
                }
                self.labels.get(manager).map_or(OTHER, String::as_str)
            }
        };
        let unreported =
            self.unreported.get_or_insert_with(|| Warning { writes: BTreeMap::new(), example: object.clone() });
        *unreported.writes.entry(label.to_owned()).or_default() += 1;
        let Some(manager) = manager else { return label };
        self.recent.retain(|(written, ..)| at < *written + WINDOW);
        // A write of the second writer before it stopped, recorded late, is no sign of another one.
        if self.stopped.is_none_or(|stopped| at >= stopped) {
            self.recent.push((at, manager.to_owned(), object));
            let mut counts = HashMap::new();
            for (_, _, object) in self.recent.iter().filter(|(_, writer, _)| writer == manager) {
                *counts.entry(object).or_insert(0_usize) += 1;
            }
            if counts.len() >= OBJECTS || counts.values().any(|count| *count >= REPEATS) {
                self.writers.insert(manager.to_owned());
            }
        }
        if self.writers.contains(manager) {
            self.last = self.last.max(Some(at));
        }
        label
    }

    /// Ends what is over at `now`: a second writer that has stopped.
    pub(super) fn advance(&mut self, now: Instant) {
        if self.quiet_at().is_some_and(|at| at <= now) {
            self.stopped = Some(now);
            self.recent.clear();
            self.writers.clear();
        }
    }

    /// Returns the time at which the second writer, if there is one, will have stopped.
    fn quiet_at(&self) -> Option<Instant> {
        self.last.filter(|_| self.is_second_writer()).map(|last| last + QUIET)
    }

    pub(super) fn is_second_writer(&self) -> bool {
        !self.writers.is_empty()
    }

    pub(super) fn second_writers(&self) -> &BTreeSet<String> {
        &self.writers
    }

    /// Returns the writes to warn about at `now`: those since the previous warning, if that is a minute ago or more.
    pub(super) fn take_warning(&mut self, now: Instant) -> Option<Warning> {
        if self.warned.is_some_and(|warned| now < warned + WARNING_INTERVAL) {
            return None;
        }
        let warning = self.unreported.take()?;
        self.warned = Some(now);
        Some(warning)
    }

    /// Returns the next time at which [`advance`](Self::advance) or [`take_warning`](Self::take_warning) changes
    /// something without a write.
    pub(super) fn due(&self) -> Option<Instant> {
        let warning = self.unreported.as_ref().and(self.warned).map(|warned| warned + WARNING_INTERVAL);
        self.quiet_at().into_iter().chain(warning).min()
    }
}

#[cfg(test)]
mod tests;

//! Decides whether writes by other clients are those of a second controller.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::fmt;
use std::time::Duration;

use kube_wire::ObjectKey;
use tokio::time::Instant;

use crate::settings::SecondWriterSettings;

/// Label of writes whose field manager could not be read.
pub(super) const UNKNOWN: &str = "unknown";
/// Label of the writes of all further field managers.
pub(super) const OTHER: &str = "other";
/// Maximum number of field managers with a label of their own, and of those whose writes are counted at one time.
const MAX_MANAGERS: usize = 20;
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
    /// The first object.
    pub(super) example: Object,
}

/// Counts writes by other clients, by field manager. Pure: the time is an argument.
#[derive(Debug)]
pub(super) struct Detector {
    settings: SecondWriterSettings,
    /// Field managers that have a label of their own.
    labels: BTreeSet<String>,
    /// Latest writes, by field manager.
    recent: HashMap<String, Recent>,
    /// Field managers of the second writer; empty without one.
    writers: BTreeSet<String>,
    /// Time of the last write by one of these.
    last: Option<Instant>,
    /// Time at which the last second writer was found to have stopped.
    stopped: Option<Instant>,
    unreported: Option<Warning>,
    warned: Option<Instant>,
}

/// Latest writes of one field manager.
#[derive(Debug, Default)]
struct Recent {
    writes: VecDeque<(Instant, Object)>,
}

impl Recent {
    /// Records a write, and returns whether the writes are those of a second writer.
    fn record(&mut self, object: Object, at: Instant, settings: &SecondWriterSettings) -> bool {
        self.writes.push_back((at, object));
        // Among so many writes there are enough different objects, or enough writes of one.
        let enough = settings.objects.saturating_sub(1) * settings.repeats.saturating_sub(1) + 1;
        while self.writes.len() > enough {
            self.writes.pop_front();
        }
        let mut counts = HashMap::new();
        for (_, object) in &self.writes {
            *counts.entry(object).or_insert(0_usize) += 1;
        }
        counts.len() >= settings.objects || counts.values().any(|count| *count >= settings.repeats)
    }

    fn expire(&mut self, now: Instant, window: Duration) {
        while self.writes.front().is_some_and(|(at, _)| *at + window <= now) {
            self.writes.pop_front();
        }
    }
}

impl Detector {
    /// Returns a detector without writes.
    pub(super) fn new(settings: SecondWriterSettings) -> Detector {
        Detector {
            settings,
            labels: BTreeSet::new(),
            recent: HashMap::new(),
            last: None,
            writers: BTreeSet::new(),
            stopped: None,
            unreported: None,
            warned: None,
        }
    }

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
        let window = self.settings.window;
        self.recent.retain(|_, recent| {
            recent.expire(at, window);
            !recent.writes.is_empty()
        });
        // A write of the second writer before it stopped, recorded late, is no sign of another one.
        let is_late = self.stopped.is_some_and(|stopped| at < stopped);
        if let Some(manager) = manager
            && !is_late
            && (self.recent.len() < MAX_MANAGERS || self.recent.contains_key(manager))
        {
            let recent = self.recent.entry(manager.to_owned()).or_default();
            if recent.record(object, at, &self.settings) {
                self.writers.insert(manager.to_owned());
            }
        }
        if let Some(manager) = manager
            && self.writers.contains(manager)
        {
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
        self.last.filter(|_| self.is_second_writer()).map(|last| last + self.settings.quiet)
    }

    /// Returns whether another controller writes.
    pub(super) fn is_second_writer(&self) -> bool {
        !self.writers.is_empty()
    }

    /// Returns the field managers of the second writer; empty without one.
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

//! Changes that no slice shows yet, and changes of slices whose cause is not seen yet.

use std::collections::HashMap;

use jiff::Timestamp;
use kube_endpoints_explain::ObjectRef;

use super::contents::Endpoint;
use super::entry::EndpointState;
use super::order::REORDERED;
use crate::{Change, What};

/// Relates changes of slices to their causes, by address.
#[derive(Debug, Default)]
pub(super) struct Pending {
    awaited: HashMap<String, Awaited>,
    early: HashMap<String, Early>,
}

/// The entries of an address, by how a slice will show them; of each, in their order. So nothing is searched that a slice does
/// not show, however often an address changes while no controller writes.
#[derive(Debug, Default)]
struct Awaited(HashMap<(EndpointState, Vec<String>), Vec<Waiting>>);

/// An entry that a slice will show.
#[derive(Debug)]
struct Waiting {
    entry: usize,
    /// Version of the cause; 0 if it is unknown.
    version: u64,
}

/// A change of a slice that nothing has explained, and its entry.
#[derive(Debug)]
pub(super) struct Early {
    pub(super) entry: usize,
    pub(super) slice: ObjectRef,
    pub(super) manager: Option<String>,
    pub(super) endpoint: Endpoint,
    pub(super) seen: Timestamp,
    /// Version of the slice; 0 if it is unknown.
    pub(super) version: u64,
}

/// Returns the version of the object after a change; 0 if it is unknown. Versions of all objects grow together.
pub(super) fn version_of(change: &Change) -> u64 {
    match &change.what {
        What::Put { after, .. } => after.version(),
        What::Removed(_) | What::Gap(_) | What::Unknown(_) => 0,
    }
}

impl Pending {
    /// Adds an entry that a slice will show.
    pub(super) fn expect(&mut self, address: &str, entry: usize, cause: &Change, endpoint: Endpoint) {
        let waiting = Waiting { entry, version: version_of(cause) };
        let Awaited(awaited) = self.awaited.entry(address.to_owned()).or_default();
        awaited.entry((endpoint.state, endpoint.ports)).or_default().push(waiting);
    }

    /// Returns the entry that a slice shows: the newest one with this state. Earlier ones were never shown.
    pub(super) fn shown(&mut self, address: &str, endpoint: &Endpoint, slice: &Change) -> Option<usize> {
        self.early.remove(address);
        let version = version_of(slice);
        let Awaited(awaited) = self.awaited.get_mut(address)?;
        let is_before = |cause: u64| cause == 0 || version == 0 || cause < version;
        let shown = awaited.get(&(endpoint.state, endpoint.ports.clone()))?;
        // Those with later versions are few: they were seen before the slice.
        let shown = shown.iter().rev().find(|it| is_before(it.version))?.entry;
        awaited.retain(|_, entries| {
            let passed = entries.partition_point(|it| it.entry <= shown);
            entries.drain(..passed);
            !entries.is_empty()
        });
        Some(shown)
    }

    /// Returns the entries that a slice may still show, or a cause explain: the last one of each address.
    pub(super) fn entries(&self) -> impl Iterator<Item = usize> {
        self.not_shown().chain(self.early.values().map(|it| it.entry))
    }

    /// Returns the entries that no slice has shown yet, the last one of each address.
    pub(super) fn not_shown(&self) -> impl Iterator<Item = usize> {
        let last = |Awaited(awaited): &Awaited| awaited.values().filter_map(|it| it.last()).map(|it| it.entry).max();
        self.awaited.values().filter_map(last)
    }

    /// Gives the entries their new numbers, and forgets those without one.
    pub(super) fn renumber(&mut self, numbers: &HashMap<usize, usize>) {
        let renumber = |entry: &mut usize| {
            numbers.get(entry).is_some_and(|number| {
                *entry = *number;
                true
            })
        };
        self.early.retain(|_, early| renumber(&mut early.entry));
        self.awaited.retain(|_, Awaited(awaited)| {
            awaited.retain(|_, entries| {
                entries.retain_mut(|it| renumber(&mut it.entry));
                !entries.is_empty()
            });
            !awaited.is_empty()
        });
    }

    /// Adds a change of a slice whose cause may still be seen.
    pub(super) fn add_early(&mut self, address: &str, early: Early) {
        self.early.insert(address.to_owned(), early);
    }

    /// Returns the change of a slice that was seen before its cause.
    pub(super) fn explained(&mut self, address: &str, endpoint: &Endpoint, cause: &Change) -> Option<Early> {
        let early = self.early.get(address)?;
        let is_cause = match (version_of(cause), early.version) {
            (0, _) | (_, 0) => cause.seen.duration_since(early.seen) <= REORDERED,
            (cause, slice) => cause < slice,
        };
        (is_cause && early.endpoint.is_shown_as(endpoint)).then(|| self.early.remove(address)).flatten()
    }
}

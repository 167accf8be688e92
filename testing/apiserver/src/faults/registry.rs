//! Faults and open watches of a server, shared by its connections and its owner.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rand::rngs::StdRng;
use tokio_util::sync::CancellationToken;

use super::{FaultTable, On};
use crate::requests::LoggedRequest;

/// Injected faults and open watches of a server.
#[derive(Debug)]
pub(crate) struct FaultRegistry {
    table: Mutex<FaultTable>,
    watches: Arc<Mutex<Watches>>,
}

#[derive(Debug, Default)]
struct Watches {
    last_id: u64,
    open: BTreeMap<u64, WatchEntry>,
}

#[derive(Debug)]
struct WatchEntry {
    request: LoggedRequest,
    cut: CancellationToken,
}

/// Registration of an open watch, which ends when this is dropped.
#[derive(Debug)]
pub(crate) struct OpenWatch {
    watches: Arc<Mutex<Watches>>,
    id: u64,
    /// Cancelled to end the watch.
    pub(crate) cut: CancellationToken,
}

/// Locks a mutex and ignores poisoning: no panic leaves the data behind it inconsistent.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl FaultRegistry {
    pub(crate) fn new(rng: StdRng) -> Self {
        Self { table: Mutex::new(FaultTable::new(rng)), watches: Arc::default() }
    }

    pub(crate) fn table(&self) -> MutexGuard<'_, FaultTable> {
        lock(&self.table)
    }

    pub(crate) fn open_watch(&self, request: LoggedRequest) -> OpenWatch {
        let cut = CancellationToken::new();
        let mut watches = lock(&self.watches);
        watches.last_id += 1;
        let id = watches.last_id;
        watches.open.insert(id, WatchEntry { request, cut: cut.clone() });
        OpenWatch { watches: Arc::clone(&self.watches), id, cut }
    }

    /// Ends matching watches, see [`Faults::cut_watches`](super::Faults::cut_watches).
    pub(crate) fn cut_watches(&self, on: &On) -> usize {
        let cuts = self.matching(on);
        cuts.iter().for_each(CancellationToken::cancel);
        cuts.len()
    }

    pub(super) fn matching(&self, on: &On) -> Vec<CancellationToken> {
        let watches = lock(&self.watches);
        let matching = watches.open.values().filter(|it| on.matches(&it.request));
        matching.map(|entry| entry.cut.clone()).collect()
    }
}

impl Drop for OpenWatch {
    fn drop(&mut self) {
        lock(&self.watches).open.remove(&self.id);
    }
}

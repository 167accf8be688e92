//! Faults and open watches of a server, shared by its connections and its owner.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rand::rngs::StdRng;
use tokio_util::sync::CancellationToken;

use super::{Fault, FaultDecision, FaultState, FaultTable, On, RequestFields};

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
    verb: &'static str,
    group: String,
    resource: String,
    namespace: String,
    name: String,
    user: String,
    user_agent: String,
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

    pub(crate) fn decide(&self, request: &RequestFields<'_>) -> FaultDecision {
        lock(&self.table).decide(request)
    }

    pub(crate) fn inject(&self, fault: Fault) -> u64 {
        lock(&self.table).inject(fault)
    }

    pub(crate) fn remove(&self, id: u64) -> Option<FaultState> {
        lock(&self.table).remove(id)
    }

    pub(crate) fn clear(&self) {
        lock(&self.table).clear();
    }

    pub(crate) fn states(&self) -> Vec<FaultState> {
        lock(&self.table).states().to_vec()
    }

    pub(crate) fn open_watch(&self, request: &RequestFields<'_>) -> OpenWatch {
        let cut = CancellationToken::new();
        let entry = WatchEntry {
            verb: "watch",
            group: request.group.to_owned(),
            resource: request.resource.to_owned(),
            namespace: request.namespace.to_owned(),
            name: request.name.to_owned(),
            user: request.user.to_owned(),
            user_agent: request.user_agent.to_owned(),
            cut: cut.clone(),
        };
        let mut watches = lock(&self.watches);
        watches.last_id += 1;
        let id = watches.last_id;
        watches.open.insert(id, entry);
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
        let matching = watches.open.values().filter(|entry| on.matches(&entry.request()));
        matching.map(|entry| entry.cut.clone()).collect()
    }
}

impl WatchEntry {
    fn request(&self) -> RequestFields<'_> {
        RequestFields {
            verb: self.verb,
            group: &self.group,
            resource: &self.resource,
            subresource: "",
            namespace: &self.namespace,
            name: &self.name,
            user: &self.user,
            user_agent: &self.user_agent,
        }
    }
}

impl Drop for OpenWatch {
    fn drop(&mut self) {
        lock(&self.watches).open.remove(&self.id);
    }
}

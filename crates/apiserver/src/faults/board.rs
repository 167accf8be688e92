//! The faults and open watches of a server, as its connections and its owner share them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rand::rngs::StdRng;
use tokio_util::sync::CancellationToken;

use super::{Caller, Decision, Fault, FaultState, FaultTable, On};
use crate::shared::Shared;

/// Behind [`Faults`].
#[derive(Debug)]
pub(crate) struct FaultBoard {
    table: Mutex<FaultTable>,
    watches: Arc<Mutex<Watches>>,
}

#[derive(Debug, Default)]
struct Watches {
    last_id: u64,
    open: BTreeMap<u64, Open>,
}

#[derive(Debug)]
struct Open {
    verb: &'static str,
    resource: String,
    namespace: String,
    name: String,
    user: String,
    user_agent: String,
    cut: CancellationToken,
}

/// A watch that is open until this is dropped.
#[derive(Debug)]
pub(crate) struct OpenWatch {
    watches: Arc<Mutex<Watches>>,
    id: u64,
    /// Cancelled when the watch is to end.
    pub(crate) cut: CancellationToken,
}

/// A lock that a panic has left behind guards nothing that could be half done.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl FaultBoard {
    pub(crate) fn new(rng: StdRng) -> Self {
        Self { table: Mutex::new(FaultTable::new(rng)), watches: Arc::default() }
    }

    pub(crate) fn decide(&self, caller: &Caller<'_>) -> Decision {
        lock(&self.table).decide(caller)
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

    pub(crate) fn open_watch(&self, caller: &Caller<'_>) -> OpenWatch {
        let cut = CancellationToken::new();
        let open = Open {
            verb: "watch",
            resource: caller.resource.to_owned(),
            namespace: caller.namespace.to_owned(),
            name: caller.name.to_owned(),
            user: caller.user.to_owned(),
            user_agent: caller.user_agent.to_owned(),
            cut: cut.clone(),
        };
        let mut watches = lock(&self.watches);
        watches.last_id += 1;
        let id = watches.last_id;
        watches.open.insert(id, open);
        OpenWatch { watches: Arc::clone(&self.watches), id, cut }
    }

    /// See [`Faults::cut_watches`].
    pub(crate) fn cut_watches(&self, on: &On) -> usize {
        let cuts = self.matching(on);
        cuts.iter().for_each(CancellationToken::cancel);
        cuts.len()
    }

    fn matching(&self, on: &On) -> Vec<CancellationToken> {
        let watches = lock(&self.watches);
        let matching = watches.open.values().filter(|open| on.matches(&open.caller()));
        matching.map(|open| open.cut.clone()).collect()
    }
}

impl Open {
    fn caller(&self) -> Caller<'_> {
        Caller {
            verb: self.verb,
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

/// The faults of a [`Server`](crate::Server), to inject and take back.
#[derive(Debug, Clone, Copy)]
pub struct Faults<'a> {
    shared: &'a Shared,
}

impl<'a> Faults<'a> {
    pub(crate) fn new(shared: &'a Shared) -> Self {
        Self { shared }
    }

    /// Puts a fault in force, after those that are there. Returns the number by which it can be taken back.
    pub fn inject(&self, fault: impl Into<Fault>) -> u64 {
        self.shared.faults.inject(fault.into())
    }

    /// Takes a fault back and says what it has done.
    pub fn remove(&self, id: u64) -> Option<FaultState> {
        self.shared.faults.remove(id)
    }

    /// Takes all faults back.
    pub fn clear(&self) {
        self.shared.faults.clear();
    }

    /// Every fault that has not been taken back, in the order in which they are asked.
    pub fn states(&self) -> Vec<FaultState> {
        self.shared.faults.states()
    }

    /// Ends the watches that are open and match, as their timeout would. Returns how many.
    pub fn cut_watches(&self, on: &On) -> usize {
        self.shared.faults.cut_watches(on)
    }

    /// How many watches are open that match.
    pub fn open_watches(&self, on: &On) -> usize {
        self.shared.faults.matching(on).len()
    }
}

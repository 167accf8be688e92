//! State shared by all connections: the cluster behind a lock, and a [`ChangeNotifier`] per kind.

use std::sync::{Mutex, PoisonError, RwLock};

use jiff::Timestamp;
use rand::rngs::StdRng;
use tokio_util::sync::CancellationToken;

use crate::change_notifier::{ChangeNotifier, Listener};
use crate::cluster::{Cluster, StoreState, WriteOptions};
use crate::config::Config;
use crate::faults::FaultRegistry;
use crate::identity::Identities;
use crate::kinds::Kind;
use crate::requests::{RequestLog, Unlogged};
use crate::traffic::TrafficBook;
use crate::transport::Authority;

/// What happens to the watch history on a [restart](crate::Server::restart).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum History {
    /// The history is kept: watches can resume where they ended.
    Kept,
    /// The history is lost: watches from a version before the restart get `410 Gone`.
    Lost,
}

/// State shared by all connections of a server.
pub(crate) struct Shared {
    inner: RwLock<Inner>,
    pub(crate) config: Config,
    /// Cancelled when the server stops; ends the watches.
    pub(crate) stopping: CancellationToken,
    pub(crate) faults: FaultRegistry,
    pub(crate) requests: RequestLog,
    pub(crate) traffic: TrafficBook,
    pub(crate) identities: Identities,
    /// Certificate authority; `None` without TLS.
    pub(crate) authority: Option<Authority>,
    /// Notified after each change of an object, after each answered request, and when a fault delays a request.
    pub(crate) activity: ChangeNotifier,
    /// Cancelled and replaced on a restart or restore; drops the connections accepted before.
    epoch: Mutex<CancellationToken>,
}

/// Random number generators for everything except the cluster. They are separate so that faults and tokens do not
/// affect generated names and uids.
pub(crate) struct Generators {
    pub(crate) faults: StdRng,
    pub(crate) tokens: StdRng,
}

struct Inner {
    cluster: Cluster,
    /// Indexed by [`Kind::index`].
    notifiers: Vec<ChangeNotifier>,
}

impl Shared {
    pub(crate) fn new(cluster: Cluster, config: Config, authority: Option<Authority>, generators: Generators) -> Self {
        let notifiers = (0..cluster.kind_count()).map(|_| ChangeNotifier::default()).collect();
        let inner = RwLock::new(Inner { cluster, notifiers });
        Self {
            inner,
            stopping: CancellationToken::new(),
            faults: FaultRegistry::new(generators.faults),
            requests: RequestLog::new(config.request_log),
            traffic: TrafficBook::default(),
            identities: Identities::new(&config, generators.tokens),
            authority,
            activity: ChangeNotifier::default(),
            epoch: Mutex::default(),
            config,
        }
    }

    /// Returns the current time of [`Config::clock`], the only wall clock in this crate.
    pub(crate) fn now(&self) -> Timestamp {
        self.config.clock.now()
    }

    /// Returns the token that is cancelled when the current connections are to be dropped.
    pub(crate) fn epoch(&self) -> CancellationToken {
        self.epoch.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn restart(&self, history: History) {
        if history == History::Lost {
            self.write(false, |cluster, _| cluster.compact());
        }
        self.drop_connections();
    }

    /// Resets all connections and in-process calls.
    pub(crate) fn drop_connections(&self) {
        let mut epoch = self.epoch.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *epoch).cancel();
    }

    pub(crate) fn restore(&self, state: StoreState) {
        // First, so that no watch from before the restore reads the state after it.
        self.drop_connections();
        self.write(false, |cluster, _| cluster.restore(state));
    }

    /// Calls `query` with the cluster under the read lock. Expensive work belongs after it, on the returned references.
    pub(crate) fn read<T>(&self, query: impl FnOnce(&Cluster) -> T) -> T {
        // Poisoning is ignored: a write that panics leaves the cluster in the state after its last completed step.
        query(&self.inner.read().unwrap_or_else(PoisonError::into_inner).cluster)
    }

    /// Calls `change` with the cluster locked, collects garbage, and wakes the watches of changed kinds.
    pub(crate) fn write<T>(&self, dry_run: bool, change: impl FnOnce(&mut Cluster, WriteOptions<'_>) -> T) -> T {
        let mut inner = self.inner.write().unwrap_or_else(PoisonError::into_inner);
        // Read under the lock, so that later versions never have earlier times.
        let options = WriteOptions { dry_run, ..WriteOptions::at(self.now()) };
        let result = change(&mut inner.cluster, options);
        if !dry_run {
            inner.cluster.collect_garbage(options);
        }
        let kinds = inner.cluster.kind_count();
        while inner.notifiers.len() < kinds {
            inner.notifiers.push(ChangeNotifier::default());
        }
        let touched = inner.cluster.take_touched();
        if !touched.is_empty() {
            self.activity.notify();
        }
        for index in touched {
            if let Some(notifier) = inner.notifiers.get(index) {
                notifier.notify();
            }
        }
        result
    }

    /// As [`write`](Self::write), for a request that is logged afterwards: readers of the log wait until the mark is dropped.
    pub(crate) fn write_unlogged<T, E>(
        &self,
        dry_run: bool,
        change: impl FnOnce(&mut Cluster, WriteOptions<'_>) -> Result<T, E>,
    ) -> Result<(T, Unlogged), E> {
        // Begun under the lock: others see the change only after it.
        self.write(dry_run, |cluster, options| Ok((change(cluster, options)?, self.requests.begin_write())))
    }

    /// Returns a listener for changes of a kind; `None` if the kind is not registered.
    pub(crate) fn subscribe(&self, kind: &Kind) -> Option<Listener> {
        let inner = self.inner.read().unwrap_or_else(PoisonError::into_inner);
        inner.notifiers.get(kind.index).map(ChangeNotifier::listen)
    }
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("config", &self.config).finish_non_exhaustive()
    }
}

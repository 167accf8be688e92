//! The cluster as the connections share it: one lock, one clock, and a bell for each kind.

use std::sync::{Mutex, PoisonError, RwLock};

use jiff::Timestamp;
use rand::rngs::StdRng;
use tokio_util::sync::CancellationToken;

use crate::authorization::Rulebook;
use crate::bell::{Bell, Listener};
use crate::cluster::{Cluster, State, WriteOptions};
use crate::config::Config;
use crate::faults::FaultBoard;
use crate::identity::Identities;
use crate::kinds::Kind;
use crate::requests::RequestLog;
use crate::server::History;
use crate::traffic::TrafficBook;
use crate::transport::Authority;

/// What every connection of a server holds.
pub(crate) struct Shared {
    inner: RwLock<Inner>,
    pub(crate) config: Config,
    /// Cancelled when the server stops, which ends the watches.
    pub(crate) stopping: CancellationToken,
    pub(crate) faults: FaultBoard,
    pub(crate) requests: RequestLog,
    pub(crate) traffic: TrafficBook,
    pub(crate) identities: Identities,
    pub(crate) rulebook: Rulebook,
    /// Of a server that speaks TLS.
    pub(crate) authority: Option<Authority>,
    /// Cancelled and replaced when the server restarts, which drops the connections of before.
    epoch: Mutex<CancellationToken>,
}

/// Where the parts of a server besides the cluster draw from. Each has its own, so that objects come out the same
/// whatever the others do.
pub(crate) struct Draws {
    pub(crate) faults: StdRng,
    pub(crate) tokens: StdRng,
}

struct Inner {
    cluster: Cluster,
    /// By [`Kind::index`].
    bells: Vec<Bell>,
}

impl Shared {
    pub(crate) fn new(cluster: Cluster, config: Config, authority: Option<Authority>, draws: Draws) -> Self {
        let bells = (0..cluster.kind_count()).map(|_| Bell::default()).collect();
        let inner = RwLock::new(Inner { cluster, bells });
        Self {
            inner,
            stopping: CancellationToken::new(),
            faults: FaultBoard::new(draws.faults),
            requests: RequestLog::new(config.request_log),
            traffic: TrafficBook::default(),
            identities: Identities::new(&config, draws.tokens),
            rulebook: Rulebook::default(),
            authority,
            epoch: Mutex::default(),
            config,
        }
    }

    /// The current time by [`Config::clock`]: the only time of this crate that is not tokio's.
    pub(crate) fn now(&self) -> Timestamp {
        self.config.clock.now()
    }

    /// Cancelled when the connections of now are to be dropped.
    pub(crate) fn epoch(&self) -> CancellationToken {
        self.epoch.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// See [`Server::restart`](crate::Server::restart).
    pub(crate) fn restart(&self, history: History) {
        if history == History::Lost {
            self.write(false, |cluster, _| cluster.forget_history());
        }
        self.drop_connections();
    }

    /// Resets every connection and every call in process.
    pub(crate) fn drop_connections(&self) {
        let mut epoch = self.epoch.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *epoch).cancel();
    }

    /// See [`Server::restore`](crate::Server::restore).
    pub(crate) fn restore(&self, state: State) {
        // Connections go first, so that no watch of before reads the state of after.
        self.drop_connections();
        self.write(false, |cluster, _| cluster.restore(state));
        self.rulebook.forget();
    }

    /// Looks at the cluster. What takes time is done with what `look` returns, not inside.
    pub(crate) fn read<T>(&self, look: impl FnOnce(&Cluster) -> T) -> T {
        // A panic in another request leaves the cluster as it was before its last whole step.
        look(&self.inner.read().unwrap_or_else(PoisonError::into_inner).cluster)
    }

    /// Changes the cluster and wakes the watches of what changed.
    pub(crate) fn write<T>(&self, dry_run: bool, change: impl FnOnce(&mut Cluster, WriteOptions) -> T) -> T {
        let mut inner = self.inner.write().unwrap_or_else(PoisonError::into_inner);
        // Inside of the lock, so that later versions never have earlier times.
        let options = WriteOptions { dry_run, ..WriteOptions::at(self.now()) };
        let result = change(&mut inner.cluster, options);
        if !dry_run && let Err(error) = inner.cluster.collect_garbage(options) {
            tracing::warn!(%error, "dependents could not be collected");
        }
        let revision = inner.cluster.revision();
        let kinds = inner.cluster.kind_count();
        while inner.bells.len() < kinds {
            inner.bells.push(Bell::default());
        }
        for index in inner.cluster.take_touched() {
            if let Some(bell) = inner.bells.get(index) {
                bell.ring(revision);
            }
        }
        result
    }

    /// The version of the last change of a kind since the server has started; 0 when there was none.
    pub(crate) fn last_change(&self, group: &str, version: &str, plural: &str) -> u64 {
        let inner = self.inner.read().unwrap_or_else(PoisonError::into_inner);
        let kind = inner.cluster.kinds().find(group, version, plural);
        kind.and_then(|kind| inner.bells.get(kind.index)).map_or(0, Bell::revision)
    }

    /// A listener for the changes of a kind.
    pub(crate) fn subscribe(&self, kind: &Kind) -> Option<Listener> {
        let inner = self.inner.read().unwrap_or_else(PoisonError::into_inner);
        inner.bells.get(kind.index).map(Bell::listen)
    }
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("config", &self.config).finish_non_exhaustive()
    }
}

//! The cluster as the connections share it: one lock, one clock, and a bell for each kind.

use std::sync::{Mutex, PoisonError, RwLock};

use jiff::Timestamp;
use rand::rngs::StdRng;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::cluster::{Cluster, WriteOptions};
use crate::config::Config;
use crate::faults::FaultBoard;
use crate::kinds::Kind;
use crate::requests::RequestLog;

/// What every connection of a server holds.
pub(crate) struct Shared {
    inner: RwLock<Inner>,
    pub(crate) config: Config,
    /// Cancelled when the server stops, which ends the watches.
    pub(crate) stopping: CancellationToken,
    pub(crate) faults: FaultBoard,
    pub(crate) requests: RequestLog,
    /// Cancelled and replaced when the server restarts, which drops the connections of before.
    epoch: Mutex<CancellationToken>,
}

struct Inner {
    cluster: Cluster,
    /// By [`Kind::index`]; each holds the revision of the last change.
    bells: Vec<watch::Sender<u64>>,
}

impl Shared {
    pub(crate) fn new(cluster: Cluster, config: Config, fault_rng: StdRng) -> Self {
        let bells = (0..cluster.kind_count()).map(|_| watch::Sender::new(0)).collect();
        let inner = RwLock::new(Inner { cluster, bells });
        Self {
            inner,
            stopping: CancellationToken::new(),
            faults: FaultBoard::new(fault_rng),
            requests: RequestLog::new(config.request_log),
            epoch: Mutex::default(),
            config,
        }
    }

    /// Cancelled when the connections of now are to be dropped.
    pub(crate) fn epoch(&self) -> CancellationToken {
        self.epoch.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Drops every connection.
    pub(crate) fn begin_epoch(&self) {
        let mut epoch = self.epoch.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *epoch).cancel();
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
        let options = WriteOptions { dry_run, ..WriteOptions::at(now()) };
        let result = change(&mut inner.cluster, options);
        let revision = inner.cluster.revision();
        let kinds = inner.cluster.kind_count();
        while inner.bells.len() < kinds {
            inner.bells.push(watch::Sender::new(0));
        }
        for index in inner.cluster.take_touched() {
            if let Some(bell) = inner.bells.get(index) {
                bell.send_replace(revision);
            }
        }
        result
    }

    /// A receiver that is marked changed whenever an object of the kind changes.
    pub(crate) fn subscribe(&self, kind: &Kind) -> Option<watch::Receiver<u64>> {
        let inner = self.inner.read().unwrap_or_else(PoisonError::into_inner);
        inner.bells.get(kind.index).map(watch::Sender::subscribe)
    }
}

/// The time stamped on objects; the only place of this crate that asks a clock.
#[expect(clippy::disallowed_methods, reason = "the shell that stamps objects; the cluster is told")]
pub(crate) fn now() -> Timestamp {
    Timestamp::now()
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("config", &self.config).finish_non_exhaustive()
    }
}

//! Restores of etcd and interruptions, as this informer and the others of the server see them.

use std::mem;

use tokio::time::Instant;

use super::{Reflector, steps::Observation};
use crate::RelistCause;

impl Reflector {
    /// Makes the next request a list of the most recent state, because another informer has detected a restore of etcd.
    pub(super) fn relist_after_restore(&mut self) {
        // Before the first list the store is empty, and the next request is a list anyway.
        if self.cache.store().populated {
            tracing::debug!(resource = %self.informer.resource, "listing again after the restore");
            self.is_restored = true;
            self.machine.relist_after_restore();
            self.informer.meter.record(|metrics| metrics.relist(RelistCause::Ahead));
        }
    }

    /// Signals that the server has a lower version than the store, unless the informer knows of a restore already.
    fn restored(&mut self) {
        if !mem::replace(&mut self.is_restored, true) && self.restores.raise(Instant::now()) {
            tracing::warn!(
                resource = %self.informer.resource,
                "etcd of the API server was restored from a backup, listing all resources again"
            );
        }
    }

    /// Records that the store is current: it was listed, or a watch continues from its state.
    pub(super) fn set_current(&mut self) {
        self.is_current = true;
        self.restores.caught_up();
    }

    /// Passes a result to the machine, and the state of the store to the other informers. Returns the cause if the machine
    /// relists.
    pub(super) fn observe(&mut self, observation: Observation) -> Option<RelistCause> {
        let (is_listed, is_ahead) = match &observation {
            Observation::Listed { version, .. } => (true, self.machine.is_ahead_of(version)),
            Observation::Verified { version } => (false, self.machine.is_ahead_of(version)),
            _ => (false, false),
        };
        match &observation {
            Observation::Listed { .. } => self.served = None,
            Observation::ListFailed(_) | Observation::Failed(_) | Observation::Ended => self.request_again(),
            _ => {}
        }
        // Initial events have no version here.
        let is_progress = matches!(&observation, Observation::Progress { version, .. } if !version.is_empty());
        if is_ahead {
            self.restored();
        }
        let cause = self.machine.observe(observation, Instant::now(), kube_ambient::random());
        self.is_restored &= !is_listed;
        if is_listed || (is_progress && !self.is_current) {
            self.set_current();
        } else if self.is_current && self.machine.is_interrupted() {
            self.is_current = false;
            self.restores.interrupted(Instant::now());
        }
        cause.inspect(|cause| self.informer.meter.record(|metrics| metrics.relist(*cause)))
    }
}

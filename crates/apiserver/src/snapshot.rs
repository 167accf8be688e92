//! Backups of the whole store.

use crate::cluster::{Cluster, State};
use crate::server::Server;

/// The whole store at one version, from [`Server::snapshot`].
#[derive(Debug, Clone)]
pub struct Snapshot {
    state: State,
}

impl Server {
    /// The objects of all kinds at the current version. Taking one copies references, not objects.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot { state: self.shared().read(Cluster::state) }
    }

    /// Sets the store back to a snapshot, as a restore of etcd without `--bump-revision` does: later objects and changes
    /// are gone, versions after that of the snapshot are handed out a second time, the history is empty, and every
    /// connection is dropped.
    ///
    /// What a client gets that knows versions from before the restore is what a real server answers: a list at a version
    /// that is not reached yet is refused with 504 and the cause `ResourceVersionTooLarge`; a watch from such a version
    /// is accepted and stays silent, without bookmarks, until the server has passed that version.
    ///
    /// Faults, admission rules, tokens and the log of requests stay.
    pub fn restore(&self, snapshot: &Snapshot) {
        self.shared().restore(snapshot.state.clone());
    }

    /// Sets the store back to a snapshot, as a restore of etcd with `--bump-revision` and `--mark-compacted` does: the next
    /// version is higher by `bump` than any that was handed out before, and a watch from an earlier version gets
    /// `410 Gone`.
    pub fn restore_bumped(&self, snapshot: &Snapshot, bump: u64) {
        let mut state = snapshot.state.clone();
        state.set_revision(self.revision() + bump);
        self.shared().restore(state);
    }
}

//! Snapshots of the store.

use crate::cluster::{Cluster, StoreState};
use crate::server::Server;

/// All objects of a server at one resource version; taken with [`Server::snapshot`].
#[derive(Debug, Clone)]
pub struct Snapshot {
    state: StoreState,
}

impl Server {
    /// Returns all objects at the current version. References are copied, not objects.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot { state: self.shared().read(Cluster::state) }
    }

    /// Resets the store to a snapshot, as a restore of etcd without `--bump-revision`: later changes are lost, versions
    /// after that of the snapshot are assigned again, the watch history is empty, and all connections are dropped.
    ///
    /// Clients that use versions from before the restore get the responses of a real server: a list at a version that
    /// is not reached yet is rejected with 504 and the cause `ResourceVersionTooLarge`; a watch from such a version is
    /// accepted, but delivers nothing, not even bookmarks, until the server has passed that version.
    ///
    /// Faults, admission rules, tokens and the request log are not affected.
    pub fn restore(&self, snapshot: &Snapshot) {
        self.shared().restore(snapshot.state.clone());
    }

    /// Resets the store to a snapshot, as a restore of etcd with `--bump-revision` and `--mark-compacted`: versions
    /// continue after the current one plus `bump`, and watches from earlier versions get `410 Gone`.
    pub fn restore_bumped(&self, snapshot: &Snapshot, bump: u64) {
        let mut state = snapshot.state.clone();
        state.revision = self.revision() + bump;
        self.shared().restore(state);
    }
}

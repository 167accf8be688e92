//! The open connections, and which of them is closed if there are too many.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::task::AbortHandle;

use crate::metrics::{Closed, ServingMetrics};
use crate::peer::Peer;
use crate::socket::SocketState;

/// Stage of a connection. Each has its own limit, so that connections of an earlier one cannot displace those of a later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The client has sent nothing, or the rate of handshakes is at its limit.
    Waiting,
    /// The handshake, if there is one, has begun, and the client has not proved who it is.
    Anonymous,
    /// The client has authenticated itself, by certificate or token.
    Authenticated,
}

impl Stage {
    pub(crate) const ALL: [Stage; 3] = [Stage::Waiting, Stage::Anonymous, Stage::Authenticated];

    /// Maximum number of connections. All together are half of the usual limit of 1,024 file descriptors.
    const fn limit(self) -> usize {
        match self {
            Stage::Waiting | Stage::Authenticated => 128,
            Stage::Anonymous => 256,
        }
    }
}

/// Number of a connection; later ones have higher numbers.
type ConnectionId = u64;

#[derive(Debug)]
struct Connection {
    peer: Peer,
    stage: Stage,
    socket: Arc<SocketState>,
    /// `None` until the task was spawned.
    task: Option<AbortHandle>,
}

/// The open connections. Those that are displaced are removed at once.
#[derive(Debug, Default)]
struct Open {
    next: ConnectionId,
    all: BTreeMap<ConnectionId, Connection>,
    /// Number of connections in each stage.
    counts: [usize; Stage::ALL.len()],
}

impl Open {
    /// Adds a connection in the stage [`Stage::Waiting`]. Returns its number, and the connection that has to be closed for it.
    fn add(&mut self, peer: Peer, socket: Arc<SocketState>) -> (ConnectionId, Option<Connection>) {
        let id = self.next;
        self.next += 1;
        self.all.insert(id, Connection { peer, stage: Stage::Waiting, socket, task: None });
        self.counts[Stage::Waiting as usize] += 1;
        (id, self.displace(Stage::Waiting))
    }

    /// Moves a connection to a later stage, and returns the connection that has to be closed for it. Without effect if
    /// the connection was displaced.
    fn advance(&mut self, id: ConnectionId, stage: Stage) -> Option<Connection> {
        let before = std::mem::replace(&mut self.all.get_mut(&id)?.stage, stage);
        self.counts[before as usize] -= 1;
        self.counts[stage as usize] += 1;
        self.displace(stage)
    }

    fn remove(&mut self, id: ConnectionId) -> Option<Connection> {
        let removed = self.all.remove(&id)?;
        self.counts[removed.stage as usize] -= 1;
        Some(removed)
    }

    /// Removes and returns a connection if a stage has more than its limit.
    fn displace(&mut self, stage: Stage) -> Option<Connection> {
        if self.counts[stage as usize] > stage.limit() { self.remove_from(stage) } else { None }
    }

    /// Removes and returns a connection, to free a file descriptor: one of the earliest stage.
    fn shed(&mut self) -> Option<Connection> {
        Stage::ALL.into_iter().find_map(|stage| self.remove_from(stage))
    }

    /// Removes and returns the oldest connection of the client with the most in a stage. Of several such clients, that with
    /// the oldest connection: a client is not displaced by others that have more.
    fn remove_from(&mut self, stage: Stage) -> Option<Connection> {
        let mut of_peers = HashMap::new();
        for (id, connection) in self.all.iter().filter(|(_, it)| it.stage == stage) {
            of_peers.entry(connection.peer).or_insert((0, Reverse(*id))).0 += 1;
        }
        let (_, Reverse(id)) = of_peers.into_values().max()?;
        self.remove(id)
    }
}

/// The open connections of a server.
#[derive(Debug)]
pub(crate) struct Connections {
    open: Mutex<Open>,
    metrics: ServingMetrics,
}

impl Connections {
    pub(crate) fn new(metrics: ServingMetrics) -> Self {
        Self { open: Mutex::default(), metrics }
    }

    /// Adds an accepted connection, and spawns the task that serves it.
    pub(crate) fn add(
        self: &Arc<Self>,
        peer: Peer,
        socket: &Arc<SocketState>,
        spawn: impl FnOnce(Admission) -> AbortHandle,
    ) {
        let id = self.change(|open| open.add(peer, Arc::clone(socket)));
        let task = spawn(Admission { connections: Arc::clone(self), id });
        match self.open().all.get_mut(&id) {
            Some(connection) => connection.task = Some(task),
            // Displaced meanwhile.
            None => task.abort(),
        }
    }

    pub(crate) fn shed(&self) {
        self.change(|open| ((), open.shed()));
    }

    /// Applies a change, and closes the connection that it displaces.
    fn change<T>(&self, change: impl FnOnce(&mut Open) -> (T, Option<Connection>)) -> T {
        let mut open = self.open();
        let (result, displaced) = change(&mut open);
        if let Some(connection) = displaced {
            self.metrics.closed(Closed::Displaced);
            connection.socket.reset_on_drop();
            if let Some(task) = connection.task {
                task.abort();
            }
        }
        self.metrics.set_connections(open.counts);
        result
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The place of a connection, given up when dropped.
#[derive(Debug)]
pub(crate) struct Admission {
    connections: Arc<Connections>,
    id: ConnectionId,
}

impl Admission {
    pub(crate) fn advance(&self, stage: Stage) {
        self.connections.change(|open| ((), open.advance(self.id, stage)));
    }
}

impl Drop for Admission {
    fn drop(&mut self) {
        self.connections.change(|open| {
            open.remove(self.id);
            ((), None)
        });
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;
    use std::net::IpAddr;

    use proptest::prelude::*;
    use tokio::task::JoinSet;

    use super::*;

    fn peer(number: u8) -> Peer {
        Peer::from(IpAddr::from([10, 0, 0, number]))
    }

    impl Open {
        /// Opens a connection, and returns its number.
        fn open(&mut self, number: u8) -> ConnectionId {
            self.add(peer(number), Arc::default()).0
        }

        fn ids(&self) -> Vec<ConnectionId> {
            self.all.keys().copied().collect()
        }
    }

    #[test]
    fn client_with_most_connections_loses_its_oldest() {
        let mut open = Open::default();
        let scraper = open.open(1);
        let flood: Vec<_> = (0..1_000).map(|_| open.open(2)).collect();
        let newest = &flood[1_001 - Stage::Waiting.limit()..];
        assert_eq!(open.ids(), [&[scraper], newest].concat());
    }

    #[test]
    fn client_with_one_connection_is_displaced_only_if_all_have_one() {
        let mut open = Open::default();
        let ids: Vec<_> = (0..128).map(|number| open.open(number)).collect();
        let first = open.open(200);
        assert!(!open.ids().contains(&ids[0]), "the oldest of all");
        open.open(200);
        assert!(!open.ids().contains(&first) && open.ids().contains(&ids[1]), "its own, now that it has two");
    }

    #[test]
    fn flood_in_one_stage_displaces_no_connection_of_a_later_one() {
        let mut open = Open::default();
        let (slow, scraper) = (open.open(1), open.open(1));
        assert!(
            open.advance(slow, Stage::Anonymous).is_none() && open.advance(scraper, Stage::Authenticated).is_none()
        );
        for _ in 0..500 {
            open.open(1);
        }
        assert_eq!((&open.ids()[..2], open.counts), ([slow, scraper].as_slice(), [128, 1, 1]));
        // The client with the flood completes handshakes.
        for _ in 0..500 {
            let id = open.open(1);
            open.advance(id, Stage::Anonymous);
        }
        assert!(open.ids().contains(&scraper) && !open.ids().contains(&slow));
        assert_eq!(open.counts, [127, 256, 1]);
    }

    #[test]
    fn free_descriptor_is_taken_from_the_earliest_stage() {
        let mut open = Open::default();
        let ids = [(); 4].map(|()| open.open(1));
        open.advance(ids[0], Stage::Authenticated);
        open.advance(ids[1], Stage::Anonymous);
        for rest in [&[0, 1, 3][..], &[0, 1], &[0], &[], &[]] {
            open.shed();
            assert_eq!(open.ids(), rest.iter().map(|at| ids[*at]).collect::<Vec<_>>());
        }
    }

    proptest! {
        /// Whatever happens, no stage has more connections than its limit, and the counts are right.
        #[test]
        fn limits_and_counts_hold(steps in prop::collection::vec((0_u8..4, 0_u8..5, any::<prop::sample::Index>()), 1..2_000)) {
            let mut open = Open::default();
            for (step, number, index) in steps {
                let ids = open.ids();
                match (step, (!ids.is_empty()).then(|| *index.get(&ids))) {
                    (0, Some(id)) => drop(open.remove(id)),
                    (1, Some(id)) => drop(open.advance(id, Stage::Anonymous)),
                    (2, Some(id)) => drop(open.advance(id, Stage::Authenticated)),
                    _ => drop(open.open(number)),
                }
                for stage in Stage::ALL {
                    let count = open.all.values().filter(|it| it.stage == stage).count();
                    prop_assert_eq!(open.counts[stage as usize], count);
                    prop_assert!(count <= stage.limit());
                }
            }
        }
    }

    #[tokio::test]
    async fn displaced_connection_is_aborted_and_gives_up_its_place_once() {
        let connections = Arc::new(Connections::new(ServingMetrics::default()));
        let (mut tasks, mut ids) = (JoinSet::new(), Vec::new());
        for _ in 0..130 {
            connections.add(peer(1), &Arc::default(), |admission| {
                let task = tasks.spawn(async move {
                    let _admission = admission;
                    pending::<()>().await;
                });
                ids.push(task.id());
                task
            });
        }
        assert_eq!(connections.open().counts, [128, 0, 0]);
        for _ in 0..2 {
            let ended = tasks.join_next().await.unwrap().unwrap_err();
            assert!(ended.is_cancelled() && ids[..2].contains(&ended.id()));
        }
        assert_eq!(connections.open().counts, [128, 0, 0]);
        tasks.shutdown().await;
        assert!(connections.open().counts == [0; 3] && connections.open().all.is_empty());
    }
}

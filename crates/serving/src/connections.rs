//! The open connections, and the tasks that serve them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::task::AbortHandle;

use crate::metrics::{Closed, ServingMetrics};
use crate::peer::Peer;
use crate::pool::{ConnectionId, Pool, Stage};
use crate::socket::SocketState;

/// The open connections. Those that are displaced are closed at once.
#[derive(Debug)]
pub(crate) struct Connections {
    open: Mutex<Open>,
    metrics: ServingMetrics,
}

#[derive(Debug, Default)]
struct Open {
    pool: Pool,
    tasks: HashMap<ConnectionId, Task>,
}

#[derive(Debug)]
struct Task {
    socket: Arc<SocketState>,
    /// `None` until the task was spawned.
    abort: Option<AbortHandle>,
}

impl Connections {
    pub(crate) fn new(metrics: ServingMetrics) -> Self {
        Self { open: Mutex::default(), metrics }
    }

    /// Adds an accepted connection.
    pub(crate) fn add(self: &Arc<Self>, peer: Peer, socket: &Arc<SocketState>) -> Admission {
        let mut open = self.open();
        let (id, displaced) = open.pool.add(peer);
        open.tasks.insert(id, Task { socket: Arc::clone(socket), abort: None });
        self.close(&mut open, displaced);
        Admission { connections: Arc::clone(self), id }
    }

    /// Sets the task of a connection. The task is aborted if the connection was displaced meanwhile.
    pub(crate) fn spawned(&self, id: ConnectionId, abort: AbortHandle) {
        match self.open().tasks.get_mut(&id) {
            Some(task) => task.abort = Some(abort),
            None => abort.abort(),
        }
    }

    /// Closes a connection, to free a file descriptor.
    pub(crate) fn shed(&self) {
        let mut open = self.open();
        let displaced = open.pool.shed();
        self.close(&mut open, displaced);
    }

    fn close(&self, open: &mut Open, displaced: Option<ConnectionId>) {
        if let Some(task) = displaced.and_then(|id| open.tasks.remove(&id)) {
            self.metrics.closed(Closed::Displaced);
            task.socket.reset_on_drop();
            if let Some(abort) = task.abort {
                abort.abort();
            }
        }
        self.metrics.set_connections(|stage| open.pool.count(stage));
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
    pub(crate) fn id(&self) -> ConnectionId {
        self.id
    }

    /// Moves the connection to a later stage.
    pub(crate) fn advance(&self, stage: Stage) {
        let mut open = self.connections.open();
        let displaced = open.pool.advance(self.id, stage);
        self.connections.close(&mut open, displaced);
    }
}

impl Drop for Admission {
    fn drop(&mut self) {
        let mut open = self.connections.open();
        open.pool.remove(self.id);
        open.tasks.remove(&self.id);
        self.connections.close(&mut open, None);
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;
    use std::net::IpAddr;

    use tokio::task::JoinSet;

    use super::*;

    #[tokio::test]
    async fn displaced_connection_is_aborted_and_gives_up_its_place_once() {
        let connections = Arc::new(Connections::new(ServingMetrics::default()));
        let peer = Peer::from(IpAddr::from([10, 0, 0, 1]));
        let mut tasks = JoinSet::new();
        let mut open = || {
            let admission = connections.add(peer, &Arc::default());
            let id = admission.id();
            let task = tasks.spawn(async move {
                let _admission = admission;
                pending::<()>().await;
            });
            let task_id = task.id();
            connections.spawned(id, task);
            task_id
        };
        let ids: Vec<_> = (0..130).map(|_| open()).collect();
        assert_eq!(connections.open().pool.count(Stage::Waiting), 128);
        for _ in 0..2 {
            let ended = tasks.join_next().await.unwrap().unwrap_err();
            assert!(ended.is_cancelled() && ids[..2].contains(&ended.id()));
        }
        let count = || {
            let open = connections.open();
            (open.pool.count(Stage::Waiting), open.tasks.len())
        };
        assert_eq!(count(), (128, 128));
        tasks.shutdown().await;
        assert_eq!(count(), (0, 0));
    }
}

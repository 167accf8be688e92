//! The server: a listener and the tasks behind it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use rand::SeedableRng as _;
use rand::rngs::StdRng;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use crate::admission::Admission;
use crate::cluster::{Cluster, Limits};
use crate::config::{Authorization, Config, Transport};
use crate::emptying;
use crate::faults::Faults;
use crate::http::{self, InProcess};
use crate::kinds::KindTable;
use crate::requests::Requests;
use crate::shared::{Draws, Shared};
use crate::status::StatusError;
use crate::traffic::Traffic;
use crate::transport::{Authority, TlsError};

/// How long requests under way may take to end when the server is shut down.
const DRAIN: Duration = Duration::from_secs(2);

/// A running API server. Dropping it stops it at once; [`shutdown`](Self::shutdown) lets requests under way finish.
///
/// The tasks run on the tokio runtime that [`start`](Self::start) was called on.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    tasks: JoinSet<()>,
}

/// What a [restart](Server::restart) does to the changes that watches are served from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum History {
    /// Watches go on where they were.
    Kept,
    /// Watches that ask for anything before the restart are told `410 Gone`.
    Lost,
}

/// Why a server did not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The address cannot be listened on, most often because another process does.
    #[error("cannot listen on {address}")]
    Listen {
        /// The address of the [`Config`].
        address: SocketAddr,
        /// What the system says.
        source: std::io::Error,
    },
    /// There is no transport security to be had.
    #[error("cannot speak TLS")]
    Tls(#[from] TlsError),
    /// The objects that every cluster starts with cannot be made.
    #[error("cannot create the first objects of the cluster")]
    FirstObjects {
        /// The reason.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl From<StatusError> for StartError {
    fn from(source: StatusError) -> Self {
        Self::FirstObjects { source: Box::new(source) }
    }
}

impl Server {
    /// Listens and serves.
    pub async fn start(config: Config) -> Result<Self, StartError> {
        let listen = config.listen;
        let failed = |source| StartError::Listen { address: listen, source };
        let listener = TcpListener::bind(listen).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let tls = match config.transport {
            Transport::Plain => None,
            Transport::Tls => {
                let authority = Authority::new()?;
                let tls = authority.server_config(address.ip())?;
                Some((authority, TlsAcceptor::from(Arc::new(tls))))
            }
        };
        let (authority, acceptor) = tls.unzip();
        let mut server = Self::new(config, address, authority)?;
        server.tasks.spawn(http::serve(listener, acceptor, Arc::clone(&server.shared)));
        tracing::info!(%address, "serving the Kubernetes API");
        Ok(server)
    }

    /// Serves without a socket: requests come through [`service`](Self::service) only. [`Config::listen`] and
    /// [`Config::transport`] have no effect: nothing listens on [`address`](Self::address), and
    /// [`traffic`](Self::traffic) stays empty.
    ///
    /// # Errors
    /// Those of [`start`](Self::start), except those of the socket and of TLS.
    ///
    /// # Panics
    /// Panics outside of a tokio runtime: the server has one task, which empties deleted namespaces.
    pub fn in_process(config: Config) -> Result<Self, StartError> {
        let address = config.listen;
        Self::new(config, address, None)
    }

    fn new(config: Config, address: SocketAddr, authority: Option<Authority>) -> Result<Self, StartError> {
        #[expect(clippy::disallowed_methods, reason = "a server without a seed; this crate imports no other of ours")]
        let rng = |n| match config.seed {
            None => StdRng::from_rng(&mut rand::rng()),
            Some(seed) => StdRng::seed_from_u64(seed.wrapping_add(n)),
        };
        let limits = Limits {
            service_cidr_v4: config.service_cidr_v4,
            service_cidr_v6: config.service_cidr_v6,
            history_length: config.watch_history,
            collects_garbage: config.garbage_collection,
        };
        let mut cluster = Cluster::new(KindTable::builtin(), &limits, rng(0), config.clock.now())?;
        for kind in &config.kinds {
            cluster.define(kind);
        }
        if config.authorization == Authorization::Rbac {
            cluster.create_first_roles(config.clock.now())?;
        }
        let draws = Draws { faults: rng(1), tokens: rng(2) };
        let shared = Arc::new(Shared::new(cluster, config, authority, draws));

        let mut tasks = JoinSet::new();
        tasks.spawn(emptying::run(Arc::clone(&shared)));
        Ok(Self { address, shared, tasks })
    }

    /// Returns a tower service that answers requests of this server in process, also of one that listens.
    pub fn service(&self) -> InProcess {
        InProcess::new(Arc::clone(&self.shared))
    }

    /// The address it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }

    /// Failures on demand.
    pub fn faults(&self) -> Faults<'_> {
        Faults::new(&self.shared)
    }

    /// The rules that change or refuse writes.
    pub fn admission(&self) -> Admission<'_> {
        Admission::new(&self.shared)
    }

    /// What clients have asked.
    pub fn requests(&self) -> Requests<'_> {
        Requests::new(&self.shared.requests)
    }

    /// The bytes that have gone to and come from each client since the server has started.
    pub fn traffic(&self) -> Vec<Traffic> {
        self.shared.traffic.all()
    }

    /// Removes the content of every namespace that is being deleted, and those that nothing holds back, now instead of
    /// when [`Config::namespace_grace`] is over.
    pub fn empty_namespaces(&self) {
        for namespace in self.shared.read(Cluster::namespaces_to_empty) {
            emptying::empty(&self.shared, &namespace);
        }
    }

    /// As if the process had been restarted at the same address: every connection is dropped, objects and versions are
    /// kept, and the history is kept or not.
    pub fn restart(&self, history: History) {
        self.shared.restart(history);
    }

    /// Stops: no new connection, watches end, requests under way get a moment to finish.
    pub async fn shutdown(mut self) {
        self.shared.stopping.cancel();
        let drained = async { while self.tasks.join_next().await.is_some() {} };
        if tokio::time::timeout(DRAIN, drained).await.is_err() {
            tracing::debug!("requests still under way at shutdown are dropped");
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The tasks are aborted with their set, and their connections with them. Calls in process and their answers are
        // reset here, unless the server was shut down, which ends watches without an error.
        if !self.shared.stopping.is_cancelled() {
            self.shared.drop_connections();
        }
        self.shared.stopping.cancel();
    }
}

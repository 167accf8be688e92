//! The server and its life cycle.

use std::net::SocketAddr;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;
use std::time::Duration;

use rand::SeedableRng as _;
use rand::rngs::StdRng;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use crate::admission::Admission;
use crate::cluster::Cluster;
use crate::config::{Config, Transport};
use crate::faults::Faults;
use crate::http::{self, InProcess};
use crate::namespace_cleanup;
use crate::requests::Requests;
use crate::shared::{Generators, History, Shared};
use crate::status::StatusError;
use crate::traffic::Traffic;
use crate::transport::{Authority, TlsError};

/// Time limit for requests in flight on shutdown.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(2);

/// A running API server: addresses, stored objects, faults, request log and shutdown.
///
/// Dropping it stops it immediately; [`shutdown`](Self::shutdown) lets requests in flight finish. Its tasks run on the
/// tokio runtime on which it was started.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    tasks: JoinSet<()>,
}

// A panic of a test leaves no state broken: all of it is behind locks, and a write that panics leaves the objects as
// after its last completed step.
impl UnwindSafe for Server {}
impl RefUnwindSafe for Server {}

/// Error of [`Server::start`] and [`Server::in_process`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The address cannot be listened on, for example because it is in use.
    #[error("cannot listen on {address}")]
    Listen {
        /// Address from [`Config::listen`].
        address: SocketAddr,
        /// Error of the operating system.
        source: std::io::Error,
    },
    /// Certificates or the TLS configuration could not be created.
    #[error("cannot set up TLS")]
    Tls(#[from] TlsError),
    /// The initial objects of the cluster could not be created.
    #[error("cannot create the initial objects of the cluster")]
    InitialObjects {
        /// Error of the create.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl From<StatusError> for StartError {
    fn from(source: StatusError) -> Self {
        Self::InitialObjects { source: Box::new(source) }
    }
}

impl Server {
    /// Starts a server that listens on [`Config::listen`].
    ///
    /// # Errors
    /// [`StartError`] if the address cannot be listened on, TLS cannot be set up, or the initial objects cannot be
    /// created.
    pub async fn start(config: Config) -> Result<Self, StartError> {
        let listen = config.listen;
        let listen_error = |source| StartError::Listen { address: listen, source };
        let listener = TcpListener::bind(listen).await.map_err(listen_error)?;
        let address = listener.local_addr().map_err(listen_error)?;
        Self::serve(config, listener, address)
    }

    /// Not async: a crate compiles the body of an async function that it awaits. This is compiled once, with all that the
    /// server consists of.
    fn serve(config: Config, listener: TcpListener, address: SocketAddr) -> Result<Self, StartError> {
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

    /// Starts a server without a socket; requests come through [`service`](Self::service) only.
    ///
    /// [`Config::listen`] and [`Config::transport`] have no effect: nothing listens on [`address`](Self::address), and
    /// [`traffic`](Self::traffic) stays empty.
    ///
    /// # Errors
    /// [`StartError::InitialObjects`] if the initial objects cannot be created.
    ///
    /// # Panics
    /// Panics outside of a tokio runtime, because the server spawns a task that empties deleted namespaces.
    pub fn in_process(config: Config) -> Result<Self, StartError> {
        let address = config.listen;
        Self::new(config, address, None)
    }

    fn new(config: Config, address: SocketAddr, authority: Option<Authority>) -> Result<Self, StartError> {
        #[expect(clippy::disallowed_methods, reason = "unseeded server; this crate does not depend on `ambient`")]
        let rng = |n| match config.seed {
            None => StdRng::from_rng(&mut rand::rng()),
            Some(seed) => StdRng::seed_from_u64(seed.wrapping_add(n)),
        };
        let cluster = Cluster::new(config.clone(), rng(0))?;
        let generators = Generators { faults: rng(1), tokens: rng(2) };
        let shared = Arc::new(Shared::new(cluster, config, authority, generators));

        let mut tasks = JoinSet::new();
        tasks.spawn(namespace_cleanup::run(Arc::clone(&shared)));
        Ok(Self { address, shared, tasks })
    }

    /// Returns a tower service that handles requests in process. Also available if the server listens on a socket.
    ///
    /// It can be the transport of a client: `kube::Client::new(server.service(), "default")`, or `Config::from_service` of
    /// `kube-controller-client`.
    pub fn service(&self) -> InProcess {
        InProcess::new(Arc::clone(&self.shared))
    }

    /// Returns the address that the server listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }

    /// Returns the interface for injecting faults.
    pub fn faults(&self) -> Faults<'_> {
        Faults::new(&self.shared)
    }

    /// Returns the interface for admission rules, which modify or deny writes.
    pub fn admission(&self) -> Admission<'_> {
        Admission::new(&self.shared)
    }

    /// Returns the log of the last requests, for assertions about a client.
    pub fn requests(&self) -> Requests<'_> {
        Requests::new(&self.shared)
    }

    /// Returns the bytes sent to and received from each client since the server was started.
    pub fn traffic(&self) -> Vec<Traffic> {
        self.shared.traffic.all()
    }

    /// Immediately empties and removes all namespaces that are being deleted, instead of waiting for
    /// [`Config::namespace_grace`]. Objects with finalizers remain, and so do their namespaces.
    pub fn empty_namespaces(&self) {
        for namespace in self.shared.read(Cluster::namespaces_to_empty) {
            namespace_cleanup::empty(&self.shared, &namespace);
        }
    }

    /// Simulates a restart of the process at the same address: drops all connections, keeps objects and versions, and
    /// keeps or clears the watch history.
    pub fn restart(&self, history: History) {
        self.shared.restart(history);
    }

    /// Stops the server: accepts no more connections, ends watches, and waits up to 2 s for requests in flight.
    pub async fn shutdown(mut self) {
        self.shared.stopping.cancel();
        let drained = async { while self.tasks.join_next().await.is_some() {} };
        if tokio::time::timeout(DRAIN_TIMEOUT, drained).await.is_err() {
            tracing::debug!("shutdown timed out; aborting requests in flight");
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Dropping the task set aborts the connections. In-process calls and response bodies have no task and are reset
        // here, except after a shutdown, which ends watches without an error.
        if !self.shared.stopping.is_cancelled() {
            self.shared.drop_connections();
        }
        self.shared.stopping.cancel();
    }
}

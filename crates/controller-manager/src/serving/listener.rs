//! Accepts connections.

use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::connection;
use super::connections::Connections;
use super::metrics::ServingMetrics;
use super::pacer::Pacer;
use super::peer::Peer;
use super::routes::Routes;
use super::socket::{Socket, SocketState};
use super::tls::Tls;

/// Maximum number of TLS handshakes in any [`HANDSHAKE_PERIOD`]: 1,000 per second take about a quarter of a CPU.
const MAX_HANDSHAKES: usize = 100;
const HANDSHAKE_PERIOD: Duration = Duration::from_millis(100);

/// What all connections share.
pub(super) struct Shared {
    pub(super) tls: Arc<Tls>,
    pub(super) routes: Routes,
    pub(super) metrics: ServingMetrics,
    pub(super) handshakes: Pacer,
    connections: Arc<Connections>,
}

impl Shared {
    pub(super) fn new(tls: Arc<Tls>, routes: Routes, metrics: ServingMetrics) -> Self {
        let connections = Arc::new(Connections::new(metrics.clone()));
        Self { tls, routes, metrics, handshakes: Pacer::new(MAX_HANDSHAKES, HANDSHAKE_PERIOD), connections }
    }
}

/// Accepts and serves connections. Never returns; dropping the future closes all connections.
///
/// Connections are accepted as fast as they arrive: in the queue of the kernel, which knows no clients, those of one
/// client would displace those of all others.
pub(super) async fn serve(listener: &TcpListener, shared: &Arc<Shared>) {
    let connections = &shared.connections;
    let mut tasks = JoinSet::new();
    loop {
        tokio::select! {
            // Ended connections first: there are no more of them than accepted ones, so that neither branch starves.
            biased;
            Some(ended) = tasks.join_next() => {
                if let Err(error) = ended && error.is_panic() {
                    tracing::error!(err = %error, "A connection's task panicked");
                }
            }
            accepted = listener.accept() => match accepted {
                Ok((stream, address)) => {
                    let (peer, state) = (Peer::from(address.ip()), Arc::<SocketState>::default());
                    let admission = connections.add(peer, &state);
                    let (id, socket) = (admission.id(), Socket::new(stream, Arc::clone(&state)));
                    let task = tasks.spawn(connection::serve(socket, peer, admission, state, Arc::clone(shared)));
                    connections.spawned(id, task);
                }
                // The client disconnected before `accept`, or there is no free file descriptor: close a connection and
                // continue.
                Err(error) => {
                    tracing::warn!(err = %error, "Unable to accept a connection, closing another");
                    connections.shed();
                    sleep(Duration::from_millis(10)).await;
                }
            },
        }
    }
}

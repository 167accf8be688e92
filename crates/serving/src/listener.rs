//! Accepts connections.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpSocket};
use tokio::task::coop::unconstrained;
use tokio::task::{JoinSet, yield_now};
use tokio::time::sleep;

use crate::connection;
use crate::connections::Connections;
use crate::handler::Handler;
use crate::metrics::ServingMetrics;
use crate::pacer::Pacer;
use crate::peer::Peer;
use crate::socket::{Socket, SocketState};
use crate::tls::Tls;

/// Maximum number of TLS handshakes in any [`HANDSHAKE_PERIOD`]: 1,000 per second take about a quarter of a CPU.
const MAX_HANDSHAKES: usize = 100;
const HANDSHAKE_PERIOD: Duration = Duration::from_millis(100);

/// What all connections share.
pub(crate) struct Shared {
    /// `None`: plain HTTP.
    pub(crate) tls: Option<Arc<Tls>>,
    pub(crate) handler: Handler,
    pub(crate) metrics: ServingMetrics,
    pub(crate) handshakes: Pacer,
    connections: Arc<Connections>,
}

impl Shared {
    pub(crate) fn new(tls: Option<Arc<Tls>>, handler: Handler, metrics: ServingMetrics) -> Self {
        let connections = Arc::new(Connections::new(metrics.clone()));
        Self { tls, handler, metrics, handshakes: Pacer::new(MAX_HANDSHAKES, HANDSHAKE_PERIOD), connections }
    }
}

/// Maximum number of connections that wait in the kernel, of Linux's default limit.
const BACKLOG: u32 = 4_096;
/// Maximum number of connections that are accepted before the tasks of connections run: in a flood, those of a few hundred
/// milliseconds. With fewer, the backlog fills up, and clients try again after 1 s.
const MAX_ACCEPTED_AT_ONCE: usize = 512;

pub(crate) fn bind(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Accepts and serves connections. Never returns; dropping the future closes all connections.
///
/// Connections are accepted as fast as they arrive: in the queue of the kernel, which knows no clients, those of one
/// client would displace those of all others.
pub(crate) async fn serve(listener: &TcpListener, shared: &Arc<Shared>) {
    let mut tasks = JoinSet::new();
    loop {
        for _ in 0..MAX_ACCEPTED_AT_ONCE {
            // Tokio's own limit per poll is lower.
            unconstrained(next(listener, shared, &mut tasks)).await;
        }
        yield_now().await;
    }
}

/// Waits for the end of a connection, or accepts one.
async fn next(listener: &TcpListener, shared: &Arc<Shared>, tasks: &mut JoinSet<()>) {
    let connections = &shared.connections;
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
                // Without this, the end of the handshake and the response wait for each other's acknowledgements. An error
                // means that the connection is gone already.
                let _ = stream.set_nodelay(true);
                let (peer, state) = (Peer::from(address.ip()), Arc::<SocketState>::default());
                connections.add(peer, &state, |admission| {
                    let socket = Socket::new(stream, Arc::clone(&state));
                    tasks.spawn(connection::serve(socket, peer, admission, Arc::clone(&state), Arc::clone(shared)))
                });
            }
            // The client disconnected, or there is no free file descriptor: close a connection and continue.
            Err(error) => {
                tracing::warn!(err = %error, "Unable to accept a connection, closing another");
                connections.shed();
                sleep(Duration::from_millis(10)).await;
            }
        },
    }
}

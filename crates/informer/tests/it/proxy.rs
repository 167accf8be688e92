//! A TCP proxy that breaks its connections on demand.

use std::net::SocketAddr;

use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinSet,
};

/// Forwards connections to a server.
pub(crate) struct Proxy {
    address: SocketAddr,
    /// Number of cuts. A connection breaks when it changes.
    cuts: watch::Sender<u32>,
    _tasks: JoinSet<()>,
}

impl Proxy {
    pub(crate) async fn to(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("bound");
        let (cuts, cut) = watch::channel(0);
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((mut near, _)) = listener.accept().await {
                let mut cut = cut.clone();
                cut.mark_unchanged();
                connections.spawn(async move {
                    let Ok(mut far) = TcpStream::connect(server).await else { return };
                    tokio::select! {
                        _ = copy_bidirectional(&mut near, &mut far) => {}
                        _ = cut.changed() => {}
                    }
                });
            }
        });
        Self { address, cuts, _tasks: tasks }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Breaks all connections.
    pub(crate) fn cut(&self) {
        self.cuts.send_modify(|cuts| *cuts += 1);
    }
}

//! A TCP proxy that loses connections silently, or delays new ones.

use std::future::pending;
use std::net::SocketAddr;

use kube_dev_apiserver::Server;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

pub(crate) struct Proxy {
    address: SocketAddr,
    frozen: watch::Sender<()>,
    held: watch::Sender<bool>,
    accepted: watch::Receiver<usize>,
    _tasks: JoinSet<()>,
}

impl Proxy {
    pub(crate) async fn start(server: &Server) -> Proxy {
        let server = server.address();
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
        let address = listener.local_addr().expect("local address");
        let (frozen, freeze) = watch::channel(());
        let (held, holds) = watch::channel(false);
        let (counter, accepted) = watch::channel(0);
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((mut near, _)) = listener.accept().await {
                counter.send_modify(|count| *count += 1);
                let (mut freeze, mut holds) = (freeze.clone(), holds.clone());
                freeze.mark_unchanged();
                connections.spawn(async move {
                    holds.wait_for(|held| !held).await.expect("the proxy is gone");
                    let mut far = TcpStream::connect(server).await.expect("connect");
                    for stream in [&near, &far] {
                        stream.set_nodelay(true).expect("no delay");
                    }
                    tokio::select! {
                        _ = copy_bidirectional(&mut near, &mut far) => {}
                        Ok(()) = freeze.changed() => pending().await,
                    }
                });
            }
        });
        Proxy { address, frozen, held, accepted, _tasks: tasks }
    }

    /// Returns the kubeconfig with the address of the proxy in place of that of `server`.
    pub(crate) fn kubeconfig(&self, server: &Server) -> String {
        server.kubeconfig().replace(&server.address().to_string(), &self.address.to_string())
    }

    /// Forwards nothing on the open connections from now on, and does not close them. Later connections are not affected.
    pub(crate) fn freeze(&self) {
        self.frozen.send_replace(());
    }

    /// Forwards nothing on later connections until [`release`](Self::release).
    pub(crate) fn hold(&self) {
        self.held.send_replace(true);
    }

    pub(crate) fn release(&self) {
        self.held.send_replace(false);
    }

    /// Waits for the next connection of a client.
    pub(crate) async fn accepted(&mut self) {
        self.accepted.mark_unchanged();
        self.accepted.changed().await.expect("the proxy is gone");
    }
}

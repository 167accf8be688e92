//! Silently dropped connections, as by a firewall that loses its state: packets vanish, and the connection is not
//! closed.

use std::future::pending;
use std::net::SocketAddr;
use std::time::Duration;

use kube_controller_client::{Client, ClientOptions, Config, Timeouts};
use kube_dev_apiserver::{Server, Transport};
use kube_lease_election::{Election, ElectionOptions, End, Fence, LeaseName, Timing};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

/// A TCP proxy whose connections can be frozen.
struct FreezingProxy {
    address: SocketAddr,
    freeze: watch::Sender<()>,
    _tasks: JoinSet<()>,
}

impl FreezingProxy {
    async fn start(server: SocketAddr) -> FreezingProxy {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
        let address = listener.local_addr().expect("local address");
        let (freeze, receiver) = watch::channel(());
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((mut near, _)) = listener.accept().await {
                let mut freeze = receiver.clone();
                freeze.mark_unchanged();
                connections.spawn(async move {
                    let mut far = TcpStream::connect(server).await.expect("connect");
                    tokio::select! {
                        _ = copy_bidirectional(&mut near, &mut far) => {}
                        Ok(()) = freeze.changed() => pending().await,
                    }
                });
            }
        });
        FreezingProxy { address, freeze, _tasks: tasks }
    }

    /// Freezes all open connections; later ones are not affected.
    fn freeze(&self) {
        self.freeze.send_replace(());
    }
}

/// Starts an election behind a proxy and waits until it has renewed the lease. Returns fence, task and proxy.
async fn leader(server: &Server, timeouts: Timeouts) -> (Fence, JoinSet<End>, FreezingProxy) {
    let proxy = FreezingProxy::start(server.address()).await;
    let kubeconfig = server.kubeconfig().replace(&server.address().to_string(), &proxy.address.to_string());
    let folder = tempfile::tempdir().expect("tempdir");
    let path = folder.path().join("kubeconfig");
    std::fs::write(&path, kubeconfig).expect("write");
    let config = Config::from_kubeconfig(&path).await.expect("load kubeconfig");
    let options = ClientOptions { qps: 0.0, timeouts, ..ClientOptions::default() };
    let client = Client::new(&config, options).expect("create client");
    let lease = LeaseName { namespace: "kube-system".to_owned(), name: "it".to_owned() };
    let options =
        ElectionOptions { lease, identity: "a".to_owned(), timing: Timing::default(), recorder: None, metrics: None };
    let (election, mut fence) = Election::new(client, options);
    let mut tasks = JoinSet::new();
    tasks.spawn(election.run(CancellationToken::new()));
    assert!(fence.wait_until_leading().await);
    assert!(fence.changed().await, "not renewed");
    (fence, tasks, proxy)
}

#[tokio::test(start_paused = true)]
async fn dead_connection_does_not_lose_the_lease() {
    let config = kube_dev_apiserver::Config { transport: Transport::Tls, ..kube_dev_apiserver::Config::default() };
    let server = Server::start(config).await.expect("start server");
    let (fence, mut tasks, proxy) = leader(&server, Timing::default().timeouts()).await;
    proxy.freeze();
    let later = Instant::now() + Duration::from_secs(60);
    tokio::select! {
        end = tasks.join_next() => panic!("the election ended: {end:?}"),
        () = sleep_until(later) => {}
    }
    let term_end = fence.term_end().expect("leadership was lost");
    assert!(term_end > later + Duration::from_secs(6), "not renewed in the last 4 s");
    server.shutdown().await;
}

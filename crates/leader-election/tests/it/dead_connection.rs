//! Silently dropped connections, as by a firewall that loses its state: packets vanish, and the connection is not
//! closed.

use std::time::Duration;

use kube_dev_apiserver::{Server, Transport};
use kube_endpoints_testing::{virtual_clocks, wait_for_bytes};
use kube_lease_election::{Config, Election, ElectionOptions, End, LeaseName};
use rstest::rstest;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::kube_clients::{kube_client, kube_config};
use crate::proxy::Proxy;

/// Where the connections of the election come from.
#[derive(Clone, Copy, Debug)]
enum Source {
    Kubeconfig,
    KubeConfig,
    KubeClient,
}

impl Source {
    async fn config(self, kubeconfig: &str) -> Config {
        match self {
            Source::Kubeconfig => Config::from_kubeconfig_text(kubeconfig).expect("load kubeconfig"),
            Source::KubeConfig => Config::try_from(kube_config(kubeconfig).await).expect("a configuration"),
            Source::KubeClient => Config::from_kube_client(kube_client(kubeconfig).await),
        }
    }
}

/// A renewal on a dead connection is repeated on a new one. If that hangs too, the election ends with the term.
#[rstest]
#[case::own_connections(Source::Kubeconfig)]
#[case::own_connections_from_kube(Source::KubeConfig)]
#[case::client_of_kube(Source::KubeClient)]
#[tokio::test(start_paused = true)]
async fn dead_connections_lose_the_lease_only_if_new_ones_hang(
    #[case] source: Source,
    #[values(false, true)] new_ones_hang: bool,
) {
    let (_clocks, _bytes) = (virtual_clocks(1), wait_for_bytes());
    let config = kube_dev_apiserver::Config { transport: Transport::Tls, ..kube_dev_apiserver::Config::default() };
    let server = Server::start(config).await.expect("start server");
    let proxy = Proxy::start(&server).await;
    let config = source.config(&proxy.kubeconfig(&server)).await;
    let options = ElectionOptions::new(LeaseName::new("kube-system", "it"));
    let (election, mut fence) = Election::from_config(&config, options).expect("create election");
    let mut tasks = JoinSet::new();
    tasks.spawn(election.run(CancellationToken::new()));
    assert!(fence.wait_until_leading().await);
    assert!(fence.changed().await, "not renewed");
    proxy.freeze();
    if new_ones_hang {
        proxy.hold();
    }
    let (term_end, later) = (fence.term_end().expect("not the leader"), Instant::now() + Duration::from_secs(60));
    let end = timeout_at(later, tasks.join_next()).await;
    if new_ones_hang {
        assert!(matches!(end, Ok(Some(Ok(End::Lost)))), "{end:?}");
        assert_eq!(Instant::now(), term_end, "the term was exceeded");
    } else {
        assert!(end.is_err(), "the election ended: {end:?}");
        let term_end = fence.term_end().expect("leadership was lost");
        assert!(term_end > later + Duration::from_secs(6), "not renewed in the last 4 s");
    }
    server.shutdown().await;
}

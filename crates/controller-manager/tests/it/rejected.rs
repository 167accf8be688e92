//! Credentials that the API server rejects, in paused time.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use endpoint_controller_manager::{LeaderElection, RunError, Settings, run};
use kube_controller_client::Config;
use kube_dev_apiserver::{On, Server, Transport, User};
use kube_endpoints_testing::{virtual_clocks, wait_for_bytes};
use tempfile::TempDir;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

const MINUTE: Duration = Duration::from_secs(60);

/// A server, and a kubeconfig with an invalid token.
async fn server_with_invalid_token() -> (Server, TempDir, PathBuf) {
    let config = kube_dev_apiserver::Config { transport: Transport::Tls, ..kube_dev_apiserver::Config::default() };
    let server = Server::start(config).await.expect("a server");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("kubeconfig");
    write(&server, &path, "expired");
    (server, folder, path)
}

fn write(server: &Server, path: &Path, token: &str) {
    let kubeconfig = server.kubeconfig_for(User::new("alice"));
    let before = kubeconfig.rsplit_once("{token: ").expect("a token").0;
    fs::write(path, format!("{before}{{token: {token}}}\n")).expect("written");
}

fn settings(election: bool) -> Settings {
    let mut settings = Settings::default();
    settings.serving.port = 0;
    settings.leader_election = election.then(LeaderElection::default);
    settings
}

#[tokio::test(start_paused = true)]
async fn process_without_election_exits_after_five_minutes_of_401() {
    let _bytes = wait_for_bytes();
    let (server, _folder, path) = server_with_invalid_token().await;
    let config = Config::from_kubeconfig(&path).await.expect("a kubeconfig");
    let start = Instant::now();
    let ended = timeout(60 * MINUTE, run(config, settings(false), CancellationToken::new())).await;
    let error = ended.expect("ends").expect_err("with an error");
    assert!(matches!(error, RunError::Credentials { .. }), "{error}");
    assert!(error.to_string().starts_with("the API server has answered 401 for 30"), "{error}");
    assert!(start.elapsed() >= 5 * MINUTE && start.elapsed() < 6 * MINUTE, "{:?}", start.elapsed());
    server.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn standby_keeps_running_and_uses_a_replaced_kubeconfig() {
    let (_clocks, _bytes) = (virtual_clocks(1), wait_for_bytes());
    let (server, _folder, path) = server_with_invalid_token().await;
    let config = Config::from_kubeconfig(&path).await.expect("a kubeconfig");
    let stop = CancellationToken::new();
    let running = run(config, settings(true), stop.clone());
    let renewed = async {
        sleep(6 * MINUTE).await;
        let token = server.token_for(User::new("bob").group("system:masters"));
        write(&server, &path, &token);
        let leads = On::any().resource("leases").user("bob").verb("create");
        while server.requests().count(&leads) == 0 {
            sleep(Duration::from_secs(1)).await;
        }
        stop.cancel();
    };
    let both = timeout(60 * MINUTE, async { tokio::join!(running, renewed) }).await;
    both.expect("ends").0.expect("as asked");
    server.shutdown().await;
}

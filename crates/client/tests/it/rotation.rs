//! Rotation of kubeconfig, certificates and tokens while clients use them.

use std::fs;
use std::future::ready;
use std::path::{Path, PathBuf};
use std::time::Duration;

use display_full_error::DisplayFullErrorExt as _;
use futures::StreamExt as _;
use kube_controller_client::{Client, Config, WatchParams};
use kube_dev_apiserver::{On, Server, Transport, User};
use kube_endpoints_testing::wait_for_bytes;
use tempfile::TempDir;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::cluster::{self, CONFIG_MAPS, client_of};

const MINUTE: Duration = Duration::from_secs(60);
/// Four checks of the files, which are every 30 s, and a part of an interval: a check that reads a file while it is written back
/// takes the content before for a new one.
const CHECKS: Duration = Duration::from_secs(125);

/// An API server with TLS, and a client whose configuration files are followed.
struct Rig {
    server: Server,
    folder: TempDir,
    config: Config,
    client: Client,
    tasks: JoinSet<()>,
}

async fn server() -> Server {
    let config = kube_dev_apiserver::Config { transport: Transport::Tls, ..kube_dev_apiserver::Config::default() };
    Server::start(config).await.expect("start server")
}

/// Writes client certificate and key of a user beside the kubeconfig, which has relative paths.
fn write_certificate(server: &Server, folder: &Path, user: &str) {
    let issued =
        server.client_certificate(user, Some("system:masters")).expect("server has no TLS").expect("issue certificate");
    fs::write(folder.join("user.crt"), issued.certificate).expect("write");
    fs::write(folder.join("user.key"), issued.key).expect("write");
}

/// Credential plugin whose token is in the file `token` beside it, with a file that has a line for each run.
const PLUGIN: &str = r#"
cd "$(dirname "$0")" && echo >> runs
printf '{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": "%s"}}' "$(cat token)"
"#;

/// User of a kubeconfig with that plugin.
const PLUGIN_USER: &str =
    "exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: sh, args: [FOLDER/plugin]}";

/// Returns a kubeconfig with the certificate authority in `ca.crt` beside it and the given `user`.
fn kubeconfig(server: &Server, user: &str) -> String {
    cluster::kubeconfig(&format!("server: '{}', certificate-authority: ca.crt", server.url()), user)
}

impl Rig {
    async fn start(user: &str) -> Rig {
        let (server, folder) = (server().await, tempfile::tempdir().expect("tempdir"));
        fs::write(folder.path().join("ca.crt"), server.ca_certificate().expect("server has no TLS")).expect("write");
        write_certificate(&server, folder.path(), "alice");
        fs::write(folder.path().join("token"), token(&server, "alice")).expect("write");
        fs::write(folder.path().join("plugin"), PLUGIN).expect("write");
        let user = user.replace("FOLDER", &folder.path().display().to_string());
        fs::write(folder.path().join("kubeconfig"), kubeconfig(&server, &user)).expect("write");
        let config = Config::from_kubeconfig(&folder.path().join("kubeconfig")).await.expect("load kubeconfig");
        let client = client_of(&config);
        let mut tasks = wait_for_bytes();
        let follow = config.follow_files();
        tasks.spawn(async move { match follow.await {} });
        Rig { server, folder, config, client, tasks }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Sends a request and returns the user that the server authenticated.
    async fn user(&self) -> String {
        self.client.get_json("/api/v1/namespaces/default/configmaps").await.expect("request");
        self.server.requests().matching(&On::any().resource("configmaps")).last().expect("no request").user.clone()
    }
}

fn token(server: &Server, user: &str) -> String {
    server.token_for(User::new(user).group("system:masters"))
}

#[tokio::test(start_paused = true)]
async fn new_client_certificate_is_used_and_watches_reconnect() {
    let rig = Rig::start("client-certificate: user.crt, client-key: user.key").await;
    assert_eq!(rig.user().await, "alice");
    let mut watch = rig.client.watch(&CONFIG_MAPS, None, &WatchParams::default()).await.expect("watch");
    write_certificate(&rig.server, rig.folder.path(), "bob");
    let end = timeout(MINUTE, async { while watch.next().await.is_some_and(|chunk| chunk.is_ok()) {} }).await;
    assert!(end.is_ok(), "the watch did not end");
    assert_eq!(rig.user().await, "bob");
    let _watch = rig.client.watch(&CONFIG_MAPS, None, &WatchParams::default()).await.expect("watch");
    let watches = rig.server.requests().matching(&On::any().verb("watch"));
    assert_eq!(watches.last().expect("no watch").user, "bob");
    rig.server.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn invalid_files_are_ignored() {
    let rig = Rig::start("client-certificate: user.crt, client-key: user.key").await;
    let mut watch = rig.client.watch(&CONFIG_MAPS, None, &WatchParams::default()).await.expect("watch");
    for (name, content) in [("user.key", "half a k"), ("kubeconfig", "{{{{"), ("ca.crt", "")] {
        let before = fs::read(rig.file(name)).expect("read");
        fs::write(rig.file(name), content).expect("write");
        let end = timeout(CHECKS, watch.by_ref().skip_while(|chunk| ready(chunk.is_ok())).next()).await;
        assert!(end.is_err(), "{name}: the watch ended: {end:?}");
        assert_eq!(rig.user().await, "alice", "{name}");
        fs::write(rig.file(name), before).expect("write");
    }
    write_certificate(&rig.server, rig.folder.path(), "bob");
    sleep(MINUTE).await;
    assert_eq!(rig.user().await, "bob");
    rig.server.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn certificate_authority_is_rotated() {
    let rig = Rig::start("tokenFile: token").await;
    let other = server().await;
    // The cluster is reinstalled with a new certificate authority; first only the kubeconfig and the token are updated.
    fs::write(rig.file("token"), token(&other, "alice")).expect("write");
    fs::write(rig.file("kubeconfig"), kubeconfig(&other, "tokenFile: token")).expect("write");
    sleep(MINUTE).await;
    let error = rig.client.get_json("/version").await.expect_err("certificate was accepted").to_string_full();
    assert!(error.contains("certificate"), "{error}");
    fs::write(rig.file("ca.crt"), other.ca_certificate().expect("server has no TLS")).expect("write");
    sleep(MINUTE).await;
    rig.client.get_json("/version").await.expect("request");
    let client = format!("{:?}", rig.client);
    assert!(client.contains(&other.url()), "{client}");
    rig.server.shutdown().await;
    other.shutdown().await;
}

/// `kubectl config use-context` is for the commands that are started afterwards.
#[tokio::test(start_paused = true)]
async fn another_current_context_is_not_followed() {
    let rig = Rig::start("tokenFile: token").await;
    let other = server().await;
    let only_other = kubeconfig(&other, "tokenFile: token").replace("dev", "other");
    let both = kubeconfig(&rig.server, "tokenFile: token")
        .replace("current-context: dev", "current-context: other")
        .replace("contexts: [", "contexts: [{name: other, context: {cluster: other, user: dev}}, ")
        .replace("clusters: [", &format!("clusters: [{{name: other, cluster: {{server: '{}'}}}}, ", other.url()));
    for kubeconfig in [both, only_other] {
        fs::write(rig.file("kubeconfig"), kubeconfig).expect("write");
        sleep(MINUTE).await;
        assert_eq!(rig.config.server(), format!("{}/", rig.server.url()));
        assert_eq!(rig.user().await, "alice");
    }
    rig.server.shutdown().await;
    other.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn token_rotation_keeps_connections() {
    let rig = Rig::start("tokenFile: token").await;
    let mut watch = rig.client.watch(&CONFIG_MAPS, None, &WatchParams::default()).await.expect("watch");
    assert_eq!(rig.user().await, "alice");
    fs::write(rig.file("token"), token(&rig.server, "bob")).expect("write");
    let _ = timeout(MINUTE, async { while watch.next().await.is_some_and(|chunk| chunk.is_ok()) {} })
        .await
        .expect_err("watch ended");
    assert_eq!(rig.user().await, "bob");
    rig.server.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn rejected_token_is_reread_and_recorded() {
    let rig = Rig::start("tokenFile: token").await;
    let credentials = rig.config.credentials().clone();
    assert_eq!(credentials.rejected_since(), None);
    assert_eq!(rig.user().await, "alice");
    assert_eq!(credentials.rejected_since(), None);
    fs::write(rig.file("token"), "expired").expect("write");
    sleep(MINUTE).await;
    rig.client.get_json("/version").await.expect_err("bad token was accepted");
    assert!(credentials.rejected_since().is_some());
    fs::write(rig.file("token"), token(&rig.server, "bob")).expect("write");
    assert_eq!(rig.user().await, "bob");
    assert_eq!(credentials.rejected_since(), None);
    rig.server.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn credential_plugin_is_run_once_for_a_configuration() {
    let rig = Rig::start(PLUGIN_USER).await;
    assert_eq!(rig.user().await, "alice");
    assert_eq!(fs::read_to_string(rig.file("runs")).expect("read").lines().count(), 1);
    rig.server.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn credential_plugin_is_run_again_after_its_token_is_rejected() {
    let rig = Rig::start(PLUGIN_USER).await;
    assert_eq!(rig.user().await, "alice");
    // The plugin is run because the kubeconfig changes, and its token is not valid.
    fs::write(rig.file("token"), "expired").expect("write");
    let kubeconfig = fs::read_to_string(rig.file("kubeconfig")).expect("read");
    fs::write(rig.file("kubeconfig"), kubeconfig + "\n").expect("write");
    sleep(MINUTE).await;
    rig.client.get_json("/version").await.expect_err("bad token was accepted");
    fs::write(rig.file("token"), token(&rig.server, "bob")).expect("write");
    sleep(MINUTE).await;
    assert_eq!(rig.user().await, "bob");
    assert_eq!(rig.config.credentials().rejected_since(), None);
    let runs = || fs::read_to_string(rig.file("runs")).expect("read");
    // A run may have begun before the request.
    sleep(MINUTE).await;
    let accepted = runs();
    sleep(2 * MINUTE).await;
    assert_eq!(runs(), accepted, "not run while its token is accepted");
    rig.server.shutdown().await;
}

/// The renew deadline of a leader is 10 s.
#[tokio::test(start_paused = true)]
async fn credential_plugin_is_run_within_5_s_of_a_rejection_and_no_more_often() {
    let mut rig = Rig::start(PLUGIN_USER).await;
    let another = rig.client.follow_files();
    rig.tasks.spawn(async move { match another.await {} });
    fs::write(rig.file("token"), "expired").expect("write");
    let kubeconfig = fs::read_to_string(rig.file("kubeconfig")).expect("read");
    fs::write(rig.file("kubeconfig"), kubeconfig + "\n").expect("write");
    sleep(MINUTE).await;
    let runs = || fs::read_to_string(rig.file("runs")).expect("read").lines().count();
    let before = runs();
    for _ in 0..20 {
        rig.client.get_json("/version").await.expect_err("bad token was accepted");
        sleep(Duration::from_secs(1)).await;
    }
    let rejected = runs() - before;
    assert!((4..=5).contains(&rejected), "{rejected} runs in 20 s");
    fs::write(rig.file("token"), token(&rig.server, "bob")).expect("write");
    let _ = rig.client.get_json("/version").await;
    sleep(Duration::from_millis(5_100)).await;
    assert_eq!(rig.user().await, "bob");
    rig.server.shutdown().await;
}

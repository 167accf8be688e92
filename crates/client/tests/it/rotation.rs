//! Files of a configuration that change while clients use it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use futures::StreamExt as _;
use kube_controller_client::{Client, ClientOptions, Config, Resource, WatchParams};
use kube_dev_apiserver::{On, Server, Transport, User};
use tempfile::TempDir;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::tls;

const MAPS: Resource = Resource::namespaced("", "v1", "configmaps", "ConfigMap");
const MINUTE: Duration = Duration::from_secs(60);

/// An API server over TLS, and a client whose configuration is followed.
struct Rig {
    server: Server,
    folder: TempDir,
    config: Config,
    client: Client,
    _tasks: JoinSet<()>,
}

async fn server() -> Server {
    let config = kube_dev_apiserver::Config { transport: Transport::Tls, ..kube_dev_apiserver::Config::default() };
    Server::start(config).await.expect("a server")
}

/// Client certificate and key of a user, as files with relative names beside the kubeconfig.
fn write_certificate(server: &Server, folder: &Path, user: &str) {
    let made = server.client_certificate(user, Some("system:masters")).expect("TLS").expect("a certificate");
    fs::write(folder.join("user.crt"), made.certificate).expect("written");
    fs::write(folder.join("user.key"), made.key).expect("written");
}

/// A kubeconfig whose authority and user are files beside it.
fn kubeconfig(server: &Server, user: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: dev\n\
         contexts: [{{name: dev, context: {{cluster: dev, user: dev}}}}]\n\
         clusters: [{{name: dev, cluster: {{server: '{}', certificate-authority: ca.crt}}}}]\n\
         users: [{{name: dev, user: {{{user}}}}}]\n",
        server.url()
    )
}

impl Rig {
    async fn start(user: &str) -> Rig {
        let (server, folder) = (server().await, tempfile::tempdir().expect("a folder"));
        fs::write(folder.path().join("ca.crt"), server.ca_certificate().expect("TLS")).expect("written");
        write_certificate(&server, folder.path(), "alice");
        fs::write(folder.path().join("token"), token(&server, "alice")).expect("written");
        fs::write(folder.path().join("kubeconfig"), kubeconfig(&server, user)).expect("written");
        let config = Config::from_kubeconfig(&folder.path().join("kubeconfig")).await.expect("a kubeconfig");
        let client = Client::new(&config, ClientOptions { qps: 0.0, ..ClientOptions::default() }).expect("a client");
        let mut tasks = JoinSet::new();
        let follow = config.follow_files();
        tasks.spawn(async move { match follow.await {} });
        Rig { server, folder, config, client, _tasks: tasks }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The user that the server saw in a request made now.
    async fn user(&self) -> String {
        self.client.get_json("/api/v1/namespaces/default/configmaps").await.expect("an answer");
        self.server.requests().matching(&On::any().resource("configmaps")).last().expect("a request").user.clone()
    }
}

fn token(server: &Server, user: &str) -> String {
    server.token_for(User::new(user).group("system:masters"))
}

#[tokio::test(start_paused = true)]
async fn a_new_client_certificate_is_used_and_watches_move_over() {
    let rig = Rig::start("client-certificate: user.crt, client-key: user.key").await;
    assert_eq!(rig.user().await, "alice");
    let mut watch = rig.client.watch(&MAPS, None, &WatchParams::default()).await.expect("a watch");
    write_certificate(&rig.server, rig.folder.path(), "bob");
    let end = timeout(MINUTE, async { while watch.next().await.is_some_and(|chunk| chunk.is_ok()) {} }).await;
    assert!(end.is_ok(), "the watch stays on the old connection");
    assert_eq!(rig.user().await, "bob");
    let _watch = rig.client.watch(&MAPS, None, &WatchParams::default()).await.expect("a watch");
    let watches = rig.server.requests().matching(&On::any().verb("watch"));
    assert_eq!(watches.last().expect("a watch").user, "bob");
    rig.server.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn files_that_cannot_be_used_change_nothing() {
    let rig = Rig::start("client-certificate: user.crt, client-key: user.key").await;
    let mut watch = rig.client.watch(&MAPS, None, &WatchParams::default()).await.expect("a watch");
    for (name, content) in [("user.key", "half a k"), ("kubeconfig", "{{{{"), ("ca.crt", "")] {
        let before = fs::read(rig.file(name)).expect("read");
        fs::write(rig.file(name), content).expect("written");
        let _ = timeout(2 * MINUTE, async { while watch.next().await.is_some_and(|chunk| chunk.is_ok()) {} })
            .await
            .expect_err("the watch goes on");
        assert_eq!(rig.user().await, "alice", "{name}");
        fs::write(rig.file(name), before).expect("written");
    }
    write_certificate(&rig.server, rig.folder.path(), "bob");
    sleep(MINUTE).await;
    assert_eq!(rig.user().await, "bob");
    rig.server.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_new_kubeconfig_is_used() {
    let rig = Rig::start("client-certificate: user.crt, client-key: user.key").await;
    assert_eq!(rig.user().await, "alice");
    let user = format!("token: {}", token(&rig.server, "carol"));
    fs::write(rig.file("kubeconfig"), kubeconfig(&rig.server, &user)).expect("written");
    sleep(MINUTE).await;
    assert_eq!(rig.user().await, "carol");
    rig.server.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_new_authority_is_believed() {
    let rig = Rig::start("tokenFile: token").await;
    let other = server().await;
    // The server was installed anew, with an authority of its own, and only the kubeconfig knows yet.
    fs::write(rig.file("token"), token(&other, "alice")).expect("written");
    fs::write(rig.file("kubeconfig"), kubeconfig(&other, "tokenFile: token")).expect("written");
    sleep(MINUTE).await;
    let error = rig.client.get_json("/version").await.expect_err("another authority").to_string();
    assert!(error.contains("certificate"), "{error}");
    fs::write(rig.file("ca.crt"), other.ca_certificate().expect("TLS")).expect("written");
    sleep(MINUTE).await;
    rig.client.get_json("/version").await.expect("an answer");
    rig.server.shutdown().await;
    other.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_new_token_needs_no_new_connections() {
    let rig = Rig::start("tokenFile: token").await;
    let mut watch = rig.client.watch(&MAPS, None, &WatchParams::default()).await.expect("a watch");
    assert_eq!(rig.user().await, "alice");
    fs::write(rig.file("token"), token(&rig.server, "bob")).expect("written");
    let _ = timeout(MINUTE, async { while watch.next().await.is_some_and(|chunk| chunk.is_ok()) {} })
        .await
        .expect_err("the watch goes on");
    assert_eq!(rig.user().await, "bob");
    rig.server.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_rejected_token_is_read_again_at_once_and_noted() {
    let rig = Rig::start("tokenFile: token").await;
    let credentials = rig.config.credentials().clone();
    assert_eq!((credentials.accepted_at(), credentials.rejected_since()), (None, None));
    assert_eq!(rig.user().await, "alice");
    assert!(credentials.accepted_at().is_some() && credentials.rejected_since().is_none());
    fs::write(rig.file("token"), "expired").expect("written");
    sleep(MINUTE).await;
    rig.client.get_json("/version").await.expect_err("a bad token");
    assert!(credentials.rejected_since().is_some());
    fs::write(rig.file("token"), token(&rig.server, "bob")).expect("written");
    assert_eq!(rig.user().await, "bob");
    assert_eq!(credentials.rejected_since(), None);
    rig.server.shutdown().await;
}

/// A client whose kubeconfig is not followed reads its token file all the same.
#[tokio::test(start_paused = true)]
async fn a_token_file_is_followed_by_requests_alone() {
    let (server, folder) = (tls::serve(&["h2"]).await, tempfile::tempdir().expect("a folder"));
    let client = crate::identity::with_token_file(folder.path(), &server, "old\n").await;
    client.get_json("/version").await.expect("an answer");
    assert_eq!(crate::identity::header(&server, &http::header::AUTHORIZATION), "Bearer old");
    fs::write(folder.path().join("token"), "new\n").expect("a token");
    sleep(MINUTE).await;
    client.get_json("/version").await.expect("an answer");
    assert_eq!(crate::identity::header(&server, &http::header::AUTHORIZATION), "Bearer new");
}

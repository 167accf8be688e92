//! The server, over HTTPS with reviews by the embedded API server, and over plain HTTP.

#![expect(clippy::unwrap_used, reason = "tests, helpers included, fail by panics")]

mod access;
mod authorities;
mod connections;
mod limits;
mod plain;
mod thread;

use std::fs;
use std::net::SocketAddr;
use std::time::Duration;

use kube_controller::Health;
use kube_controller_client::{Client, ClientOptions, Config};
use kube_controller_serving::{
    CertificateFiles, Certificates, Reviewers, Routes, Server, ServerCertificate, ServingError, ServingMetrics,
    ServingSettings, TlsVersion, response,
};
use kube_dev_apiserver::{Anonymous, Authorization, Transport};
use kube_endpoints_testing::{https::HttpsClient, wait_for_bytes};
use prometheus::Registry;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::JoinSet;

/// Pauses the clock of limits, which advances by little while client and servers exchange bytes, until the result is dropped.
fn pause_limits() -> JoinSet<()> {
    tokio::time::pause();
    wait_for_bytes()
}

/// A running HTTPS server, its API server, and a directory with certificates. Dropping it stops the server.
struct TestServer {
    cluster: kube_dev_apiserver::Server,
    client: Client,
    address: SocketAddr,
    folder: TempDir,
    certificates: Certificates,
    registry: Registry,
    _tasks: JoinSet<()>,
}

/// Starts a server with reviews on a free port, with settings changed by `change`.
async fn serve(change: impl FnOnce(&mut ServingSettings)) -> TestServer {
    serve_with(true, change).await
}

async fn serve_with(reviews: bool, change: impl FnOnce(&mut ServingSettings)) -> TestServer {
    let (cluster, folder) = rbac_cluster().await;
    serve_for(cluster, folder, reviews, change).await.unwrap()
}

/// An API server with RBAC and without anonymous access, and a directory with its CA certificate and a kubeconfig.
async fn rbac_cluster() -> (kube_dev_apiserver::Server, TempDir) {
    let config = kube_dev_apiserver::Config {
        transport: Transport::Tls,
        anonymous: Anonymous::Rejected,
        authorization: Authorization::Rbac,
        ..kube_dev_apiserver::Config::default()
    };
    let cluster = kube_dev_apiserver::Server::start(config).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("kubeconfig"), cluster.kubeconfig()).unwrap();
    fs::write(folder.path().join("authority.crt"), cluster.ca_certificate().unwrap()).unwrap();
    (cluster, folder)
}

async fn serve_for(
    cluster: kube_dev_apiserver::Server,
    folder: TempDir,
    reviews: bool,
    change: impl FnOnce(&mut ServingSettings),
) -> Result<TestServer, ServingError> {
    let authority = folder.path().join("authority.crt");
    let config = Config::from_kubeconfig(&folder.path().join("kubeconfig")).await.unwrap();
    let client = Client::new(&config, ClientOptions { qps: 0.0, ..ClientOptions::default() }).unwrap();

    let mut settings = ServingSettings { bind_address: [127, 0, 0, 1].into(), port: 0, ..ServingSettings::default() };
    settings.certificate = ServerCertificate::Stored(CertificateFiles::pair(folder.path(), "server"));
    settings.authentication.client_ca_file = Some(authority);
    change(&mut settings);
    let reviewer = reviews.then(|| client.clone());
    let reviewers = Reviewers::new(reviewer.clone(), reviewer);
    let registry = Registry::new();
    let counter = prometheus::IntCounter::new("things_total", "Things.").unwrap();
    registry.register(Box::new(counter)).unwrap();
    let metrics = ServingMetrics::register(&registry, "example").unwrap();
    let routes = Routes::new(Health::default()).metrics(registry.clone()).health_metrics();
    let routes = routes.page("/configz", |request| response::json(&json!({"query": request.query})));
    let server = Server::bind(&settings, reviewers, routes, metrics).await?;
    let (address, certificates) = (server.address().unwrap(), server.certificates().unwrap());
    let mut tasks = JoinSet::new();
    tasks.spawn(server.run());
    Ok(TestServer { cluster, client, address, folder, certificates, registry, _tasks: tasks })
}

impl TestServer {
    fn anonymous(&self) -> HttpsClient {
        let certificate = fs::read(self.folder.path().join("server.crt")).unwrap();
        HttpsClient::anonymous(self.address, certificate)
    }

    fn with_token(&self, token: &str) -> HttpsClient {
        HttpsClient { token: Some(token.to_owned()), ..self.anonymous() }
    }

    fn with_certificate(&self, user: &str, group: Option<&str>) -> HttpsClient {
        let issued = self.cluster.client_certificate(user, group).unwrap().unwrap();
        HttpsClient { certificate: Some([issued.certificate, issued.key]), ..self.anonymous() }
    }

    async fn create(&self, path: &str, object: &Value) -> Value {
        let body = object.to_string().into_bytes();
        let answer = self.client.raw(http::Method::POST, path, Some("application/json"), body).await;
        let (status, answer) = answer.unwrap();
        assert!(status.is_success(), "{}", String::from_utf8_lossy(&answer));
        serde_json::from_slice(&answer).unwrap()
    }

    /// Creates a service account and returns a token for `audiences`; for the API server if empty.
    async fn token(&self, account: &str, audiences: &[&str]) -> String {
        let accounts = "/api/v1/namespaces/default/serviceaccounts";
        self.create(accounts, &json!({"metadata": {"name": account}})).await;
        let request = json!({"spec": {"audiences": audiences}});
        let answer = self.create(&format!("{accounts}/{account}/token"), &request).await;
        answer["status"]["token"].as_str().unwrap().to_owned()
    }

    async fn allow(&self, kind: &str, name: &str, path: &str) {
        let rbac = "/apis/rbac.authorization.k8s.io/v1";
        let rule = json!({"nonResourceURLs": [path], "verbs": ["get"]});
        self.create(&format!("{rbac}/clusterroles"), &json!({"metadata": {"name": "watcher"}, "rules": [rule]})).await;
        let mut subject = json!({"kind": kind, "name": name});
        if kind == "ServiceAccount" {
            subject["namespace"] = json!("default");
        }
        let role = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "watcher"});
        let binding = json!({"metadata": {"name": "watcher"}, "subjects": [subject], "roleRef": role});
        self.create(&format!("{rbac}/clusterrolebindings"), &binding).await;
    }
}

fn disable_caching(settings: &mut ServingSettings) {
    settings.authentication.token_ttl = Duration::ZERO;
    settings.authorization.authorized_ttl = Duration::ZERO;
    settings.authorization.unauthorized_ttl = Duration::ZERO;
}

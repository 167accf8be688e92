//! Server address that overrides the kubeconfig (`--master`), with and without a scheme.

use std::fs;

use kube_controller_client::{Client, ClientOptions, Config};
use kube_dev_apiserver::{On, Server, Transport, User};
use tempfile::TempDir;

async fn server(transport: Transport) -> (Server, TempDir) {
    let config = kube_dev_apiserver::Config { transport, ..kube_dev_apiserver::Config::default() };
    let (server, folder) = (Server::start(config).await.expect("start server"), tempfile::tempdir().expect("tempdir"));
    // Anything about TLS makes `https` the default scheme.
    let kubeconfig = server.kubeconfig_for(User::new("alice")).replace("insecure-skip-tls-verify: true", "");
    fs::write(folder.path().join("kubeconfig"), kubeconfig).expect("write");
    (server, folder)
}

/// Sends a request with the kubeconfig in `folder` to the address `master`.
async fn request(folder: &TempDir, master: &str) -> Config {
    let config = Config::from_kubeconfig(&folder.path().join("kubeconfig")).await.expect("load kubeconfig");
    let config = config.with_server(master).expect("valid address");
    let client = Client::new(&config, ClientOptions::default()).expect("create client");
    client.get_json("/api/v1/configmaps").await.expect("request");
    config
}

// client-go: TestDefaultServerUrlFor
#[tokio::test]
async fn server_without_scheme_is_https_with_a_certificate_authority() {
    let (server, folder) = server(Transport::Tls).await;
    let config = request(&folder, &server.address().to_string()).await;
    assert_eq!(config.server(), format!("https://{}/", server.address()));
    let requests = server.requests().matching(&On::any().resource("configmaps"));
    assert_eq!(requests[0].user, "alice");
    server.shutdown().await;
}

#[tokio::test]
async fn server_without_scheme_or_authority_is_http_without_token() {
    let (server, folder) = server(Transport::Plain).await;
    let config = request(&folder, &server.address().to_string()).await;
    assert_eq!(config.server(), format!("http://{}/", server.address()));
    let requests = server.requests().matching(&On::any().resource("configmaps"));
    assert_eq!(requests[0].user, "system:anonymous");
    server.shutdown().await;
}

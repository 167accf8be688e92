//! Server address that overrides the kubeconfig (`--master`), with and without a scheme; credentials over plain HTTP.

use std::fs;

use kube_controller_client::{Config, KubeconfigOptions};
use kube_dev_apiserver::{On, Server, Transport, User};
use rstest::rstest;
use tempfile::TempDir;

use crate::{
    cluster::{client_of, kubeconfig},
    failures::{OK, serve},
};

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
    let (path, server) = (Some(folder.path().join("kubeconfig")), Some(master.to_owned()));
    let options = KubeconfigOptions { path, server, ..KubeconfigOptions::default() };
    let config = Config::from_kubeconfig_with(options).await.expect("load kubeconfig");
    client_of(&config).get_json("/api/v1/configmaps").await.expect("request");
    config
}

// client-go: TestDefaultServerUrlFor
#[rstest]
#[case::certificate_authority(Transport::Tls, "https", "alice")]
#[case::no_authority_and_no_token(Transport::Plain, "http", "system:anonymous")]
#[tokio::test]
async fn scheme_of_a_server_without_one(#[case] transport: Transport, #[case] scheme: &str, #[case] user: &str) {
    let (server, folder) = server(transport).await;
    let config = request(&folder, &server.address().to_string()).await;
    assert_eq!(config.server(), format!("{scheme}://{}/", server.address()));
    let requests = server.requests().matching(&On::any().resource("configmaps"));
    assert_eq!(requests[0].user, user);
    server.shutdown().await;
}

/// client-go: `DirectClientConfig.ClientConfig` reads the user only if the transport is TLS, but for impersonation.
#[rstest]
#[case::token("token: secret", None)]
#[case::token_file("tokenFile: token", None)]
#[case::missing_token_file("tokenFile: nowhere", None)]
#[case::password("username: alice, password: secret", None)]
#[case::plugin("exec: {apiVersion: client.authentication.k8s.io/v1, command: ./plugin, interactiveMode: Never}", None)]
#[case::impersonation("token: secret, as: bob", Some("bob"))]
#[tokio::test]
async fn no_credentials_are_sent_over_plain_http(#[case] user: &str, #[case] impersonated: Option<&str>) {
    let (url, mut server) = serve(vec![OK]).await;
    let folder = tempfile::tempdir().expect("tempdir");
    fs::write(folder.path().join("token"), "secret").expect("write");
    fs::write(folder.path().join("plugin"), "#!/bin/sh\necho run > ran\n").expect("write");
    let kubeconfig = kubeconfig(&format!("server: '{url}', insecure-skip-tls-verify: true"), user);
    fs::write(folder.path().join("kubeconfig"), kubeconfig).expect("write");
    let config = Config::from_kubeconfig(&folder.path().join("kubeconfig")).await.expect("load kubeconfig");
    client_of(&config).get_json("/version").await.expect("request");
    let request = server.join_next().await.expect("a task").expect("one request").concat().to_lowercase();
    assert!(!request.contains("authorization"), "{request}");
    let sent = request.lines().find_map(|line| line.strip_prefix("impersonate-user: "));
    assert_eq!(sent, impersonated);
}

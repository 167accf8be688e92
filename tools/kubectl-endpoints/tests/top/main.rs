//! `kubectl endpoints top` in a terminal, against the embedded API server.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "tests, helpers included, fail by panics")]

mod terminal;

use std::io::Write as _;

use kube_controller_client::{Client, ClientOptions, Config};
use kube_dev_apiserver::Server;
use kube_endpoint_model::EndpointSlice;
use kube_endpoints_testing::until;
use rstest::rstest;
use serde_json::{Value, json};
use tempfile::NamedTempFile;

use terminal::Terminal;

fn service() -> Value {
    json!({
        "apiVersion": "v1", "kind": "Service",
        "metadata": {"namespace": "default", "name": "web"},
        "spec": {"selector": {"app": "web"}, "ports": [{"name": "http", "port": 80, "protocol": "TCP"}]}
    })
}

fn pod() -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"namespace": "default", "name": "web-0", "labels": {"app": "web"}},
        "spec": {"nodeName": "node-a", "containers": [{"name": "web", "image": "web"}]},
        "status": {
            "phase": "Running", "podIP": "10.0.0.1", "podIPs": [{"ip": "10.0.0.1"}],
            "conditions": [{"type": "Ready", "status": "True"}]
        }
    })
}

fn slice(name: &str, addresses: &[&str]) -> Value {
    let endpoint = |address: &&str| json!({"addresses": [address], "conditions": {"ready": *address == "10.0.0.1"}, "nodeName": "node-a"});
    let labels = json!({
        "kubernetes.io/service-name": "web",
        "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io"
    });
    json!({
        "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice",
        "metadata": {"namespace": "default", "name": name, "labels": labels},
        "addressType": "IPv4",
        "ports": [{"name": "http", "port": 8080, "protocol": "TCP"}],
        "endpoints": addresses.iter().map(endpoint).collect::<Vec<_>>()
    })
}

/// Waits until a line of the screen has these words.
async fn wait_for_words(terminal: &Terminal, words: &[&str]) {
    let has_words = |screen: &String| screen.lines().any(|line| line.split_whitespace().eq(words.iter().copied()));
    until(&format!("line {words:?}"), async || terminal.contents(), has_words).await;
}

/// Waits until the screen contains a text.
async fn wait_for_text(terminal: &Terminal, text: &str) {
    until(&format!("{text:?} on the screen"), async || terminal.contents(), |screen| screen.contains(text)).await;
}

#[rstest]
#[case::with_q("q")]
#[case::with_ctrl_c("\u{3}")]
#[tokio::test]
async fn shows_services_and_details_and_quits(#[case] quit: &str) {
    let server = Server::start(kube_dev_apiserver::Config::default()).await.unwrap();
    server.load([service(), pod(), slice("web-1", &["10.0.0.1", "10.0.0.2"])]).unwrap();
    let mut kubeconfig = NamedTempFile::new().unwrap();
    kubeconfig.write_all(server.kubeconfig().as_bytes()).unwrap();

    let terminal = Terminal::start(&["top"], kubeconfig.path());
    wait_for_words(&terminal, &["default", "web", "0", "0", "2", "1", "-"]).await;
    assert!(terminal.is_alternate_screen() && terminal.is_raw());

    let config = Config::from_kubeconfig(kubeconfig.path()).await.unwrap();
    let client = Client::new(&config, ClientOptions::default()).unwrap();
    let added: EndpointSlice = serde_json::from_value(slice("web-2", &["10.0.0.3"])).unwrap();
    client.create(&added).await.unwrap();
    wait_for_words(&terminal, &["default", "web", "1", "1", "3", "2", "-"]).await;

    terminal.resize(30, 100);
    terminal.type_keys("\r");
    wait_for_text(&terminal, "SLICES").await;
    wait_for_words(&terminal, &["10.0.0.2", "not", "ready", "-", "node-a"]).await;
    wait_for_words(&terminal, &["web-0", "ready", "10.0.0.1", "node-a"]).await;
    wait_for_text(&terminal, "created  web-2").await;

    terminal.type_keys(quit);
    let status = until("exit status", async || terminal.exit_status(), Option::is_some).await;
    assert!(status.is_some_and(|status| status.success()), "{status:?}\n{}", terminal.contents());
    until("main screen", async || terminal.is_alternate_screen(), |alternate| !alternate).await;
    assert!(!terminal.is_raw(), "the mode of the terminal is restored");
    server.shutdown().await;
}

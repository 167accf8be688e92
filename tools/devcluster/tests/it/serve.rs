//! `devcluster serve`: the API server and simulated kubelets.

use std::{fs, net::TcpListener, path::Path};

use kube_controller_client::{Client, ClientOptions, Config};
use rstest::rstest;

use crate::program::{Program, run};

const SHOP: &str = "\
# The Service is before its Namespace: Namespaces are created first, other objects in order.
apiVersion: v1
kind: Service
metadata: {name: web, namespace: corner, labels: {version: one}}
spec:
  selector: {app: web}
  ports: [{port: 80}]
---
kind: Namespace
apiVersion: v1
metadata: {name: corner}
---
apiVersion: v1
kind: List
items:
- kind: Node
  apiVersion: v1
  metadata: {name: a}
  status:
    conditions: [{type: Ready, status: \"True\"}]
";

/// Path of the Service of [`SHOP`].
const WEB: &str = "/api/v1/namespaces/corner/services/web";

fn file(directory: &Path, name: &str, text: &str) -> String {
    let path = directory.join(name);
    fs::write(&path, text).unwrap();
    path.display().to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn user_objects_are_served_until_a_signal() {
    let directory = tempfile::tempdir().unwrap();
    let shop = file(directory.path(), "shop.yaml", SHOP);
    let second = "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"more\"}}";
    let more = file(directory.path(), "more.json", second);
    let kubeconfig = directory.path().join("kubeconfig");
    let out = kubeconfig.display().to_string();
    let mut program = Program::start(&["serve", "--kubeconfig-out", &out, "--manifests", &shop, "--manifests", &more]);
    let url = program.line("API server:");
    program.line("created:     4 objects");

    let config = Config::from_kubeconfig(&kubeconfig).await.unwrap();
    assert_eq!(config.server().trim_end_matches('/'), url);
    let client = Client::new(&config, ClientOptions::default()).unwrap();
    let web = client.get_json(WEB).await.unwrap();
    assert_eq!(web["spec"]["selector"]["app"], "web");
    client.get_json("/api/v1/namespaces/default/configmaps/more").await.unwrap();
    let node = client.get_json("/api/v1/nodes/a").await.unwrap();
    assert_eq!(node["status"]["conditions"][0]["status"], "True", "the status is kept");

    program.terminate();
    let exited = program.wait();
    assert!(exited.status.success(), "{}", exited.stderr);
    assert_eq!(exited.stderr, "");
}

#[rstest]
fn temporary_kubeconfig_is_removed_at_exit(#[values("TERM", "INT")] signal: &str) {
    let mut program = Program::start(&["serve"]);
    let kubeconfig = program.line("kubeconfig:");
    assert!(Path::new(&kubeconfig).is_file());
    assert_eq!(program.line("  export KUBECONFIG="), kubeconfig);
    program.signal(signal);
    assert!(program.wait().status.success());
    assert!(!Path::new(&kubeconfig).exists());
}

#[test]
fn public_address_without_authorization_is_a_warning() {
    let mut program = Program::start(&["serve", "--listen", "0.0.0.0:0"]);
    let url = program.line("API server:");
    assert!(url.starts_with("http://127.0.0.1:"), "an address that clients can connect to: {url}");
    program.terminate();
    assert!(program.wait().stderr.contains("serves other machines, without authorization"));
}

#[test]
fn port_in_use_is_one_line_on_stderr() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let exited = run(&["serve", "--listen", &address]);
    let error_line = exited.error_line();
    assert!(error_line.starts_with(&format!("devcluster: cannot listen on {address}: ")), "{error_line}");
    assert!(exited.stdout.is_empty());
}

#[rstest]
#[case::syntax("kind: Node\n---\nkind: [\n", "bad.yaml: ")]
#[case::no_version("kind: Node\n", "the server does not serve kind \"Node\" in")]
#[case::kind(
    "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: a}}",
    "the server does not serve kind \"StatefulSet\" in apps/v1"
)]
#[case::missing_namespace(
    "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: nowhere}, spec: {containers: [{name: a, image: a}]}}",
    "Pod nowhere/a: namespaces \"nowhere\" not found"
)]
#[case::invalid(
    "{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {ports: [{port: 0}]}}",
    "Service default/a: Service \"a\" is invalid: [spec.ports[0].port: "
)]
fn invalid_manifest_is_one_line_on_stderr(#[case] text: &str, #[case] expect: &str) {
    let directory = tempfile::tempdir().unwrap();
    let bad = file(directory.path(), "bad.yaml", text);
    let exited = run(&["serve", "--manifests", &bad]);
    let error_line = exited.error_line().replace(&format!("{}/", directory.path().display()), "");
    assert!(error_line.starts_with(&format!("devcluster: {expect}")), "{error_line}");
    assert!(exited.stdout.is_empty());
}

#[test]
fn unwritable_kubeconfig_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("missing").join("kubeconfig").display().to_string();
    let exited = run(&["serve", "--kubeconfig-out", &out]);
    let error_line = exited.error_line();
    assert!(error_line.starts_with(&format!("devcluster: cannot write the kubeconfig {out}: ")), "{error_line}");
}

#[rstest]
#[case::flag(&["serve", "--nonsense"], "--nonsense")]
#[case::address(&["serve", "--listen", "nowhere"], "nowhere")]
#[case::subcommand(&["nonsense"], "nonsense")]
fn usage_errors_are_one_line_on_stderr(#[case] args: &[&str], #[case] named: &str) {
    let exited = run(args);
    assert_eq!(exited.status.code(), Some(2), "{}", exited.stderr);
    assert!(exited.stderr.lines().count() == 1 && exited.stderr.contains(named), "{}", exited.stderr);
    assert!(exited.stdout.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn strict_server_accepts_the_kubeconfig_only() {
    let directory = tempfile::tempdir().unwrap();
    let shop = file(directory.path(), "shop.yaml", SHOP);
    let kubeconfig = directory.path().join("kubeconfig");
    let out = kubeconfig.display().to_string();
    let strict = ["serve", "--authorization-mode=RBAC", "--debug-endpoints", "--kubeconfig-out", &out];
    let mut program = Program::start(&[&strict[..], &["--manifests", &shop]].concat());
    let url = program.line("API server:");
    assert!(url.starts_with("https://"), "{url}");
    program.line("created:     3 objects");

    let client = Client::new(&Config::from_kubeconfig(&kubeconfig).await.unwrap(), ClientOptions::default()).unwrap();
    let web = client.get_json(WEB).await.unwrap();
    assert_eq!(web["metadata"]["name"], "web");
    assert!(client.get_json("/debug/requests").await.is_ok());

    // Without the kubeconfig's certificate authority and credentials, the server is not usable.
    let stranger = Client::new(&Config::from_url(&url).unwrap(), ClientOptions::default()).unwrap();
    assert!(stranger.get_json("/api/v1/nodes").await.is_err());

    program.terminate();
    assert!(program.wait().status.success());
}

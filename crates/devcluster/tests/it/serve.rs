//! `devcluster serve`: the API server alone.

use std::{fs, net::TcpListener, path::Path};

use k8s_openapi::api::core::v1::{Node, Service};
use kube_controller_client::{Client, ClientOptions, Config};
use rstest::rstest;

use crate::program::{Program, run};

const SHOP: &str = "\
# The Service is before its Namespace: Namespaces are applied first, other objects in order.
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

fn file(directory: &Path, name: &str, text: &str) -> String {
    let path = directory.join(name);
    fs::write(&path, text).unwrap();
    path.display().to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn serves_own_objects_until_told_to_stop() {
    let directory = tempfile::tempdir().unwrap();
    let shop = file(directory.path(), "shop.yaml", SHOP);
    let second = "{\"apiVersion\":\"v1\",\"kind\":\"Service\",\"metadata\":{\"name\":\"web\",\"namespace\":\"corner\",\
                  \"labels\":{\"version\":\"two\"}}}";
    let again = file(directory.path(), "again.json", second);
    let kubeconfig = directory.path().join("kubeconfig");
    let out = kubeconfig.display().to_string();
    let mut program = Program::start(&["serve", "--kubeconfig-out", &out, "--manifests", &shop, "--manifests", &again]);
    let url = program.line("API server:");
    program.line("applied:     4 objects");

    let config = Config::from_kubeconfig(&kubeconfig).await.unwrap();
    assert_eq!(config.server().trim_end_matches('/'), url);
    let client = Client::new(&config, ClientOptions::default()).unwrap();
    let web: Service = client.get("corner", "web").await.unwrap();
    assert_eq!(web.metadata.labels.unwrap()["version"], "two", "the second file patches an object of the first");
    assert_eq!(web.spec.unwrap().selector.unwrap()["app"], "web", "fields that are not in the second file are kept");
    let node: Node = client.get("", "a").await.unwrap();
    assert_eq!(node.status.unwrap().conditions.unwrap()[0].status, "True", "the status is applied");

    program.terminate();
    let ended = program.end();
    assert!(ended.status.success(), "{}", ended.stderr);
    assert_eq!(ended.stderr, "");
}

#[test]
fn a_temporary_kubeconfig_goes_with_the_server() {
    let mut program = Program::start(&["serve"]);
    let kubeconfig = program.line("kubeconfig:");
    assert!(Path::new(&kubeconfig).is_file());
    program.terminate();
    assert!(program.end().status.success());
    assert!(!Path::new(&kubeconfig).exists());
}

#[test]
fn a_port_in_use_is_said_in_one_line() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let ended = run(&["serve", "--listen", &address]);
    let refusal = ended.refusal();
    assert!(refusal.starts_with(&format!("devcluster: cannot listen on {address}: ")), "{refusal}");
    assert!(ended.stdout.is_empty());
}

#[rstest]
#[case::syntax("kind: Node\n---\nkind: [\n", "bad.yaml: document 2, line ")]
#[case::shape("---\n\nkind: Node\n", "bad.yaml: document 1, line 3: apiVersion is missing")]
#[case::kind(
    "{apiVersion: v1, kind: Node, metadata: {name: a}}\n---\n{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}}",
    "bad.yaml: document 2, line 3: the server does not serve kind \"Deployment\" in apps/v1"
)]
#[case::missing_namespace(
    "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: nowhere}, spec: {containers: [{name: a, image: a}]}}",
    "bad.yaml: document 1, line 1: Pod nowhere/a: namespaces \"nowhere\" not found"
)]
#[case::invalid(
    "{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {ports: [{port: 0}]}}",
    "bad.yaml: document 1, line 1: Service a: Service \"a\" is invalid: [spec.ports[0].port: "
)]
fn a_bad_manifest_is_said_in_one_line(#[case] text: &str, #[case] expect: &str) {
    let directory = tempfile::tempdir().unwrap();
    let bad = file(directory.path(), "bad.yaml", text);
    let ended = run(&["serve", "--manifests", &bad]);
    let refusal = ended.refusal().replace(&format!("{}/", directory.path().display()), "");
    assert!(refusal.starts_with(&format!("devcluster: {expect}")), "{refusal}");
    assert!(ended.stdout.is_empty());
}

#[test]
fn a_kubeconfig_that_cannot_be_written_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("missing").join("kubeconfig").display().to_string();
    let ended = run(&["serve", "--kubeconfig-out", &out]);
    let refusal = ended.refusal();
    assert!(refusal.starts_with(&format!("devcluster: cannot write the kubeconfig {out}: ")), "{refusal}");
}

#[rstest]
#[case::flag(&["serve", "--nonsense"], "--nonsense")]
#[case::address(&["serve", "--listen", "nowhere"], "nowhere")]
#[case::subcommand(&["nonsense"], "nonsense")]
fn a_mistake_on_the_command_line_is_said_in_one_line(#[case] args: &[&str], #[case] named: &str) {
    let ended = run(args);
    assert_eq!(ended.status.code(), Some(2), "{}", ended.stderr);
    assert!(ended.stderr.lines().count() == 1 && ended.stderr.contains(named), "{}", ended.stderr);
    assert!(ended.stdout.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_strict_server_takes_the_kubeconfig_and_nobody_else() {
    let directory = tempfile::tempdir().unwrap();
    let shop = file(directory.path(), "shop.yaml", SHOP);
    let kubeconfig = directory.path().join("kubeconfig");
    let out = kubeconfig.display().to_string();
    let strict = ["serve", "--tls", "--authorization-mode=RBAC", "--debug-endpoints", "--kubeconfig-out", &out];
    let mut program = Program::start(&[&strict[..], &["--manifests", &shop]].concat());
    let url = program.line("API server:");
    assert!(url.starts_with("https://"), "{url}");
    program.line("applied:     3 objects");

    let client = Client::new(&Config::from_kubeconfig(&kubeconfig).await.unwrap(), ClientOptions::default()).unwrap();
    let web: Service = client.get("corner", "web").await.unwrap();
    assert_eq!(web.metadata.name.as_deref(), Some("web"));
    assert!(client.get_json("/debug/requests").await.is_ok());

    // Without the kubeconfig's certificate authority and credentials, the server is not usable.
    let stranger = Client::new(&Config::from_url(&url).unwrap(), ClientOptions::default()).unwrap();
    assert!(stranger.get_json("/api/v1/nodes").await.is_err());

    program.terminate();
    assert!(program.end().status.success());
}

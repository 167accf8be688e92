//! The log at its highest verbosity contains no secrets, and its keys are upstream's.

use std::collections::BTreeSet;
use std::fs;
use std::process::Stdio;

use http::Method;
use kube_dev_apiserver::{Anonymous, Authorization, Config, Fault, On, ReservedPort, Transport, User};
use kube_endpoints_testing::https::HttpsClient;
use kube_endpoints_testing::{eventually, until};
use rstest::rstest;
use serde_json::Value;
use tokio::net::TcpStream;

use crate::cluster::Cluster;
use crate::process::{binary, stop};

/// An invalid token, which must not be logged either.
const GARBAGE: &str = "hunter2-hunter2";
/// Texts that must not be logged: the prefix of the embedded API server's tokens, of invalid ones, and of other
/// secrets.
const SECRETS: [&str; 5] = ["kube-dev.", "hunter2", "Bearer", "PRIVATE KEY", "authorization: "];

/// Runs the binary with credentials of every kind and returns its log.
async fn logged(arguments: &[&str]) -> String {
    let (anonymous, authorization) = (Anonymous::Rejected, Authorization::Rbac);
    let config = Config { transport: Transport::Tls, anonymous, authorization, ..Config::default() };
    let cluster = Cluster::start_with(config).await;
    let folder = cluster.folder();
    let user = User::new("master").group("system:masters");
    let kubeconfig = cluster.kubeconfig_for(user.clone());
    let port = ReservedPort::new().expect("a free port");
    let mut command = binary();
    for flag in ["kubeconfig", "authentication-kubeconfig", "authorization-kubeconfig"] {
        command.arg(format!("--{flag}={}", kubeconfig.display()));
    }
    command.arg(format!("--cert-dir={}", folder.display())).arg(format!("--secure-port={}", port.port()));
    command.args(["--bind-address=127.0.0.1", "--use-service-account-credentials", "--leader-elect=false"]);
    let child = command.args(arguments).stderr(Stdio::piped()).spawn().expect("the binary starts");
    until("connection", || TcpStream::connect(port.address()), Result::is_ok).await.expect("accepted");

    // The controllers' service accounts have no rights until the binding below grants them all.
    cluster.node().await;
    cluster.service("default", "web").await;
    let refused = On::writes().resource("endpoints").user("system:serviceaccount:kube-system:endpoint-controller");
    eventually("a refused write", &true, async || cluster.server.requests().count(&refused) > 0).await;
    let role =
        serde_json::json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"});
    let accounts = serde_json::json!([{"kind": "Group", "name": "system:serviceaccounts"}]);
    let binding = serde_json::json!({"metadata": {"name": "all"}, "roleRef": role, "subjects": accounts});
    cluster.create("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", &binding).await;
    cluster.wait_for_addresses(&[("web".to_owned(), 0)].into()).await;

    let certificate = fs::read(folder.join("kube-controller-manager.crt")).expect("a certificate");
    let client = |token: &str| HttpsClient {
        token: Some(token.to_owned()),
        ..HttpsClient::anonymous(port.address(), certificate.clone())
    };
    assert_eq!(client(GARBAGE).get("/metrics").await.code, 401);
    let authorized = client(&cluster.server.token_for(user));
    assert_eq!(authorized.get(&format!("/flagz?token={GARBAGE}")).await.code, 200);
    let review = Fault::internal_error().on(On::any().resource("tokenreviews")).times(1);
    cluster.server.faults().inject(review);
    assert_eq!(client("hunter2-again").send(Method::GET, "/metrics", "").await.expect("an answer").code, 401);
    let log = stop(child).await;
    cluster.server.shutdown().await;
    log
}

#[rstest]
#[case::text(&["-v=10"])]
#[case::json(&["-v=10", "--logging-format=json"])]
#[tokio::test]
async fn no_secret_is_ever_logged(#[case] arguments: &[&str]) {
    let log = logged(arguments).await;
    assert!(log.contains("Request") && log.contains("FLAG"), "requests and flags are logged: {log}");
    for secret in SECRETS {
        let found: Vec<&str> = log.lines().filter(|line| line.contains(secret)).collect();
        assert!(found.is_empty(), "{secret}: {found:#?}");
    }
}

#[tokio::test]
async fn json_keys_match_upstream_and_verbosity_is_applied() {
    let log = logged(&["--logging-format=json"]).await;
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).expect("an object a line")).collect();
    assert!(lines.iter().all(|line| line["v"].is_null() || line["v"] == 0), "above level 0 without -v: {log}");
    let started = lines.iter().find(|line| line["msg"] == "Starting controllers").expect("a start");
    assert_eq!(
        started["controllers"],
        "endpoints-controller,endpointslice-controller,endpointslice-mirroring-controller"
    );
    for debug_text in ["Some(", " { "] {
        assert!(!log.contains(debug_text), "no operator reads {debug_text}: {log}");
    }
    let failed = lines.iter().find(|line| line["msg"] == "Error syncing, retrying").expect("a sync that failed");
    assert_eq!(failed["key"], "default/web");
    assert!(failed["err"].as_str().expect("a text").contains("forbidden"), "{failed}");
    let keys: BTreeSet<&String> = lines.iter().filter_map(Value::as_object).flat_map(|line| line.keys()).collect();
    for others in ["error", "reason_error", "svc", "namespace/name"] {
        assert!(!keys.contains(&others.to_owned()), "{others} in {keys:?}");
    }
}

//! `devcluster` without a subcommand: the tour, which checks its own expectations.

use std::{fs, path::Path};

use kube_controller_client::{Client, ClientOptions, Config};
use kube_endpoint_model::EndpointSlice;

use crate::program::{Program, run};

#[test]
fn tour_completes_and_exits() {
    let exited = run(&["--exit"]);
    assert!(exited.status.success(), "{}\n{:#?}", exited.stderr, exited.stdout);
    assert_eq!(exited.stderr, "");
    let position = |text: &str| {
        let at = exited.stdout.iter().position(|line| line.contains(text));
        at.unwrap_or_else(|| panic!("no line with {text:?} in {:#?}", exited.stdout))
    };
    let lines = [
        "API server:  http://127.0.0.1:",
        "kubeconfig:  ",
        "== Deploying the shop",
        "SERVICE        TYPE",
        "shop/payments  no selector",
        "zone-a:1 zone-b:1 zone-c:1",
        "== A rollout of web: new Pods start",
        "6 ready",
        "3 ready, 3 draining",
        "== A node is lost",
        "3 ready, 1 terminating",
        "zone-a:2 zone-c:1",
        "== Three Services are broken on purpose",
        "  ✗ checkout  no Pod selected, 1 slice (IPv4)",
        "✗ checkout-1   EP001 not selected: has app=check-out, selector requires app=checkout (one edit away)",
        "  ✗ search  0 of 2 Pods serve, 1 slice (IPv4)",
        "✗ search-1   EP201 targetPort \"http\" is not a port of any container (available: web=8080)",
        "  ✗ cart  0 of 1 Pods serve, 1 slice (IPv4)",
        "readiness gate \"shop.example/prices-loaded\" has no condition, all containers are ready",
        "All expectations met in ",
    ];
    let positions: Vec<_> = lines.iter().map(|line| position(line)).collect();
    assert!(positions.is_sorted(), "wrong order: {positions:?} in {:#?}", exited.stdout);
    let text = exited.stdout.join("\n");
    assert!(!text.contains('\u{1b}'), "escape sequences without a terminal");
    let kubeconfig = text.lines().find_map(|line| line.strip_prefix("kubeconfig:")).unwrap();
    assert!(!Path::new(kubeconfig.trim()).exists(), "a temporary kubeconfig is removed at exit");
}

#[tokio::test(flavor = "multi_thread")]
async fn tour_keeps_running_with_user_objects() {
    let directory = tempfile::tempdir().unwrap();
    let own = "\
kind: Service
apiVersion: v1
metadata: {name: mine}
spec: {selector: {app: mine}, ports: [{port: 80}]}
---
kind: Pod
apiVersion: v1
metadata: {name: mine, labels: {app: mine}}
spec: {containers: [{name: mine, image: mine}]}
";
    fs::write(directory.path().join("mine.yaml"), own).unwrap();
    let manifests = directory.path().display().to_string();
    let kubeconfig = directory.path().join("kubeconfig");
    let out = kubeconfig.display().to_string();
    let mut program = Program::start(&["--manifests", &manifests, "--kubeconfig-out", &out]);
    program.line("End of the tour");
    assert_eq!(program.line("  export KUBECONFIG="), out);

    let client = Client::new(&Config::from_kubeconfig(&kubeconfig).await.unwrap(), ClientOptions::default()).unwrap();
    let mine = client.get_json("/api/v1/namespaces/default/endpoints/mine").await.unwrap();
    assert_eq!(mine["subsets"][0]["addresses"].as_array().map(Vec::len), Some(1));

    // The controllers are still running: they create a deleted slice again.
    client.delete::<EndpointSlice>("default", &slice_of(&client).await, None).await.unwrap();
    program.line("  kubectl endpoints explain svc/checkout -n shop");
    program.line("Changes are printed below:");
    loop {
        if program.line("").contains("  slice default/mine-") {
            break;
        }
    }
    program.terminate();
    let exited = program.wait();
    assert!(exited.status.success(), "{}", exited.stderr);
}

async fn slice_of(client: &Client) -> String {
    let list = client.get_json("/apis/discovery.k8s.io/v1/namespaces/default/endpointslices").await.unwrap();
    list["items"][0]["metadata"]["name"].as_str().unwrap().to_owned()
}

#[test]
fn steps_need_a_terminal() {
    let exited = run(&["--step"]);
    assert!(exited.error_line().contains("--step needs a terminal"), "{}", exited.stderr);
    assert!(exited.stdout.is_empty());
}

#[test]
fn missing_manifest_is_reported_before_start() {
    let exited = run(&["--exit", "--manifests", "missing.yaml"]);
    let error_line = exited.error_line();
    assert!(error_line.starts_with("devcluster: missing.yaml: "), "{error_line}");
    assert!(exited.stdout.is_empty());
}

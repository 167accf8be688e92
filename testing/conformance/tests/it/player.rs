//! The player on an API server without controllers: its requests, snapshots and failures.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use kube_controller_client::Config;
use kube_dev_apiserver::{Fault, On, Server};
use kube_endpoints_conformance::{Failure, Kind, Limits, Player, Profile, Recording, Scenario, Verdict};
use rstest::rstest;
use serde_json::{Value, json};

fn recording(nodes: &Value, scenarios: &[(&str, Value)]) -> Recording {
    let scenarios: Vec<_> = scenarios
        .iter()
        .map(|(name, steps)| json!({ "name": name, "about": "", "tags": [], "steps": steps }))
        .collect();
    let text = json!({ "kubernetes": "1.36.2", "nodes": nodes, "scenarios": scenarios }).to_string();
    Recording::parse(text.as_bytes()).expect("the recording is valid")
}

async fn start() -> (Server, Player) {
    let server = Server::in_process(kube_dev_apiserver::Config::default()).expect("the server starts");
    let (config, profile) = (
        Config::from_service(server.service()),
        Arc::new(Profile::find("controller-manager").expect("the built-in profile is valid")),
    );
    let player = Player::connect(&config, profile, Limits::default()).await.expect("the player connects");
    (server, player)
}

async fn play(player: &Player, scenarios: &[Scenario]) -> Vec<Verdict> {
    let outcomes: BTreeMap<_, _> = player.play("file", scenarios, |_, _| {}).await.into_iter().collect();
    outcomes.into_values().map(|entry| entry.verdict).collect()
}

fn labels() -> Value {
    json!({
        "kubernetes.io/service-name": "web",
        "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
    })
}

fn owner_references(owner: Option<&str>) -> Option<Value> {
    owner.map(|uid| json!([{ "apiVersion": "v1", "kind": "Service", "name": "web", "uid": uid }]))
}

fn create_slice(name: &str, owner: Option<&str>, addresses: &[&str]) -> Value {
    let endpoints: Vec<_> = addresses.iter().map(|address| json!({ "addresses": [address] })).collect();
    let metadata = json!({ "name": name, "labels": labels(), "ownerReferences": owner_references(owner) });
    let slice = json!({ "kind": "EndpointSlice", "apiVersion": "discovery.k8s.io/v1", "metadata": metadata,
        "addressType": "IPv4", "endpoints": endpoints, "ports": [] });
    json!({ "op": "create", "obj": slice })
}

fn slice(name: &str, owner: Option<&str>, addresses: &[&str]) -> Value {
    let endpoints: Vec<_> =
        addresses.iter().map(|address| json!({ "addresses": [address], "conditions": {} })).collect();
    let mut slice =
        json!({ "name": name, "labels": labels(), "addressType": "IPv4", "endpoints": endpoints, "ports": [] });
    if let Some(references) = owner_references(owner) {
        slice["ownerReferences"] = references;
    }
    slice
}

fn expect(endpoints: &Value, slices: &Value) -> Value {
    json!({ "endpoints": endpoints, "slices": slices, "events": [] })
}

#[tokio::test(start_paused = true)]
async fn plays() {
    let service = json!({ "kind": "Service", "metadata": { "name": "web" }, "spec": { "ports": [{ "port": 80 }] } });
    let slices = json!([
        {
            "do": [
                { "op": "create", "obj": service },
                create_slice("web-2bcdf", Some("nobody"), &["10.0.0.1"]),
                create_slice("big", None, &["10.0.0.2", "10.0.0.3"]),
            ],
            "expect": expect(&json!([]), &json!([slice("web-*", Some("<gone>"), &["10.0.0.1"]), slice("big", None, &["10.0.0.2", "10.0.0.3"])])),
        },
        {
            "do": [
                { "op": "merge-slice", "service": "web", "patch": { "endpoints": [] } },
                { "op": "delete-slice", "service": "web" },
                { "op": "delete-slice", "service": "web", "addressType": "IPv6" },
            ],
            "expect": expect(&json!([]), &json!([slice("big", None, &[])])),
        },
    ]);
    let endpoints =
        |ip: &str| json!({ "subsets": [{ "addresses": [{ "ip": ip }], "ports": [{ "port": 1, "protocol": "TCP" }] }] });
    let mut object = endpoints("10.0.0.1");
    object["kind"] = "Endpoints".into();
    object["metadata"] = json!({ "name": "web" });
    let expect_endpoints = |ip: &str| {
        let mut form = endpoints(ip);
        form["name"] = "web".into();
        expect(&json!([form]), &json!([]))
    };
    let differs = json!([
        { "do": [{ "op": "create", "obj": object }], "expect": expect_endpoints("10.0.0.1") },
        {
            "do": [{ "op": "merge", "kind": "Endpoints", "name": "web", "patch": endpoints("10.0.0.2") }],
            "expect": expect_endpoints("10.0.0.3"),
        },
        { "do": [], "expect": expect_endpoints("10.0.0.4") },
    ]);
    let nothing = expect(&json!([]), &json!([]));
    let refused = json!([{ "do": [{ "op": "delete", "kind": "Pod", "name": "p" }], "expect": nothing }]);

    let (_server, player) = start().await;
    let recording = recording(&json!([]), &[("a", slices), ("b", differs), ("c", refused)]);
    let verdicts = play(&player, &recording.scenarios).await;
    assert_eq!(verdicts[0], Verdict::Passed);
    let difference = "endpoints[0].subsets[0].addresses[0].ip: expected \"10.0.0.3\", found \"10.0.0.2\"";
    assert_eq!(verdicts[1], Verdict::Failed(Failure { step: 2, reasons: vec![difference.to_owned()] }));
    let Verdict::Failed(failure) = &verdicts[2] else { panic!("deleting a missing Pod fails") };
    assert_eq!(failure.step, 1);
    let reason = &failure.reasons[0];
    assert!(reason.starts_with("operation 1 of 1: DELETE /api/v1/namespaces/replay-"), "{reason}");
    assert!(reason.ends_with(": 404 Not Found: pods \"p\" not found"), "{reason}");
}

/// The controllers have reacted in between, so a failure says nothing.
#[rstest]
#[case::in_time(Duration::ZERO, 0)]
#[case::late(Duration::from_millis(500), 1)]
#[tokio::test(start_paused = true)]
async fn scenario_whose_operations_came_late_is_played_again(#[case] late: Duration, #[case] notes: usize) {
    let (server, player) = start().await;
    let service = json!({ "kind": "Service", "metadata": { "name": "web" }, "spec": { "ports": [{ "port": 80 }] } });
    let steps = json!([{
        "do": [{ "op": "create", "obj": service }, create_slice("big", None, &["10.0.0.2"])],
        "expect": expect(&json!([]), &json!([slice("big", None, &["10.0.0.2"])])),
    }]);
    let creates = |plural: &str| On::any().verb("create").resource(plural);
    server.faults().inject(Fault::delay_request(late, late).on(creates("services")).times(1));
    server.faults().inject(Fault::internal_error().on(creates("endpointslices")).times(1));

    let recording = recording(&json!([]), &[("a", steps)]);
    let played = player.play("file", &recording.scenarios, |_, _| {}).await;
    let [(_, entry)] = &played[..] else { panic!("one scenario") };
    assert_eq!((entry.verdict == Verdict::Passed, entry.notes.len()), (notes == 1, notes), "{entry:?}");
}

#[tokio::test(start_paused = true)]
async fn nodes_and_cleaning_up() {
    let nodes = json!([{
        "apiVersion": "v1", "kind": "Node",
        "metadata": { "name": "node-a1", "labels": { "topology.kubernetes.io/zone": "zone-a" } },
        "status": { "allocatable": { "cpu": "4" }, "conditions": [{ "type": "Ready", "status": "True" }] },
    }]);
    let (server, player) = start().await;
    let nothing = json!([{ "do": [], "expect": expect(&json!([]), &json!([])) }]);
    let recording = recording(&nodes, &[("a", nothing)]);
    player.create_nodes(&recording.nodes).await.expect("the Nodes are created");
    let found = player.api().list(Kind::Node, "", "").await.expect("the Nodes are listed");
    assert_eq!(found[0]["status"]["allocatable"]["cpu"], "4");

    let before = namespaces(&player).await;
    assert_eq!(play(&player, &recording.scenarios).await, [Verdict::Passed]);
    assert_eq!(namespaces(&player).await, before + 1);
    player.clean_up(&recording.nodes).await.expect("everything is deleted");
    server.empty_namespaces();
    assert_eq!(namespaces(&player).await, before);
    assert!(player.api().list(Kind::Node, "", "").await.expect("the Nodes are listed").is_empty());
}

async fn namespaces(player: &Player) -> usize {
    let request = kube_endpoints_conformance::Request::get("/api/v1/namespaces".to_owned());
    player.api().ok(request).await.expect("the list succeeds")["items"].as_array().expect("the list has items").len()
}

//! The oracle accepts the recordings of a real cluster: the behaviour of upstream is correct by definition.

use kube_controller_client::Config;
use kube_dev_apiserver::Server;
use kube_endpoints_conformance::{Api, Manifest, Recording, Request, Scenario, Unnoticed};
use kube_simulation::endpoints::{Content, content, differences};
use serde_json::Value;

/// Value of `--max-endpoints-per-slice` in the recorded cluster.
const MAX_ENDPOINTS_PER_SLICE: usize = 100;

/// Placeholder for namespaces in recordings.
const NAMESPACE: &str = "<ns>";

#[tokio::test(start_paused = true)]
async fn only_unnoticed_changes_differ() {
    let (mut states, mut wrong) = (0, Vec::new());
    for (file, recording) in Recording::builtin().unwrap() {
        for scenario in &recording.scenarios {
            let key = format!("{file}/{}", scenario.name);
            let unnoticed = Unnoticed::of(&key).map_or(&[][..], |it| it.steps);
            states += scenario.steps.len();
            for (step, lines) in play(&recording.nodes, scenario).await {
                if lines.is_empty() == unnoticed.contains(&step) {
                    wrong.push(format!("{key} step {step}, unnoticed {unnoticed:?}:\n  {}", lines.join("\n  ")));
                }
            }
        }
    }
    assert!(states > 900, "only {states} states");
    assert!(wrong.is_empty(), "{} of {states} states:\n{}", wrong.len(), wrong.join("\n"));
}

/// Plays a scenario on an API server without controllers, and returns the differences from the specification after each
/// step. Endpoints and slices are those of the recording.
async fn play(nodes: &[Manifest], scenario: &Scenario) -> Vec<(usize, Vec<String>)> {
    let server = Server::in_process(kube_dev_apiserver::Config::default()).unwrap();
    let api = Api::new(&Config::from_service(server.service())).unwrap();
    for request in nodes.iter().flat_map(|node| node.requests("")) {
        api.ok(request).await.unwrap();
    }
    let mut found = Vec::new();
    for (number, step) in (1..).zip(&scenario.steps) {
        for request in step.operations.iter().flat_map(|it| it.requests("default", |_, _, _| None)) {
            let Request { path, .. } = &request;
            // The Endpoints of a Service with a selector do not exist here.
            if !path.contains("/endpoints") {
                api.ok(request).await.unwrap();
            }
        }
        let Content { mut services, mut pods, mut nodes, .. } = content(&server);
        for (kind, objects) in [("Service", &mut services), ("Pod", &mut pods), ("Node", &mut nodes)] {
            for object in objects {
                anonymous(kind, object);
            }
        }
        // That of the API server itself.
        services.retain(|service| service["metadata"]["name"] != "kubernetes");
        let endpoints = step.expect.endpoints.iter().map(object).collect();
        let slices = step.expect.slices.iter().map(object).filter(|slice| !is_garbage(slice, &services)).collect();
        let content = Content { services, pods, nodes, endpoints, slices };
        found.push((number, differences(&content, MAX_ENDPOINTS_PER_SLICE)));
    }
    found
}

/// Replaces the namespace and the uid of an object by those of recordings.
fn anonymous(kind: &str, object: &mut Value) {
    let metadata = &mut object["metadata"];
    metadata["uid"] = format!("{kind}/{}", metadata["name"].as_str().unwrap()).into();
    if kind != "Node" {
        metadata["namespace"] = NAMESPACE.into();
    }
}

/// Converts the canonical form of an object back to an object.
fn object(form: &Value) -> Value {
    let mut object = form.clone();
    let fields = object.as_object_mut().expect("a recorded object is a JSON object");
    let parts = ["name", "labels", "annotations", "ownerReferences"];
    let mut metadata: Value = parts.iter().filter_map(|part| Some((*part, fields.remove(*part)?))).collect();
    metadata["namespace"] = NAMESPACE.into();
    metadata["uid"] = format!("Endpoints/{}", metadata["name"].as_str().expect("a recorded object has a name")).into();
    object["metadata"] = metadata;
    object
}

/// Returns whether the owners of a slice do not exist. The oracle requires a garbage collector; the recorded cluster had
/// none.
fn is_garbage(slice: &Value, services: &[Value]) -> bool {
    let owners = slice["metadata"]["ownerReferences"].as_array();
    let mut owners = owners.into_iter().flatten().filter(|owner| owner["kind"] == "Service").peekable();
    owners.peek().is_some() && !owners.any(|owner| services.iter().any(|it| it["metadata"]["uid"] == owner["uid"]))
}

//! The oracle accepts the recordings of a real cluster: the behaviour of upstream is correct by definition.

use kube_endpoints_conformance::{Kind, Manifest, Operation, Recording, Scenario, Subresource};
use kube_simulation::endpoints::{Content, Unnoticed, differences};
use serde_json::{Value, json};

/// Value of `--max-endpoints-per-slice` in the recorded cluster.
const MAX_ENDPOINTS_PER_SLICE: usize = 100;

/// Placeholder for namespaces in recordings.
const NAMESPACE: &str = "<ns>";

#[test]
fn only_unnoticed_changes_differ() {
    let (mut states, mut wrong) = (0, Vec::new());
    for (file, recording) in Recording::builtin().unwrap() {
        for scenario in &recording.scenarios {
            let key = format!("{file}/{}", scenario.name);
            let unnoticed = Unnoticed::of(&key).map_or(&[][..], |it| it.steps);
            states += scenario.steps.len();
            for (step, lines) in play(&recording.nodes, scenario) {
                if lines.is_empty() == unnoticed.contains(&step) {
                    wrong.push(format!("{key} step {step}, unnoticed {unnoticed:?}:\n  {}", lines.join("\n  ")));
                }
            }
        }
    }
    assert!(states > 900, "only {states} states");
    assert!(wrong.is_empty(), "{} of {states} states:\n{}", wrong.len(), wrong.join("\n"));
}

/// Replays a scenario and returns the differences from the specification after each step.
fn play(nodes: &[Manifest], scenario: &Scenario) -> Vec<(usize, Vec<String>)> {
    let mut content = Content::default();
    for node in nodes {
        create(&mut content, node);
    }
    let mut found = Vec::new();
    for (number, step) in (1..).zip(&scenario.steps) {
        for operation in &step.operations {
            perform(&mut content, operation);
        }
        content.endpoints = step.expect.endpoints.iter().map(object).collect();
        content.slices = step.expect.slices.iter().map(object).collect();
        collect_garbage(&mut content);
        found.push((number, differences(&content, MAX_ENDPOINTS_PER_SLICE)));
    }
    found
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

/// Removes slices whose owners do not exist. The oracle requires a garbage collector; the recorded cluster had none.
fn collect_garbage(content: &mut Content) {
    let services = &content.services;
    content.slices.retain(|slice| {
        let owners = slice["metadata"]["ownerReferences"].as_array();
        let mut owners = owners.into_iter().flatten().filter(|owner| owner["kind"] == "Service").peekable();
        owners.peek().is_none() || owners.any(|owner| services.iter().any(|it| it["metadata"]["uid"] == owner["uid"]))
    });
}

fn objects(content: &mut Content, kind: Kind) -> Option<&mut Vec<Value>> {
    match kind {
        Kind::Service => Some(&mut content.services),
        Kind::Pod => Some(&mut content.pods),
        Kind::Node => Some(&mut content.nodes),
        // Endpoints and slices come from the snapshots.
        _ => None,
    }
}

fn create(content: &mut Content, manifest: &Manifest) {
    let Manifest { kind, name, body, status } = manifest;
    let Some(objects) = objects(content, *kind) else { return };
    let mut object = body.clone();
    let namespace = if *kind == Kind::Node { Value::Null } else { NAMESPACE.into() };
    merge(&mut object, &json!({ "metadata": { "namespace": namespace, "uid": format!("{kind:?}/{name}") } }));
    if let Some(status) = status {
        merge(&mut object, &json!({ "status": status }));
    }
    complete(*kind, &mut object);
    objects.push(object);
}

fn perform(content: &mut Content, operation: &Operation) {
    match operation {
        Operation::Create { obj } => create(content, obj),
        Operation::Merge { kind, name, patch, sub } => {
            let Some(objects) = objects(content, *kind) else { return };
            let found = objects.iter_mut().find(|object| object["metadata"]["name"] == *name);
            let object = found.unwrap_or_else(|| panic!("no {kind:?} {name} to patch"));
            match sub {
                Some(Subresource::Status) => merge(object, &json!({ "status": patch["status"] })),
                None => merge(object, patch),
            }
            complete(*kind, object);
        }
        Operation::Delete { kind, name, grace } => {
            let Some(objects) = objects(content, *kind) else { return };
            let index = objects.iter().position(|object| object["metadata"]["name"] == *name);
            let index = index.unwrap_or_else(|| panic!("no {kind:?} {name} to delete"));
            let object = &mut objects[index];
            let has_grace = *kind == Kind::Pod
                && *grace != Some(0)
                && object["spec"]["nodeName"].is_string()
                && !["Succeeded", "Failed"].contains(&object["status"]["phase"].as_str().unwrap_or_default());
            if has_grace {
                object["metadata"]["deletionTimestamp"] = "2026-02-03T04:00:00Z".into();
            } else {
                objects.remove(index);
            }
        }
        Operation::MergeSlice { .. } | Operation::DeleteSlice { .. } => {}
    }
}

/// Sets the defaults of the API server that the oracle reads.
fn complete(kind: Kind, object: &mut Value) {
    match kind {
        Kind::Pod => {
            let status = &mut object["status"];
            if status["podIPs"].is_null() && !status["podIP"].is_null() {
                status["podIPs"] = json!([{ "ip": status["podIP"] }]);
            }
        }
        Kind::Service if object["spec"]["type"] != "ExternalName" => {
            let spec = &mut object["spec"];
            if spec["ipFamilies"].is_null() {
                let dual = spec["ipFamilyPolicy"].as_str().is_some_and(|policy| policy != "SingleStack");
                let open =
                    spec["clusterIP"] == "None" && spec["selector"].is_null() && spec["ipFamilyPolicy"].is_null();
                spec["ipFamilies"] = if dual || open { json!(["IPv4", "IPv6"]) } else { json!(["IPv4"]) };
            }
            if spec["clusterIP"].is_null() {
                spec["clusterIP"] = "10.96.0.10".into();
            }
        }
        _ => {}
    }
}

/// Applies a JSON merge patch.
fn merge(target: &mut Value, patch: &Value) {
    let Some(fields) = patch.as_object() else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = json!({});
    }
    for (key, value) in fields {
        if value.is_null() {
            target.as_object_mut().expect("the target is an object").remove(key);
        } else {
            merge(&mut target[key], value);
        }
    }
}

//! The law over the states of all recordings.

use std::collections::{BTreeMap, HashMap};

use kube_endpoint_model::{EndpointSlice, Endpoints, Node, ObjectKey, Pod, Service};
use kube_endpoints_conformance::{Kind, Manifest, Operation, Recording};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::cluster::Cluster;
use crate::law;

/// Objects of one scenario as JSON, by kind and name.
#[derive(Default)]
struct Objects(HashMap<(Kind, String), Value>);

impl Objects {
    fn create(&mut self, manifest: &Manifest) {
        let Manifest { kind, name, body, status } = manifest;
        let mut body = body.clone();
        body["metadata"]["namespace"] = json!("scenario");
        if let Some(status) = status {
            body["status"] = status.clone();
        }
        self.0.insert((*kind, name.clone()), with_defaults(body));
    }

    fn perform(&mut self, operation: &Operation) {
        match operation {
            Operation::Create { obj } => self.create(obj),
            Operation::Merge { kind, name, patch, sub: _ } => {
                if let Some(object) = self.0.get_mut(&(*kind, name.clone())) {
                    json_patch::merge(object, patch);
                    *object = with_defaults(object.take());
                }
            }
            // Pods on a Node terminate for the default grace period.
            Operation::Delete { kind: Kind::Pod, name, grace } if *grace != Some(0) => {
                if let Some(pod) = self.0.get_mut(&(Kind::Pod, name.clone())) {
                    pod["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
                }
            }
            Operation::Delete { kind, name, .. } => drop(self.0.remove(&(*kind, name.clone()))),
            // The recorded state has the slices as they are after the controllers' repair.
            Operation::MergeSlice { .. } | Operation::DeleteSlice { .. } => {}
        }
    }

    fn of<T: DeserializeOwned + kube_wire::Object>(&self, kind: Kind) -> BTreeMap<ObjectKey, T> {
        let values = self.0.iter().filter(|((it, _), _)| *it == kind).map(|(_, value)| value.clone());
        values.map(|value| decoded(value)).collect()
    }
}

fn decoded<T: DeserializeOwned + kube_wire::Object>(value: Value) -> (ObjectKey, T) {
    let object: T = serde_json::from_value(value).expect("an object of the recording");
    (object.key(), object)
}

/// Sets the defaults of the API server that membership reads.
fn with_defaults(mut object: Value) -> Value {
    for port in elements(&mut object, "/spec/ports") {
        set_default(port, "protocol", json!("TCP"));
        let number = port["port"].clone();
        set_default(port, "targetPort", number);
    }
    for containers in ["/spec/containers", "/spec/initContainers"] {
        for container in elements(&mut object, containers) {
            elements(container, "/ports").for_each(|port| set_default(port, "protocol", json!("TCP")));
        }
    }
    object
}

fn elements<'a>(object: &'a mut Value, pointer: &str) -> impl Iterator<Item = &'a mut Value> {
    object.pointer_mut(pointer).and_then(Value::as_array_mut).into_iter().flatten()
}

fn set_default(object: &mut Value, field: &str, value: Value) {
    if object.get(field).is_none() {
        object[field] = value;
    }
}

#[test]
fn endpoints_and_reasons_are_those_of_the_controllers() {
    let (mut states, mut pods) = (0, 0);
    for (_, recording) in Recording::builtin().expect("the recordings") {
        for scenario in &recording.scenarios {
            let mut objects = Objects::default();
            recording.nodes.iter().for_each(|node| objects.create(node));
            for step in &scenario.steps {
                step.operations.iter().for_each(|operation| objects.perform(operation));
                let mut cluster = Cluster {
                    services: objects.of::<Service>(Kind::Service),
                    pods: objects.of::<Pod>(Kind::Pod),
                    nodes: objects.of::<Node>(Kind::Node).into_values().map(cluster_scoped).collect(),
                    endpoints: objects.of::<Endpoints>(Kind::Endpoints),
                    slices: objects.of::<EndpointSlice>(Kind::EndpointSlice),
                    ..Cluster::default()
                };
                pods += law::check(&cluster);
                cluster.settle();
                pods += law::check(&cluster);
                states += 1;
            }
        }
    }
    assert!(states > 500, "{states} states");
    assert!(pods > 5_000, "{pods} Pods");
}

fn cluster_scoped(node: Node) -> (ObjectKey, Node) {
    (ObjectKey::new("", node.name.clone()), node)
}

//! The objects of a scenario without a cluster.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::{Kind, Manifest, Operation};

/// Objects as the operations of a scenario leave them, for tests that need no cluster. They are in the namespace `scenario`,
/// and have the defaults of the API server that decide about endpoints.
///
/// Deleted Pods terminate, unless their grace period is 0. Operations on slices do nothing: the expected state of a step has
/// the slices as they are after the repair by their controller.
#[derive(Debug, Clone, Default)]
pub struct State(BTreeMap<(Kind, String), Value>);

impl State {
    /// Returns the objects of a kind, by name.
    pub fn objects(&self, kind: Kind) -> impl Iterator<Item = &Value> {
        self.0.iter().filter(move |((it, _), _)| *it == kind).map(|(_, object)| object)
    }

    /// Creates an object with its status.
    pub fn create(&mut self, manifest: &Manifest) {
        let Manifest { kind, name, body, status } = manifest;
        let mut body = body.clone();
        body["metadata"]["namespace"] = json!("scenario");
        if let Some(status) = status {
            body["status"] = status.clone();
        }
        self.0.insert((*kind, name.clone()), with_defaults(body));
    }

    /// Performs an operation.
    pub fn perform(&mut self, operation: &Operation) {
        match operation {
            Operation::Create { obj } => self.create(obj),
            Operation::Merge { kind, name, patch, sub: _ } => {
                if let Some(object) = self.0.get_mut(&(*kind, name.clone())) {
                    json_patch::merge(object, patch);
                    *object = with_defaults(object.take());
                }
            }
            Operation::Delete { kind: Kind::Pod, name, grace } if *grace != Some(0) => {
                if let Some(pod) = self.0.get_mut(&(Kind::Pod, name.clone())) {
                    pod["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
                }
            }
            Operation::Delete { kind, name, .. } => drop(self.0.remove(&(*kind, name.clone()))),
            Operation::MergeSlice { .. } | Operation::DeleteSlice { .. } => {}
        }
    }
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

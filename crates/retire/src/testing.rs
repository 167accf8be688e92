//! Objects and plans of the tests of this crate.

use jiff::Timestamp;
use kube_wire::{Decode as _, Object as _};
use serde_json::json;

use crate::{ObjectState, Plan, PlannedObject, Verdict, WholeEndpoints};

/// Time of plans: 2026-11-27T14:00:00Z.
pub(crate) const PLANNED: Timestamp = Timestamp::constant(1_795_788_000, 0);

/// Returns a managed object with a UID of its own.
pub(crate) fn read(namespace: &str, name: &str) -> WholeEndpoints {
    let labels = json!({"endpoints.kubernetes.io/managed-by": "endpoint-controller"});
    let metadata = json!({"namespace": namespace, "name": name, "uid": format!("uid-{namespace}-{name}"),
        "resourceVersion": "7", "labels": labels});
    WholeEndpoints::from_json(json!({ "metadata": metadata }).to_string().as_bytes()).expect("an object")
}

/// Returns a plan for an object that calls it safe.
pub(crate) fn planned(object: &WholeEndpoints) -> PlannedObject {
    PlannedObject {
        namespace: object.namespace().to_owned(),
        name: object.name().to_owned(),
        uid: object.uid().to_string(),
        resource_version: object.resource_version().to_string(),
        state: ObjectState::Current,
        verdict: Verdict::Safe,
    }
}

/// Returns a plan of the cluster `cluster`.
pub(crate) fn plan(objects: Vec<PlannedObject>) -> Plan {
    let plan = json!({"apiVersion": "retire/v1", "created": PLANNED, "cluster": {"uid": "cluster"}, "verdict": {"answer": "safe"},
        "objects": []});
    Plan { objects, ..serde_json::from_value(plan).expect("a plan") }
}

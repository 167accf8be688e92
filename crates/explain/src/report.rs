//! Reports: what is explained about one object. Serialized in camel case, for `-o json`.

use std::collections::BTreeSet;

use jiff::Timestamp;
use kube_endpoint_model::{Code, ObjectKey};
pub use kube_endpoint_model::{Kind, Severity};
use serde::Serialize;

use crate::classes::DifferenceClass;

/// Reference to an object of the cluster. Displayed as `Kind namespace/name`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct ObjectRef {
    /// Kind of the object.
    pub kind: Kind,
    /// Namespace; empty for Nodes.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// Name.
    pub name: String,
}

impl ObjectRef {
    /// Returns a reference to the object of this kind and key.
    pub fn new(kind: Kind, key: &ObjectKey) -> ObjectRef {
        ObjectRef { kind, namespace: key.namespace.to_string(), name: key.name.to_string() }
    }
}

/// Stable code of a reason, with its facts as one sentence.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Reason {
    /// Stable code.
    pub code: Code,
    /// The facts, without the code, on one line and without a full stop.
    pub message: String,
}

/// Reason that concerns an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The object to correct.
    pub object: ObjectRef,
    /// How serious the reason is.
    pub severity: Severity,
    /// The reason.
    #[serde(flatten)]
    pub reason: Reason,
}

/// Last write of an object, from its `managedFields`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LastWrite {
    /// Field manager, for instance `kube-controller-manager`.
    pub manager: String,
    /// Time of the write, in whole seconds.
    pub time: Timestamp,
}

/// What the controllers make of a Pod in a Service. The reasons of the Pod say whether slices show it already.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum PodState {
    /// The Pod has at least one ready endpoint with a port.
    Serving,
    /// The Pod has endpoints, none of which is usable.
    NotServing,
    /// The Pod has no endpoint.
    LeftOut,
}

/// A Pod that a Service selects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PodReport {
    /// Name of the Pod.
    pub name: String,
    /// Whether it receives traffic.
    pub state: PodState,
    /// Endpoints of the Pod: one for each address type in which it has one.
    pub endpoints: Vec<PodEndpointReport>,
    /// Zone of the Node; `None` if it is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
    /// Name of the Node; empty until the Pod is scheduled.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub node: String,
    /// Why it is not an endpoint, not ready, or lacks a port or family; the most important one first. Empty if
    /// everything is as it should be.
    pub reasons: Vec<Reason>,
}

/// Endpoint of a Pod in the slices of one address type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PodEndpointReport {
    /// `IPv4` or `IPv6`.
    pub address_type: String,
    /// First address.
    pub address: String,
    /// Port numbers, in the order of the Service's ports; without those that the Pod does not serve.
    pub ports: Vec<i32>,
    /// Condition `ready` of the endpoint.
    pub ready: bool,
}

/// Pod that the selector almost matches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NearMiss {
    /// Name of the Pod; in the report of a Pod, of the Service.
    pub name: String,
    /// The label of the Pod and the pair of the selector.
    #[serde(flatten)]
    pub reason: Reason,
}

/// State of a slice or Endpoints object, compared with what the controllers would write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ObjectState {
    /// As the controllers would write it.
    Current,
    /// The controllers would update it.
    Outdated,
    /// The controllers would delete it.
    Superfluous,
    /// No controller updates it any more.
    Orphaned,
    /// Another program manages it.
    Foreign,
    /// It is being deleted.
    Terminating,
    /// What it is compared with could not be read.
    Unknown,
}

/// A slice or an Endpoints object of a Service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WrittenObject {
    /// Name of the object.
    pub name: String,
    /// Address type of a slice; `None` for Endpoints.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address_type: Option<String>,
    /// Number of endpoints, ready or not.
    pub endpoints: usize,
    /// Number of ready endpoints.
    pub ready: usize,
    /// Value of the managed-by label; `None` without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub managed_by: Option<String>,
    /// Last write; `None` if it is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_write: Option<LastWrite>,
    /// Comparison with what the controllers would write.
    pub state: ObjectState,
}

/// Topology hints or traffic distribution of a Service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HintsReport {
    /// `None` if the Service requests no hints; otherwise `Topology`, or the value of `spec.trafficDistribution`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    /// Why there are no hints although the Service requests them, by address type.
    pub reasons: Vec<Reason>,
}

/// Explanation of a Service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ServiceReport {
    /// The Service.
    pub object: ObjectRef,
    /// Number of Pods that receive traffic by the slices as they are. While slices are unknown, [`would_serve`](Self::would_serve).
    pub serving: usize,
    /// Number of Pods that the controllers make ready endpoints with ports, whether or not slices contain them already. Those of a
    /// headless Service need no ports.
    pub would_serve: usize,
    /// Pods that the Service selects, by name.
    pub pods: Vec<PodReport>,
    /// Pods that the selector almost matches, by name.
    pub near_misses: Vec<NearMiss>,
    /// Slices of the Service, by address type and name, of all managers.
    pub slices: Vec<WrittenObject>,
    /// Endpoints object of the Service.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endpoints: Option<WrittenObject>,
    /// Hints of the Service.
    pub hints: HintsReport,
    /// Reasons about the Service as a whole and its objects, the most serious first. Those of single Pods are in
    /// `pods`.
    pub findings: Vec<Finding>,
    /// Kinds that could not be read, which limits the explanation.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<Kind>,
}

/// Explanation of a Pod.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PodServicesReport {
    /// The Pod.
    pub object: ObjectRef,
    /// The Services that select the Pod, by name, and what the Pod is in each.
    pub services: Vec<PodOfService>,
    /// Services whose selector almost matches the Pod, by name.
    pub near_misses: Vec<NearMiss>,
    /// Kinds that could not be read, which limits the explanation.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<Kind>,
}

/// A Service that selects the explained Pod.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PodOfService {
    /// Name of the Service.
    pub service: String,
    /// What the Pod is in it.
    pub pod: PodReport,
}

/// Explanation of an EndpointSlice or Endpoints object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ObjectReport {
    /// The object.
    pub object: ObjectRef,
    /// Name of its Service; `None` without the label `kubernetes.io/service-name`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service: Option<String>,
    /// State of the object.
    pub written: WrittenObject,
    /// For an Endpoints object: names of the slices that mirror it.
    pub mirrors: Vec<String>,
    /// Reasons about the object, the most serious first.
    pub findings: Vec<Finding>,
    /// Kinds that could not be read, which limits the explanation.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<Kind>,
}

/// Write that the controllers would send now.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The object; for a create without a name of its own, the name is the prefix that the API server completes.
    pub object: ObjectRef,
    /// The object as it is; `None` if it would be created.
    pub before: Option<serde_json::Value>,
    /// The object as it would be; `None` if it would be deleted.
    pub after: Option<serde_json::Value>,
    /// Classes of the difference, the most serious first; at least one.
    pub classes: BTreeSet<DifferenceClass>,
    /// Why, the most important reason first.
    pub reasons: Vec<Reason>,
}

impl Change {
    /// Returns the most serious class of the difference.
    pub fn class(&self) -> DifferenceClass {
        self.classes.first().copied().unwrap_or(DifferenceClass::Content)
    }
}

impl std::fmt::Display for ObjectRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ObjectRef { kind, namespace, name } = self;
        let separator = if namespace.is_empty() { "" } else { "/" };
        write!(f, "{kind} {namespace}{separator}{name}")
    }
}

//! What a timeline consists of.

use jiff::{SignedDuration, Timestamp};
use kube_endpoint_model::Text;
use kube_endpoints_explain::{Kind, ObjectRef, Reason};
use serde::{Serialize, Serializer};

use crate::Action;

/// What an address is for the clients of a Service, the worst first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum EndpointState {
    /// It is no endpoint.
    #[default]
    Absent,
    /// Its Pod is being deleted, and no longer ready.
    Terminating,
    /// It is an endpoint that is not ready.
    NotReady,
    /// It is ready, and serves no port of the Service.
    NoPort,
    /// Its Pod is being deleted, and still answers requests.
    Draining,
    /// It receives traffic.
    Ready,
}

/// Hints by which clients prefer near endpoints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Hints {
    /// None: clients use all endpoints.
    #[default]
    None,
    /// Zones.
    Zones,
    /// Nodes, and maybe zones.
    Nodes,
}

/// A change of a Service's endpoints, or something that could have changed them.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// Time at which the cause was seen.
    pub time: Timestamp,
    /// The address that it changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<EndpointChange>,
    /// The hints that it changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hints: Option<HintsChange>,
    /// Why.
    pub cause: Cause,
    /// Number of ready endpoints afterwards, as they should be.
    pub ready: usize,
    /// How it was written; `None` if it was not, or is not to be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written: Option<Written>,
}

/// Change of one address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EndpointChange {
    /// The address.
    pub address: String,
    /// Name of the Pod behind it; `None` if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pod: Option<String>,
    /// What the address was.
    pub from: EndpointState,
    /// What it is.
    pub to: EndpointState,
    /// Its ports, if they have changed while it was an endpoint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ports: Option<PortsChange>,
}

/// Change of the ports of an address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PortsChange {
    /// Name and number of each port, such as `http=8080`, or `dns=53/UDP`.
    pub from: Vec<String>,
    /// The same afterwards.
    pub to: Vec<String>,
}

/// Change of the hints of a Service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct HintsChange {
    /// What they were.
    pub from: Hints,
    /// What they are.
    pub to: Hints,
}

/// Cause of a change.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Cause {
    /// Object whose change caused it.
    pub object: ObjectRef,
    /// What was done to the object.
    pub action: Action,
    /// Reason of the rules: why the address is not ready, or no endpoint. For an address that is ready again, what has
    /// ended. `None` if nothing stood against it.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// Whether the reason has ended.
    pub ended: bool,
    /// Field manager that wrote the object; `None` if it is unknown, as for deletions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manager: Option<String>,
    /// User that wrote the object; `None` if it is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
}

/// The EndpointSlice that shows a change to clients.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Written {
    /// The slice.
    pub object: ObjectRef,
    /// Field manager that wrote it; `None` if it is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manager: Option<String>,
    /// Time from the cause until the slice was seen, in milliseconds.
    #[serde(rename = "afterMilliseconds", serialize_with = "milliseconds")]
    pub after: SignedDuration,
}

/// A time of which changes may be missing: a gap of the recording, or a write of unknown content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unknown {
    /// Time of the last answer of the API server before; 1 ms before the end for a write.
    pub from: Timestamp,
    /// Its end.
    pub until: Timestamp,
    /// Why, such as the error of a watch, or who wrote which object.
    pub reason: Text,
}

impl EndpointChange {
    /// Returns whether the address is ready, and was not before.
    pub(crate) fn became_ready(&self) -> bool {
        self.from != EndpointState::Ready && self.to == EndpointState::Ready
    }
}

impl Entry {
    /// Returns whether the endpoints of the Service have changed.
    pub fn has_effect(&self) -> bool {
        self.endpoint.is_some() || self.hints.is_some()
    }

    /// Returns whether a slice should show the change, and none has. That of a slice is one that clients see.
    pub(crate) fn is_in_no_slice(&self) -> bool {
        self.has_effect() && self.written.is_none() && self.cause.object.kind != Kind::EndpointSlice
    }
}

/// Serializes a duration as a number of milliseconds.
pub(crate) fn milliseconds<S: Serializer>(after: &SignedDuration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_i128(after.as_millis())
}

//! The settled state of a namespace, in canonical form.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Objects of a scenario's namespace at a settled point, in a form that is equal on different clusters: generated
/// values are replaced, and lists whose order has no meaning are sorted. See [`canonical`](crate::canonical()).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Snapshot {
    /// Endpoints, sorted by name.
    pub endpoints: Vec<Value>,
    /// EndpointSlices, sorted by their JSON text.
    pub slices: Vec<Value>,
    /// Distinct events of the endpoint controllers, each as `[kind, name, type, reason, message, component]`.
    pub events: Vec<Value>,
}

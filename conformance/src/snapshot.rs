//! The settled state of a namespace, in canonical form.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a scenario's namespace holds at a settled point, written so that two clusters can be compared:
/// nothing generated is left, and all lists whose order means nothing are sorted. See [`canonical`](crate::canonical()).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Snapshot {
    /// Endpoints, by name.
    pub endpoints: Vec<Value>,
    /// EndpointSlices, by their text.
    pub slices: Vec<Value>,
    /// The distinct events of the endpoint controllers.
    pub events: Vec<Value>,
}

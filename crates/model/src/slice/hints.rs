//! Topology hints of an endpoint.

use serde::{Deserialize, Serialize};

use crate::{Text, encode, json};

/// Zones and Nodes whose clients should prefer an endpoint.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct EndpointHints {
    /// Names of the Nodes.
    #[serde(deserialize_with = "json::names", skip_serializing_if = "Vec::is_empty", serialize_with = "encode::names")]
    pub for_nodes: Vec<Text>,
    /// Names of the zones.
    #[serde(deserialize_with = "json::names", skip_serializing_if = "Vec::is_empty", serialize_with = "encode::names")]
    pub for_zones: Vec<Text>,
}

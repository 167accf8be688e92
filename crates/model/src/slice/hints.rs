//! Topology hints of an endpoint.

use serde::Serialize;

use crate::{Text, encode};

/// Zones and Nodes whose clients should prefer an endpoint.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EndpointHints {
    /// Names of the Nodes.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "encode::names")]
    pub for_nodes: Vec<Text>,
    /// Names of the zones.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "encode::names")]
    pub for_zones: Vec<Text>,
}

//! The lossless Endpoints type.

mod protobuf;
mod protobuf_encode;

use serde::ser::SerializeStruct as _;
use serde::{Deserialize, Serialize, Serializer};

use crate::well_known::{ENDPOINTS_CONTROLLER, ENDPOINTS_MANAGED_BY_LABEL, LEADER_ANNOTATION};
use crate::{Address, ObjectMeta, TargetRef, Text, json};

/// A core/v1 Endpoints object with all fields except `managedFields`, so that it can be written back.
#[derive(Clone, Debug, PartialEq, Default, Deserialize)]
#[serde(default)]
pub struct Endpoints {
    /// Object metadata.
    #[serde(deserialize_with = "json::nullable")]
    pub metadata: ObjectMeta,
    /// Subsets in wire order.
    #[serde(deserialize_with = "json::list")]
    pub subsets: Vec<EndpointSubset>,
}

/// Maximum number of pairs of an address and a port that are compared one by one. An object of the size that the API
/// server accepts may have billions.
const MAX_PAIRS: usize = 100_000;

impl Endpoints {
    /// Returns whether the object is a lock of an older leader election client, by its annotation
    /// `control-plane.alpha.kubernetes.io/leader`: it is neither mirrored (MI-1) nor swept (EP-H6).
    pub fn is_leader_lock(&self) -> bool {
        self.metadata.annotations.contains_key(LEADER_ANNOTATION)
    }

    /// Returns whether the managed-by label names the Endpoints controller.
    pub fn is_managed(&self) -> bool {
        self.metadata.labels.get(ENDPOINTS_MANAGED_BY_LABEL) == Some(ENDPOINTS_CONTROLLER)
    }

    /// Returns the ready addresses with each port of their subset; with `None` for a subset without ports, which a
    /// headless Service may have, and for all subsets if there are more than 100,000 pairs.
    pub fn ready_addresses(&self) -> impl Iterator<Item = (&Address, Option<&SubsetPort>)> {
        let pairs = |subset: &EndpointSubset| subset.addresses.len() * subset.ports.len();
        let has_ports = self.subsets.iter().map(pairs).sum::<usize>() <= MAX_PAIRS;
        self.subsets.iter().flat_map(move |subset| {
            let ports = if has_ports { &*subset.ports } else { &[] };
            let without_port = ports.is_empty().then_some(None);
            let ports = move || ports.iter().map(Some).chain(without_port);
            subset.addresses.iter().flat_map(move |address| ports().map(move |port| (&address.ip, port)))
        })
    }
}

/// Addresses that share their ports. An absent list is the same as an empty one, as on the wire.
#[derive(Clone, Debug, PartialEq, Eq, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct EndpointSubset {
    /// Addresses that are ready for traffic.
    #[serde(deserialize_with = "json::list", skip_serializing_if = "Vec::is_empty")]
    pub addresses: Vec<EndpointAddress>,
    /// Addresses that are not ready for traffic.
    #[serde(deserialize_with = "json::list", skip_serializing_if = "Vec::is_empty")]
    pub not_ready_addresses: Vec<EndpointAddress>,
    /// Ports of all addresses of the subset.
    #[serde(deserialize_with = "json::list", skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<SubsetPort>,
}

/// An address of a subset.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct EndpointAddress {
    /// Host name within the Service; empty if absent.
    #[serde(deserialize_with = "json::text", skip_serializing_if = "Text::is_empty")]
    pub hostname: Text,
    /// IP address.
    #[serde(deserialize_with = "json::from_str")]
    pub ip: Address,
    /// Name of the address's Node. `Some("")` differs from `None`: upstream writes `""` for a Pod without a Node (EC-51).
    #[serde(deserialize_with = "json::optional_text", skip_serializing_if = "Option::is_none")]
    pub node_name: Option<Text>,
    /// Object behind the address, usually a Pod.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_ref: Option<TargetRef>,
}

/// A port of a subset. Ports are compared by value; upstream compares `app_protocol` by pointer, see
/// [`crate::subsets`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SubsetPort {
    /// Port name; empty if absent.
    #[serde(deserialize_with = "json::text", skip_serializing_if = "Text::is_empty")]
    pub name: Text,
    /// Port number.
    #[serde(deserialize_with = "json::nullable")]
    pub port: i32,
    /// `TCP`, `UDP` or `SCTP`.
    #[serde(deserialize_with = "json::text", skip_serializing_if = "Text::is_empty")]
    pub protocol: Text,
    /// Application protocol, such as `kubernetes.io/h2c`.
    #[serde(deserialize_with = "json::optional_text", skip_serializing_if = "Option::is_none")]
    pub app_protocol: Option<Text>,
}

impl Serialize for Endpoints {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Endpoints { metadata, subsets } = self;
        let mut object = serializer.serialize_struct("Endpoints", 4)?;
        object.serialize_field("apiVersion", "v1")?;
        object.serialize_field("kind", "Endpoints")?;
        object.serialize_field("metadata", metadata)?;
        if !subsets.is_empty() {
            object.serialize_field("subsets", subsets)?;
        }
        object.end()
    }
}

//! EndpointSlices, without loss.

mod full;
mod protobuf;

use std::sync::Arc;

use serde::ser::SerializeStruct as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::json;
use crate::reference::same_target;
use crate::well_known::{SERVICE_NAME_LABEL, SLICE_MANAGED_BY_LABEL};
use crate::{Addresses, IpFamily, Labels, ObjectMeta, TargetRef, Text, intern, written};

/// A discovery.k8s.io/v1 EndpointSlice that can be written back: nothing but `managedFields` is lost.
#[derive(Clone, Debug, PartialEq, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EndpointSlice {
    /// Metadata.
    #[serde(default, deserialize_with = "json::nullable")]
    pub metadata: ObjectMeta,
    /// What kind of addresses the endpoints have. Never changes in the life of a slice.
    #[serde(default)]
    pub address_type: AddressType,
    /// The endpoints, in the order of the wire.
    #[serde(default, deserialize_with = "json::list")]
    pub endpoints: Vec<Endpoint>,
    /// The ports every endpoint serves, in the order of the wire.
    #[serde(default, deserialize_with = "json::list")]
    pub ports: Vec<EndpointPort>,
}

impl EndpointSlice {
    /// The Service the slice belongs to, by its label; `None` where the label is absent or empty.
    pub fn service_name(&self) -> Option<&str> {
        self.metadata.labels.get(SERVICE_NAME_LABEL).filter(|name| !name.is_empty())
    }

    /// Whether `controller` manages the slice, by its label.
    pub fn is_managed_by(&self, controller: &str) -> bool {
        self.metadata.labels.get(SLICE_MANAGED_BY_LABEL) == Some(controller)
    }
}

impl Serialize for EndpointSlice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let EndpointSlice { metadata, address_type, endpoints, ports } = self;
        let mut object = serializer.serialize_struct("EndpointSlice", 6)?;
        object.serialize_field("apiVersion", "discovery.k8s.io/v1")?;
        object.serialize_field("kind", "EndpointSlice")?;
        object.serialize_field("addressType", address_type.as_str())?;
        object.serialize_field("endpoints", endpoints)?;
        object.serialize_field("metadata", metadata)?;
        object.serialize_field("ports", ports)?;
        object.end()
    }
}

/// The kind of addresses in a slice.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AddressType {
    /// IPv4 addresses.
    IPv4,
    /// IPv6 addresses.
    IPv6,
    /// Host names; deprecated.
    Fqdn,
    /// Anything else, such as the `IP` of early clusters.
    Other(Text),
}

impl AddressType {
    /// As the API writes it.
    pub fn as_str(&self) -> &str {
        match self {
            AddressType::IPv4 => "IPv4",
            AddressType::IPv6 => "IPv6",
            AddressType::Fqdn => "FQDN",
            AddressType::Other(text) => text,
        }
    }
}

impl From<&str> for AddressType {
    fn from(text: &str) -> Self {
        match text {
            "IPv4" => AddressType::IPv4,
            "IPv6" => AddressType::IPv6,
            "FQDN" => AddressType::Fqdn,
            other => AddressType::Other(intern::text(other)),
        }
    }
}

impl From<IpFamily> for AddressType {
    fn from(family: IpFamily) -> Self {
        match family {
            IpFamily::V4 => AddressType::IPv4,
            IpFamily::V6 => AddressType::IPv6,
        }
    }
}

impl Default for AddressType {
    fn default() -> Self {
        AddressType::Other(Text::from(""))
    }
}

impl<'de> Deserialize<'de> for AddressType {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        json::from_str(deserializer)
    }
}

/// One endpoint of a slice.
#[derive(Clone, Debug, PartialEq, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Endpoint {
    /// Its addresses; consumers look at the first only.
    pub addresses: Addresses,
    /// Its state.
    #[serde(deserialize_with = "json::nullable")]
    pub conditions: EndpointConditions,
    /// Written by clients of the v1beta1 API; kept, never set.
    #[serde(skip_serializing_if = "Labels::is_empty")]
    pub deprecated_topology: Labels,
    /// Which consumers should prefer it.
    #[serde(
        deserialize_with = "shared_hints",
        skip_serializing_if = "Option::is_none",
        serialize_with = "written::shared"
    )]
    pub hints: Option<Arc<EndpointHints>>,
    /// Its name within the Service.
    #[serde(deserialize_with = "json::optional_text", skip_serializing_if = "Option::is_none")]
    pub hostname: Option<Text>,
    /// The Node it runs on.
    #[serde(deserialize_with = "json::optional_text", skip_serializing_if = "Option::is_none")]
    pub node_name: Option<Text>,
    /// The object behind it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_ref: Option<TargetRef>,
    /// The zone it is in.
    #[serde(deserialize_with = "json::optional_text", skip_serializing_if = "Option::is_none")]
    pub zone: Option<Text>,
}

impl Endpoint {
    /// Ready, as the topology rules count it: the condition is present and true.
    pub fn is_ready(&self) -> bool {
        self.conditions.ready == Some(true)
    }

    /// Whether two endpoints of the same identity are equal in what a sync decides (RC-15): Node, zone, conditions and
    /// the object behind it whatever its version. Hints are decided apart.
    pub fn equal_beyond_identity(&self, other: &Endpoint) -> bool {
        self.node_name == other.node_name
            && self.zone == other.zone
            && self.conditions == other.conditions
            && same_target(self.target_ref.as_ref(), other.target_ref.as_ref())
    }
}

/// The state of an endpoint. `None` is "unknown", which consumers read as ready, serving and not terminating.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct EndpointConditions {
    /// Ready to take traffic, and not terminating unless the Service publishes unready addresses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ready: Option<bool>,
    /// Ready to take traffic, terminating or not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub serving: Option<bool>,
    /// Being deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub terminating: Option<bool>,
}

/// Which consumers should prefer an endpoint.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EndpointHints {
    /// Nodes.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "written::named")]
    pub for_nodes: Vec<Text>,
    /// Zones.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "written::named")]
    pub for_zones: Vec<Text>,
}

impl<'de> Deserialize<'de> for EndpointHints {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize, Default)]
        #[serde(default)]
        struct Named {
            #[serde(deserialize_with = "json::text")]
            name: Text,
        }
        #[derive(Deserialize, Default)]
        #[serde(rename_all = "camelCase", default)]
        struct Wire {
            #[serde(deserialize_with = "json::list")]
            for_nodes: Vec<Named>,
            #[serde(deserialize_with = "json::list")]
            for_zones: Vec<Named>,
        }
        let wire = Wire::deserialize(deserializer)?;
        let names = |list: Vec<Named>| list.into_iter().map(|it| it.name).collect();
        Ok(EndpointHints { for_nodes: names(wire.for_nodes), for_zones: names(wire.for_zones) })
    }
}

fn shared_hints<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Arc<EndpointHints>>, D::Error> {
    Option::<EndpointHints>::deserialize(deserializer).map(|hints| hints.as_ref().map(intern::hints))
}

/// A port of a slice. `None` differs from a value, as on the wire.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct EndpointPort {
    /// Name; empty for the port of a Service with one port.
    #[serde(deserialize_with = "json::optional_text")]
    pub name: Option<Text>,
    /// `TCP`, `UDP` or `SCTP`.
    #[serde(deserialize_with = "json::optional_text")]
    pub protocol: Option<Text>,
    /// Number; `None` means every port.
    pub port: Option<i32>,
    /// What is spoken there.
    #[serde(deserialize_with = "json::optional_text")]
    pub app_protocol: Option<Text>,
}

impl Serialize for EndpointPort {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let EndpointPort { name, protocol, port, app_protocol } = self;
        written::AnyPort {
            app_protocol: app_protocol.as_deref(),
            name: name.as_deref(),
            port: *port,
            protocol: protocol.as_deref(),
        }
        .serialize(serializer)
    }
}

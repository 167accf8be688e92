//! The lossless EndpointSlice type.

mod hints;
mod protobuf;
mod protobuf_encode;

use std::sync::Arc;

use serde::ser::SerializeStruct as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub use hints::EndpointHints;

use crate::json;
use crate::reference::same_target;
use crate::well_known::{SERVICE_NAME_LABEL, SLICE_MANAGED_BY_LABEL};
use crate::{Addresses, IpFamily, Labels, ObjectMeta, TargetRef, Text, encode, intern};

/// A discovery.k8s.io/v1 EndpointSlice with all fields except `managedFields`, so that it can be written back.
#[derive(Clone, Debug, PartialEq, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EndpointSlice {
    /// Object metadata.
    #[serde(default, deserialize_with = "json::nullable")]
    pub metadata: ObjectMeta,
    /// Type of the endpoints' addresses; immutable.
    #[serde(default, deserialize_with = "json::from_str")]
    pub address_type: AddressType,
    /// Endpoints in wire order.
    #[serde(default, deserialize_with = "json::list")]
    pub endpoints: Vec<Endpoint>,
    /// Ports that every endpoint serves, in wire order.
    #[serde(default, deserialize_with = "json::list")]
    pub ports: Vec<EndpointPort>,
}

impl EndpointSlice {
    /// Returns the Service's name from the label `kubernetes.io/service-name`; `None` if it is absent or empty.
    pub fn service_name(&self) -> Option<&str> {
        self.label(SERVICE_NAME_LABEL).map(Text::as_str)
    }

    /// Returns the value of the label with this key; `None` if it is absent or empty.
    pub fn label(&self, key: &str) -> Option<&Text> {
        self.metadata.labels.get_text(key).filter(|value| !value.is_empty())
    }

    /// Returns whether the managed-by label names `controller`.
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

/// Address type of a slice.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AddressType {
    /// IPv4 addresses.
    IPv4,
    /// IPv6 addresses.
    IPv6,
    /// Host names; deprecated by the API.
    Fqdn,
    /// Any other value, such as `IP` of early clusters.
    Other(Text),
}

impl AddressType {
    /// Returns the value as it is written in the API.
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

/// An endpoint of a slice.
#[derive(Clone, Debug, PartialEq, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Endpoint {
    /// Addresses of the endpoint; consumers use only the first.
    pub addresses: Addresses,
    /// Conditions of the endpoint.
    #[serde(deserialize_with = "json::nullable")]
    pub conditions: EndpointConditions,
    /// `deprecatedTopology`, set by clients of the v1beta1 API; kept, but never set by the controllers.
    #[serde(skip_serializing_if = "Labels::is_empty")]
    pub deprecated_topology: Labels,
    /// Zones and Nodes whose clients should prefer the endpoint.
    #[serde(
        deserialize_with = "shared_hints",
        skip_serializing_if = "Option::is_none",
        serialize_with = "encode::shared"
    )]
    pub hints: Option<Arc<EndpointHints>>,
    /// Host name within the Service.
    #[serde(deserialize_with = "json::optional_text", skip_serializing_if = "Option::is_none")]
    pub hostname: Option<Text>,
    /// Name of the endpoint's Node.
    #[serde(deserialize_with = "json::optional_text", skip_serializing_if = "Option::is_none")]
    pub node_name: Option<Text>,
    /// Object behind the endpoint, usually a Pod.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_ref: Option<TargetRef>,
    /// Zone of the endpoint.
    #[serde(deserialize_with = "json::optional_text", skip_serializing_if = "Option::is_none")]
    pub zone: Option<Text>,
}

impl Endpoint {
    /// Returns whether the ready condition is present and true, as the hint rules require.
    pub fn is_ready(&self) -> bool {
        self.conditions.ready == Some(true)
    }

    /// Returns whether two endpoints with the same identity are otherwise equal (RC-15): Node, zone, conditions, and
    /// target reference apart from its resource version. Hints are not compared.
    pub fn equal_beyond_identity(&self, other: &Endpoint) -> bool {
        self.node_name == other.node_name
            && self.zone == other.zone
            && self.conditions == other.conditions
            && same_target(self.target_ref.as_ref(), other.target_ref.as_ref())
    }
}

/// Conditions of an endpoint. `None` means unknown: see [`counts_as_ready`](Self::counts_as_ready) and
/// [`counts_as_serving`](Self::counts_as_serving) for what it means to consumers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct EndpointConditions {
    /// Whether the endpoint is ready for traffic, and not terminating unless the Service publishes addresses that are
    /// not ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ready: Option<bool>,
    /// Whether the endpoint is ready for traffic, terminating or not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub serving: Option<bool>,
    /// Whether the Pod is being deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub terminating: Option<bool>,
}

impl EndpointConditions {
    /// Returns whether consumers treat the endpoint as ready, as the API documents: unless the condition is false.
    pub fn counts_as_ready(&self) -> bool {
        self.ready != Some(false)
    }

    /// Returns whether consumers treat the endpoint as serving, as the API documents: without the condition, if they
    /// treat it as ready.
    pub fn counts_as_serving(&self) -> bool {
        self.serving.unwrap_or_else(|| self.counts_as_ready())
    }

    /// Returns whether consumers treat the endpoint as terminating: if the condition is true.
    pub fn counts_as_terminating(&self) -> bool {
        self.terminating == Some(true)
    }
}

fn shared_hints<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Arc<EndpointHints>>, D::Error> {
    Option::<EndpointHints>::deserialize(deserializer).map(|hints| hints.as_ref().map(intern::hints))
}

/// A port of a slice. As on the wire, absent differs from empty.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct EndpointPort {
    /// Port name; empty for the only port of a Service.
    #[serde(deserialize_with = "json::optional_text", skip_serializing_if = "Option::is_none")]
    pub name: Option<Text>,
    /// `TCP`, `UDP` or `SCTP`.
    #[serde(deserialize_with = "json::optional_text", skip_serializing_if = "Option::is_none")]
    pub protocol: Option<Text>,
    /// Port number; `None` means every port.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<i32>,
    /// Application protocol, such as `kubernetes.io/h2c`.
    #[serde(deserialize_with = "json::optional_text", skip_serializing_if = "Option::is_none")]
    pub app_protocol: Option<Text>,
}

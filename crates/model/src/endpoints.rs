//! The lossless Endpoints type, and its conversions from and to the types of k8s-openapi.

mod protobuf;
mod protobuf_encode;

use k8s_openapi::api::core::v1 as core;
use serde::ser::SerializeStruct as _;
use serde::{Deserialize, Serialize, Serializer};

use crate::metadata::{non_empty, optional_text};
use crate::well_known::LEADER_ANNOTATION;
use crate::{Address, ObjectMeta, TargetRef, Text, encode, json};

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

impl Endpoints {
    /// Returns whether the object is a lock of an older leader election client, by its annotation
    /// `control-plane.alpha.kubernetes.io/leader`: it is neither mirrored (MI-1) nor swept (EP-H6).
    pub fn is_leader_lock(&self) -> bool {
        self.metadata.annotations.contains_key(LEADER_ANNOTATION)
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
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct EndpointAddress {
    /// Host name within the Service; empty if absent.
    #[serde(deserialize_with = "json::text", skip_serializing_if = "Text::is_empty")]
    pub hostname: Text,
    /// IP address.
    pub ip: Address,
    /// Name of the address's Node. `Some("")` differs from `None`: the controller writes `""` for an unscheduled Pod.
    #[serde(deserialize_with = "json::optional_text", skip_serializing_if = "Option::is_none")]
    pub node_name: Option<Text>,
    /// Object behind the address, usually a Pod.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_ref: Option<TargetRef>,
}

impl Default for EndpointAddress {
    fn default() -> Self {
        EndpointAddress { hostname: Text::new(), ip: Address::new(""), node_name: None, target_ref: None }
    }
}

/// A port of a subset. Ports are compared by value; upstream compares `app_protocol` by pointer, see
/// [`crate::subsets`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SubsetPort {
    /// Port name; empty if absent.
    #[serde(deserialize_with = "json::text")]
    pub name: Text,
    /// Port number.
    #[serde(deserialize_with = "json::nullable")]
    pub port: i32,
    /// `TCP`, `UDP` or `SCTP`.
    #[serde(deserialize_with = "json::text")]
    pub protocol: Text,
    /// Application protocol, such as `kubernetes.io/h2c`.
    #[serde(deserialize_with = "json::optional_text")]
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

impl Serialize for SubsetPort {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let SubsetPort { name, port, protocol, app_protocol } = self;
        let non_empty = |text| Some(text).filter(|text: &&str| !text.is_empty());
        encode::AnyPort {
            app_protocol: app_protocol.as_deref(),
            name: non_empty(name),
            port: Some(*port),
            protocol: non_empty(protocol),
        }
        .serialize(serializer)
    }
}

fn list<T, U: for<'a> From<&'a T>>(items: &[T]) -> Option<Vec<U>> {
    (!items.is_empty()).then(|| items.iter().map(U::from).collect())
}

impl From<&core::Endpoints> for Endpoints {
    fn from(it: &core::Endpoints) -> Self {
        Endpoints {
            metadata: ObjectMeta::from(&it.metadata),
            subsets: it.subsets.iter().flatten().map(EndpointSubset::from).collect(),
        }
    }
}

impl From<&Endpoints> for core::Endpoints {
    fn from(it: &Endpoints) -> Self {
        core::Endpoints { metadata: (&it.metadata).into(), subsets: list(&it.subsets) }
    }
}

impl From<&core::EndpointSubset> for EndpointSubset {
    fn from(it: &core::EndpointSubset) -> Self {
        EndpointSubset {
            addresses: it.addresses.iter().flatten().map(EndpointAddress::from).collect(),
            not_ready_addresses: it.not_ready_addresses.iter().flatten().map(EndpointAddress::from).collect(),
            ports: it.ports.iter().flatten().map(SubsetPort::from).collect(),
        }
    }
}

impl From<&EndpointSubset> for core::EndpointSubset {
    fn from(it: &EndpointSubset) -> Self {
        core::EndpointSubset {
            addresses: list(&it.addresses),
            not_ready_addresses: list(&it.not_ready_addresses),
            ports: list(&it.ports),
        }
    }
}

impl From<&core::EndpointAddress> for EndpointAddress {
    fn from(it: &core::EndpointAddress) -> Self {
        EndpointAddress {
            hostname: crate::metadata::text(it.hostname.as_ref()),
            ip: Address::new(&it.ip),
            node_name: optional_text(it.node_name.as_ref()),
            target_ref: it.target_ref.as_ref().map(TargetRef::from),
        }
    }
}

impl From<&EndpointAddress> for core::EndpointAddress {
    fn from(it: &EndpointAddress) -> Self {
        core::EndpointAddress {
            hostname: non_empty(&it.hostname),
            ip: it.ip.to_string(),
            node_name: it.node_name.as_ref().map(ToString::to_string),
            target_ref: it.target_ref.as_ref().map(Into::into),
        }
    }
}

impl From<&core::EndpointPort> for SubsetPort {
    fn from(it: &core::EndpointPort) -> Self {
        SubsetPort {
            name: crate::metadata::text(it.name.as_ref()),
            port: it.port,
            protocol: crate::metadata::text(it.protocol.as_ref()),
            app_protocol: optional_text(it.app_protocol.as_ref()),
        }
    }
}

impl From<&SubsetPort> for core::EndpointPort {
    fn from(it: &SubsetPort) -> Self {
        core::EndpointPort {
            name: non_empty(&it.name),
            port: it.port,
            protocol: non_empty(&it.protocol),
            app_protocol: it.app_protocol.as_ref().map(ToString::to_string),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: &str = r#"{
        "apiVersion": "v1", "kind": "Endpoints",
        "metadata": {"name": "web", "namespace": "shop", "uid": "u-1", "resourceVersion": "42",
            "annotations": {"endpoints.kubernetes.io/over-capacity": "truncated"}},
        "subsets": [{
            "addresses": [{"ip": "10.0.0.1", "hostname": "h", "nodeName": "",
                "targetRef": {"kind": "Pod", "name": "p", "namespace": "shop", "uid": "u-3"}}],
            "notReadyAddresses": [{"ip": "10.0.0.2"}],
            "ports": [{"name": "http", "port": 80, "protocol": "TCP", "appProtocol": "kubernetes.io/h2c"}, {"port": 81}]
        }]
    }"#;

    #[test]
    fn round_trips_through_the_full_type() {
        let full: core::Endpoints = serde_json::from_str(FULL).unwrap();
        let from_wire: Endpoints = serde_json::from_str(FULL).unwrap();
        assert_eq!(Endpoints::from(&full), from_wire);
        assert_eq!(core::Endpoints::from(&from_wire), full);
    }
}

//! Conversions of EndpointSlices from and to the types of k8s-openapi.

use k8s_openapi::api::discovery::v1 as discovery;

use super::{AddressType, Endpoint, EndpointConditions, EndpointHints, EndpointPort, EndpointSlice};
use crate::metadata::optional_text;
use crate::{Address, Labels, ObjectMeta, TargetRef, Text, intern};

/// Returns a field that is an `Option` in some versions of k8s-openapi as an `Option`.
fn optional<'a, T>(field: impl Into<Option<&'a T>>) -> Option<&'a T> {
    field.into()
}

impl From<&discovery::EndpointSlice> for EndpointSlice {
    fn from(it: &discovery::EndpointSlice) -> Self {
        EndpointSlice {
            metadata: ObjectMeta::from(&it.metadata),
            address_type: AddressType::from(it.address_type.as_str()),
            endpoints: optional::<Vec<_>>(&it.endpoints).into_iter().flatten().map(Endpoint::from).collect(),
            ports: it.ports.iter().flatten().map(EndpointPort::from).collect(),
        }
    }
}

impl From<&EndpointSlice> for discovery::EndpointSlice {
    fn from(it: &EndpointSlice) -> Self {
        discovery::EndpointSlice {
            metadata: (&it.metadata).into(),
            address_type: it.address_type.as_str().to_owned(),
            endpoints: it.endpoints.iter().map(discovery::Endpoint::from).collect::<Vec<_>>().into(),
            ports: Some(it.ports.iter().map(discovery::EndpointPort::from).collect()),
        }
    }
}

impl From<&discovery::Endpoint> for Endpoint {
    fn from(it: &discovery::Endpoint) -> Self {
        let conditions = it.conditions.clone().unwrap_or_default();
        Endpoint {
            addresses: it.addresses.iter().map(|address| Address::new(address)).collect(),
            conditions: EndpointConditions {
                ready: conditions.ready,
                serving: conditions.serving,
                terminating: conditions.terminating,
            },
            deprecated_topology: Labels::from(&it.deprecated_topology),
            hints: it.hints.as_ref().map(|hints| {
                intern::hints(&EndpointHints {
                    for_nodes: hints.for_nodes.iter().flatten().map(|it| intern::text(&it.name)).collect(),
                    for_zones: hints.for_zones.iter().flatten().map(|it| intern::text(&it.name)).collect(),
                })
            }),
            hostname: optional_text(it.hostname.as_ref()),
            node_name: optional_text(it.node_name.as_ref()),
            target_ref: it.target_ref.as_ref().map(TargetRef::from),
            zone: optional_text(it.zone.as_ref()),
        }
    }
}

impl From<&Endpoint> for discovery::Endpoint {
    fn from(it: &Endpoint) -> Self {
        let owned = |text: &Option<Text>| text.as_ref().map(ToString::to_string);
        discovery::Endpoint {
            addresses: it.addresses.iter().map(ToString::to_string).collect(),
            conditions: Some(discovery::EndpointConditions {
                ready: it.conditions.ready,
                serving: it.conditions.serving,
                terminating: it.conditions.terminating,
            }),
            deprecated_topology: (&it.deprecated_topology).into(),
            hints: it.hints.as_deref().map(discovery::EndpointHints::from),
            hostname: owned(&it.hostname),
            node_name: owned(&it.node_name),
            target_ref: it.target_ref.as_ref().map(Into::into),
            zone: owned(&it.zone),
        }
    }
}

impl From<&EndpointHints> for discovery::EndpointHints {
    fn from(it: &EndpointHints) -> Self {
        let nodes = || it.for_nodes.iter().map(|name| discovery::ForNode { name: name.to_string() }).collect();
        let zones = || it.for_zones.iter().map(|name| discovery::ForZone { name: name.to_string() }).collect();
        discovery::EndpointHints {
            for_nodes: (!it.for_nodes.is_empty()).then(nodes),
            for_zones: (!it.for_zones.is_empty()).then(zones),
        }
    }
}

impl From<&discovery::EndpointPort> for EndpointPort {
    fn from(it: &discovery::EndpointPort) -> Self {
        EndpointPort {
            name: optional_text(it.name.as_ref()),
            protocol: optional_text(it.protocol.as_ref()),
            port: it.port,
            app_protocol: optional_text(it.app_protocol.as_ref()),
        }
    }
}

impl From<&EndpointPort> for discovery::EndpointPort {
    fn from(it: &EndpointPort) -> Self {
        let owned = |text: &Option<Text>| text.as_ref().map(ToString::to_string);
        discovery::EndpointPort {
            name: owned(&it.name),
            protocol: owned(&it.protocol),
            port: it.port,
            app_protocol: owned(&it.app_protocol),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: &str = r#"{
        "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice",
        "metadata": {
            "name": "web-abcde", "generateName": "web-", "namespace": "shop", "uid": "u-1", "resourceVersion": "42",
            "generation": 3, "creationTimestamp": "2026-02-03T04:00:00Z", "deletionTimestamp": "2026-02-03T05:00:00Z",
            "deletionGracePeriodSeconds": 30, "finalizers": ["example.com/hold"],
            "labels": {"kubernetes.io/service-name": "web"}, "annotations": {"note": "ü"},
            "ownerReferences": [{"apiVersion": "v1", "kind": "Service", "name": "web", "uid": "u-2",
                "controller": true, "blockOwnerDeletion": true}]
        },
        "addressType": "IPv6",
        "endpoints": [{
            "addresses": ["2001:0db8:0:0:0:0:0:1"], "conditions": {"ready": true, "terminating": false},
            "deprecatedTopology": {"kubernetes.io/hostname": "n1"}, "hostname": "h", "nodeName": "n1", "zone": "a",
            "hints": {"forNodes": [{"name": "n1"}], "forZones": [{"name": "a"}]},
            "targetRef": {"apiVersion": "v1", "kind": "Pod", "name": "p", "namespace": "shop", "uid": "u-3",
                "resourceVersion": "7", "fieldPath": "spec"}
        }],
        "ports": [{"name": "", "port": 80, "protocol": "TCP", "appProtocol": "http"}, {"port": null}]
    }"#;

    #[test]
    fn round_trips_through_the_full_type() {
        let full: discovery::EndpointSlice = serde_json::from_str(FULL).unwrap();
        let from_wire: EndpointSlice = serde_json::from_str(FULL).unwrap();
        assert_eq!(EndpointSlice::from(&full), from_wire);
        assert_eq!(discovery::EndpointSlice::from(&from_wire), full);
    }

    #[test]
    fn null_lists_are_empty() {
        let slice: EndpointSlice =
            serde_json::from_str(r#"{"metadata":{},"addressType":"IPv4","endpoints":null,"ports":null}"#).unwrap();
        assert!(slice.endpoints.is_empty() && slice.ports.is_empty());
    }
}

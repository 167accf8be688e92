//! Services, reduced to the fields that the endpoint controllers read.

mod protobuf;

use jiff::Timestamp;
use serde::{Deserialize, Deserializer};

use crate::address::parse_sloppy;
use crate::json::{self, Str};
use crate::projection::Metadata;
use crate::well_known::{
    CLUSTER_IP_NONE, TOLERATE_UNREADY_ANNOTATION, TOPOLOGY_HINTS_ANNOTATION, TOPOLOGY_MODE_ANNOTATION,
};
use crate::{AddressType, EndpointPort, IpFamily, Labels, ResourceVersion, Text, Uid};

/// A core/v1 Service, reduced to what the endpoint controllers read. Never written back.
#[derive(Clone, Debug, PartialEq, Eq, Default, Deserialize)]
#[serde(from = "Document")]
pub struct Service {
    /// `metadata.namespace`.
    pub namespace: Text,
    /// `metadata.name`.
    pub name: Text,
    /// `metadata.uid`.
    pub uid: Uid,
    /// `metadata.resourceVersion`.
    pub resource_version: ResourceVersion,
    /// `metadata.labels`; copied to Endpoints and slices.
    pub labels: Labels,
    /// Value of the annotation for topology hints; see [`Service::requests_topology_hints`].
    pub topology_annotation: Option<Text>,
    /// Value of the annotation `service.alpha.kubernetes.io/tolerate-unready-endpoints`, which only a legacy mode of
    /// the Endpoints controller reads.
    pub tolerate_unready_annotation: Option<Text>,
    /// Creation time; `None` if it is absent, zero, or cannot be represented by [`Timestamp`].
    pub created: Option<Timestamp>,
    /// Whether the Service has a deletion timestamp.
    pub terminating: bool,
    /// Whether `spec.type` is `ExternalName`.
    pub external_name: bool,
    /// `spec.clusterIP`: an IP address, `None`, or empty.
    pub cluster_ip: Text,
    /// `spec.selector`; the controllers ignore a Service without one. An empty selector, which the API server does not
    /// serve, selects every Pod.
    pub selector: Option<Labels>,
    /// `spec.ports`.
    pub ports: Vec<ServicePort>,
    /// `spec.ipFamilies`, the primary family first; unknown families are dropped. Empty on objects of old clusters.
    pub ip_families: Vec<IpFamily>,
    /// `spec.publishNotReadyAddresses`: whether Pods that are not ready are published as ready.
    pub publish_not_ready_addresses: bool,
    /// `spec.trafficDistribution`.
    pub traffic_distribution: Option<Text>,
}

/// A port of a Service.
#[derive(Clone, Debug, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ServicePort {
    /// Port name; may be empty if the Service has a single port.
    #[serde(deserialize_with = "json::text")]
    pub name: Text,
    /// `TCP`, `UDP` or `SCTP`.
    #[serde(deserialize_with = "json::text")]
    pub protocol: Text,
    /// `targetPort`.
    #[serde(rename = "targetPort", deserialize_with = "json::nullable")]
    pub target: TargetPort,
    /// Application protocol, such as `kubernetes.io/h2c`.
    #[serde(deserialize_with = "json::optional_text")]
    pub app_protocol: Option<Text>,
}

/// Target of a Service port.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum TargetPort {
    /// A port number, which containers need not declare.
    Number(i32),
    /// Name of a container port.
    Name(#[serde(deserialize_with = "json::text")] Text),
}

impl ServicePort {
    /// Returns the port of a slice whose endpoints serve this port at `number`, which is
    /// [`find_port`](crate::membership::find_port) for a Pod, and [`TargetPort::number`] for other endpoints.
    pub fn endpoint_port(&self, number: i32) -> EndpointPort {
        EndpointPort {
            name: Some(self.name.clone()),
            protocol: Some(self.protocol.clone()),
            port: Some(number),
            app_protocol: self.app_protocol.clone(),
        }
    }
}

impl TargetPort {
    /// Returns the port number; `None` for a name, which only the containers of a Pod resolve.
    pub fn number(&self) -> Option<i32> {
        match self {
            TargetPort::Number(number) => Some(*number),
            TargetPort::Name(_) => None,
        }
    }
}

impl Default for TargetPort {
    fn default() -> Self {
        TargetPort::Number(0)
    }
}

impl Service {
    /// Returns whether the cluster IP is neither empty nor `None` (PD-5).
    pub fn has_cluster_ip(&self) -> bool {
        !self.cluster_ip.is_empty() && &*self.cluster_ip != CLUSTER_IP_NONE
    }

    /// Returns whether the cluster IP is exactly `None`. For Services without ports, an empty cluster IP is not
    /// headless (EC-22).
    pub fn is_headless(&self) -> bool {
        &*self.cluster_ip == CLUSTER_IP_NONE
    }

    /// Returns whether clients use only endpoints with ports. For a headless Service they use the addresses, which its DNS returns
    /// with or without ports; one without ports has nothing else either.
    pub fn needs_endpoint_ports(&self) -> bool {
        !self.ports.is_empty() && !self.is_headless()
    }

    /// Returns whether the annotation requests topology hints (RC-29): the deprecated annotation takes precedence if
    /// both are present, and only `Auto` and `auto` enable hints.
    pub fn requests_topology_hints(&self) -> bool {
        matches!(self.topology_annotation.as_deref(), Some("Auto" | "auto"))
    }

    /// Returns the address types of the Service's slices (RC-1), sorted: those of `spec.ipFamilies`; if that is empty,
    /// the family of the cluster IP, or both families without a cluster IP.
    pub fn address_types(&self) -> Vec<AddressType> {
        let mut types: Vec<AddressType> = self.ip_families.iter().map(|family| AddressType::from(*family)).collect();
        if types.is_empty() {
            types = match self.cluster_ip_family() {
                Some(family) => vec![family.into()],
                None => vec![AddressType::IPv4, AddressType::IPv6],
            };
        }
        types.sort();
        types.dedup();
        types
    }

    /// Returns the family of the cluster IP; `None` without one. As in Go, text that is not an IP address counts as
    /// IPv4.
    pub(crate) fn cluster_ip_family(&self) -> Option<IpFamily> {
        self.has_cluster_ip().then(|| parse_sloppy(&self.cluster_ip).map_or(IpFamily::V4, IpFamily::of))
    }
}

/// The fields of a Service that are read; named as in JSON.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(crate) struct Document {
    #[serde(deserialize_with = "json::nullable")]
    metadata: Metadata<Labels>,
    #[serde(deserialize_with = "json::nullable")]
    spec: Spec,
}

/// The fields of `spec` that are read; named as in JSON.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Spec {
    #[serde(rename = "type", deserialize_with = "is_external_name")]
    external_name: bool,
    #[serde(rename = "clusterIP", deserialize_with = "json::text")]
    cluster_ip: Text,
    selector: Option<Labels>,
    #[serde(deserialize_with = "json::list")]
    ports: Vec<ServicePort>,
    #[serde(deserialize_with = "families")]
    ip_families: Vec<IpFamily>,
    #[serde(deserialize_with = "json::nullable")]
    publish_not_ready_addresses: bool,
    #[serde(deserialize_with = "json::optional_text")]
    traffic_distribution: Option<Text>,
}

impl From<Document> for Service {
    fn from(Document { metadata, spec }: Document) -> Self {
        let annotation = [TOPOLOGY_HINTS_ANNOTATION, TOPOLOGY_MODE_ANNOTATION]
            .iter()
            .find_map(|key| metadata.annotations.get_text(key));
        Service {
            topology_annotation: annotation.cloned(),
            tolerate_unready_annotation: metadata.annotations.get_text(TOLERATE_UNREADY_ANNOTATION).cloned(),
            namespace: metadata.namespace,
            name: metadata.name,
            uid: metadata.uid,
            resource_version: metadata.resource_version,
            labels: metadata.labels,
            created: metadata.creation_timestamp,
            terminating: metadata.deletion_timestamp.is_some(),
            external_name: spec.external_name,
            cluster_ip: spec.cluster_ip,
            selector: spec.selector,
            ports: spec.ports,
            ip_families: spec.ip_families,
            publish_not_ready_addresses: spec.publish_not_ready_addresses,
            traffic_distribution: spec.traffic_distribution,
        }
    }
}

const EXTERNAL_NAME: &str = "ExternalName";

fn is_external_name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    Str::deserialize(deserializer).map(|text| text.0 == EXTERNAL_NAME)
}

fn families<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<IpFamily>, D::Error> {
    let mut families = Vec::new();
    json::each(deserializer, |text: Str<'_>| families.extend(IpFamily::parse(&text.0)))?;
    families.shrink_to_fit();
    Ok(families)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    const FULL: &str = r#"{
        "apiVersion": "v1", "kind": "Service",
        "metadata": {"name": "web", "namespace": "shop", "uid": "u", "resourceVersion": "9",
            "labels": {"team": "a"}, "creationTimestamp": "2026-02-03T04:00:00Z",
            "annotations": {"service.kubernetes.io/topology-mode": "Auto", "other": "x"}},
        "spec": {"type": "ClusterIP", "clusterIP": "10.96.0.1", "selector": {"app": "web"},
            "ports": [{"name": "a", "port": 80, "protocol": "TCP", "targetPort": 8080},
                {"name": "b", "port": 81, "protocol": "UDP", "targetPort": "dns", "appProtocol": "x"},
                {"name": "c", "port": 82, "protocol": "TCP"}],
            "ipFamilies": ["IPv6", "IPv4"], "publishNotReadyAddresses": true, "trafficDistribution": "PreferClose"}
    }"#;

    #[test]
    fn decodes_the_kept_fields() {
        let service: Service = serde_json::from_str(FULL).unwrap();
        let targets: Vec<_> = service.ports.iter().map(|port| &port.target).collect();
        assert_eq!(targets, [&TargetPort::Number(8080), &TargetPort::Name("dns".into()), &TargetPort::default()]);
        assert_eq!(service.traffic_distribution.as_deref(), Some("PreferClose"));
        assert_eq!(service.address_types(), [AddressType::IPv4, AddressType::IPv6]);
    }

    // upstream: Test_hintsEnabled
    #[rstest]
    #[case::none(&[], false)]
    #[case::other(&[("topology", "Auto")], false)]
    #[case::hints_enabled(&[("hints", "enabled")], false)]
    #[case::hints_a_uto(&[("hints", "aUto")], false)]
    #[case::hints_auto(&[("hints", "auto")], true)]
    #[case::hints_auto_capital(&[("hints", "Auto")], true)]
    #[case::mode_auto(&[("mode", "Auto")], true)]
    #[case::mode_disabled(&[("mode", "disabled")], false)]
    #[case::old_wins_on(&[("mode", "disabled"), ("hints", "auto")], true)]
    #[case::old_wins_off(&[("mode", "auto"), ("hints", "disabled")], false)]
    fn topology_mode(#[case] annotations: &[(&str, &str)], #[case] expected: bool) {
        let annotations: Labels = annotations
            .iter()
            .map(|(key, value)| match *key {
                "hints" => (TOPOLOGY_HINTS_ANNOTATION, *value),
                "mode" => (TOPOLOGY_MODE_ANNOTATION, *value),
                other => (other, *value),
            })
            .collect();
        let document = Document { metadata: Metadata { annotations, ..Metadata::default() }, ..Document::default() };
        assert_eq!(Service::from(document).requests_topology_hints(), expected);
    }

    // upstream: TestSupportedServiceAddressType
    #[rstest]
    #[case::v4_without_families("10.0.0.10", &[], &["IPv4"])]
    #[case::v6_without_families("2000::1", &[], &["IPv6"])]
    #[case::v4("10.0.0.10", &[IpFamily::V4], &["IPv4"])]
    #[case::v6("2000::1", &[IpFamily::V6], &["IPv6"])]
    #[case::v4_v6("10.0.0.10", &[IpFamily::V4, IpFamily::V6], &["IPv4", "IPv6"])]
    #[case::v6_v4("10.0.0.10", &[IpFamily::V6, IpFamily::V4], &["IPv4", "IPv6"])]
    #[case::headless_without_families("None", &[], &["IPv4", "IPv6"])]
    #[case::empty_without_families("", &[], &["IPv4", "IPv6"])]
    #[case::headless_with_families("None", &[IpFamily::V6], &["IPv6"])]
    fn address_types(#[case] cluster_ip: &str, #[case] families: &[IpFamily], #[case] expected: &[&str]) {
        let service =
            Service { cluster_ip: Text::from(cluster_ip), ip_families: families.to_vec(), ..Default::default() };
        assert_eq!(service.address_types().iter().map(AddressType::as_str).collect::<Vec<_>>(), expected);
    }
}

//! Nodes, reduced to the fields that the endpoint controllers read.

mod protobuf;

use serde::Deserialize;

use crate::json;
use crate::projection::Metadata;
use crate::quantity::parse_milli;
use crate::well_known::{CONTROL_PLANE_LABEL, MASTER_LABEL, ZONE_LABEL};
use crate::{Labels, ResourceVersion, Text, Uid};

/// A core/v1 Node, reduced to what the endpoint controllers read. Never written back.
#[derive(Clone, Debug, PartialEq, Eq, Default, Deserialize)]
#[serde(from = "Document")]
pub struct Node {
    /// `metadata.name`.
    pub name: Text,
    /// `metadata.uid`.
    pub uid: Uid,
    /// `metadata.resourceVersion`.
    pub resource_version: ResourceVersion,
    /// Value of the label `topology.kubernetes.io/zone`; empty if absent.
    pub zone: Text,
    /// Whether the Node has a control-plane role label; its CPU then does not count for its zone.
    pub control_plane: bool,
    /// Whether the first condition of type Ready is `True`, as in upstream's `isNodeReady`.
    pub ready: bool,
    /// Allocatable CPU in milli-CPU; 0 if absent or not a valid quantity.
    pub cpu_milli: i64,
}

/// The fields of a Node that are read; named as in JSON.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(crate) struct Document {
    #[serde(deserialize_with = "json::nullable")]
    metadata: Metadata,
    #[serde(deserialize_with = "json::nullable")]
    status: Status,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Status {
    allocatable: Labels,
    #[serde(deserialize_with = "json::list")]
    conditions: Vec<Condition>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Condition {
    #[serde(rename = "type", deserialize_with = "json::text")]
    kind: Text,
    #[serde(deserialize_with = "json::text")]
    status: Text,
}

impl From<Document> for Node {
    fn from(Document { metadata, status }: Document) -> Self {
        let labels = metadata.labels;
        Node {
            zone: labels.get_text(ZONE_LABEL).cloned().unwrap_or_default(),
            control_plane: labels.contains_key(CONTROL_PLANE_LABEL) || labels.contains_key(MASTER_LABEL),
            ready: status.conditions.iter().find(|it| it.kind == "Ready").is_some_and(|it| it.status == "True"),
            cpu_milli: status.allocatable.get("cpu").and_then(parse_milli).unwrap_or_default(),
            name: metadata.name,
            uid: metadata.uid,
            resource_version: metadata.resource_version,
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[test]
    fn decodes_the_kept_fields() {
        let json = r#"{"metadata": {"name": "n", "uid": "u", "resourceVersion": "1",
            "labels": {"topology.kubernetes.io/zone": "a", "node-role.kubernetes.io/master": ""}},
            "status": {"allocatable": {"cpu": "3920m", "memory": "1Gi"},
                "conditions": [{"type": "Ready", "status": "True"}]}}"#;
        let node: Node = serde_json::from_str(json).unwrap();
        assert_eq!((&*node.zone, node.control_plane, node.ready, node.cpu_milli), ("a", true, true, 3920));
    }

    #[rstest]
    #[case::none(&[], false)]
    #[case::of_another_type(&[("DiskPressure", "True")], false)]
    #[case::unknown(&[("Ready", "Unknown")], false)]
    #[case::only_the_first_counts(&[("Ready", "False"), ("Ready", "True")], false)]
    #[case::after_another_type(&[("DiskPressure", "False"), ("Ready", "True")], true)]
    fn readiness(#[case] conditions: &[(&str, &str)], #[case] expected: bool) {
        let conditions: Vec<_> =
            conditions.iter().map(|(kind, status)| json!({ "type": kind, "status": status })).collect();
        let node: Node = serde_json::from_value(json!({ "status": { "conditions": conditions } })).unwrap();
        assert_eq!(node.ready, expected);
    }
}

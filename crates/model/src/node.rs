//! Nodes, reduced to the fields that the endpoint controllers read.

mod protobuf;

use serde::{Deserialize, Deserializer};

use crate::json::{self, Str};
use crate::projection::Metadata;
use crate::quantity::parse_milli;
use crate::well_known::{CONTROL_PLANE_LABEL, MASTER_LABEL, ZONE_LABEL};
use crate::{ResourceVersion, Text, Uid};

/// A core/v1 Node, reduced to what the endpoint controllers read. Never written back.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
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
    /// Whether a condition of type Ready is `True`.
    pub ready: bool,
    /// Allocatable CPU in milli-CPU; 0 if absent or not a valid quantity.
    pub cpu_milli: i64,
}

/// Partially decoded Node, common to all encodings.
#[derive(Default)]
struct NodeBuilder {
    ready: bool,
    cpu: Option<i64>,
}

impl NodeBuilder {
    fn condition(&mut self, kind: &str, status: &str) {
        self.ready |= kind == "Ready" && status == "True";
    }

    fn allocatable(&mut self, resource: &str, quantity: &str) {
        if resource == "cpu" {
            self.cpu = parse_milli(quantity);
        }
    }

    fn build(self, metadata: Metadata) -> Node {
        let labels = metadata.labels;
        Node {
            zone: labels.get_text(ZONE_LABEL).cloned().unwrap_or_default(),
            control_plane: labels.contains_key(CONTROL_PLANE_LABEL) || labels.contains_key(MASTER_LABEL),
            ready: self.ready,
            cpu_milli: self.cpu.unwrap_or_default(),
            name: metadata.name,
            uid: metadata.uid,
            resource_version: metadata.resource_version,
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize, Default)]
        #[serde(default)]
        struct Document {
            #[serde(deserialize_with = "json::nullable")]
            metadata: Metadata,
            #[serde(deserialize_with = "json::nullable")]
            status: Status,
        }
        #[derive(Deserialize, Default)]
        #[serde(default)]
        struct Status {
            #[serde(deserialize_with = "json::nullable")]
            allocatable: Allocatable,
            #[serde(deserialize_with = "ready")]
            conditions: bool,
        }
        #[derive(Deserialize, Default)]
        #[serde(default)]
        struct Allocatable {
            cpu: Option<Quantity>,
        }
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Quantity {
            Text(Text),
            Number(f64),
        }
        let Document { metadata, status } = Document::deserialize(deserializer)?;
        let mut builder = NodeBuilder { ready: status.conditions, cpu: None };
        match status.allocatable.cpu {
            Some(Quantity::Text(text)) => builder.allocatable("cpu", &text),
            Some(Quantity::Number(number)) => builder.allocatable("cpu", &number.to_string()),
            None => {}
        }
        Ok(builder.build(metadata))
    }
}

fn ready<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    #[derive(Deserialize, Default)]
    #[serde(default)]
    struct Condition<'a> {
        #[serde(rename = "type", borrow)]
        kind: Str<'a>,
        #[serde(borrow)]
        status: Str<'a>,
    }
    let mut builder = NodeBuilder::default();
    json::each(deserializer, |it: Condition<'_>| builder.condition(&it.kind.0, &it.status.0))?;
    Ok(builder.ready)
}

#[cfg(test)]
mod tests {
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
}

//! Nodes: what the endpoint controllers read of them.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1 as core;
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};

use crate::nullable::nullable;
use crate::projection::Metadata;
use crate::quantity::parse_milli;
use crate::well_known::{CONTROL_PLANE_LABEL, MASTER_LABEL, ZONE_LABEL};
use crate::{ResourceVersion, Text, Uid};

/// What the endpoint controllers read of a core/v1 Node. Read only: never written back.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Node {
    /// Name.
    pub name: Text,
    /// Identity.
    pub uid: Uid,
    /// Version.
    pub resource_version: ResourceVersion,
    /// The value of its zone label; empty for none.
    pub zone: Text,
    /// Whether it carries a label of the control plane, whose CPU counts for no zone.
    pub control_plane: bool,
    /// Whether the condition Ready is `True`.
    pub ready: bool,
    /// Allocatable CPU in milli-CPU; 0 for none or text that is no quantity.
    pub cpu_milli: i64,
}

mod wire {
    //! The shape of a Node on the wire, as far as it is read.
    use super::{BTreeMap, Deserialize, Metadata, Text, nullable};

    #[derive(Deserialize, Default)]
    #[serde(default)]
    pub(super) struct Node {
        pub(super) metadata: Metadata,
        #[serde(deserialize_with = "nullable")]
        pub(super) status: Status,
    }

    #[derive(Deserialize, Default)]
    #[serde(default)]
    pub(super) struct Status {
        #[serde(deserialize_with = "nullable")]
        pub(super) allocatable: BTreeMap<Text, Quantity>,
        #[serde(deserialize_with = "nullable")]
        pub(super) conditions: Vec<Condition>,
    }

    #[derive(Deserialize)]
    #[serde(untagged)]
    pub(super) enum Quantity {
        Text(Text),
        Number(f64),
    }

    #[derive(Deserialize, Default)]
    #[serde(default)]
    pub(super) struct Condition {
        #[serde(rename = "type")]
        pub(super) kind: Text,
        pub(super) status: Text,
    }
}

impl From<wire::Node> for Node {
    fn from(it: wire::Node) -> Self {
        let labels = &it.metadata.labels;
        let cpu = match it.status.allocatable.get("cpu") {
            Some(wire::Quantity::Text(text)) => parse_milli(text),
            Some(wire::Quantity::Number(number)) => parse_milli(&number.to_string()),
            None => None,
        };
        Node {
            zone: Text::from(labels.get(ZONE_LABEL).unwrap_or_default()),
            control_plane: labels.contains_key(CONTROL_PLANE_LABEL) || labels.contains_key(MASTER_LABEL),
            ready: it.status.conditions.iter().any(|it| &*it.kind == "Ready" && &*it.status == "True"),
            cpu_milli: cpu.unwrap_or_default(),
            name: it.metadata.name,
            uid: it.metadata.uid,
            resource_version: it.metadata.resource_version,
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        wire::Node::deserialize(deserializer).map(Node::from)
    }
}

impl From<&core::Node> for Node {
    fn from(it: &core::Node) -> Self {
        let status = it.status.clone().unwrap_or_default();
        Node::from(wire::Node {
            metadata: Metadata::of(&it.metadata, IgnoredAny),
            status: wire::Status {
                allocatable: status
                    .allocatable
                    .iter()
                    .flatten()
                    .map(|(name, quantity)| {
                        (Text::from(name.as_str()), wire::Quantity::Text(Text::from(quantity.0.as_str())))
                    })
                    .collect(),
                conditions: status
                    .conditions
                    .iter()
                    .flatten()
                    .map(|it| wire::Condition {
                        kind: Text::from(it.type_.as_str()),
                        status: Text::from(it.status.as_str()),
                    })
                    .collect(),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_the_controllers_need() {
        let json = r#"{"metadata": {"name": "n", "uid": "u", "resourceVersion": "1",
            "labels": {"topology.kubernetes.io/zone": "a", "node-role.kubernetes.io/master": ""}},
            "status": {"allocatable": {"cpu": "3920m", "memory": "1Gi"},
                "conditions": [{"type": "Ready", "status": "True"}]}}"#;
        let node: Node = serde_json::from_str(json).unwrap();
        assert_eq!((&*node.zone, node.control_plane, node.ready, node.cpu_milli), ("a", true, true, 3920));
        let full: core::Node = serde_json::from_str(json).unwrap();
        assert_eq!(Node::from(&full), node);
    }
}

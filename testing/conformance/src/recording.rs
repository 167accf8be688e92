//! Format of the recordings: operations on a real cluster, and its state after each step.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result};
use serde::Deserialize;
use serde_json::Value;

use crate::{Kind, Manifest, Snapshot};

/// Includes files of the directory `recordings`.
macro_rules! builtin {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_bytes!(concat!("../recordings/", $name, ".json")))),*]
    };
}

const BUILTIN: &[(&str, &[u8])] = builtin![
    "core",
    "nodes-control-plane",
    "nodes-no-cpu",
    "nodes-not-ready-zone",
    "nodes-one-zone",
    "nodes-two-zones",
    "nodes-uneven-cpu",
    "nodes-very-uneven-cpu",
    "random",
];

/// One file: scenarios that share a set of Nodes.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recording {
    /// Kubernetes version of the recorded cluster.
    pub kubernetes: String,
    /// Nodes to create before the scenarios, with their status.
    pub nodes: Vec<Manifest>,
    /// Independent scenarios. Each has a namespace of its own.
    pub scenarios: Vec<Scenario>,
}

/// Sequence of steps in one namespace.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Name, unique within the file.
    pub name: String,
    /// Description in one line.
    pub about: String,
    /// Tags that relax the comparison or classify the scenario.
    pub tags: BTreeSet<Tag>,
    /// Steps in order.
    pub steps: Vec<Step>,
}

/// Operations, and the settled state after them.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Operations, performed one after the other without a pause.
    #[serde(rename = "do")]
    pub operations: Vec<Operation>,
    /// State of the namespace after it has settled.
    pub expect: Snapshot,
}

/// Operation on the cluster.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "op", rename_all = "kebab-case", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum Operation {
    /// Creates an object and, for kinds that need a second request for it, sets its status.
    Create {
        /// The object, without a namespace.
        obj: Manifest,
    },
    /// Applies a JSON merge patch.
    Merge {
        /// Kind of the object.
        kind: Kind,
        /// Name of the object.
        name: String,
        /// The patch.
        patch: Value,
        /// Subresource to patch; `None` for the object itself.
        #[serde(default)]
        sub: Option<Subresource>,
    },
    /// Deletes an object.
    Delete {
        /// Kind of the object.
        kind: Kind,
        /// Name of the object.
        name: String,
        /// Grace period in seconds; the default of the kind if absent.
        #[serde(default)]
        grace: Option<u32>,
    },
    /// Applies a JSON merge patch to the slice with the most endpoints of a Service, manager and address type.
    MergeSlice {
        /// Name of the Service.
        service: String,
        /// Value of the label `endpointslice.kubernetes.io/managed-by`; that of the slice controller by default.
        #[serde(default = "slice_controller")]
        managed_by: String,
        /// Address type; `IPv4` by default.
        #[serde(default = "ipv4")]
        address_type: String,
        /// The patch.
        patch: Value,
    },
    /// Deletes the slice with the most endpoints of a Service, manager and address type.
    DeleteSlice {
        /// Name of the Service.
        service: String,
        /// Value of the label `endpointslice.kubernetes.io/managed-by`; that of the slice controller by default.
        #[serde(default = "slice_controller")]
        managed_by: String,
        /// Address type; `IPv4` by default.
        #[serde(default = "ipv4")]
        address_type: String,
    },
}

/// Subresource of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Subresource {
    /// The subresource `status`.
    Status,
}

/// Tag that relaxes the comparison of a scenario or classifies it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tag {
    /// The trigger time annotation is compared too.
    ExactTime,
    /// The distribution of endpoints to slices is not compared, but the sizes of slices are.
    LoosePacking,
    /// As [`LoosePacking`](Tag::LoosePacking), but only the number of slices is compared, not their sizes.
    SizesVary,
    /// As [`LoosePacking`](Tag::LoosePacking), and of hints only the number of endpoints with each hint is compared.
    HintCounts,
    /// Events are not compared.
    NoEvents,
    /// The expected state is that of these controllers, where upstream has a bug that they fix. No effect on the
    /// comparison.
    Mended,
    /// About topology hints. No effect on the comparison.
    Hints,
    /// About Endpoints that are truncated at 1,000 addresses. No effect on the comparison.
    TruncatedEndpoints,
}

fn slice_controller() -> String {
    "endpointslice-controller.k8s.io".to_owned()
}

fn ipv4() -> String {
    "IPv4".to_owned()
}

impl Recording {
    /// Parses the text of a file.
    ///
    /// # Errors
    /// The text is not a recording. The message contains the path within the document.
    pub fn parse(text: &[u8]) -> Result<Self> {
        let mut document = serde_json::Deserializer::from_slice(text);
        Ok(serde_path_to_error::deserialize(&mut document)?)
    }

    /// Parses the recordings that are part of this crate, sorted by name. Returns them with their names.
    ///
    /// # Errors
    /// None in practice, since a test parses them all.
    pub fn builtin() -> Result<Vec<(String, Self)>> {
        BUILTIN.iter().map(|&(name, text)| Ok((name.to_owned(), Self::parse(text).context(name)?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn parse(operation: &Value) -> Result<Recording> {
        let expect = json!({ "endpoints": [], "slices": [], "events": [] });
        let step = json!({ "do": [operation], "expect": expect });
        let scenario = json!({ "name": "n", "about": "a", "tags": ["exact-time"], "steps": [step] });
        Recording::parse(json!({ "kubernetes": "1.36.2", "nodes": [], "scenarios": [scenario] }).to_string().as_bytes())
    }

    #[test]
    fn defaults() {
        let recording = parse(&json!({ "op": "delete-slice", "service": "web" })).unwrap();
        let scenario = &recording.scenarios[0];
        assert_eq!(scenario.tags, BTreeSet::from([Tag::ExactTime]));
        let expect = Operation::DeleteSlice {
            service: "web".to_owned(),
            managed_by: "endpointslice-controller.k8s.io".to_owned(),
            address_type: "IPv4".to_owned(),
        };
        assert_eq!(scenario.steps[0].operations, [expect]);
    }

    #[rstest]
    #[case::operation(json!({ "op": "reboot" }), "scenarios[0].steps[0].do[0].op: unknown variant `reboot`, expected one of `create`, ")]
    #[case::kind(json!({ "op": "delete", "kind": "Job", "name": "x" }), "unknown variant `Job`, expected one of `Pod`, ")]
    #[case::field(json!({ "op": "delete", "kind": "Pod", "name": "x", "force": true }), "unknown field `force`")]
    #[case::part(json!({ "op": "merge", "kind": "Pod", "name": "x", "patch": {}, "sub": "scale" }), "unknown variant `scale`")]
    #[case::object(json!({ "op": "create", "obj": { "kind": "Pod", "metadata": {} } }), "a Pod without a name")]
    #[case::object_kind(json!({ "op": "create", "obj": { "metadata": {} } }), "an object without a kind")]
    fn refuses(#[case] operation: Value, #[case] expect: &str) {
        let error = parse(&operation).unwrap_err().to_string();
        assert!(error.contains(expect), "{error}");
    }
}

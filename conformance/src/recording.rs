//! The files: what was done to a real cluster, and what it looked like afterwards.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;
use serde_json::Value;

use crate::{Kind, Manifest, Snapshot};

/// One file: the scenarios that share a set of nodes.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recording {
    /// The version of the cluster that was recorded.
    pub kubernetes: String,
    /// To be created first, with their status.
    pub nodes: Vec<Manifest>,
    /// Independent of each other; each has a namespace to itself.
    pub scenarios: Vec<Scenario>,
}

/// A walk through one namespace.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Unique within the file.
    pub name: String,
    /// One line for people.
    pub about: String,
    /// How strictly to compare.
    pub tags: BTreeSet<Tag>,
    /// In this order.
    pub steps: Vec<Step>,
}

/// Operations, and the settled state they lead to.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Performed one after the other without a pause.
    #[serde(rename = "do")]
    pub operations: Vec<Operation>,
    /// The state once nothing changes any more.
    pub expect: Snapshot,
}

/// Something done to the cluster.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "op", rename_all = "kebab-case", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum Operation {
    /// Create an object and, for kinds that need a second request for it, set its status.
    Create {
        /// The object, without a namespace.
        obj: Manifest,
    },
    /// Apply a JSON merge patch.
    Merge {
        /// To an object of this kind
        kind: Kind,
        /// and this name.
        name: String,
        /// The patch.
        patch: Value,
        /// Which part of the object is patched, if not the whole.
        #[serde(default)]
        sub: Option<Subresource>,
    },
    /// Delete an object.
    Delete {
        /// Of this kind
        kind: Kind,
        /// and this name.
        name: String,
        /// Grace period in seconds; the kind's default when absent.
        #[serde(default)]
        grace: Option<u32>,
    },
    /// Apply a JSON merge patch to the slice that has the most endpoints among those of a service.
    MergeSlice {
        /// The service.
        service: String,
        /// Only slices with this managed-by label count,
        #[serde(default = "slice_controller")]
        managed_by: String,
        /// and only those of this address type.
        #[serde(default = "ipv4")]
        address_type: String,
        /// The patch.
        patch: Value,
    },
    /// Delete that slice.
    DeleteSlice {
        /// The service.
        service: String,
        /// Only slices with this managed-by label count,
        #[serde(default = "slice_controller")]
        managed_by: String,
        /// and only those of this address type.
        #[serde(default = "ipv4")]
        address_type: String,
    },
}

/// A part of an object with a path of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Subresource {
    /// What the kubelet reports.
    Status,
}

/// How a scenario is to be compared, or what it is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tag {
    /// The trigger time annotation counts too.
    ExactTime,
    /// Which endpoint is in which slice does not count, but how many there are in each slice does.
    LoosePacking,
    /// With loose packing: only the number of slices counts.
    SizesVary,
    /// As loose packing, and which endpoint carries which hint does not count either.
    HintCounts,
    /// Events do not count.
    NoEvents,
    /// The expectation is ours: upstream does something we mend. Compared like any other.
    Mended,
    /// About topology hints. Compared like any other.
    Hints,
    /// About Endpoints cut off at a thousand addresses. Compared like any other.
    TruncatedEndpoints,
}

fn slice_controller() -> String {
    "endpointslice-controller.k8s.io".to_owned()
}

fn ipv4() -> String {
    "IPv4".to_owned()
}

impl Recording {
    /// Parses the text of a file; an error says where in the document the mistake is.
    pub fn parse(text: &[u8]) -> Result<Self> {
        let mut document = serde_json::Deserializer::from_slice(text);
        Ok(serde_path_to_error::deserialize(&mut document)?)
    }

    /// Reads a file.
    pub fn read(path: &Path) -> Result<Self> {
        let text = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        Self::parse(&text).with_context(|| path.display().to_string())
    }

    /// Reads all files of a directory, by the name of the file without its ending.
    pub fn read_all(directory: &Path) -> Result<Vec<(String, Self)>> {
        let names = || -> std::io::Result<Vec<PathBuf>> {
            fs::read_dir(directory)?.map(|entry| entry.map(|entry| entry.path())).collect()
        };
        let mut paths = names().with_context(|| format!("cannot read {}", directory.display()))?;
        paths.retain(|path| path.extension().is_some_and(|ending| ending == "json"));
        paths.sort();
        ensure!(!paths.is_empty(), "{} holds no recordings", directory.display());
        let named = |path: PathBuf| {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            Ok((name, Self::read(&path)?))
        };
        paths.into_iter().map(named).collect()
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

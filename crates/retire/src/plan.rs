//! The plan, as it is written to a file and read from it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::evidence::Evidence;
use crate::readers::Reader;
use crate::savings::Savings;
use crate::writers::Writer;

/// Version of the format of plans.
pub const API_VERSION: &str = "retire/v1";

/// What is known about the Endpoints of a cluster, and which of them may be deleted.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    /// Version of the format: `retire/v1`.
    pub api_version: String,
    /// Time at which the objects were read.
    pub created: Timestamp,
    /// Cluster that the objects were read from.
    pub cluster: Cluster,
    /// Namespace that was read; `None` for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Whether all Endpoints that were read can go.
    pub verdict: Verdict,
    /// Endpoints with the label of the endpoints controller, ordered by namespace and name.
    pub objects: Vec<PlannedObject>,
    /// What the verdicts are based on.
    #[serde(default)]
    pub findings: Findings,
}

/// What the verdicts of a plan are based on.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Findings {
    /// How much is known of who reads Endpoints.
    pub evidence: Evidence,
    /// Who reads Endpoints, is known to, or could; the surest first.
    pub readers: Vec<Reader>,
    /// Endpoints that others than the endpoints controller write, ordered by namespace and name.
    pub writers: Vec<Writer>,
    /// Managed Endpoints that no controller keeps up to date, ordered by namespace and name.
    pub left_overs: Vec<LeftOver>,
    /// What the cluster saves without the managed Endpoints.
    pub savings: Savings,
}

/// A managed Endpoints object that no controller keeps up to date.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LeftOver {
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// Why it is left over.
    pub because: LeftOverBecause,
}

/// Why an Endpoints object is left over.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum LeftOverBecause {
    /// Its Service does not exist.
    ServiceGone,
    /// Its Service has no selector any more, or is of type `ExternalName`.
    SelectorGone,
}

/// Identity of a cluster.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Cluster {
    /// UID of the namespace `kube-system`.
    pub uid: String,
}

/// Whether Endpoints can go without harm to who reads them.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", tag = "answer")]
pub enum Verdict {
    /// No program has read them for the whole time that was asked for.
    Safe,
    /// Somebody reads them, or needs them.
    NotSafe {
        /// Why, one sentence each.
        because: Vec<String>,
    },
    /// The evidence does not suffice.
    Unknown {
        /// What is not known, one sentence each.
        because: Vec<String>,
        /// What would make it known, one sentence each.
        needs: Vec<String>,
    },
}

/// Endpoints object with the label `endpoints.kubernetes.io/managed-by: endpoint-controller`.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlannedObject {
    /// Namespace.
    pub namespace: String,
    /// Name, which is that of its Service, if there is one.
    pub name: String,
    /// UID of the object that was read.
    pub uid: String,
    /// Version of the object that was read.
    pub resource_version: String,
    /// Whether the object may be deleted, as far as its content says.
    pub state: ObjectState,
    /// Whether no program needs it.
    pub verdict: Verdict,
}

/// Content of an Endpoints object beside what the endpoints controller would write.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ObjectState {
    /// It is what the controller would write: `apply` may delete it.
    Current,
    /// Left over: its Service is gone, or has no selector any more. The controller would delete it, or has left it.
    LeftOver,
    /// Its content differs from what the controller would write, or could not be compared: somebody has changed it, or no
    /// controller has run since.
    Differs,
}

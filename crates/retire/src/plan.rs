//! The plan, as it is written to a file and read from it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

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
    /// Nobody has read them for the whole time that was asked for.
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
    /// Whether nobody needs it.
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
    /// Its content differs from what the controller would write: somebody has changed it, or no controller has run since.
    Differs,
}

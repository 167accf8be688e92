//! Why an Endpoints object is not deleted.

use std::fmt;

/// Why an Endpoints object is not deleted. Its text continues a sentence about the object, such as `shop/web:`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kept {
    /// The plan calls it not safe, for these reasons.
    NotSafe(Vec<String>),
    /// The plan does not know whether it is safe, for these reasons, and this was not accepted.
    Unknown(Vec<String>),
    /// Its content is not what the endpoints controller would write.
    Differs,
    /// It cannot be compared with what the endpoints controller would write: objects may not be read.
    NotCompared,
    /// Slices mirror it, or will do so. They would go with it.
    Mirrored,
    /// It has another UID or resource version than in the plan.
    Changed,
    /// It is the object of the API server itself: `default/kubernetes`.
    OfApiServer,
    /// It lacks the label `endpoints.kubernetes.io/managed-by: endpoint-controller`.
    NotManaged,
    /// It is a lock of leader election.
    LeaderLock,
    /// It has finalizers: another program is to be notified of its deletion.
    Finalizers,
    /// It is being deleted already.
    Terminating,
}

impl fmt::Display for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Kept::NotSafe(because) => return write!(f, "not safe: {}", because.join("; ")),
            Kept::Unknown(because) => return write!(f, "not known to be safe: {}", because.join("; ")),
            Kept::Differs => "its content is not what the endpoints controller would write",
            Kept::NotCompared => "not compared with what the endpoints controller would write: objects may not be read",
            Kept::Mirrored => "its mirrored EndpointSlices would be deleted with it",
            Kept::Changed => "it has another UID or version than in the plan",
            Kept::OfApiServer => "it belongs to the API server",
            Kept::NotManaged => "it has no label endpoints.kubernetes.io/managed-by: endpoint-controller",
            Kept::LeaderLock => "it is a lock of leader election",
            Kept::Finalizers => "it has finalizers",
            Kept::Terminating => "it is being deleted",
        };
        f.write_str(text)
    }
}

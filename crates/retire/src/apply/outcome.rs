//! What a run has done.

use std::fmt;

use kube_wire::ObjectKey;

use super::Kept;
use crate::Who;

/// What a run has done, object by object: each target is in one of the lists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Objects that were deleted.
    pub deleted: Vec<ObjectKey>,
    /// Objects that did not exist any more.
    pub gone: Vec<ObjectKey>,
    /// Objects whose deletion was not answered: they may have been deleted.
    pub unanswered: Vec<ObjectKey>,
    /// Objects that stay, and why.
    pub kept: Vec<(ObjectKey, Kept)>,
    /// Objects that the run has not come to, or whose deletion has failed.
    pub remaining: Vec<ObjectKey>,
    /// Why the run ended before its end.
    pub stopped: Option<Stop>,
}

/// Why a run ended before its end.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stop {
    /// Another client wrote managed Endpoints.
    Written {
        /// The object.
        key: ObjectKey,
        /// Field manager that has written it; `None` if it is not known.
        by: Option<String>,
    },
    /// A deleted object was created again.
    Recreated {
        /// The object.
        key: ObjectKey,
        /// Field manager that has created it; `None` if it is not known.
        by: Option<String>,
    },
    /// A program that may need the objects has read one.
    Read {
        /// The object.
        key: ObjectKey,
        /// Who has read it.
        by: Who,
        /// The request, such as `list in namespace shop (curl/8.5.0)`.
        what: String,
    },
    /// A request has failed, or another work of the caller.
    Failed(String),
    /// Ctrl-C, or SIGTERM.
    Signal,
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let by = |by: &Option<String>| by.as_ref().map(|by| format!(" by {by}")).unwrap_or_default();
        match self {
            Stop::Written { key, by: manager } => {
                write!(
                    f,
                    "Endpoints {key} were written{} during the run: the endpoints controller may still be on",
                    by(manager)
                )
            }
            Stop::Recreated { key, by: manager } => write!(
                f,
                "Endpoints {key} were created again{} after their deletion: the endpoints controller is still on",
                by(manager)
            ),
            Stop::Read { key, by, what } => {
                write!(f, "{by} still reads Endpoints, among them {key}, which was deleted or is about to be: {what}")
            }
            Stop::Failed(message) => f.write_str(message),
            Stop::Signal => f.write_str("stopped by a signal"),
        }
    }
}

//! What a timeline consists of.

use jiff::{SignedDuration, Timestamp};
use kube_endpoints_explain::{ObjectRef, Reason};
use serde::{Serialize, Serializer};

use crate::{Author, Change, What};

/// What an address is for the clients of a Service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum EndpointState {
    /// It is no endpoint.
    Absent,
    /// It is an endpoint that is not ready.
    NotReady,
    /// It receives traffic.
    Ready,
    /// Its Pod is being deleted, and still answers requests.
    Draining,
    /// Its Pod is being deleted, and no longer ready.
    Terminating,
}

/// A change of a Service's endpoints, or something that could have changed them.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// Time at which the cause was seen.
    pub time: Timestamp,
    /// What it changed; `None` for no effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<EndpointChange>,
    /// Why.
    pub cause: Cause,
    /// Number of ready endpoints afterwards, as they should be.
    pub ready: usize,
    /// How it was written; `None` if it was not, or is not to be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written: Option<Written>,
}

/// Change of one address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EndpointChange {
    /// The address.
    pub address: String,
    /// Name of the Pod behind it; `None` if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pod: Option<String>,
    /// What the address was.
    pub from: EndpointState,
    /// What it is.
    pub to: EndpointState,
}

/// Cause of a change.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Cause {
    /// Object whose change caused it.
    pub object: ObjectRef,
    /// What was done to the object.
    pub action: Action,
    /// Reason of the rules: why the address is not ready, or no endpoint. For an address that is ready again, what has
    /// ended. `None` if nothing stood against it.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// Whether the reason has ended.
    pub ended: bool,
    /// Field manager that wrote the object; `None` if it is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manager: Option<String>,
    /// User that wrote the object; `None` if it is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
}

/// What was done to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Action {
    /// It was created, or began to be selected.
    Created,
    /// It was changed.
    Changed,
    /// It was deleted.
    Deleted,
}

/// The EndpointSlice that shows a change to clients.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Written {
    /// The slice.
    pub object: ObjectRef,
    /// Field manager that wrote it; `None` if it is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manager: Option<String>,
    /// Time from the cause until the slice was seen, in milliseconds.
    #[serde(rename = "afterMilliseconds", serialize_with = "milliseconds")]
    pub after: SignedDuration,
}

impl Cause {
    pub(super) fn new(object: ObjectRef, change: &Change, reason: Option<Reason>, ended: bool) -> Cause {
        let action = match &change.what {
            What::Put { before: None, .. } => Action::Created,
            What::Put { .. } | What::Gap(_) => Action::Changed,
            What::Removed(_) => Action::Deleted,
        };
        let (manager, user) = names(change.author.as_ref());
        Cause { object, action, reason, ended, manager, user }
    }
}

/// Returns manager and user as far as they are known.
pub(super) fn names(author: Option<&Author>) -> (Option<String>, Option<String>) {
    let known = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    author.map_or((None, None), |author| (known(&author.manager), known(&author.user)))
}

fn milliseconds<S: Serializer>(after: &SignedDuration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_i128(after.as_millis())
}

//! Who made a change, and what was done.

use jiff::{SignedDuration, Timestamp};

use crate::{Action, Change, Recorded, What};

/// Age of the newest entry of `managedFields` from which it is that of an earlier write.
const STALE: SignedDuration = SignedDuration::from_secs(30);

/// Field manager and user, as far as they are known.
pub(super) type Names = (Option<String>, Option<String>);

/// Returns who made a change that happened at `earliest` or later.
///
/// A write that only removes fields, and one that begins a deletion, leave no entry in `managedFields`: the newest one is then
/// of another write.
pub(super) fn names(change: &Change, earliest: Timestamp) -> Names {
    let Some(author) = &change.author else { return (None, None) };
    let known = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let is_stale = author.time.is_some_and(|time| earliest.duration_since(time) > STALE);
    let manager = known(&author.manager).filter(|_| !is_stale && !begins_deletion(change));
    (manager, known(&author.user))
}

fn begins_deletion(change: &Change) -> bool {
    match &change.what {
        What::Put { before: Some(before), after } => !is_terminating(before) && is_terminating(after),
        _ => false,
    }
}

fn is_terminating(object: &Recorded) -> bool {
    match object {
        Recorded::Service(service) => service.terminating,
        Recorded::Pod(pod) => pod.terminating,
        Recorded::Node(_) => false,
        Recorded::Endpoints(endpoints) => endpoints.metadata.deletion_timestamp.is_some(),
        Recorded::EndpointSlice(slice) => slice.metadata.deletion_timestamp.is_some(),
    }
}

pub(super) fn action(change: &Change) -> Action {
    match &change.what {
        What::Put { before: None, .. } => Action::Created,
        What::Put { .. } | What::Gap(_) => Action::Changed,
        What::Unknown(write) => write.action,
        What::Removed(_) => Action::Deleted,
    }
}

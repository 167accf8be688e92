//! State and last write of slices and Endpoints.

use jiff::Timestamp;

use crate::counts::count;
use crate::report::{LastWrite, ObjectState, WrittenObject};
use crate::time;

/// Returns for instance `outdated, 3 endpoints`.
pub(super) fn brief(object: &WrittenObject) -> String {
    let mut parts = vec![word(object.state).to_owned()];
    if let (ObjectState::Foreign, Some(manager)) = (object.state, &object.managed_by) {
        parts.push(format!("managed by {manager}"));
    }
    parts.push(count(object.endpoints, "endpoint"));
    parts.join(", ")
}

pub(super) fn word(state: ObjectState) -> &'static str {
    match state {
        ObjectState::Current => "current",
        ObjectState::Outdated => "outdated",
        ObjectState::Superfluous => "superfluous",
        ObjectState::Orphaned => "orphaned",
        ObjectState::Foreign => "foreign",
        ObjectState::Terminating => "terminating",
        ObjectState::Unknown => "unknown",
    }
}

pub(super) fn meaning(state: ObjectState) -> &'static str {
    match state {
        ObjectState::Current => "as the controllers would write it",
        ObjectState::Outdated => "the controllers would update it",
        ObjectState::Superfluous => "the controllers would delete it",
        ObjectState::Orphaned => "no controller updates it any more",
        ObjectState::Foreign => "another program manages it",
        ObjectState::Terminating => "it is being deleted",
        ObjectState::Unknown => "not compared",
    }
}

pub(super) fn last_write(write: &LastWrite, now: Option<Timestamp>) -> String {
    format!("written {} by {}", time::shown(write.time, now), write.manager)
}

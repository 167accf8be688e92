//! State and last write of slices and Endpoints.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::counts::count;
use crate::report::{LastWrite, ObjectState, WrittenObject};

/// Returns for instance `outdated, 3 endpoints`.
pub(super) fn brief(object: &WrittenObject) -> String {
    let mut parts = vec![word(object.state).to_owned()];
    if let (ObjectState::Foreign, Some(manager)) = (object.state, &object.managed_by) {
        parts.push(format!("managed by {manager}"));
    }
    parts.push(count(object.endpoints, "endpoint"));
    parts.join(", ")
}

/// Returns the state as one word.
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

/// Returns the meaning of the state.
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

/// Returns the time and the manager of the write.
pub(super) fn last_write(write: &LastWrite, now: Option<Timestamp>) -> String {
    format!("written {} by {}", time(write.time, now), write.manager)
}

/// Returns the time in UTC, with the date unless it is that of `now`.
pub(super) fn time(time: Timestamp, now: Option<Timestamp>) -> String {
    let day = |time: Timestamp| time.to_zoned(TimeZone::UTC).date();
    let format = if now.is_some_and(|now| day(now) == day(time)) { "%H:%M:%S" } else { "%Y-%m-%d %H:%M:%SZ" };
    time.strftime(format).to_string()
}

//! Numbers of replicas.

/// Converts a number of objects to that of a status.
pub(super) fn count(objects: usize) -> i32 {
    i32::try_from(objects).unwrap_or(i32::MAX)
}

/// Returns `None` for 0, which the API omits.
pub(super) fn non_zero(count: i32) -> Option<i32> {
    Some(count).filter(|it| *it != 0)
}

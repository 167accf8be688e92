//! Answers for paths that are not served.

use super::reviews::virtual_groups;
use crate::shared::Shared;
use crate::status::StatusError;

/// Returns the 404 for a path that is not served.
///
/// Upstream's `director` passes all paths below `/api`, `/version` and the groups of built-in kinds to go-restful, whose
/// error handler (`serviceErrorHandler`) answers with a `Status`. Other paths, those of custom kinds included, end at
/// `http.NotFound`, which answers with plain text.
pub(super) fn error(shared: &Shared, path: &str) -> StatusError {
    let mut segments = path.split('/').skip(1);
    let is_claimed = match segments.next() {
        Some("api" | "version") => true,
        Some("apis") => segments.next().is_some_and(|group| is_built_in(shared, group)),
        _ => false,
    };
    if is_claimed { StatusError::no_such_resource() } else { StatusError::no_such_path() }
}

fn is_built_in(shared: &Shared, group: &str) -> bool {
    let has_kind =
        || shared.read(|cluster| cluster.kinds().all().iter().any(|kind| kind.group == group && !kind.is_custom()));
    virtual_groups().any(|it| it == group) || has_kind()
}

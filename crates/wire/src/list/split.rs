//! Splitting of a list into items, and its metadata.

use std::fmt::Debug;

use crate::{DecodeError, DecodeProblem, ResourceVersion};

/// `metav1.ListMeta`: metadata of a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListMeta {
    /// Resource version of the list, from which a watch can start.
    pub resource_version: ResourceVersion,
    /// Continue token for the next page; `None` on the last page.
    pub continue_token: Option<String>,
    /// Number of objects on the following pages (`remainingItemCount`), if the server sent it.
    pub remaining: Option<u64>,
}

/// Splits the bytes of a list into items.
pub(super) trait Split: Debug + Send + Sync {
    fn push(&mut self, chunk: &[u8]);

    /// Returns the bytes of the next item; `None` until it is complete.
    fn next_item(&mut self) -> Result<Option<&[u8]>, DecodeError>;

    /// Returns the metadata of the list. Called at the end of the body, after `next_item` has returned `None`.
    fn finish(self: Box<Self>) -> Result<ListMeta, DecodeError>;
}

pub(super) fn missing_kind(kind: &str) -> DecodeError {
    DecodeError::kind(kind, "an object without kind")
}

/// Rejects a list without a resource version, from which no watch could start.
pub(super) fn require_version(kind: &str, meta: ListMeta) -> Result<ListMeta, DecodeError> {
    if meta.resource_version.is_empty() {
        return Err(DecodeError::new(kind, DecodeProblem::MissingResourceVersion));
    }
    Ok(meta)
}

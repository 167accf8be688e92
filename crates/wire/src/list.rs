//! Decoding of lists.

mod json;
mod protobuf;
mod reader;

pub use self::reader::ListReader;
use crate::{Decode, DecodeError, Encoding, Resource, ResourceVersion};

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

/// Response to a list request, or one page of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct List<T> {
    /// Metadata of the list.
    pub meta: ListMeta,
    /// Objects in the order in which the server sent them.
    pub items: Vec<T>,
}

/// Decodes a complete list response from JSON. [`ListReader`] decodes one that arrives in chunks, or protobuf.
///
/// # Errors
///
/// - The document is not JSON, or an item exceeds [`DEFAULT_LIMIT`](crate::DEFAULT_LIMIT).
/// - The document has another kind, such as `Status` or `Table`, or another API version.
/// - The list has no `kind` or no `metadata.resourceVersion`.
/// - An item cannot be decoded; the error contains its path, such as `items[3].spec`.
pub fn decode_list<T: Decode>(bytes: &[u8]) -> Result<List<T>, DecodeError> {
    let mut reader = ListReader::new(Encoding::Json);
    reader.push(bytes);
    let mut items = Vec::new();
    while let Some(item) = reader.next_item()?.transpose()? {
        items.push(item);
    }
    Ok(List { meta: reader.finish()?, items })
}

/// Splits the bytes of a list into items.
trait Split {
    fn push(&mut self, chunk: &[u8]);

    /// Returns the bytes of the next item; `None` until it is complete.
    fn next_item(&mut self) -> Result<Option<&[u8]>, DecodeError>;

    /// Returns the metadata of the list. Called at the end of the body, after `next_item` has returned `None`.
    fn finish(self) -> Result<ListMeta, DecodeError>;
}

/// Returns the error for a list without `kind`.
fn missing_kind(kind: &str) -> DecodeError {
    DecodeError::kind(kind, "an object without kind")
}

/// Returns the error for a list of another API group or version.
fn unexpected_api_version(kind: &str, resource: &Resource, found: &str) -> DecodeError {
    DecodeError::kind(&format!("{kind} of {}", resource.api_version()), &format!("{kind} of {found}"))
}

/// Rejects a list without a resource version, from which no watch could start.
fn require_version(kind: &str, meta: ListMeta) -> Result<ListMeta, DecodeError> {
    if meta.resource_version.is_empty() {
        return Err(DecodeError::MissingResourceVersion { kind: kind.to_owned(), resource_version: None });
    }
    Ok(meta)
}

/// Rejects an object without a name: in a cache, all such objects of a namespace would share one key.
pub(crate) fn require_name<T: Decode>(object: T) -> Result<T, DecodeError> {
    if object.name().is_empty() {
        return Err(DecodeError::MissingName { kind: T::RESOURCE.kind.to_owned(), resource_version: None });
    }
    Ok(object)
}

#[cfg(test)]
mod tests;

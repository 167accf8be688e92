//! Lists: the envelope around items.

mod json;
mod protobuf;
mod reader;

pub use self::reader::ListReader;
use crate::{Decode, DecodeError, Encoding, Resource, ResourceVersion};

/// What a list says of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListMeta {
    /// The version from which a watch continues this list.
    pub resource_version: ResourceVersion,
    /// Present when more pages follow.
    pub continue_token: Option<String>,
    /// How many objects follow, when the server says so.
    pub remaining: Option<u64>,
}

/// The answer to a list request, or one page of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct List<T> {
    /// What the list says of itself.
    pub meta: ListMeta,
    /// The objects, in the server's order.
    pub items: Vec<T>,
}

/// Reads the answer to a list request that is there as a whole, from JSON; see [`ListReader`] for one that arrives in chunks.
///
/// Errors: a document of another kind (a `Status`, a `Table`), a list without `kind` or `metadata.resourceVersion`, and an item that
/// cannot be decoded, whose place is named, such as `items[3].spec`.
pub fn decode_list<T: Decode>(bytes: &[u8]) -> Result<List<T>, DecodeError> {
    let mut reader = ListReader::new(Encoding::Json);
    reader.push(bytes);
    let mut items = Vec::new();
    while let Some(item) = reader.next_item()?.transpose()? {
        items.push(item);
    }
    Ok(List { meta: reader.finish()?, items })
}

/// Finds the items of a list in its bytes.
trait Split {
    fn push(&mut self, chunk: &[u8]);

    /// The bytes of the next item, once all of them are there.
    fn next_item(&mut self) -> Result<Option<&[u8]>, DecodeError>;

    /// Called when all items were taken and no bytes follow.
    fn finish(self) -> Result<ListMeta, DecodeError>;
}

/// A list that does not say what it is.
fn unidentified(kind: &str) -> DecodeError {
    DecodeError::kind(kind, "an object that does not say what it is")
}

/// A list of another version of the API.
fn other_version(kind: &str, resource: &Resource, found: &str) -> DecodeError {
    DecodeError::kind(&format!("{kind} of {}", resource.api_version()), &format!("one of {found}"))
}

/// Refuses a list from which no watch could go on.
fn versioned(kind: &str, meta: ListMeta) -> Result<ListMeta, DecodeError> {
    if meta.resource_version.is_empty() {
        return Err(DecodeError::Unversioned { kind: kind.to_owned(), resource_version: None });
    }
    Ok(meta)
}

/// Refuses an object that no key could name, for it would silently replace another one.
pub(crate) fn named<T: Decode>(object: T) -> Result<T, DecodeError> {
    if object.name().is_empty() {
        return Err(DecodeError::Nameless { kind: T::RESOURCE.kind.to_owned(), resource_version: None });
    }
    Ok(object)
}

#[cfg(test)]
mod tests;

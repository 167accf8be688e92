//! Decoding of lists.

mod json;
mod protobuf;
mod reader;
mod split;

pub(crate) use self::reader::decode;
pub use self::{reader::ListReader, split::ListMeta};
use crate::{Decode, DecodeError, Encoding};

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

#[cfg(test)]
mod tests;

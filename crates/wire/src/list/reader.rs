//! Incremental decoding of a list.

use std::marker::PhantomData;

use super::{
    json::JsonList,
    protobuf::ProtobufList,
    split::{ListMeta, Split},
};
use crate::{DEFAULT_LIMIT, Decode, DecodeError, DecodeProblem, Encoding, Resource, Undecodable};

/// Decodes the response to a list request, or one page of it, item by item while it arrives.
///
/// [`push`](Self::push) accepts chunks of any size; [`next_item`](Self::next_item) returns each object as soon as its
/// last byte was pushed. At most one chunk and one incomplete item are buffered.
///
/// See the [crate documentation](crate) for an example.
#[derive(Debug)]
pub struct ListReader<T> {
    kind: String,
    encoding: Encoding,
    splitter: Box<dyn Split>,
    items: usize,
    object: PhantomData<fn() -> T>,
}

impl<T: Decode> ListReader<T> {
    /// Returns a reader that accepts items of up to [`DEFAULT_LIMIT`] bytes.
    pub fn new(encoding: Encoding) -> Self {
        Self::with_limit(encoding, DEFAULT_LIMIT)
    }

    /// Returns a reader that accepts items of up to `limit` bytes. Longer ones are an error and are not buffered any
    /// further.
    pub fn with_limit(encoding: Encoding, limit: usize) -> Self {
        Self::with(&T::RESOURCE, encoding, limit)
    }

    /// Returns a reader of lists of another resource than that of the type, with items of up to [`DEFAULT_LIMIT`]
    /// bytes.
    pub fn of(resource: &Resource, encoding: Encoding) -> Self {
        Self::with(resource, encoding, DEFAULT_LIMIT)
    }

    fn with(resource: &Resource, encoding: Encoding, limit: usize) -> Self {
        let kind = format!("{}List", resource.kind);
        let splitter: Box<dyn Split> = match encoding {
            Encoding::Json => Box::new(JsonList::new(kind.clone(), resource, limit)),
            Encoding::Protobuf => Box::new(ProtobufList::new(kind.clone(), resource, limit)),
        };
        Self { kind, encoding, splitter, items: 0, object: PhantomData }
    }

    /// Appends a chunk of the body. Call [`next_item`](Self::next_item) until it returns `None` before the next chunk,
    /// or complete items stay in the buffer.
    pub fn push(&mut self, chunk: &[u8]) {
        self.splitter.push(chunk);
    }

    /// Returns the next object, or an [`Undecodable`] for one that cannot be decoded; `None` until more bytes are
    /// pushed.
    ///
    /// The error of an undecodable item contains its path, such as `items[3].spec`.
    ///
    /// # Errors
    ///
    /// The document has another kind (such as `Status` or `Table`) or API version, it is malformed, an item is
    /// malformed JSON or exceeds the limit, or the type does not support the encoding. The reader and all items of the
    /// list must then be discarded.
    pub fn next_item(&mut self) -> Result<Option<Result<T, Box<Undecodable>>>, DecodeError> {
        let encoding = self.encoding;
        let Some(item) = self.splitter.next_item()? else { return Ok(None) };
        let index = self.items;
        self.items += 1;
        match decode(encoding, item) {
            Ok(object) => Ok(Some(Ok(object))),
            Err(error) => {
                let error = error.with_path_prefix(&self.kind, &format!("items[{index}]"));
                Undecodable::of(encoding, item, error).map(|it| Some(Err(it)))
            }
        }
    }

    /// Returns the metadata of the list. Call it at the end of the body, after [`next_item`](Self::next_item) has
    /// returned `None`.
    ///
    /// # Errors
    ///
    /// The body is truncated, or the list has no `kind` or no `metadata.resourceVersion`. API servers always send both;
    /// a document without them must not be treated as an empty list, which would remove every object from a cache.
    pub fn finish(self) -> Result<ListMeta, DecodeError> {
        self.splitter.finish()
    }
}

/// Decodes an object. One without a name is an error: in a cache, all such objects of a namespace would share one key.
pub(crate) fn decode<T: Decode>(encoding: Encoding, bytes: &[u8]) -> Result<T, DecodeError> {
    let object = match encoding {
        Encoding::Json => T::from_json(bytes),
        Encoding::Protobuf => T::from_protobuf(bytes),
    }?;
    if object.name().is_empty() {
        return Err(DecodeError::new(T::RESOURCE.kind, DecodeProblem::MissingName));
    }
    Ok(object)
}

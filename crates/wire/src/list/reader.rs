//! A list, item by item, as it arrives.

use std::marker::PhantomData;

use super::{ListMeta, Split as _, json::JsonList, named, protobuf::ProtobufList};
use crate::{DEFAULT_LIMIT, Decode, DecodeError, Encoding, Undecodable};

/// Reads the answer to a list request, or one page of it, without ever holding its body.
///
/// Chunks go in with [`push`](Self::push), wherever the network cut them; each object comes out of
/// [`next_item`](Self::next_item) as soon as its last byte is there. What is buffered is one incomplete item.
///
/// The documentation of the crate has an example.
#[derive(Debug)]
pub struct ListReader<T> {
    kind: String,
    splitter: Splitter,
    items: usize,
    object: PhantomData<fn() -> T>,
}

#[derive(Debug)]
enum Splitter {
    Json(JsonList),
    Protobuf(ProtobufList),
}

impl<T: Decode> ListReader<T> {
    /// A reader of items of up to [`DEFAULT_LIMIT`] bytes.
    pub fn new(encoding: Encoding) -> Self {
        Self::with_limit(encoding, DEFAULT_LIMIT)
    }

    /// A reader that refuses items longer than `limit` bytes before they fill the memory.
    pub fn with_limit(encoding: Encoding, limit: usize) -> Self {
        let kind = format!("{}List", T::RESOURCE.kind);
        let splitter = match encoding {
            Encoding::Json => Splitter::Json(JsonList::new(kind.clone(), &T::RESOURCE, limit)),
            Encoding::Protobuf => Splitter::Protobuf(ProtobufList::new(kind.clone(), &T::RESOURCE, limit)),
        };
        Self { kind, splitter, items: 0, object: PhantomData }
    }

    /// Takes the next bytes of the body. Take all items out before the next chunk, or they are buffered.
    pub fn push(&mut self, chunk: &[u8]) {
        match &mut self.splitter {
            Splitter::Json(list) => list.push(chunk),
            Splitter::Protobuf(list) => list.push(chunk),
        }
    }

    /// The next object, or what can be read of one that cannot be decoded; `None` until more bytes are pushed.
    ///
    /// A document of another kind (a `Status`, a `Table`) is refused, as is an item that is not even JSON. An error in an item names
    /// its place, such as `items[3].spec`. After an error the rest cannot be trusted: drop the reader, and what it brought.
    pub fn next_item(&mut self) -> Result<Option<Result<T, Box<Undecodable>>>, DecodeError> {
        let (encoding, item) = match &mut self.splitter {
            Splitter::Json(list) => (Encoding::Json, list.next_item()?),
            Splitter::Protobuf(list) => (Encoding::Protobuf, list.next_item()?),
        };
        let Some(item) = item else { return Ok(None) };
        let at = self.items;
        self.items += 1;
        let object = match encoding {
            Encoding::Json => T::from_json(item),
            Encoding::Protobuf => T::from_protobuf(item),
        };
        match object.and_then(named) {
            Ok(object) => Ok(Some(Ok(object))),
            Err(error) => {
                let error = error.within(&self.kind, &format!("items[{at}]"));
                Undecodable::of(encoding, item, error).map(|it| Some(Err(it)))
            }
        }
    }

    /// Returns the metadata of the list. To be called when all items were taken.
    ///
    /// Errors: the body ends too early, the list has no kind, or no `metadata.resourceVersion`. A list without them is not what an API
    /// server answers, and taking it for an empty list would remove every object from a cache.
    pub fn finish(self) -> Result<ListMeta, DecodeError> {
        match self.splitter {
            Splitter::Json(list) => list.finish(),
            Splitter::Protobuf(list) => list.finish(),
        }
    }
}

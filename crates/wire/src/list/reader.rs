//! A list, item by item, as it arrives.

use std::marker::PhantomData;

use super::{ListMeta, Split as _, json::JsonList, named, protobuf::ProtobufList};
use crate::{DEFAULT_LIMIT, Decode, DecodeError, Encoding};

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
            Encoding::Json => Splitter::Json(JsonList::new(kind.clone(), limit)),
            Encoding::Protobuf => Splitter::Protobuf(ProtobufList::new(kind.clone(), limit)),
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

    /// The next object; `None` until more bytes are pushed.
    ///
    /// A document of another kind (a `Status`, a `Table`) is refused. An error in an item names its place, such as
    /// `items[3].spec`. After an error the rest cannot be trusted: drop the reader, and what it brought.
    pub fn next_item(&mut self) -> Result<Option<T>, DecodeError> {
        let object = match &mut self.splitter {
            Splitter::Json(list) => list.next_item()?.map(T::from_json),
            Splitter::Protobuf(list) => list.next_item()?.map(T::from_protobuf),
        };
        let Some(object) = object else { return Ok(None) };
        let at = self.items;
        self.items += 1;
        object.and_then(named).map(Some).map_err(|error| error.within(&self.kind, &format!("items[{at}]")))
    }

    /// Says whether the body ended where it may, and what the list says of itself. To be called when all items were taken.
    pub fn finish(self) -> Result<ListMeta, DecodeError> {
        match self.splitter {
            Splitter::Json(list) => list.finish(),
            Splitter::Protobuf(list) => list.finish(),
        }
    }
}

//! A watch, event by event, as it arrives.

use std::marker::PhantomData;

use super::{LineSplitter, WatchEvent, json, lengths::LengthSplitter, protobuf};
use crate::{DEFAULT_LIMIT, Decode, DecodeError, Encoding, ResourceVersion};

/// Reads the body of a watch: chunks go in, wherever the network cut them, events come out.
///
/// It knows up to which version the watch was good, and its errors say so.
///
/// The documentation of the crate has an example.
#[derive(Debug)]
pub struct WatchReader<T> {
    splitter: Splitter,
    resource_version: ResourceVersion,
    object: PhantomData<fn() -> T>,
}

#[derive(Debug)]
enum Splitter {
    Json(LineSplitter),
    Protobuf(LengthSplitter),
}

impl<T: Decode> WatchReader<T> {
    /// A reader of frames of up to [`DEFAULT_LIMIT`] bytes, for a watch that begins after `resource_version`.
    pub fn new(encoding: Encoding, resource_version: ResourceVersion) -> Self {
        Self::with_limit(encoding, resource_version, DEFAULT_LIMIT)
    }

    /// A reader that refuses frames longer than `limit` bytes before they fill the memory.
    pub fn with_limit(encoding: Encoding, resource_version: ResourceVersion, limit: usize) -> Self {
        let splitter = match encoding {
            Encoding::Json => Splitter::Json(LineSplitter::new(T::RESOURCE.kind).with_limit(limit)),
            Encoding::Protobuf => Splitter::Protobuf(LengthSplitter::new(T::RESOURCE.kind, limit)),
        };
        Self { splitter, resource_version, object: PhantomData }
    }

    /// Takes the next bytes of the body. Take all events out before the next chunk, or they are buffered.
    pub fn push(&mut self, chunk: &[u8]) {
        match &mut self.splitter {
            Splitter::Json(lines) => lines.push(chunk),
            Splitter::Protobuf(frames) => frames.push(chunk),
        }
    }

    /// The next event; `None` until more bytes are pushed.
    ///
    /// An object that cannot be decoded is [`WatchEvent::Undecodable`]. After an error, of a frame that cannot be taken apart, the stream
    /// cannot be trusted any more: drop it.
    pub fn next_event(&mut self) -> Result<Option<WatchEvent<T>>, DecodeError> {
        let event: Result<Option<WatchEvent<T>>, _> = match &mut self.splitter {
            Splitter::Json(lines) => lines.next_frame().and_then(|frame| frame.map(json::event).transpose()),
            Splitter::Protobuf(frames) => frames.next_frame().and_then(|frame| frame.map(protobuf::event).transpose()),
        };
        let event = event.map_err(|error| error.after(&self.resource_version))?;
        let version = match &event {
            Some(WatchEvent::Added(object) | WatchEvent::Modified(object) | WatchEvent::Deleted(object)) => {
                object.resource_version()
            }
            Some(WatchEvent::Bookmark { resource_version, .. }) => resource_version.clone(),
            Some(WatchEvent::Undecodable { object, .. }) => object.resource_version.clone(),
            Some(WatchEvent::Error(_)) | None => ResourceVersion::default(),
        };
        // An event without a version is an event all the same.
        if !version.is_empty() {
            self.resource_version = version;
        }
        Ok(event)
    }

    /// The version of the last event, or the one after which the watch began.
    pub fn resource_version(&self) -> &ResourceVersion {
        &self.resource_version
    }

    /// Says whether the body ended where it may: between frames.
    pub fn finish(&self) -> Result<(), DecodeError> {
        let have = match &self.splitter {
            Splitter::Json(lines) => lines.pending(),
            Splitter::Protobuf(frames) => frames.pending(),
        };
        if have == 0 {
            return Ok(());
        }
        let error = DecodeError::Truncated { kind: T::RESOURCE.kind.to_owned(), have, resource_version: None };
        Err(error.after(&self.resource_version))
    }
}

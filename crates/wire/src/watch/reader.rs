//! Incremental decoding of a watch.

use std::marker::PhantomData;

use super::{EventHead, LineSplitter, Observe, Received, WatchEvent, json, lengths::LengthSplitter, protobuf};
use crate::{DEFAULT_LIMIT, Decode, DecodeError, DecodeProblem, Encoding, ResourceVersion};

/// Decodes the response to a watch request, event by event while it arrives.
///
/// [`push`](Self::push) accepts chunks of any size; [`next_event`](Self::next_event) returns each event as soon as its
/// last byte was pushed. Errors contain the resource version of the last good event.
///
/// See the [crate documentation](crate) for an example.
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
    /// Returns a reader for a watch that starts after `resource_version`. It accepts frames of up to [`DEFAULT_LIMIT`]
    /// bytes.
    pub fn new(encoding: Encoding, resource_version: ResourceVersion) -> Self {
        Self::with_limit(encoding, resource_version, DEFAULT_LIMIT)
    }

    /// Returns a reader that accepts frames of up to `limit` bytes. Longer ones are an error and are not buffered any
    /// further.
    pub fn with_limit(encoding: Encoding, resource_version: ResourceVersion, limit: usize) -> Self {
        let splitter = match encoding {
            Encoding::Json => Splitter::Json(LineSplitter::new(T::RESOURCE.kind).with_limit(limit)),
            Encoding::Protobuf => Splitter::Protobuf(LengthSplitter::new(T::RESOURCE.kind, limit)),
        };
        Self { splitter, resource_version, object: PhantomData }
    }

    /// Appends a chunk of the body. Call [`next_event`](Self::next_event) until it returns `None` before the next
    /// chunk, or complete frames stay in the buffer.
    pub fn push(&mut self, chunk: &[u8]) {
        match &mut self.splitter {
            Splitter::Json(lines) => lines.push(chunk),
            Splitter::Protobuf(frames) => frames.push(chunk),
        }
    }

    /// Returns the next event; `None` until more bytes are pushed.
    ///
    /// An object that cannot be decoded is returned as [`WatchEvent::Undecodable`].
    ///
    /// # Errors
    ///
    /// The frame is malformed or exceeds the limit, its `type` is unknown, its object has another kind or API version
    /// (checked for protobuf only), or the type does not support the encoding. The watch must then be closed.
    pub fn next_event(&mut self) -> Result<Option<WatchEvent<T>>, DecodeError> {
        match self.next_event_observed(None::<fn(&EventHead) -> bool>, None)? {
            Some(Received::Event(event)) => Ok(Some(event)),
            Some(Received::Known(_)) | None => Ok(None),
        }
    }

    /// As [`next_event`](Self::next_event), but returns [`Received::Known`] without decoding the object of an `ADDED` or
    /// `MODIFIED` event for which `is_known` returns true. For protobuf only: `is_known` is not called for JSON.
    ///
    /// Calls `observe` with the bytes of the object before they are decoded, for a part of the object that the type does not
    /// contain.
    ///
    /// # Errors
    ///
    /// Those of [`next_event`](Self::next_event).
    pub fn next_event_observed(
        &mut self,
        is_known: Option<impl FnOnce(&EventHead) -> bool>,
        observe: Observe<'_>,
    ) -> Result<Option<Received<T>>, DecodeError> {
        let received: Result<Option<Received<T>>, _> = match &mut self.splitter {
            Splitter::Json(lines) => lines
                .next_frame()
                .and_then(|frame| frame.map(|it| json::event(it, observe)).transpose())
                .map(|it| it.map(Received::Event)),
            Splitter::Protobuf(frames) => {
                frames.next_frame().and_then(|frame| frame.map(|it| protobuf::event(it, is_known, observe)).transpose())
            }
        };
        let received = received.map_err(|error| error.with_resource_version(&self.resource_version))?;
        let version = match &received {
            Some(Received::Event(event)) => event.resource_version(),
            Some(Received::Known(head)) => head.resource_version.clone(),
            None => ResourceVersion::default(),
        };
        // An event without a resource version is still delivered; the last known version stays.
        if !version.is_empty() {
            self.resource_version = version;
        }
        Ok(received)
    }

    /// Returns the resource version of the last event, or the one the watch started from.
    pub fn resource_version(&self) -> &ResourceVersion {
        &self.resource_version
    }

    /// Checks at the end of the body that no frame is incomplete.
    ///
    /// # Errors
    ///
    /// [`DecodeProblem::Truncated`] if the body ended within a frame.
    pub fn finish(&self) -> Result<(), DecodeError> {
        let received = match &self.splitter {
            Splitter::Json(lines) => lines.pending(),
            Splitter::Protobuf(frames) => frames.pending(),
        };
        if received == 0 {
            return Ok(());
        }
        let error = DecodeError::new(T::RESOURCE.kind, DecodeProblem::Truncated { received });
        Err(error.with_resource_version(&self.resource_version))
    }
}

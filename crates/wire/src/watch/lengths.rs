//! Length-prefixed frames of protobuf watches.

use crate::{DecodeError, DecodeProblem, buffer::Buffer};

/// Splits a stream of frames, each preceded by its length as a big-endian `u32` (Go:
/// `framer.NewLengthDelimitedFrameReader`).
#[derive(Debug)]
pub(super) struct LengthSplitter {
    kind: &'static str,
    limit: usize,
    buffer: Buffer,
}

impl LengthSplitter {
    pub(super) fn new(kind: &'static str, limit: usize) -> Self {
        Self { kind, limit, buffer: Buffer::default() }
    }

    pub(super) fn push(&mut self, chunk: &[u8]) {
        self.buffer.push(chunk);
    }

    /// Returns the next complete frame without its length prefix; `None` until more bytes are pushed.
    pub(super) fn next_frame(&mut self) -> Result<Option<&[u8]>, DecodeError> {
        let Some((length, rest)) = self.buffer.unconsumed().split_first_chunk() else { return Ok(None) };
        // The conversion fails only on 16-bit targets, where such a frame exceeds any limit.
        let length = usize::try_from(u32::from_be_bytes(*length)).unwrap_or(usize::MAX);
        if length > self.limit {
            return Err(DecodeError::new(self.kind, DecodeProblem::FrameTooLong { limit: self.limit }));
        }
        if rest.len() < length {
            return Ok(None);
        }
        self.buffer.consume(4);
        Ok(Some(self.buffer.consume(length)))
    }

    /// Returns the number of buffered bytes of an incomplete frame.
    pub(super) fn pending(&self) -> usize {
        self.buffer.unconsumed().len()
    }
}

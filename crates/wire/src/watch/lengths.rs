//! Frames that say how long they are: watches in protobuf.

use crate::{DecodeError, buffer::Buffer};

/// Cuts a stream of frames, each after its length as four bytes, the highest first.
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

    /// The next whole frame, without its length; `None` until more bytes are pushed.
    pub(super) fn next_frame(&mut self) -> Result<Option<&[u8]>, DecodeError> {
        let Some((length, rest)) = self.buffer.rest().split_first_chunk() else { return Ok(None) };
        // On a machine of 16 bits, too long just the same.
        let length = usize::try_from(u32::from_be_bytes(*length)).unwrap_or(usize::MAX);
        if length > self.limit {
            let (kind, limit) = (self.kind.to_owned(), self.limit);
            return Err(DecodeError::FrameTooLong { kind, limit, resource_version: None });
        }
        if rest.len() < length {
            return Ok(None);
        }
        self.buffer.take(4);
        Ok(Some(self.buffer.take(length)))
    }

    /// Bytes of a frame that is not complete.
    pub(super) fn pending(&self) -> usize {
        self.buffer.rest().len()
    }
}

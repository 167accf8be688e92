//! Frames of a watch.

use bytes::{Buf as _, Bytes, BytesMut};

/// Splits the body of a watch into frames: lines of JSON, or length-prefixed protobuf messages.
#[derive(Debug)]
pub(crate) struct Frames {
    in_protobuf: bool,
    buffer: BytesMut,
}

impl Frames {
    pub(crate) fn new(in_protobuf: bool) -> Frames {
        Frames { in_protobuf, buffer: BytesMut::new() }
    }

    pub(crate) fn push(&mut self, chunk: &[u8]) {
        self.buffer.extend_from_slice(chunk);
    }

    /// Returns the next complete frame, including its newline or length prefix.
    pub(crate) fn next(&mut self) -> Option<Bytes> {
        let length = if self.in_protobuf {
            let mut head = self.buffer.get(..4)?;
            head.get_u32() as usize + 4
        } else {
            self.buffer.iter().position(|byte| *byte == b'\n')? + 1
        };
        (length <= self.buffer.len()).then(|| self.buffer.split_to(length).freeze())
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::json(false, b"{\"a\":1}\n{\"b\":2}\n", &[8, 8])]
    #[case::protobuf(true, b"\0\0\0\x02ab\0\0\0\0\0\0\0\x01c", &[6, 4, 5])]
    fn come_whole_however_they_arrive(#[case] in_protobuf: bool, #[case] body: &[u8], #[case] lengths: &[usize]) {
        for size in 1..=body.len() {
            let (mut frames, mut found) = (Frames::new(in_protobuf), Vec::new());
            for chunk in body.chunks(size) {
                frames.push(chunk);
                while let Some(frame) = frames.next() {
                    found.push(frame.len());
                }
            }
            assert_eq!(found, lengths, "chunks of {size}");
        }
    }
}

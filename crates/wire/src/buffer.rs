//! Buffer of received bytes that are not consumed yet.

/// Capacity in bytes that a buffer keeps after a large item or frame was consumed.
const RETAINED_CAPACITY: usize = 128 << 10;

/// Contiguous queue of bytes.
#[derive(Debug, Default)]
pub(crate) struct Buffer {
    bytes: Vec<u8>,
    /// Number of consumed bytes at the beginning of `bytes`.
    start: usize,
    /// Bytes of the stream that were removed from `bytes`.
    dropped: u64,
}

impl Buffer {
    /// Appends a chunk, after moving the unconsumed bytes to the front. No other method moves bytes.
    pub(crate) fn push(&mut self, chunk: &[u8]) {
        if self.start > 0 {
            self.dropped += self.start as u64;
            self.bytes.drain(..self.start);
            self.start = 0;
        }
        if self.bytes.capacity() > RETAINED_CAPACITY && self.bytes.len() + chunk.len() <= RETAINED_CAPACITY {
            self.bytes.shrink_to(RETAINED_CAPACITY);
        }
        self.bytes.extend_from_slice(chunk);
    }

    pub(crate) fn unconsumed(&self) -> &[u8] {
        &self.bytes[self.start..]
    }

    pub(crate) fn consume(&mut self, count: usize) -> &[u8] {
        let from = self.start;
        self.start += count;
        &self.bytes[from..self.start]
    }

    /// Returns how many bytes of the stream were consumed.
    pub(crate) fn position(&self) -> u64 {
        self.dropped + self.start as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn returns_pushed_bytes() {
        let mut buffer = Buffer::default();
        buffer.push(b"abc");
        assert_eq!(buffer.consume(2), b"ab");
        assert_eq!(buffer.position(), 2);
        buffer.push(b"de");
        assert_eq!((buffer.unconsumed(), buffer.position()), (&b"cde"[..], 2));
        assert_eq!(buffer.consume(3), b"cde");
        buffer.push(b"");
        assert_eq!((buffer.unconsumed(), buffer.position()), (&b""[..], 5));
    }

    #[test]
    fn capacity_does_not_grow_with_the_stream_and_shrinks_after_a_large_item() {
        let mut buffer = Buffer::default();
        for _ in 0..1000 {
            buffer.push(&[7; 3000]);
            buffer.consume(buffer.unconsumed().len() / 2);
        }
        assert!(buffer.bytes.capacity() <= 4 * 6000, "{}", buffer.bytes.capacity());
        buffer.push(&vec![7; 10 << 20]);
        buffer.consume(buffer.unconsumed().len());
        buffer.push(&[7; 3000]);
        assert!(buffer.bytes.capacity() <= RETAINED_CAPACITY, "{}", buffer.bytes.capacity());
    }
}

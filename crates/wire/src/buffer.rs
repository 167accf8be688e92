//! The bytes of a stream that have arrived and are not used yet.

/// What a buffer may keep allocated once a large piece has passed through it.
const KEEP: usize = 128 << 10;

/// A queue of bytes in one piece of memory.
#[derive(Debug, Default)]
pub(crate) struct Buffer {
    bytes: Vec<u8>,
    /// What is before has been used.
    start: usize,
    /// How much of the stream is no longer in `bytes`.
    dropped: u64,
}

impl Buffer {
    /// Takes the next chunk. Only here bytes move: the rest of the piece that was not complete.
    pub(crate) fn push(&mut self, chunk: &[u8]) {
        if self.start > 0 {
            self.dropped += self.start as u64;
            self.bytes.drain(..self.start);
            self.start = 0;
        }
        if self.bytes.capacity() > KEEP && self.bytes.len() + chunk.len() <= KEEP {
            self.bytes.shrink_to(KEEP);
        }
        self.bytes.extend_from_slice(chunk);
    }

    /// What is not used yet.
    pub(crate) fn rest(&self) -> &[u8] {
        &self.bytes[self.start..]
    }

    /// Says that the next `count` bytes are used, and returns them.
    pub(crate) fn take(&mut self, count: usize) -> &[u8] {
        let from = self.start;
        self.start += count;
        &self.bytes[from..self.start]
    }

    /// How many bytes of the stream are used.
    pub(crate) fn position(&self) -> u64 {
        self.dropped + self.start as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hands_out_what_came_in() {
        let mut buffer = Buffer::default();
        buffer.push(b"abc");
        assert_eq!(buffer.take(2), b"ab");
        assert_eq!(buffer.position(), 2);
        buffer.push(b"de");
        assert_eq!((buffer.rest(), buffer.position()), (&b"cde"[..], 2));
        assert_eq!(buffer.take(3), b"cde");
        buffer.push(b"");
        assert_eq!((buffer.rest(), buffer.position()), (&b""[..], 5));
    }

    #[test]
    fn does_not_grow_with_the_stream_and_lets_go_of_a_large_piece() {
        let mut buffer = Buffer::default();
        for _ in 0..1000 {
            buffer.push(&[7; 3000]);
            buffer.take(buffer.rest().len() / 2);
        }
        assert!(buffer.bytes.capacity() <= 4 * 6000, "{}", buffer.bytes.capacity());
        buffer.push(&vec![7; 10 << 20]);
        buffer.take(buffer.rest().len());
        buffer.push(&[7; 3000]);
        assert!(buffer.bytes.capacity() <= KEEP, "{}", buffer.bytes.capacity());
    }
}

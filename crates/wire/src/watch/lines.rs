//! Frames that end with their line: watches in JSON.

use memchr::memchr;

use crate::{DEFAULT_LIMIT, DecodeError, buffer::Buffer};

/// Cuts a stream of newline-terminated JSON documents into documents.
///
/// [`WatchReader`](crate::WatchReader) decodes them, too; this is for those who want the bytes. Chunks go in with
/// [`push`](Self::push), whole frames come out of [`next_frame`](Self::next_frame) without a copy.
#[derive(Debug)]
pub struct LineSplitter {
    kind: String,
    limit: usize,
    buffer: Buffer,
    /// How much of the buffer is known to hold no newline, so that long frames are searched once.
    searched: usize,
}

impl LineSplitter {
    /// A splitter for a watch of `kind`, with the default limit.
    pub fn new(kind: &str) -> Self {
        Self { kind: kind.to_owned(), limit: DEFAULT_LIMIT, buffer: Buffer::default(), searched: 0 }
    }

    /// Refuses frames longer than `limit` bytes.
    #[must_use]
    pub fn with_limit(self, limit: usize) -> Self {
        Self { limit, ..self }
    }

    /// Takes the next bytes of the body.
    pub fn push(&mut self, chunk: &[u8]) {
        self.buffer.push(chunk);
    }

    /// The next whole frame, without its newline; `None` until more bytes are pushed. Blank lines are skipped.
    ///
    /// After an error the stream cannot be trusted any more: drop it.
    pub fn next_frame(&mut self) -> Result<Option<&[u8]>, DecodeError> {
        loop {
            let rest = self.buffer.rest();
            let end = memchr(b'\n', &rest[self.searched..]).map(|at| self.searched + at);
            let have = end.unwrap_or(rest.len());
            // A frame that can only become too long is refused before it fills the memory.
            if have > self.limit {
                let (kind, limit) = (self.kind.clone(), self.limit);
                return Err(DecodeError::FrameTooLong { kind, limit, resource_version: None });
            }
            let blank = rest[..have].trim_ascii().is_empty();
            let Some(end) = end else {
                self.searched = have;
                return Ok(None);
            };
            self.searched = 0;
            if !blank {
                return Ok(Some(&self.buffer.take(end + 1)[..end]));
            }
            self.buffer.take(end + 1);
        }
    }

    /// Says whether the body ended where it may: between frames.
    pub fn finish(&self) -> Result<(), DecodeError> {
        match self.pending() {
            0 => Ok(()),
            have => Err(DecodeError::Truncated { kind: self.kind.clone(), have, resource_version: None }),
        }
    }

    /// Bytes of a frame that is not complete.
    pub(super) fn pending(&self) -> usize {
        self.buffer.rest().trim_ascii().len()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    fn split<'a>(limit: usize, chunks: impl IntoIterator<Item = &'a [u8]>) -> Result<Vec<String>, DecodeError> {
        let mut splitter = LineSplitter::new("Pod").with_limit(limit);
        let mut frames = Vec::new();
        for chunk in chunks {
            splitter.push(chunk);
            while let Some(frame) = splitter.next_frame()? {
                frames.push(String::from_utf8_lossy(frame).into_owned());
            }
        }
        splitter.finish().map(|()| frames)
    }

    #[rstest]
    #[case::whole(&["a\nb\n"], "a b")]
    #[case::cut(&["a", "b\nc", "\n"], "ab c")]
    #[case::blank(&["\n\r\n", "a\n \n"], "a")]
    #[case::nothing(&[], "")]
    fn frames(#[case] chunks: &[&str], #[case] expect: &str) {
        let frames = split(100, chunks.iter().map(|chunk| chunk.as_bytes())).unwrap();
        assert_eq!(frames.join(" "), expect);
    }

    #[rstest]
    #[case::ended(&["a\nbc"], "the watch of Pod ended 2 bytes into a frame")]
    #[case::long(&["abcdefgh\n"], "a watch frame of Pod is longer than 5 bytes")]
    #[case::growing(&["abc", "def"], "a watch frame of Pod is longer than 5 bytes")]
    fn refuses(#[case] chunks: &[&str], #[case] expect: &str) {
        let error = split(5, chunks.iter().map(|chunk| chunk.as_bytes())).unwrap_err();
        assert_eq!(error.to_string(), expect);
    }

    proptest! {
        #[test]
        fn cuts_do_not_matter(lines in prop::collection::vec("[a-z{}\" ]{0,20}", 0..20), cut in 1usize..9) {
            let body = lines.join("\n") + "\n";
            let expect: Vec<_> = lines.iter().filter(|line| !line.trim().is_empty()).cloned().collect();
            prop_assert_eq!(split(100, body.as_bytes().chunks(cut)).unwrap(), expect);
        }
    }
}

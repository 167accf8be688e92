//! Newline-delimited frames of JSON watches.

use memchr::memchr;

use crate::{DEFAULT_LIMIT, DecodeError, DecodeProblem, buffer::Buffer};

/// Splits a stream of newline-terminated JSON documents, such as a watch, into documents.
///
/// It is for callers that need the undecoded frames; [`WatchReader`](crate::WatchReader) also decodes them.
/// [`push`](Self::push) accepts chunks of any size; [`next_frame`](Self::next_frame) returns complete frames without a
/// copy.
#[derive(Debug)]
pub struct LineSplitter {
    kind: String,
    limit: usize,
    buffer: Buffer,
    /// Number of buffered bytes that contain no newline, so that they are not searched again.
    searched: usize,
}

impl LineSplitter {
    /// Returns a splitter for a watch of `kind` that accepts frames of up to [`DEFAULT_LIMIT`] bytes.
    pub fn new(kind: &str) -> Self {
        Self { kind: kind.to_owned(), limit: DEFAULT_LIMIT, buffer: Buffer::default(), searched: 0 }
    }

    /// Sets the maximum length of a frame in bytes.
    #[must_use]
    pub fn with_limit(self, limit: usize) -> Self {
        Self { limit, ..self }
    }

    /// Appends a chunk of the body.
    pub fn push(&mut self, chunk: &[u8]) {
        self.buffer.push(chunk);
    }

    /// Returns the next complete frame without its newline; `None` until more bytes are pushed. Blank lines are
    /// skipped.
    ///
    /// # Errors
    ///
    /// [`DecodeProblem::FrameTooLong`] if a frame exceeds the limit. The stream must then be closed.
    pub fn next_frame(&mut self) -> Result<Option<&[u8]>, DecodeError> {
        loop {
            let rest = self.buffer.unconsumed();
            let end = memchr(b'\n', &rest[self.searched..]).map(|at| self.searched + at);
            let have = end.unwrap_or(rest.len());
            // An incomplete frame that exceeds the limit is an error at once, before more of it is buffered.
            if have > self.limit {
                return Err(DecodeError::new(&self.kind, DecodeProblem::FrameTooLong { limit: self.limit }));
            }
            let blank = rest[..have].trim_ascii().is_empty();
            let Some(end) = end else {
                self.searched = have;
                return Ok(None);
            };
            self.searched = 0;
            if !blank {
                return Ok(Some(&self.buffer.consume(end + 1)[..end]));
            }
            self.buffer.consume(end + 1);
        }
    }

    /// Checks at the end of the body that no frame is incomplete.
    ///
    /// # Errors
    ///
    /// [`DecodeProblem::Truncated`] if the body ended within a frame.
    pub fn finish(&self) -> Result<(), DecodeError> {
        match self.pending() {
            0 => Ok(()),
            received => Err(DecodeError::new(&self.kind, DecodeProblem::Truncated { received })),
        }
    }

    /// Returns the number of buffered bytes of an incomplete frame.
    pub(super) fn pending(&self) -> usize {
        self.buffer.unconsumed().trim_ascii().len()
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
    fn splits_complete_lines(#[case] chunks: &[&str], #[case] expect: &str) {
        let frames = split(100, chunks.iter().map(|chunk| chunk.as_bytes())).unwrap();
        assert_eq!(frames.join(" "), expect);
    }

    #[rstest]
    #[case::ended(&["a\nbc"], "cannot decode Pod: the watch ended 2 bytes into a frame")]
    #[case::long(&["abcdefgh\n"], "cannot decode Pod: a watch frame is longer than 5 bytes")]
    #[case::growing(&["abc", "def"], "cannot decode Pod: a watch frame is longer than 5 bytes")]
    fn invalid_frame_is_an_error(#[case] chunks: &[&str], #[case] expect: &str) {
        let error = split(5, chunks.iter().map(|chunk| chunk.as_bytes())).unwrap_err();
        assert_eq!(error.to_string(), expect);
    }

    proptest! {
        #[test]
        fn chunk_size_does_not_matter(lines in prop::collection::vec("[a-z{}\" ]{0,20}", 0..20), chunk_size in 1usize..9) {
            let body = lines.join("\n") + "\n";
            let expect: Vec<_> = lines.iter().filter(|line| !line.trim().is_empty()).cloned().collect();
            prop_assert_eq!(split(100, body.as_bytes().chunks(chunk_size)).unwrap(), expect);
        }
    }
}

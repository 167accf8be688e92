//! A watch body, cut wherever the network likes, back into whole frames.

use std::mem;

use crate::DecodeError;

/// The largest frame accepted unless said otherwise.
///
/// An object is at most 1.5 MiB in etcd by default; JSON escapes can make it several times longer.
pub const DEFAULT_MAX_FRAME: usize = 16 << 20;

/// Cuts a stream of newline-terminated JSON documents into documents.
///
/// Chunks go in with [`push`](Self::push), whole frames come out of [`next_frame`](Self::next_frame) without a copy.
#[derive(Debug)]
pub struct LineSplitter {
    kind: String,
    limit: usize,
    resource_version: Option<String>,
    buffer: Vec<u8>,
    /// Where the next frame begins; what is before has been handed out.
    start: usize,
    /// Up to where the buffer is known to hold no further newline, so that long frames are searched once.
    searched: usize,
}

impl LineSplitter {
    /// A splitter for a watch of `kind`, with the default limit.
    pub fn new(kind: &str) -> Self {
        Self {
            kind: kind.to_owned(),
            limit: DEFAULT_MAX_FRAME,
            resource_version: None,
            buffer: Vec::new(),
            start: 0,
            searched: 0,
        }
    }

    /// Refuses frames longer than `limit` bytes.
    #[must_use]
    pub fn with_limit(self, limit: usize) -> Self {
        Self { limit, ..self }
    }

    /// Notes the resourceVersion of the last good event, for errors to name.
    pub fn set_resource_version(&mut self, version: &str) {
        let noted = self.resource_version.get_or_insert_default();
        noted.clear();
        noted.push_str(version);
    }

    /// Takes the next bytes of the body.
    pub fn push(&mut self, chunk: &[u8]) {
        if self.start > 0 {
            self.buffer.drain(..self.start);
            self.searched -= mem::take(&mut self.start);
        }
        self.buffer.extend_from_slice(chunk);
    }

    /// The next whole frame, without its newline; `None` until more bytes are pushed. Blank lines are skipped.
    ///
    /// After an error the stream cannot be trusted any more: drop it.
    pub fn next_frame(&mut self) -> Result<Option<&[u8]>, DecodeError> {
        while let Some(at) = self.buffer[self.searched..].iter().position(|byte| *byte == b'\n') {
            let line = self.start..self.searched + at;
            self.start = line.end + 1;
            self.searched = self.start;
            if line.len() > self.limit {
                return Err(self.too_long());
            }
            if !self.buffer[line.clone()].trim_ascii().is_empty() {
                return Ok(Some(&self.buffer[line]));
            }
        }
        self.searched = self.buffer.len();
        // A frame that can only become too long is refused before it fills the memory.
        if self.buffer.len() - self.start > self.limit { Err(self.too_long()) } else { Ok(None) }
    }

    /// Says whether the body ended where it may: between frames.
    pub fn finish(&self) -> Result<(), DecodeError> {
        match self.buffer[self.start..].trim_ascii().len() {
            0 => Ok(()),
            have => Err(DecodeError::Truncated {
                kind: self.kind.clone(),
                have,
                resource_version: self.resource_version.clone(),
            }),
        }
    }

    fn too_long(&self) -> DecodeError {
        DecodeError::FrameTooLong {
            kind: self.kind.clone(),
            limit: self.limit,
            resource_version: self.resource_version.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    fn split<'a>(limit: usize, chunks: impl IntoIterator<Item = &'a [u8]>) -> Result<Vec<String>, DecodeError> {
        let mut splitter = LineSplitter::new("Pod").with_limit(limit);
        splitter.set_resource_version("41");
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
    #[case::ended(&["a\nbc"], "the watch of Pod ended 2 bytes into a frame after resourceVersion 41")]
    #[case::long(&["abcdefgh\n"], "a watch frame of Pod is longer than 5 bytes after resourceVersion 41")]
    #[case::growing(&["abc", "def"], "a watch frame of Pod is longer than 5 bytes after resourceVersion 41")]
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

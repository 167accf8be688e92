//! Whole segments, as they are recorded.

use std::io::{Read as _, SeekFrom};

use jiff::Timestamp;

use super::{Archive, Segment};
use crate::excerpt::ExcerptError;
use crate::frame::TRAILER;

impl Archive {
    /// Returns the bytes of the segment that begins at a time, up to its last whole frame. They are a history of their own. Segments
    /// that begin at the same time are returned together.
    ///
    /// Nothing is decoded: the cost does not depend on the number of objects.
    ///
    /// # Errors
    ///
    /// [`ExcerptError::NoSegment`], [`ExcerptError::TooLong`] for more than `limit` bytes, [`ExcerptError::Read`].
    pub fn segment(&mut self, started: Timestamp, limit: usize) -> Result<Vec<u8>, ExcerptError> {
        let found: Vec<(usize, u64, u64)> =
            self.segments.iter().filter(|it| it.header.started == started).map(Segment::range).collect();
        let length: u64 = found.iter().map(|(_, begin, end)| end - begin).sum();
        if usize::try_from(length).map_or(true, |length| length > limit) {
            return Err(ExcerptError::TooLong { limit });
        }
        let mut bytes = Vec::new();
        for (file, begin, end) in found {
            self.files.read(file, |source| {
                source.seek(SeekFrom::Start(begin))?;
                source.take(end - begin).read_to_end(&mut bytes)
            })?;
        }
        if bytes.is_empty() { Err(ExcerptError::NoSegment { started }) } else { Ok(bytes) }
    }
}

impl Segment {
    /// Returns the file of the segment, and the offsets of its beginning and its end.
    fn range(&self) -> (usize, u64, u64) {
        (self.file, self.begin, self.index_end.map_or(self.end, |end| end + TRAILER as u64))
    }
}

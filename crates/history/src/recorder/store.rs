//! Where segments are written to.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};

/// Longest segment: readers begin with the state at its beginning, and read on from there.
pub(super) const LONGEST_SEGMENT: u64 = 16 << 20;
/// Number of records without which the age of a segment of [`OneFile`] does not end it: each begins with the state of all objects.
const FEWEST_RECORDS: usize = 1_000;
/// Longest time of a segment.
pub(super) const OLDEST_SEGMENT: SignedDuration = SignedDuration::from_hours(1);

/// Writes the beginning of a segment, in parts: a state may have many MiB.
pub type WriteState<'a> = &'a mut dyn FnMut(&mut dyn Write) -> io::Result<()>;

/// When a segment ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentLimits {
    /// Length after which it ends, in bytes.
    pub length: u64,
    /// Age after which it ends.
    pub age: SignedDuration,
    /// Number of records without which its age does not end it.
    pub records: usize,
}

/// The bytes of a [`Store`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Space {
    /// Maximum number of bytes.
    pub limit: u64,
    /// Number of bytes.
    pub length: u64,
    /// Number of bytes that can still be appended to the segment that has begun last.
    pub free: u64,
    /// Maximum number of bytes of the state with which another segment can begin.
    pub room: u64,
    /// Time at which the oldest segment began.
    pub oldest: Option<Timestamp>,
}

/// Where a [`Recorder`](super::Recorder) writes segments to. After an error, what was written last may be incomplete; a reader
/// ignores a part of a frame at the end of a file.
pub trait Store: Send {
    /// Begins a segment, of which `write` writes the header and the state: this number of bytes.
    ///
    /// # Errors
    ///
    /// The bytes cannot be written, or are more than the [limit](Space::limit).
    fn begin(&mut self, started: Timestamp, bytes: u64, write: WriteState<'_>) -> io::Result<()>;

    /// Appends to the segment that has begun last.
    ///
    /// # Errors
    ///
    /// The bytes cannot be written.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Makes durable what was appended, and removes what is too old at this time.
    ///
    /// # Errors
    ///
    /// The bytes are not durable, or something cannot be removed.
    fn sync(&mut self, now: Timestamp) -> io::Result<()>;

    /// Returns how much there is, and how much more there can be.
    fn space(&self) -> Space;

    /// Returns when the present segment ends, which began with a state of this length.
    fn segment_limits(&self, state: u64) -> SegmentLimits;
}

/// A file with a limit, to which all segments are appended.
#[derive(Debug)]
pub struct OneFile {
    path: PathBuf,
    /// The file; `None` before the first segment.
    file: Option<File>,
    length: u64,
    limit: u64,
    /// Whether something has been written since the last sync.
    is_dirty: bool,
    oldest: Option<Timestamp>,
}

impl OneFile {
    /// Returns a file that does not exist yet and will have at most `limit` bytes. The first segment creates it, which fails if
    /// it exists.
    pub fn new(path: &Path, limit: u64) -> OneFile {
        OneFile { path: path.to_owned(), file: None, length: 0, limit, is_dirty: false, oldest: None }
    }
}

impl Store for OneFile {
    fn begin(&mut self, started: Timestamp, bytes: u64, write: WriteState<'_>) -> io::Result<()> {
        let file = match self.file.take() {
            Some(file) => file,
            None => File::create_new(&self.path)?,
        };
        self.oldest.get_or_insert(started);
        write(self.file.insert(file))?;
        self.length += bytes;
        self.is_dirty = true;
        Ok(())
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let file = self.file.as_mut().ok_or_else(|| io::Error::other("no segment has begun"))?;
        file.write_all(bytes)?;
        self.length += bytes.len() as u64;
        self.is_dirty = true;
        Ok(())
    }

    fn sync(&mut self, _now: Timestamp) -> io::Result<()> {
        if std::mem::take(&mut self.is_dirty)
            && let Some(file) = &self.file
        {
            file.sync_data()?;
        }
        Ok(())
    }

    fn space(&self) -> Space {
        let OneFile { limit, length, oldest, .. } = *self;
        let free = limit.saturating_sub(length);
        Space { limit, length, free, room: free, oldest }
    }

    fn segment_limits(&self, state: u64) -> SegmentLimits {
        let length = LONGEST_SEGMENT.max(state.saturating_mul(2));
        SegmentLimits { length, age: OLDEST_SEGMENT, records: FEWEST_RECORDS }
    }
}

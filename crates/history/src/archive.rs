//! Recorded segments, in files or in memory.

mod files;
mod lookup;
mod segment;

use std::fs;
use std::io::{self, Cursor, SeekFrom};
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use self::files::{Files, HistoryFile};
use crate::change::Record;
use crate::codec::Malformed;
use crate::error::ReadError;
use crate::frame::{self, Next, TRAILER, Trailer, Unpacker};
use crate::header::{Header, NoHeader};
use crate::index::FrameEntry;
use crate::records::Records;
use crate::replay::Replay;
use crate::select::Select;

/// Extension of the files of a folder.
pub(crate) const EXTENSION: &str = "history";

/// Recorded segments, oldest first.
///
/// Opening reads no more than the beginning of each segment, and the end of those without an index. A segment that is still
/// being written, or was cut off by a crash, ends with its last whole frame. A gap takes the place of one whose beginning is
/// damaged, and of a file that is none of history.
pub struct Archive {
    files: Files,
    segments: Vec<Segment>,
    /// Where other segments should begin, and why they cannot be read.
    unreadable: Vec<(Position, ReadError)>,
    unpacker: Unpacker,
}

/// Number of a file, and an offset in it.
type Position = (usize, u64);

/// A segment of a file.
struct Segment {
    file: usize,
    /// Offset of the header.
    begin: u64,
    /// Offset after the header.
    start: u64,
    /// Offset after the last frame with state or changes.
    end: u64,
    /// Offset after the frames of the index; `None` without an index.
    index_end: Option<u64>,
    header: Header,
}

impl Archive {
    /// Opens a file, or all files of a folder that have the extension `history`.
    ///
    /// # Errors
    ///
    /// [`ReadError`], if a file cannot be read or has a newer format, or no segment of any file can be read.
    pub fn open(path: &Path) -> Result<Archive, ReadError> {
        let failed = |source| ReadError::Io { file: path.to_owned(), source };
        let mut names = vec![path.to_owned()];
        if fs::metadata(path).map_err(failed)?.is_dir() {
            names = fs::read_dir(path)
                .and_then(|entries| entries.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<_>>())
                .map_err(failed)?;
            names.retain(|name| name.extension().is_some_and(|it| it == EXTENSION));
            names.sort();
        }
        Archive::of(names.into_iter().map(|name| HistoryFile { name, buffer: None }).collect())
    }

    /// Returns the segments that are contained in buffers, oldest first.
    ///
    /// # Errors
    ///
    /// [`ReadError`], if a buffer has a newer format, or no segment of any buffer can be read.
    pub fn from_buffers<B>(buffers: impl IntoIterator<Item = B>) -> Result<Archive, ReadError>
    where
        B: AsRef<[u8]> + Send + 'static,
    {
        let file = |buffer| HistoryFile { name: "memory".into(), buffer: Some(Box::new(Cursor::new(buffer))) };
        Archive::of(buffers.into_iter().map(file).collect())
    }

    fn of(files: Vec<HistoryFile>) -> Result<Archive, ReadError> {
        let unpacker = Unpacker::new().map_err(|source| ReadError::Io { file: PathBuf::new(), source })?;
        let count = files.len();
        let mut archive = Archive { files: Files::new(files), segments: Vec::new(), unreadable: Vec::new(), unpacker };
        for file in 0..count {
            match archive.find_segments(file) {
                // A recorder has deleted its oldest segment since the folder was read.
                Err(error) if error.is_of_missing_file() && count > 1 => {}
                Err(error) if error.is_of_content() => archive.unreadable.push(((file, 0), error)),
                found => found?,
            }
        }
        if archive.segments.is_empty() && !archive.unreadable.is_empty() {
            return Err(archive.unreadable.swap_remove(0).1);
        }
        archive.segments.sort_by_key(|it| (it.header.started, it.file, it.begin));
        // A file may be missing. If the clock was set back between two runs, segments of one are among those of the other.
        let mut before = None;
        for Segment { header, .. } in &mut archive.segments {
            header.continues = header.continues.filter(|it| before.is_none_or(|before| before == *it));
            before = Some(header.started);
        }
        Ok(archive)
    }

    /// Returns the headers of the segments, oldest first.
    pub fn headers(&self) -> impl ExactSizeIterator<Item = &Header> {
        self.segments.iter().map(|segment| &segment.header)
    }

    /// Returns the state of the selected objects at a time, and the changes after it. Before the first segment, there is no
    /// state.
    ///
    /// # Errors
    ///
    /// [`ReadError`], if what was recorded until then is damaged.
    pub fn replay(&mut self, select: Select, from: Timestamp) -> Result<Replay<'_>, ReadError> {
        self.replay_bounded(select, from, usize::MAX)
    }

    /// Returns a replay that fails for more than a number of objects.
    pub(crate) fn replay_bounded(
        &mut self,
        select: Select,
        from: Timestamp,
        max_objects: usize,
    ) -> Result<Replay<'_>, ReadError> {
        let after = self.segments.partition_point(|segment| segment.header.started <= from);
        Replay::start(self, (select, max_objects), after.saturating_sub(1), from)
    }

    /// Returns the time until which the history is known: that of the last record, or the last one at which the recorder
    /// is known to have been running. `None` without a segment.
    ///
    /// # Errors
    ///
    /// [`ReadError`], if the last segment cannot be read.
    pub fn end(&mut self) -> Result<Option<Timestamp>, ReadError> {
        self.segments.len().checked_sub(1).map(|last| self.end_of(last)).transpose()
    }

    /// Returns the last time of a segment. Damaged frames at its end have none, and that of a deleted file is its beginning.
    pub(crate) fn end_of(&mut self, segment: usize) -> Result<Timestamp, ReadError> {
        let started = self.segments[segment].header.started;
        let lookup = match self.lookup(segment, None) {
            Err(error) if error.is_of_missing_file() => return Ok(started),
            lookup => lookup?,
        };
        for frame in lookup.frames().iter().rev() {
            match self.read_frame(segment, *frame, |_| Ok(())) {
                Ok(Some(last)) => return Ok(last.max(started)),
                Ok(None) | Err(ReadError::Damaged { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(started)
    }

    /// Returns why the segment after this one cannot be read; `None` if it can, or does not exist.
    pub(crate) fn unreadable_after(&self, segment: usize) -> Option<&ReadError> {
        let position = |it: &Segment| (it.file, it.begin);
        let (before, after) = (position(&self.segments[segment]), self.segments.get(segment + 1).map(position));
        let is_between = |at: Position| before < at && after.is_none_or(|after| at < after);
        self.unreadable.iter().find(|(at, _)| is_between(*at)).map(|(_, error)| error)
    }

    pub(crate) fn segment_count(&self) -> usize {
        self.segments.len()
    }

    pub(crate) fn header(&self, segment: usize) -> &Header {
        &self.segments[segment].header
    }

    /// Returns the records of a frame.
    pub(crate) fn records(&mut self, segment: usize, entry: FrameEntry) -> Result<Records, ReadError> {
        let Segment { file, start, end, .. } = self.segments[segment];
        let offset = start.saturating_add(entry.offset);
        if offset.saturating_add(u64::from(entry.packed)) > end {
            return Err(self.damaged(file, offset, "a frame is beyond its segment"));
        }
        if entry.packed == 0 {
            return Err(self.damaged(file, offset, "no frame begins here"));
        }
        let mut content = Vec::new();
        self.unpack(file, offset, entry.packed as usize, &mut content)?;
        Records::new(content).map_err(|Malformed(problem)| self.damaged(file, offset, problem))
    }

    /// Calls `read` with each record of a frame. Returns the last time in it.
    pub(crate) fn read_frame(
        &mut self,
        segment: usize,
        entry: FrameEntry,
        mut read: impl FnMut(Record<'_>) -> Result<(), Malformed>,
    ) -> Result<Option<Timestamp>, ReadError> {
        let mut records = self.records(segment, entry)?;
        loop {
            match records.next() {
                Ok(Some(record)) => read(record),
                Ok(None) => return Ok(records.last()),
                Err(error) => Err(error),
            }
            .map_err(|error| self.damaged_frame(segment, entry, error))?;
        }
    }

    /// Returns the error for a frame with a malformed record.
    pub(crate) fn damaged_frame(&self, segment: usize, entry: FrameEntry, Malformed(problem): Malformed) -> ReadError {
        let Segment { file, start, .. } = self.segments[segment];
        self.damaged(file, start.saturating_add(entry.offset), problem)
    }

    fn damaged(&self, file: usize, offset: u64, problem: impl Into<String>) -> ReadError {
        ReadError::Damaged { file: self.files.name(file).to_owned(), offset, problem: problem.into() }
    }

    fn unpack(&mut self, file: usize, offset: u64, packed: usize, content: &mut Vec<u8>) -> Result<(), ReadError> {
        let Archive { files, unpacker, .. } = self;
        let unpacked = files.read(file, |source| Ok(unpacker.unpack(source, offset, packed, content)))?;
        unpacked.map_err(|error| self.damaged(file, offset, error.to_string()))
    }

    fn next(&mut self, file: usize, offset: u64, length: u64) -> Result<Next, ReadError> {
        self.files.read(file, |source| frame::next(source, offset, length))
    }

    /// Finds the segments of a file: from its end if that is complete, otherwise frame by frame.
    fn find_segments(&mut self, file: usize) -> Result<(), ReadError> {
        let length = self.files.read(file, |source| source.seek(SeekFrom::End(0)))?;
        let mut end = length;
        let (mut found, mut unreadable) = (Vec::new(), Vec::new());
        while let Some(trailer) = self.trailer_before(file, end)? {
            let trailer_start = end - TRAILER as u64;
            let (start, index) = (trailer_start - trailer.segment, trailer_start - trailer.index);
            let mut content = Vec::new();
            let index_end = Some(trailer_start);
            match self.read_header(file, start, length, &mut content) {
                Ok((header, after)) => {
                    found.push(Segment { file, begin: start, start: after, end: index, index_end, header });
                }
                Err(error) if error.is_of_content() => unreadable.push(((file, start), error)),
                Err(error) => return Err(error),
            }
            end = start;
            if end == 0 {
                self.segments.extend(found);
                self.unreadable.extend(unreadable);
                return Ok(());
            }
        }
        self.scan_segments(file, length)
    }

    /// Returns the trailer that ends at an offset.
    fn trailer_before(&mut self, file: usize, end: u64) -> Result<Option<Trailer>, ReadError> {
        let Some(start) = end.checked_sub(TRAILER as u64) else { return Ok(None) };
        let mut bytes = [0; TRAILER];
        self.files.read(file, |source| {
            source.seek(SeekFrom::Start(start))?;
            source.read_exact(&mut bytes)
        })?;
        Ok(Trailer::read(&bytes).filter(|it| it.segment <= start && it.index < it.segment))
    }

    fn scan_segments(&mut self, file: usize, length: u64) -> Result<(), ReadError> {
        let (mut offset, mut content) = (0, Vec::new());
        while offset < length {
            let start = offset;
            let (header, after) = match self.read_header(file, start, length, &mut content) {
                Ok(header) => header,
                // The header was being written.
                Err(ReadError::Damaged { .. }) if start > 0 => return Ok(()),
                Err(error) => return Err(error),
            };
            if after.saturating_add(header.state) > length {
                return Ok(());
            }
            offset = after;
            let mut last = None;
            let (end, index_end) = loop {
                match self.next(file, offset, length)? {
                    Next::Frame { packed } => {
                        last = Some((offset, packed));
                        offset += (frame::HEAD + packed) as u64;
                    }
                    Next::Trailer => {
                        let trailer = self.trailer_before(file, offset + TRAILER as u64)?;
                        let index = trailer.filter(|it| it.segment == offset - start).map(|it| offset - it.index);
                        let ends = index.map_or((offset, None), |index| (index, Some(offset)));
                        offset += TRAILER as u64;
                        break ends;
                    }
                    next @ (Next::CutOff | Next::Zeros | Next::End) => {
                        let torn = last.filter(|(at, packed)| {
                            self.unpack(file, *at, *packed, &mut content).is_err()
                                && (*packed == 0 || self.unpacker.has_read_zeros() || matches!(next, Next::Zeros))
                        });
                        let end = torn.map_or(offset, |(at, _)| at);
                        if end < after.saturating_add(header.state) {
                            // The state was being written.
                            return Ok(());
                        }
                        offset = length;
                        break (end, None);
                    }
                    // A reader finds the damage there.
                    Next::Foreign => {
                        offset = length;
                        break (length, None);
                    }
                }
            };
            self.segments.push(Segment { file, begin: start, start: after, end, index_end, header });
        }
        Ok(())
    }

    /// Returns the header of a segment, and the offset after it.
    fn read_header(
        &mut self,
        file: usize,
        start: u64,
        length: u64,
        content: &mut Vec<u8>,
    ) -> Result<(Header, u64), ReadError> {
        let name = self.files.name(file).to_owned();
        let packed = match self.next(file, start, length)? {
            Next::Frame { packed } => packed,
            Next::CutOff if start > 0 => return Err(self.damaged(file, start, "the header is cut off")),
            _ if start > 0 => return Err(self.damaged(file, start, "no segment begins here")),
            _ => return Err(ReadError::Foreign { file: name }),
        };
        if let Err(error) = self.unpack(file, start, packed, content) {
            return Err(if start > 0 { error } else { ReadError::Foreign { file: name } });
        }
        match Header::read(content) {
            Ok(header) => Ok((header, start + (frame::HEAD + packed) as u64)),
            Err(NoHeader::Foreign) if start > 0 => Err(self.damaged(file, start, "no segment begins here")),
            Err(NoHeader::Foreign) => Err(ReadError::Foreign { file: name }),
            Err(NoHeader::Newer(version)) => Err(ReadError::Newer { file: name, version }),
            Err(NoHeader::Malformed(Malformed(problem))) => Err(self.damaged(file, start, problem)),
        }
    }
}

//! The writer of a history file.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

use anyhow::{Context as _, bail};
use jiff::{SignedDuration, Timestamp};
use kube_endpoints_history::{Encoder, Gap};

use super::watches::Message;

/// Length of a segment after which the next one begins.
const LONGEST_SEGMENT: u64 = 16 << 20;
/// Age of a segment after which the next one begins.
const OLDEST_SEGMENT: SignedDuration = SignedDuration::from_hours(1);

/// Writes messages into segments of a file.
///
/// The messages before [`begin`](Self::begin) are the state with which the first segment begins. No call makes the file
/// longer than its limit.
pub(super) struct Recorder {
    encoder: Encoder,
    /// The file; `None` before [`begin`](Self::begin).
    file: Option<File>,
    /// Bytes that are not written yet.
    out: Vec<u8>,
    length: u64,
    limit: u64,
    /// Whether something has been written since the last sync.
    is_dirty: bool,
    /// Whether a segment has begun and not ended.
    in_segment: bool,
    segment_started: Timestamp,
    /// Time of the first segment.
    pub(super) started: Timestamp,
    /// Time of the last record. Later records have no earlier time, even if the clock is set back.
    pub(super) last: Timestamp,
    /// Number of objects that were recorded, including those that no longer exist.
    pub(super) objects: usize,
    /// Number of changes after the beginning.
    pub(super) changes: usize,
}

impl Recorder {
    /// Returns a recorder without objects, whose file will have at most `limit` bytes.
    pub(super) fn new(encoder: Encoder, limit: u64) -> Recorder {
        Recorder {
            encoder,
            file: None,
            out: Vec::new(),
            length: 0,
            limit,
            is_dirty: false,
            in_segment: false,
            segment_started: Timestamp::MIN,
            started: Timestamp::MIN,
            last: Timestamp::MIN,
            objects: 0,
            changes: 0,
        }
    }

    /// Returns the length of the file, in bytes.
    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// Creates the file, and begins the first segment with the present state. Fails if the file exists.
    pub(super) fn begin(&mut self, now: Timestamp, path: &Path) -> anyhow::Result<()> {
        self.started = self.at(now);
        self.changes = 0;
        self.begin_segment(self.started)?;
        let needed = self.out.len() as u64;
        if needed > self.limit {
            bail!("the present state takes {needed} bytes, more than --max-size");
        }
        let written = File::create_new(path).and_then(|file| {
            self.file = Some(file);
            self.write()?;
            self.sync()
        });
        written.with_context(|| format!("cannot write {}", path.display()))
    }

    /// Records a message.
    pub(super) fn apply(&mut self, message: Message) -> io::Result<()> {
        match message {
            Message::Put { seen, author, object, is_new } => {
                let seen = self.at(seen);
                self.changes += 1;
                self.objects += usize::from(is_new);
                self.encoder.put(seen, author.as_ref(), object);
            }
            Message::Removed { seen, kind, key } => {
                let seen = self.at(seen);
                self.changes += 1;
                self.encoder.remove(seen, None, kind, &key);
            }
            Message::Gap { seen, gap } => {
                let seen = self.at(seen);
                self.encoder.gap(seen, &gap);
            }
        }
        if self.in_segment && self.encoder.is_full() { self.flush() } else { Ok(()) }
    }

    /// Writes what has been recorded and makes it durable. Begins the next segment if that is due.
    pub(super) fn checkpoint(&mut self, now: Timestamp) -> io::Result<()> {
        self.flush()?;
        let age = now.duration_since(self.segment_started);
        if self.in_segment && (age >= OLDEST_SEGMENT || self.encoder.segment_length() >= LONGEST_SEGMENT) {
            self.end_segment()?;
            if !self.is_full() {
                let now = self.at(now);
                self.begin_segment(now)?;
                self.write()?;
            }
        }
        self.sync()
    }

    /// Returns whether the recording has to end because of the limit.
    pub(super) fn is_at_limit(&self) -> bool {
        !self.in_segment || self.is_full()
    }

    fn is_full(&self) -> bool {
        self.length + self.reserve() > self.limit
    }

    /// Writes what has been recorded, and ends the segment. The last record has the time of the end: it is a gap of no
    /// length.
    pub(super) fn finish(&mut self, now: Timestamp) -> io::Result<()> {
        if self.in_segment {
            let seen = self.at(now);
            self.encoder.gap(seen, &Gap { since: seen, reason: "the recorder was stopped".into() });
            self.flush()?;
            self.end_segment()?;
        }
        self.sync()
    }

    /// Returns what is kept free for the next frame and for the index of the segment.
    fn reserve(&self) -> u64 {
        (self.encoder.segment_length() / 8 + (64 << 10)).min(self.limit / 4)
    }

    fn at(&mut self, seen: Timestamp) -> Timestamp {
        self.last = self.last.max(seen);
        self.last
    }

    fn begin_segment(&mut self, now: Timestamp) -> io::Result<()> {
        self.encoder.begin_segment(now, &mut self.out)?;
        self.segment_started = now;
        self.in_segment = true;
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.in_segment {
            self.encoder.flush(&mut self.out)?;
            self.write()?;
        }
        Ok(())
    }

    /// Ends the segment. If there is no space for its index, it has none, as after a crash.
    fn end_segment(&mut self) -> io::Result<()> {
        if self.in_segment {
            self.encoder.end_segment(&mut self.out)?;
            self.write()?;
            self.in_segment = false;
        }
        Ok(())
    }

    /// Writes the bytes that are not written yet. If they do not fit, they are dropped, and the segment has ended.
    fn write(&mut self) -> io::Result<()> {
        let length = self.length + self.out.len() as u64;
        if length > self.limit {
            self.in_segment = false;
        } else if let Some(file) = self.file.as_mut().filter(|_| !self.out.is_empty()) {
            if let Err(error) = file.write_all(&self.out) {
                // A reader ignores a part of a frame only at the end of the file.
                self.file = None;
                self.in_segment = false;
                return Err(error);
            }
            self.length = length;
            self.is_dirty = true;
        }
        self.out.clear();
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.is_dirty)
            && let Some(file) = &self.file
        {
            file.sync_data()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;

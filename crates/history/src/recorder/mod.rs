//! Recording of what informers deliver: messages into segments, segments into a store.
//!
//! ```text
//! informers --Message--> Recorder --bytes--> Store: OneFile, Folder or Ring
//!     `----Gaps----^
//! ```

mod author;
mod authors;
mod folder;
mod gaps;
mod message;
mod ring;
mod rotation;
mod size;
mod store;

use std::io;

use jiff::{SignedDuration, Timestamp};

pub use author::LastAuthor;
pub use authors::{Authors, NotDelivered};
pub use folder::Folder;
pub use gaps::Gaps;
pub use message::Message;
pub use ring::Ring;
pub use size::parse_size;
pub use store::{OneFile, SegmentLimits, Space, Store, WriteState};

use crate::{Change, Encoder, Gap, What};

/// Time without a record after which a checkpoint records the time.
const QUIET: SignedDuration = SignedDuration::from_secs(10);
/// Capacity that is kept for bytes that are not written yet.
const LARGE: usize = 64 << 10;
/// Time after the beginning for which messages may be older than the state with which the first segment begins.
const OVERLAP: SignedDuration = SignedDuration::from_secs(60);
/// Time by which the clock may be set back within a segment, whose records have the last time meanwhile.
const SET_BACK: SignedDuration = SignedDuration::from_secs(60);

/// Writes messages into the segments of a store.
///
/// The messages before [`begin`](Self::begin) are the state with which the first segment begins. No call makes the store longer
/// than its limit. After an error, nothing more is written: go on with another recorder, and the store opened again, which
/// begins with the state of that time.
pub struct Recorder {
    encoder: Encoder,
    store: Box<dyn Store>,
    /// Bytes that are not written yet.
    out: Vec<u8>,
    /// Whether a segment has begun and not ended.
    in_segment: bool,
    segment_started: Timestamp,
    /// Number of records of the segment.
    records: usize,
    /// Length of the header and the state of the segment, in bytes.
    state: u64,
    /// Time of the first segment.
    started: Timestamp,
    /// Time of the last record. Later records of the segment have no earlier time, even if the clock is set back.
    last: Timestamp,
    objects: usize,
    changes: usize,
    gaps: usize,
    /// What the informers report about their watches.
    watches: Option<Gaps>,
}

impl Recorder {
    /// Returns a recorder without objects.
    pub fn new(encoder: Encoder, store: impl Store + 'static) -> Recorder {
        Recorder {
            encoder,
            store: Box::new(store),
            out: Vec::new(),
            in_segment: false,
            segment_started: Timestamp::MIN,
            records: 0,
            state: 0,
            started: Timestamp::MIN,
            last: Timestamp::MIN,
            objects: 0,
            changes: 0,
            gaps: 0,
            watches: None,
        }
    }

    /// Sets the provider of the recorded informers. While one of their watches is interrupted, no time is recorded as one
    /// without changes; a recording that ends then has a gap.
    #[must_use]
    pub fn with_watches(self, watches: Gaps) -> Recorder {
        Recorder { watches: Some(watches), ..self }
    }

    /// Returns the time at which the first segment began.
    pub fn started(&self) -> Timestamp {
        self.started
    }

    /// Returns the time of the last record.
    pub fn last(&self) -> Timestamp {
        self.last
    }

    /// Returns the number of objects that were recorded, including those that no longer exist.
    pub fn objects(&self) -> usize {
        self.objects
    }

    /// Returns the number of changes since the beginning.
    pub fn changes(&self) -> usize {
        self.changes
    }

    /// Returns the number of gaps since the beginning.
    pub fn gaps(&self) -> usize {
        self.gaps
    }

    /// Returns the number of bytes in the store.
    pub fn length(&self) -> u64 {
        self.store.space().length
    }

    /// Returns the time at which the oldest segment of the store began.
    pub fn oldest(&self) -> Option<Timestamp> {
        self.store.space().oldest
    }

    /// Begins the first segment with the present state.
    ///
    /// # Errors
    ///
    /// The segment cannot be written, or is too long for the limit of the store, of which only what is too old is removed then.
    pub fn begin(&mut self, now: Timestamp) -> io::Result<()> {
        self.started = self.at(now);
        (self.changes, self.gaps) = (0, 0);
        self.objects = self.encoder.objects();
        // Also if no segment can begin, for example on a full disk.
        self.store.sync(self.started)?;
        self.begin_segment(self.started)?;
        self.store.sync(self.started)
    }

    /// Records a message. A write of an object that is not recorded, with unknown content, does not count as a change.
    ///
    /// # Errors
    ///
    /// A full frame, or the next segment, cannot be written.
    pub fn apply(&mut self, Message { mut change, is_listed }: Message) -> io::Result<()> {
        if !is_listed && self.is_outdated(&change) {
            return Ok(());
        }
        change.seen = self.at(change.seen);
        match &change.what {
            What::Gap(_) => self.gaps += 1,
            What::Unknown(write) if !write.is_recorded => {}
            What::Put { .. } | What::Removed(_) | What::Unknown(_) => self.changes += 1,
        }
        let before = self.encoder.objects();
        change.record(&mut self.encoder);
        self.objects += self.encoder.objects().saturating_sub(before);
        self.records += 1;
        if self.encoder.is_full() {
            self.flush()?;
        }
        self.next_segment_if_due(self.last)
    }

    /// Writes what has been recorded and makes it durable. Records the time if nothing was recorded for 10 s and no watch is
    /// interrupted. Begins the next segment if that is due, or if the clock was set back by more than a minute.
    ///
    /// # Errors
    ///
    /// Something cannot be written.
    pub fn checkpoint(&mut self, now: Timestamp) -> io::Result<()> {
        self.flush()?;
        if self.in_segment && self.last.duration_since(now) > SET_BACK {
            self.last = now;
            self.next_segment(now)?;
        }
        // The time at which a segment begins is one at which its state is known, too.
        let known = if self.interrupted(now).is_some() { self.last } else { now };
        if self.in_segment && known.duration_since(self.last) >= QUIET && !self.is_full() {
            self.mark_time(known)?;
        }
        self.next_segment_if_due(known)?;
        self.store.sync(self.last.max(now))
    }

    /// Returns whether the recording has to end because of the limit of the store.
    pub fn is_at_limit(&self) -> bool {
        !self.in_segment || self.is_full()
    }

    /// Writes what has been recorded and the time of the end, and ends the segment.
    ///
    /// # Errors
    ///
    /// Something cannot be written.
    pub fn finish(&mut self, now: Timestamp) -> io::Result<()> {
        if self.in_segment {
            if let Some(gap) = self.interrupted(now) {
                let change = Change { seen: now, author: None, what: What::Gap(gap) };
                self.apply(Message { change, is_listed: true })?;
            }
            self.flush()?;
            self.mark_time(now)?;
            self.end_segment()?;
        }
        self.store.sync(self.last)
    }

    /// Returns whether a change is older than what is recorded. That happens after the beginning, if the state was read
    /// from an informer whose handlers have events to deliver. Lists may show older states: those of a server that was
    /// restored.
    fn is_outdated(&self, change: &Change) -> bool {
        let (What::Put { after: object, .. } | What::Removed(object)) = &change.what else { return false };
        let recorded = || self.encoder.version(object.kind(), &object.key());
        let overlaps = self.in_segment && change.seen.duration_since(self.started) < OVERLAP;
        overlaps && object.version() > 0 && recorded().is_some_and(|recorded| recorded > object.version())
    }

    fn interrupted(&self, now: Timestamp) -> Option<Gap> {
        self.watches.as_ref()?.interrupted(now)
    }

    fn is_full(&self) -> bool {
        self.store.space().free < self.reserve()
    }

    /// Returns what is kept free for the next frame and for the index of the segment.
    fn reserve(&self) -> u64 {
        (self.encoder.segment_length() / 8 + (64 << 10)).min(self.store.space().limit / 4)
    }

    fn at(&mut self, seen: Timestamp) -> Timestamp {
        self.last = self.last.max(seen);
        self.last
    }

    fn next_segment_if_due(&mut self, now: Timestamp) -> io::Result<()> {
        let SegmentLimits { length, age, records } = self.store.segment_limits(self.state);
        let is_old = now.duration_since(self.segment_started) >= age && self.records >= records;
        let is_due = is_old || self.encoder.segment_length() >= length;
        if self.in_segment && is_due { self.next_segment(now) } else { Ok(()) }
    }

    fn next_segment(&mut self, now: Timestamp) -> io::Result<()> {
        self.end_segment()?;
        if self.store.space().room >= self.reserve() {
            let now = self.at(now);
            self.begin_segment(now)?;
        }
        Ok(())
    }

    fn begin_segment(&mut self, now: Timestamp) -> io::Result<()> {
        let beginning = self.encoder.measure(now)?;
        let (needed, Space { limit, room, .. }) = (beginning.length(), self.store.space());
        if needed > limit {
            return Err(io::Error::other(format!(
                "the present state takes {needed} bytes, more than the limit of {limit}"
            )));
        }
        if needed >= self.store.segment_limits(needed).length {
            // It would end at once, and the next one would remove it.
            return Err(io::Error::other(format!(
                "the present state takes {needed} bytes, and the limit of {limit} leaves too little for changes"
            )));
        }
        if needed > room {
            self.in_segment = false;
            return Ok(());
        }
        let encoder = &mut self.encoder;
        self.store.begin(now, needed, &mut |out| encoder.begin_measured(&beginning, out))?;
        (self.state, self.segment_started, self.records, self.in_segment) = (needed, now, 0, true);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.in_segment {
            self.encoder.flush(&mut self.out)?;
            self.write()?;
        }
        Ok(())
    }

    fn mark_time(&mut self, now: Timestamp) -> io::Result<()> {
        let now = self.at(now);
        self.encoder.mark_time(now, &mut self.out)?;
        self.write()
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
        if self.out.len() as u64 > self.store.space().free {
            self.in_segment = false;
        } else if self.in_segment && !self.out.is_empty() {
            let appended = self.store.append(&self.out);
            self.in_segment = appended.is_ok();
            appended?;
        }
        self.out.clear();
        // An index may be long, and changes are short.
        self.out.shrink_to(LARGE);
        Ok(())
    }
}

#[cfg(test)]
mod tests;

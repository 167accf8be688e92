//! Turns changes into segments. It returns bytes and writes no file.

use std::hash::{BuildHasher as _, RandomState};
use std::io;

use hashbrown::HashTable;
use jiff::Timestamp;
use kube_endpoint_model::{ObjectKey, Text};

use crate::change::{Action, Author, Context, Gap, Operation, UNKNOWN_WRITE, UnknownWrite, whole_milliseconds};
use crate::codec::Output;
use crate::frame::{FrameKind, HEAD, Packer, Trailer};
use crate::header::Header;
use crate::index::{FrameEntry, Index};
use crate::object::{Group, Kind, Recorded};

/// Content of a frame after which it is due, however short the time since the last one.
const FULL: usize = 256 << 10;

/// Turns the changes of objects into segments of a history: changes into frames, frames into segments.
///
/// It keeps the present state of all objects, as shared pointers, and encodes each change as the difference from it. What
/// it returns is to be appended to a file, in this order: [`begin_segment`](Self::begin_segment), any number of
/// [`flush`](Self::flush), [`end_segment`](Self::end_segment). Changes since the last flush are lost in a crash, and
/// nothing else.
pub struct Encoder {
    recorder: Text,
    unknown: Vec<Kind>,
    packer: Packer,
    objects: Objects,
    segment: Segment,
    /// Whether a segment has ended before.
    continues: bool,
}

/// The objects that exist, by number.
#[derive(Default)]
struct Objects {
    slots: Vec<Option<Slot>>,
    free: Vec<usize>,
    by_key: HashTable<usize>,
    hasher: RandomState,
}

struct Slot {
    object: Recorded,
    /// Hash of its kind and key.
    hash: u64,
    /// Number of its group in the segment.
    group: usize,
}

/// The segment that is being written.
#[derive(Default)]
struct Segment {
    /// Whether it has begun and not ended. Records of other times are not written.
    is_open: bool,
    /// Length of the header, in bytes.
    header: u64,
    /// Length of the frames after it, in bytes.
    length: u64,
    index: Index,
    frame: Output,
    /// `None` while the frame is empty.
    context: Option<Context>,
    /// Time of the first record of the frame.
    since: Timestamp,
    body: Output,
}

impl Encoder {
    /// Returns an encoder for what a program records that cannot read the kinds `unknown`.
    ///
    /// # Errors
    ///
    /// If the compressor gets no memory.
    pub fn new(recorder: impl Into<Text>, unknown: impl IntoIterator<Item = Kind>) -> io::Result<Encoder> {
        let (objects, segment) = (Objects::default(), Segment::default());
        let (recorder, unknown) = (recorder.into(), unknown.into_iter().collect());
        Ok(Encoder { recorder, unknown, packer: Packer::new()?, objects, segment, continues: false })
    }

    /// Begins a segment with the present state of all objects.
    ///
    /// # Errors
    ///
    /// If the compressor fails, for lack of memory.
    pub fn begin_segment(&mut self, now: Timestamp, out: &mut Vec<u8>) -> io::Result<()> {
        self.segment = Segment { is_open: true, ..Segment::default() };
        let start = out.len();
        self.write_state(now, out)?;
        let (recorder, unknown, state) = (self.recorder.clone(), self.unknown.clone(), (out.len() - start) as u64);
        let header = Header { started: whole_milliseconds(now), recorder, unknown, continues: self.continues, state };
        header.write(&mut self.segment.frame);
        let mut packed = Vec::new();
        self.segment.header = self.packer.pack(&self.segment.frame, &mut packed)? as u64;
        self.segment.frame.clear();
        // The header has the length of the state, which is not copied for it: a state may have many MiB.
        out.splice(start..start, packed);
        self.continues = true;
        Ok(())
    }

    /// Makes the first segment continue another one, without a gap.
    pub(crate) fn continue_segment(&mut self) {
        self.continues = true;
    }

    /// Records the state of an object that is new, or has changed. A state that is recorded already is ignored. Before the first
    /// segment, the object becomes part of the state with which that begins.
    pub fn put(&mut self, seen: Timestamp, author: Option<&Author>, object: impl Into<Recorded>) {
        let object = object.into();
        let (kind, key) = (object.kind(), object.key());
        let Some(number) = self.objects.find(kind, &key) else {
            let group = self.segment.index.group(object.group());
            self.segment.index.touch(group);
            object.write(self.segment.empty_body(object.version()));
            let number = self.objects.insert(object, group);
            return self.segment.record((number, Operation::Whole), seen, author);
        };
        let Some(slot) = &mut self.objects.slots[number] else { return };
        if slot.object == object {
            return;
        }
        let segment = &mut self.segment;
        let before = slot.group;
        segment.index.touch(before);
        let same = segment.index.group_at(before).is_some_and(|group| object.is_of_group(group));
        if !same {
            slot.group = segment.index.group(object.group());
            segment.index.touch(slot.group);
        }
        // Who reads the new group only has not read the state before.
        let operation = if same && object.write_difference(&slot.object, segment.empty_body(object.version())) {
            Operation::Difference
        } else {
            object.write(segment.empty_body(object.version()));
            Operation::Whole
        };
        slot.object = object;
        segment.record((number, operation), seen, author);
    }

    /// Records that an object no longer exists. One that is not recorded is ignored.
    pub fn remove(&mut self, seen: Timestamp, author: Option<&Author>, kind: Kind, key: &ObjectKey) {
        let Some((number, slot)) = self.objects.remove(kind, key) else { return };
        self.segment.index.touch(slot.group);
        self.segment.empty_body(0);
        self.segment.record((number, Operation::Removed), seen, author);
    }

    /// Records that changes since a time may be missing.
    pub fn gap(&mut self, seen: Timestamp, gap: &Gap) {
        let group = self.segment.index.group(Group::Gaps);
        self.segment.index.touch(group);
        gap.write(self.segment.empty_body(0));
        self.segment.record((0, Operation::Gap), seen, None);
    }

    /// Ends the frame, and records that the recorder was running at a time. It takes about 35 bytes.
    ///
    /// # Errors
    ///
    /// If the compressor fails, for lack of memory.
    pub fn mark_time(&mut self, now: Timestamp, out: &mut Vec<u8>) -> io::Result<()> {
        self.flush(out)?;
        self.segment.frame.byte(FrameKind::Time as u8);
        self.segment.context = Some(Context::write(now, &mut self.segment.frame));
        self.segment.since = now;
        self.flush(out)
    }

    /// Returns the version of a recorded object; `None` if it is not recorded.
    #[cfg(feature = "recorder")]
    pub(crate) fn version(&self, kind: Kind, key: &ObjectKey) -> Option<u64> {
        let slot = self.objects.slots[self.objects.find(kind, key)?].as_ref()?;
        Some(slot.object.version())
    }

    /// Returns the number of objects that exist.
    #[cfg(feature = "recorder")]
    pub(crate) fn objects(&self) -> usize {
        self.objects.by_key.len()
    }

    /// Records that an object was written, and that its content since then is unknown. Its last known state stays.
    pub fn unknown(&mut self, seen: Timestamp, author: Option<&Author>, kind: Kind, key: &ObjectKey, action: Action) {
        let slot = self.objects.find(kind, key).and_then(|number| self.objects.slots[number].as_ref());
        let is_recorded = slot.is_some();
        let group = match slot {
            Some(slot) => slot.group,
            None => self.segment.index.group(Group::of_unknown(kind, key)),
        };
        self.segment.index.touch(group);
        let write = UnknownWrite { kind, key: key.clone(), action, is_recorded };
        write.write(self.segment.empty_body(0));
        self.segment.record((UNKNOWN_WRITE, Operation::Gap), seen, author);
    }

    /// Returns whether a flush is due because the frame is large, 256 KiB.
    pub fn is_full(&self) -> bool {
        self.segment.frame.len() >= FULL
    }

    /// Returns the length of the segment so far, in bytes.
    pub fn segment_length(&self) -> u64 {
        self.segment.header + self.segment.length
    }

    /// Ends the frame. Returns nothing if nothing was recorded since the last flush.
    ///
    /// # Errors
    ///
    /// If the compressor fails, for lack of memory.
    pub fn flush(&mut self, out: &mut Vec<u8>) -> io::Result<()> {
        self.segment.end_frame(false, &mut self.packer, out)
    }

    /// Ends the segment, with its index. The next one has to be begun before the next change.
    ///
    /// # Errors
    ///
    /// If the compressor fails, for lack of memory.
    pub fn end_segment(&mut self, out: &mut Vec<u8>) -> io::Result<()> {
        self.flush(out)?;
        let (packer, mut index) = (&mut self.packer, 0);
        self.segment.index.write(|content| {
            index += packer.pack(content, out)? as u64;
            Ok::<(), io::Error>(())
        })?;
        self.segment.length += index;
        self.segment.is_open = false;
        Trailer { segment: self.segment_length(), index }.write(out);
        Ok(())
    }

    /// Writes all objects, those of a group one after another.
    fn write_state(&mut self, now: Timestamp, out: &mut Vec<u8>) -> io::Result<()> {
        let Encoder { objects, segment, packer, .. } = self;
        for slot in objects.slots.iter_mut().flatten() {
            slot.group = segment.index.group(slot.object.group());
        }
        let numbered = objects.slots.iter().enumerate();
        let mut existing: Vec<(usize, &Slot)> =
            numbered.filter_map(|(number, slot)| Some((number, slot.as_ref()?))).collect();
        existing.sort_by_key(|(_, slot)| slot.group);
        for (number, slot) in existing {
            segment.index.touch(slot.group);
            slot.object.write(segment.empty_body(slot.object.version()));
            segment.write_record(FrameKind::State, (number, Operation::Whole), now, None);
            if segment.frame.len() >= FULL {
                segment.end_frame(true, packer, out)?;
            }
        }
        segment.end_frame(true, packer, out)
    }
}

impl Segment {
    /// Returns the body for an object with this version.
    fn empty_body(&mut self, version: u64) -> &mut Output {
        self.body.clear();
        self.body.version = version;
        &mut self.body
    }

    fn record(&mut self, record: (usize, Operation), seen: Timestamp, author: Option<&Author>) {
        self.write_record(FrameKind::Changes, record, seen, author);
    }

    /// Appends a record with the body.
    fn write_record(
        &mut self,
        kind: FrameKind,
        (number, operation): (usize, Operation),
        seen: Timestamp,
        author: Option<&Author>,
    ) {
        let Segment { is_open: true, frame, context, since, body, .. } = self else { return };
        let context = context.get_or_insert_with(|| {
            *since = seen;
            frame.byte(kind as u8);
            Context::write(seen, frame)
        });
        context.write_record((number as u64, operation), seen, author, body, frame);
    }

    fn end_frame(&mut self, is_state: bool, packer: &mut Packer, out: &mut Vec<u8>) -> io::Result<()> {
        if self.context.take().is_none() {
            return Ok(());
        }
        let length = packer.pack(&self.frame, out)?;
        let packed = u32::try_from(length - HEAD).map_err(io::Error::other)?;
        self.index.add_frame(FrameEntry { offset: self.length, packed, time: self.since, is_state });
        self.length += length as u64;
        self.frame.clear();
        Ok(())
    }
}

impl Objects {
    fn find(&self, kind: Kind, key: &ObjectKey) -> Option<usize> {
        let hash = self.hasher.hash_one((kind, key));
        self.by_key.find(hash, |number| self.is(*number, kind, key)).copied()
    }

    fn is(&self, number: usize, kind: Kind, key: &ObjectKey) -> bool {
        self.slots[number].as_ref().is_some_and(|slot| slot.object.is(kind, key))
    }

    fn insert(&mut self, object: Recorded, group: usize) -> usize {
        let hash = self.hasher.hash_one((object.kind(), &object.key()));
        let number = self.free.pop().unwrap_or(self.slots.len());
        let slot = Some(Slot { object, hash, group });
        match self.slots.get_mut(number) {
            Some(free) => *free = slot,
            None => self.slots.push(slot),
        }
        let Objects { slots, by_key, .. } = self;
        by_key.insert_unique(hash, number, |number| slots[*number].as_ref().map_or(0, |slot| slot.hash));
        number
    }

    fn remove(&mut self, kind: Kind, key: &ObjectKey) -> Option<(usize, Slot)> {
        let number = self.find(kind, key)?;
        let slot = self.slots[number].take()?;
        if let Ok(entry) = self.by_key.find_entry(slot.hash, |it| *it == number) {
            entry.remove();
        }
        self.free.push(number);
        Some((number, slot))
    }
}

//! Turns changes into segments. It returns bytes and writes no file.

mod objects;

use std::io::{self, Write};

use jiff::Timestamp;
use kube_endpoint_model::{ObjectKey, Text};

use self::objects::Objects;
use crate::change::{Action, Author, Context, Gap, Operation, UNKNOWN_WRITE, UnknownWrite, whole_milliseconds};
use crate::codec::Output;
use crate::delta::HEARTBEAT;
use crate::frame::{FrameKind, HEAD, Packer, Trailer};
use crate::group::Group;
use crate::header::Header;
use crate::index::{FrameEntry, Index};
use crate::object::{Kind, Recorded};

/// Content of a frame after which it is due, however short the time since the last one. The compressor needs about five times
/// as much memory; with four times the length, states are 3 % shorter, and changes as long.
const FULL: usize = 64 << 10;

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
    /// Time at which the last segment began.
    continues: Option<Timestamp>,
}

/// The beginning of a segment, of which the state is not in memory.
pub(crate) struct Beginning {
    now: Timestamp,
    header: Vec<u8>,
    state: u64,
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
        Ok(Encoder { recorder, unknown, packer: Packer::new()?, objects, segment, continues: None })
    }

    /// Begins a segment with the present state of all objects.
    ///
    /// # Errors
    ///
    /// If the compressor fails, for lack of memory.
    pub fn begin_segment(&mut self, now: Timestamp, out: &mut Vec<u8>) -> io::Result<()> {
        let beginning = self.measure(now)?;
        self.begin_measured(&beginning, out)
    }

    /// Returns the beginning of a segment with the present state of all objects, for [`begin_measured`](Self::begin_measured).
    /// The segment does not begin yet.
    ///
    /// # Errors
    ///
    /// If the compressor fails, for lack of memory.
    pub(crate) fn measure(&mut self, now: Timestamp) -> io::Result<Beginning> {
        // The header comes first and has the length of the state, which is the same when it is written again.
        let state = self.write_state(now, &mut io::sink())?;
        let header = self.header(now, state)?;
        self.segment = Segment::default();
        Ok(Beginning { now, header, state })
    }

    /// Begins the segment that was measured, if nothing was recorded since then, with a frame in memory at a time: a
    /// state may have many MiB.
    ///
    /// # Errors
    ///
    /// If the compressor fails, for lack of memory; those of `out`.
    pub(crate) fn begin_measured(&mut self, beginning: &Beginning, out: &mut dyn Write) -> io::Result<()> {
        let Beginning { now, header, state } = beginning;
        out.write_all(header)?;
        if self.write_state(*now, out)? != *state {
            return Err(io::Error::other("the state has changed since it was measured"));
        }
        self.segment.header = header.len() as u64;
        self.continues = Some(whole_milliseconds(*now));
        Ok(())
    }

    /// Returns the header of a segment with a state of this length.
    fn header(&mut self, now: Timestamp, state: u64) -> io::Result<Vec<u8>> {
        let (recorder, unknown) = (self.recorder.clone(), self.unknown.clone());
        let (mut content, mut packed) = (Output::default(), Vec::new());
        Header { started: whole_milliseconds(now), recorder, unknown, continues: self.continues, state }
            .write(&mut content);
        self.packer.pack(&content, &mut packed)?;
        Ok(packed)
    }

    /// Makes the first segment continue the one that began at a time, without a gap.
    pub(crate) fn continue_segment(&mut self, started: Option<Timestamp>) {
        self.continues = started;
    }

    /// Records the state of an object that is new, or has changed. A state that is recorded already is ignored. Before the first
    /// segment, the object becomes part of the state with which that begins.
    pub fn put(&mut self, seen: Timestamp, author: Option<&Author>, object: impl Into<Recorded>) {
        self.put_recorded(seen, author, object.into());
    }

    fn put_recorded(&mut self, seen: Timestamp, author: Option<&Author>, object: Recorded) {
        let (kind, key) = (object.kind(), object.key());
        let Some(number) = self.objects.find(kind, &key) else {
            let mut group = 0;
            if self.segment.is_open {
                group = self.segment.touch(object.group());
                object.write(self.segment.empty_body(object.version()));
            }
            let number = self.objects.insert(object, group);
            return self.segment.record((number.into(), Operation::Whole), seen, author);
        };
        let Some(slot) = self.objects.get_mut(number) else { return };
        if !self.segment.is_open {
            slot.object = object;
            return;
        }
        if slot.object == object {
            return;
        }
        let segment = &mut self.segment;
        let before = slot.group as usize;
        let same = segment.index.group_at(before).is_some_and(|group| object.is_of_group(group));
        if !same {
            slot.group = segment.touch(object.group());
        }
        // Who reads the new group only has not read the state before.
        let operation = if same && object.write_difference(&slot.object, segment.empty_body(object.version())) {
            Operation::Difference
        } else {
            object.write(segment.empty_body(object.version()));
            Operation::Whole
        };
        // Readers of a Service or a namespace skip what concerns no endpoint.
        let is_heartbeat =
            kind == Kind::Node && operation == Operation::Difference && segment.body.as_slice() == HEARTBEAT;
        if !is_heartbeat {
            segment.index.touch(before);
        }
        slot.object = object;
        segment.record((number.into(), operation), seen, author);
    }

    /// Records that an object no longer exists. One that is not recorded is ignored.
    pub fn remove(&mut self, seen: Timestamp, author: Option<&Author>, kind: Kind, key: &ObjectKey) {
        let Some((number, slot)) = self.objects.remove(kind, key) else { return };
        self.segment.index.touch(slot.group as usize);
        self.segment.empty_body(0);
        self.segment.record((number.into(), Operation::Removed), seen, author);
    }

    /// Records that changes since a time may be missing.
    pub fn gap(&mut self, seen: Timestamp, gap: &Gap) {
        self.segment.touch(Group::Gaps);
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
        Some(self.objects.get(self.objects.find(kind, key)?)?.object.version())
    }

    /// Returns the number of objects that exist.
    #[cfg(feature = "recorder")]
    pub(crate) fn objects(&self) -> usize {
        self.objects.len()
    }

    /// Records that an object was written, and that its content since then is unknown. Its last known state stays.
    pub fn unknown(&mut self, seen: Timestamp, author: Option<&Author>, kind: Kind, key: &ObjectKey, action: Action) {
        let slot = self.objects.find(kind, key).and_then(|number| self.objects.get(number));
        let is_recorded = slot.is_some();
        match slot {
            Some(slot) => self.segment.index.touch(slot.group as usize),
            None => _ = self.segment.touch(Group::of_unknown(kind, key)),
        }
        let write = UnknownWrite { kind, key: key.clone(), action, is_recorded };
        write.write(self.segment.empty_body(0));
        self.segment.record((UNKNOWN_WRITE as u64, Operation::Gap), seen, author);
    }

    /// Returns whether a flush is due because the frame is large, 64 KiB.
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

    /// Begins the state of a segment: writes all objects, those of a group one after another. Returns the number of bytes.
    fn write_state(&mut self, now: Timestamp, out: &mut dyn Write) -> io::Result<u64> {
        self.segment = Segment { is_open: true, ..Segment::default() };
        let Encoder { objects, segment, packer, .. } = self;
        for slot in objects.iter_mut() {
            slot.group = segment.group(slot.object.group());
        }
        let (mut existing, mut frame) = (objects.numbers(), Vec::new());
        existing.sort_unstable_by_key(|number| (objects.get(*number).map(|slot| slot.group), *number));
        for number in existing {
            let Some(slot) = objects.get(number) else { continue };
            segment.index.touch(slot.group as usize);
            slot.object.write(segment.empty_body(slot.object.version()));
            segment.write_record(FrameKind::State, (number.into(), Operation::Whole), now, None);
            if segment.frame.len() >= FULL {
                segment.end_frame(true, packer, &mut frame)?;
                out.write_all(&frame)?;
                frame.clear();
            }
        }
        segment.end_frame(true, packer, &mut frame)?;
        out.write_all(&frame)?;
        Ok(segment.length)
    }
}

#[cfg(feature = "recorder")]
impl Beginning {
    /// Returns the length of header and state, in bytes.
    pub(crate) fn length(&self) -> u64 {
        self.header.len() as u64 + self.state
    }
}

impl Segment {
    /// Returns the body for an object with this version.
    fn empty_body(&mut self, version: u64) -> &mut Output {
        self.body.clear();
        self.body.version = version;
        &mut self.body
    }

    /// Returns the number of a group.
    fn group(&mut self, group: Group) -> u32 {
        u32::try_from(self.index.group(group)).expect("as many groups take more memory than there is")
    }

    /// Notes that the next record concerns a group; returns its number.
    fn touch(&mut self, group: Group) -> u32 {
        let number = self.group(group);
        self.index.touch(number as usize);
        number
    }

    fn record(&mut self, record: (u64, Operation), seen: Timestamp, author: Option<&Author>) {
        self.write_record(FrameKind::Changes, record, seen, author);
    }

    /// Appends a record with the body.
    fn write_record(
        &mut self,
        kind: FrameKind,
        (number, operation): (u64, Operation),
        seen: Timestamp,
        author: Option<&Author>,
    ) {
        let Segment { is_open: true, frame, context, since, body, .. } = self else { return };
        let context = context.get_or_insert_with(|| {
            *since = seen;
            frame.byte(kind as u8);
            Context::write(seen, frame)
        });
        context.write_record((number, operation), seen, author, body, frame);
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

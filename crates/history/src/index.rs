//! The index of a segment: its frames by time, and which of them concern a group of objects.

use indexmap::IndexMap;
use jiff::Timestamp;

use crate::codec::Output;
use crate::delta::Delta;
use crate::frame::FrameKind;
use crate::group::Group;

/// Content of a frame of the index is cut after this length.
const PART: usize = 64 << 10;

/// A frame with state or changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FrameEntry {
    /// Offset after the header of the segment.
    pub(crate) offset: u64,
    /// Length of the packed content.
    pub(crate) packed: u32,
    /// Time of the first record.
    pub(crate) time: Timestamp,
    pub(crate) is_state: bool,
}

/// Numbers of the frames that concern a group, as differences.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Postings {
    differences: Vec<u8>,
    last: Option<usize>,
}

/// Index of a segment that is being written. [`Lookup`](crate::lookup::Lookup) reads it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Index {
    frames: Vec<FrameEntry>,
    groups: IndexMap<Group, Postings>,
}

impl Index {
    /// Returns the number of a group.
    pub(crate) fn group(&mut self, group: Group) -> usize {
        let entry = self.groups.entry(group);
        let number = entry.index();
        entry.or_default();
        number
    }

    /// Returns the group with a number.
    pub(crate) fn group_at(&self, number: usize) -> Option<&Group> {
        self.groups.get_index(number).map(|(group, _)| group)
    }

    /// Records that the next frame concerns a group.
    pub(crate) fn touch(&mut self, group: usize) {
        let frame = self.frames.len();
        let Some((_, postings)) = self.groups.get_index_mut(group) else { return };
        if postings.last != Some(frame) {
            let mut difference = Output::default();
            difference.number((frame - postings.last.unwrap_or_default()) as u64);
            postings.differences.extend_from_slice(difference.as_slice());
            postings.last = Some(frame);
        }
    }

    /// Adds the next frame.
    pub(crate) fn add_frame(&mut self, frame: FrameEntry) {
        self.frames.push(frame);
    }

    /// Calls `write` with the content of each frame of the index.
    pub(crate) fn write<E>(&self, mut write: impl FnMut(&Output) -> Result<(), E>) -> Result<(), E> {
        let mut out = Output::default();
        let mut part = |out: &mut Output, at_least: usize| {
            if out.len() > at_least {
                write(out)?;
                out.clear();
            }
            if out.len() == 0 {
                out.byte(FrameKind::Index as u8);
            }
            Ok(())
        };
        let mut before = FrameEntry { offset: 0, packed: 0, time: Timestamp::default(), is_state: false };
        for frame in &self.frames {
            part(&mut out, PART)?;
            out.byte(u8::from(frame.is_state));
            out.number(frame.offset - before.offset);
            out.number(u64::from(frame.packed));
            frame.time.write(&before.time, &mut out);
            before = *frame;
        }
        for (group, postings) in &self.groups {
            part(&mut out, PART)?;
            out.byte(2);
            group.write(&mut out);
            out.bytes(&postings.differences);
        }
        part(&mut out, 1)
    }
}

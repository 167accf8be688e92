//! The index of a segment: its frames by time, and which of them concern a group of objects.

use indexmap::IndexMap;
use jiff::Timestamp;

use crate::codec::{Input, Malformed, Output};
use crate::delta::Delta;
use crate::frame::FrameKind;
use crate::object::Group;

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

/// Index of a segment.
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

    pub(crate) fn frames(&self) -> &[FrameEntry] {
        &self.frames
    }

    /// Returns the numbers of the frames that concern the groups for which `wants` returns true, in their order.
    pub(crate) fn frames_of(&self, wants: impl Fn(&Group) -> bool) -> Vec<usize> {
        let mut frames = Vec::new();
        for (_, postings) in self.groups.iter().filter(|(group, _)| wants(group)) {
            let (mut input, mut frame) = (Input::new(&postings.differences), 0);
            while let Ok(difference) = input.number() {
                frame += usize::try_from(difference).unwrap_or(usize::MAX - frame);
                frames.push(frame);
            }
        }
        frames.sort_unstable();
        frames.dedup();
        frames
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

    /// Reads the content of a frame of the index, after those before it.
    pub(crate) fn read(&mut self, mut input: Input<'_>) -> Result<(), Malformed> {
        while !input.is_empty() {
            let kind = input.byte()?;
            if kind == 2 {
                let group = Group::read(&mut input)?;
                let differences = input.bytes()?.to_vec();
                self.groups.insert(group, Postings { differences, last: None });
                continue;
            }
            let (offset, time) = self.frames.last().map(|it| (it.offset, it.time)).unwrap_or_default();
            let offset = offset.checked_add(input.number()?).ok_or(Malformed("a frame is beyond the file"))?;
            let packed = u32::try_from(input.number()?).map_err(|_| Malformed("a frame is longer than 4 GiB"))?;
            let time = Timestamp::read(&time, &mut input)?;
            self.frames.push(FrameEntry { offset, packed, time, is_state: kind == 1 });
        }
        Ok(())
    }
}

//! The index of a segment, as a reader uses it.

use jiff::Timestamp;

use crate::codec::{Input, Malformed};
use crate::delta::Delta as _;
use crate::frame::FrameKind;
use crate::group::GroupRef;
use crate::index::FrameEntry;
use crate::select::Select;

/// The frames of a segment, and which of them concern the objects that may be selected.
#[derive(Debug, Default)]
pub(crate) struct Lookup {
    frames: Vec<FrameEntry>,
    /// The groups that may be selected, and their postings, as they are written: a segment can have a hundred thousand others.
    groups: Vec<u8>,
}

impl Lookup {
    /// Reads the content of a frame of the index, after those before it. Of groups, keeps those that may be selected;
    /// without `select`, none. Returns whether there is more to read.
    pub(crate) fn read(&mut self, content: &[u8], select: Option<&Select>) -> Result<bool, Malformed> {
        let content = content.strip_prefix(&[FrameKind::Index as u8]).ok_or(Malformed("the index is cut off"))?;
        let mut input = Input::new(content);
        while !input.is_empty() {
            let entry = input;
            let kind = input.byte()?;
            if kind == 2 {
                // The frames come first.
                let Some(select) = select else { return Ok(false) };
                let group = GroupRef::read(&mut input)?;
                input.bytes()?;
                if select.wants(group, None) {
                    self.groups.extend_from_slice(&entry.rest()[..entry.len() - input.len()]);
                }
                continue;
            }
            let (offset, time) = self.frames.last().map(|it| (it.offset, it.time)).unwrap_or_default();
            let offset = offset.checked_add(input.number()?).ok_or(Malformed("a frame is beyond the file"))?;
            let packed = u32::try_from(input.number()?).map_err(|_| Malformed("a frame is longer than 4 GiB"))?;
            let time = Timestamp::read(&time, &mut input)?;
            self.frames.push(FrameEntry { offset, packed, time, is_state: kind == 1 });
        }
        Ok(true)
    }

    /// Returns all frames.
    pub(crate) fn frames(&self) -> &[FrameEntry] {
        &self.frames
    }

    /// Returns the frames that concern the groups for which `wants` returns true, in their order.
    pub(crate) fn frames_of(&self, wants: impl Fn(GroupRef<'_>) -> bool) -> Vec<FrameEntry> {
        let mut concerned = vec![false; self.frames.len()];
        for (_, mut postings) in self.groups().filter(|(group, _)| wants(*group)) {
            let mut frame = 0_usize;
            while let Ok(difference) = postings.number() {
                frame = frame.saturating_add(usize::try_from(difference).unwrap_or(usize::MAX));
                let Some(is_concerned) = concerned.get_mut(frame) else { break };
                *is_concerned = true;
            }
        }
        self.frames.iter().zip(concerned).filter(|(_, is_concerned)| *is_concerned).map(|(frame, _)| *frame).collect()
    }

    /// Returns the groups that were kept, and their postings.
    fn groups(&self) -> impl Iterator<Item = (GroupRef<'_>, Input<'_>)> {
        let mut input = Input::new(&self.groups);
        // They were read before they were kept, so that none is malformed.
        std::iter::from_fn(move || {
            input.byte().ok()?;
            Some((GroupRef::read(&mut input).ok()?, Input::new(input.bytes().ok()?)))
        })
    }
}

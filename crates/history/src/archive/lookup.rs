//! The indexes of segments, which are read or made.

use std::collections::HashMap;

use super::{Archive, Segment};
use crate::change::{Operation, Record};
use crate::codec::Malformed;
use crate::error::ReadError;
use crate::frame::{self, Next};
use crate::group::{Group, GroupRef};
use crate::index::{FrameEntry, Index};
use crate::lookup::Lookup;
use crate::object::Recorded;
use crate::select::Select;

impl Archive {
    /// Returns the frames of a segment, and which of them concern the objects that may be selected. Without `select`, no
    /// object is. The index of a segment that has none is made from all its frames.
    pub(crate) fn lookup(&mut self, segment: usize, select: Option<&Select>) -> Result<Lookup, ReadError> {
        let index = self.segments[segment].index_end.map(|end| self.read_index(segment, end, select));
        match index {
            // A damaged index is made again.
            None | Some(Err(ReadError::Damaged { .. })) => self.make_index(segment, select),
            Some(index) => index,
        }
    }

    fn read_index(&mut self, segment: usize, end: u64, select: Option<&Select>) -> Result<Lookup, ReadError> {
        let Segment { file, end: mut offset, .. } = self.segments[segment];
        let (mut lookup, mut content) = (Lookup::default(), Vec::new());
        while offset < end {
            let Next::Frame { packed } = self.next(file, offset, end)? else {
                return Err(self.damaged(file, offset, "no frame of the index begins here"));
            };
            self.unpack(file, offset, packed, &mut content)?;
            let read = lookup.read(&content, select);
            if !read.map_err(|Malformed(problem)| self.damaged(file, offset, problem))? {
                break;
            }
            offset += (frame::HEAD + packed) as u64;
        }
        Ok(lookup)
    }

    /// Makes the index of a segment that has none.
    fn make_index(&mut self, segment: usize, select: Option<&Select>) -> Result<Lookup, ReadError> {
        let Segment { file, start, end, ref header, .. } = self.segments[segment];
        let (state, started, mut offset) = (header.state, header.started, start);
        let (mut index, mut groups) = (Index::default(), HashMap::new());
        while offset < end {
            let at = offset - start;
            // Nothing is known of what follows damage.
            let packed = if let Next::Frame { packed } = self.next(file, offset, end)? { Some(packed) } else { None };
            let length = u32::try_from(packed.unwrap_or_default()).unwrap_or(u32::MAX);
            let entry = FrameEntry { offset: at, packed: length, time: started, is_state: at < state };
            if let Some(select) = select {
                match self.read_frame(segment, entry, |record| touch(&mut index, &mut groups, record, select)) {
                    // Every reader finds it there, and has what precedes it.
                    Err(ReadError::Damaged { .. }) => {
                        let all = index.group(Group::Gaps);
                        index.touch(all);
                    }
                    read => drop(read?),
                }
            }
            index.add_frame(entry);
            offset = packed.map_or(end, |packed| offset + (frame::HEAD + packed) as u64);
        }
        let mut lookup = Lookup::default();
        index
            .write(|content| lookup.read(content.as_slice(), select).map(drop))
            .map_err(|Malformed(problem)| self.damaged(file, start, problem))?;
        Ok(lookup)
    }
}

/// Adds a record of the next frame to an index of what may be selected. `groups` has the groups of these objects by their
/// numbers.
fn touch(
    index: &mut Index,
    groups: &mut HashMap<u64, usize>,
    mut record: Record<'_>,
    select: &Select,
) -> Result<(), Malformed> {
    if let Some(before) = groups.get(&record.object).filter(|_| record.operation != Operation::Gap)
        && !(record.is_heartbeat() && index.group_at(*before) == Some(&Group::Nodes))
    {
        index.touch(*before);
    }
    match record.operation {
        Operation::Whole if GroupRef::of_whole(record.body, |group| select.wants(group, None))? => {
            let group = index.group(Recorded::read(&mut record.body)?.group());
            index.touch(group);
            groups.insert(record.object, group);
        }
        Operation::Whole | Operation::Removed => {
            groups.remove(&record.object);
        }
        Operation::Gap => {
            let group = index.group(Group::Gaps);
            index.touch(group);
        }
        Operation::Difference => {}
    }
    Ok(())
}

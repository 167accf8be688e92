//! The changes of selected objects, in their order, and the state between them.

mod relabelled;
mod selectors;

use std::collections::{BTreeMap, HashMap, VecDeque};

use jiff::Timestamp;
use kube_endpoint_model::{Labels, ObjectKey};

use crate::archive::Archive;
use crate::change::{Change, Gap, Operation, Record, UNKNOWN_WRITE, UnknownWrite, What};
use crate::codec::Malformed;
use crate::error::ReadError;
use crate::group::GroupRef;
use crate::header::Header;
use crate::index::FrameEntry;
use crate::object::{Kind, Recorded};
use crate::records::Records;
use crate::select::Select;

/// Objects by kind and name.
type State = BTreeMap<(Kind, ObjectKey), Recorded>;

/// State of the selected objects, and what changes it. Returned by [`Archive::replay`].
///
/// Each call of [`next_change`](Self::next_change) moves to the next change, of all segments. Between two segments of
/// different runs of the recorder there is a [`Gap`], followed by the changes that happened in it; so there is from
/// where a segment is damaged until the next segment or the end. A Pod whose labels no longer match the selected
/// Service is seen changing once more, and not after it. A Pod that the Service selects only in a later segment is seen
/// created at its beginning, and one that it selects no longer, deleted.
pub struct Replay<'a> {
    archive: &'a mut Archive,
    select: Select,
    max_objects: usize,
    /// The segment after the present one.
    next_segment: usize,
    /// The segment of the last change that was returned, or of the state at the beginning; `None` before the first segment.
    present: Option<usize>,
    /// Frames with changes of the segment that are still to be read.
    frames: VecDeque<FrameEntry>,
    /// The frame that is being read.
    frame: Option<(FrameEntry, Records)>,
    /// Selectors that the selected Service has in the segment.
    selectors: Vec<Labels>,
    /// Content of frames that were read for the selectors and will be read for the changes, by offset.
    unpacked: HashMap<u64, Vec<u8>>,
    /// Objects by number, as of the last record that was read.
    tracked: HashMap<u64, Recorded>,
    /// Objects as of the last change that was returned.
    objects: State,
    /// Changes that were read and are not returned yet.
    changes: VecDeque<Change>,
    /// Time of the last change, or of the beginning of the segment.
    last: Timestamp,
    /// The gap that ends with the next segment, because the rest of this one is damaged.
    damaged: Option<Gap>,
    /// Whether all segments were read.
    has_ended: bool,
}

impl<'a> Replay<'a> {
    pub(crate) fn start(
        archive: &'a mut Archive,
        (select, max_objects): (Select, usize),
        next_segment: usize,
        from: Timestamp,
    ) -> Result<Replay<'a>, ReadError> {
        let mut replay = Replay {
            archive,
            select,
            max_objects,
            next_segment,
            present: None,
            frames: VecDeque::new(),
            frame: None,
            selectors: Vec::new(),
            unpacked: HashMap::new(),
            tracked: HashMap::new(),
            objects: BTreeMap::new(),
            changes: VecDeque::new(),
            last: Timestamp::MIN,
            damaged: None,
            has_ended: false,
        };
        let begins = next_segment < replay.archive.segment_count();
        if begins && replay.archive.header(next_segment).started <= from {
            replay.begin_segment()?;
            while replay.time_of_next()?.is_some_and(|next| next <= from) {
                replay.next_change()?;
            }
        }
        Ok(replay)
    }

    /// Returns the state of the selected objects after the last change.
    pub fn objects(&self) -> impl Iterator<Item = &Recorded> {
        self.objects.values()
    }

    /// Returns the state of one object after the last change.
    pub fn object(&self, kind: Kind, key: &ObjectKey) -> Option<&Recorded> {
        self.objects.get(&(kind, key.clone()))
    }

    /// Returns the header of the segment of the last change; `None` before the first one.
    pub fn header(&self) -> Option<&Header> {
        Some(self.archive.header(self.present?))
    }

    /// Moves to the next change; `None` at the end.
    ///
    /// # Errors
    ///
    /// [`ReadError`], if a file cannot be read.
    pub fn next_change(&mut self) -> Result<Option<Change>, ReadError> {
        while self.changes.is_empty() && self.read_more()? {}
        let Some(change) = self.changes.pop_front() else { return Ok(None) };
        self.last = change.seen;
        self.present = Some(self.segment());
        match &change.what {
            What::Put { after, .. } => {
                self.objects.insert((after.kind(), after.key()), after.clone());
            }
            What::Removed(before) => {
                self.objects.remove(&(before.kind(), before.key()));
            }
            What::Gap(_) | What::Unknown(_) => {}
        }
        Ok(Some(change))
    }

    /// Returns the number of the segment of [`header`](Self::header).
    pub(crate) fn present(&self) -> Option<usize> {
        self.present
    }

    /// Returns the number and the header of the segment that is being read, which may have no change yet.
    pub(crate) fn reads(&self) -> (usize, &Header) {
        (self.segment(), self.archive.header(self.segment()))
    }

    /// Returns the time of the next change, without moving to it; `None` at the end.
    ///
    /// # Errors
    ///
    /// [`ReadError`], if a file cannot be read.
    pub fn time_of_next(&mut self) -> Result<Option<Timestamp>, ReadError> {
        while self.changes.is_empty() && self.read_more()? {}
        Ok(self.changes.front().map(|change| change.seen))
    }

    /// Reads a record, or begins the next frame or segment; returns false at the end. Where a segment is damaged, goes on with
    /// the next one, which begins with the whole state, and after the last one ends with a gap.
    fn read_more(&mut self) -> Result<bool, ReadError> {
        let error = match self.try_read_more() {
            Err(error @ ReadError::Damaged { .. }) if self.present.is_some() => error,
            Err(error) if self.present.is_some() && error.is_of_missing_file() => error,
            read => return read,
        };
        self.frames.clear();
        self.frame = None;
        self.changes.clear();
        let gap = Gap { since: self.last, reason: error.to_string().as_str().into() };
        let gap = self.damaged.take().unwrap_or(gap);
        if self.next_segment < self.archive.segment_count() {
            self.damaged = Some(gap);
        } else {
            let seen = self.archive.end_of(self.segment())?.max(self.last);
            self.changes.push_back(Change { seen, author: None, what: What::Gap(gap) });
        }
        Ok(true)
    }

    fn try_read_more(&mut self) -> Result<bool, ReadError> {
        if self.read_record()? {
            return Ok(true);
        }
        match self.frames.pop_front() {
            Some(frame) => self.begin_frame(frame)?,
            None if self.next_segment < self.archive.segment_count() => self.begin_segment()?,
            None => return self.end(),
        }
        Ok(true)
    }

    /// Adds the gap at the end, once, if the last segment cannot be read. Returns whether there is one.
    fn end(&mut self) -> Result<bool, ReadError> {
        if std::mem::replace(&mut self.has_ended, true) || self.present.is_none() {
            return Ok(false);
        }
        let last = self.segment();
        let Some(reason) = self.archive.unreadable_after(last).map(ReadError::to_string) else { return Ok(false) };
        let seen = self.archive.end_of(last)?.max(self.last);
        let gap = Gap { since: seen, reason: reason.as_str().into() };
        self.changes.push_back(Change { seen, author: None, what: What::Gap(gap) });
        Ok(true)
    }

    /// Reads the state with which the next segment begins.
    fn begin_segment(&mut self) -> Result<(), ReadError> {
        let segment = self.next_segment;
        self.next_segment += 1;
        self.tracked.clear();
        let (state, changes): (Vec<FrameEntry>, Vec<FrameEntry>) =
            self.frames_in(segment)?.into_iter().partition(|frame| frame.is_state);
        self.frames = changes.into();
        for frame in state {
            self.begin_frame(frame)?;
            // The records of the state are no changes.
            while self.read_record()? {
                self.changes.clear();
            }
        }
        let mut state: State = self.tracked.values().map(|it| ((it.kind(), it.key()), it.clone())).collect();
        let gap = match self.damaged.take() {
            None if self.present.is_some() && !self.continues(segment) => {
                let before = segment.saturating_sub(1);
                let since = self.archive.end_of(before)?.max(self.last);
                let reason = self.archive.unreadable_after(before).map(ReadError::to_string);
                let reason = reason.as_deref().unwrap_or("the recorder was not running, or could not write").into();
                Some(Gap { since, reason })
            }
            damaged => damaged,
        };
        let Header { started, ref unknown, .. } = *self.archive.header(segment);
        // What this run of the recorder could not read was not deleted.
        let unread = self.objects.iter().filter(|((kind, _), _)| unknown.contains(kind));
        state.extend(unread.map(|(key, object)| (key.clone(), object.clone())));
        if self.present.is_none() {
            self.present = Some(segment);
            self.objects = state;
        } else if let Some(gap) = gap {
            self.add_relabelled(segment, &mut state)?;
            self.changes.push_back(Change { seen: started, author: None, what: What::Gap(gap) });
            self.change_to(&state, started);
        } else if let Select::Service(_) = self.select {
            // Every change was returned; but another selector selects other Pods, which exist for long.
            let (pods, others) = state.into_iter().partition(|((kind, _), _)| *kind == Kind::Pod);
            self.objects.retain(|(kind, _), _| *kind == Kind::Pod);
            self.change_to(&pods, started);
            self.objects.extend(others);
        } else {
            self.objects = state;
        }
        self.last = started;
        Ok(())
    }

    /// Returns whether a segment continues the one before. The times of a run never go back.
    fn continues(&self, segment: usize) -> bool {
        let Header { started, continues, .. } = self.archive.header(segment);
        continues.is_some() && *started >= self.last
    }

    /// Adds the changes that make the objects those of a state. Removals come last: a Pod that the Service no longer selects is not in the
    /// state either, and ceases to be an endpoint because the Service has changed.
    fn change_to(&mut self, state: &State, seen: Timestamp) {
        let mut add = |what| self.changes.push_back(Change { seen, author: None, what });
        for (key, after) in state {
            let before = self.objects.get(key);
            if before != Some(after) {
                add(What::Put { before: before.cloned(), after: after.clone() });
            }
        }
        for (key, before) in &self.objects {
            if !state.contains_key(key) {
                add(What::Removed(before.clone()));
            }
        }
    }

    /// Returns the frames of a segment that concern the selected objects. Finds the selectors of the selected Service.
    fn frames_in(&mut self, segment: usize) -> Result<Vec<FrameEntry>, ReadError> {
        if self.select == Select::All {
            return Ok(self.archive.lookup(segment, None)?.frames().to_vec());
        }
        let lookup = self.archive.lookup(segment, Some(&self.select))?;
        self.selectors = self.selectors_in(segment, &lookup)?;
        Ok(lookup.frames_of(|group| self.select.wants(group, Some(&self.selectors))))
    }

    fn begin_frame(&mut self, entry: FrameEntry) -> Result<(), ReadError> {
        let segment = self.segment();
        let records = match self.unpacked.remove(&entry.offset) {
            Some(content) => {
                Records::new(content).map_err(|error| self.archive.damaged_frame(segment, entry, error))?
            }
            None => self.archive.records(segment, entry)?,
        };
        self.frame = Some((entry, records));
        Ok(())
    }

    /// Reads a record of the present frame; returns false at its end.
    fn read_record(&mut self) -> Result<bool, ReadError> {
        let Some((entry, records)) = &mut self.frame else { return Ok(false) };
        let read = records.next().and_then(|record| {
            let Some(mut record) = record else { return Ok(false) };
            let (seen, author) = (record.seen, record.author.take());
            if let Some(what) = read_record(&self.select, &self.selectors, &mut self.tracked, &mut record)? {
                self.changes.push_back(Change { seen, author, what });
            }
            if record.body.is_empty() { Ok(true) } else { Err(Malformed("a record is longer than its content")) }
        });
        let entry = *entry;
        if !matches!(read, Ok(true)) {
            self.frame = None;
        }
        if self.tracked.len() > self.max_objects {
            return Err(ReadError::TooManyObjects { limit: self.max_objects });
        }
        read.map_err(|error| self.archive.damaged_frame(self.segment(), entry, error))
    }

    /// Returns the present segment, once one has begun.
    fn segment(&self) -> usize {
        self.next_segment.saturating_sub(1)
    }
}

/// Reads a record; returns what it changes among the selected objects.
fn read_record(
    select: &Select,
    selectors: &[Labels],
    tracked: &mut HashMap<u64, Recorded>,
    record: &mut Record<'_>,
) -> Result<Option<What>, Malformed> {
    Ok(match record.operation {
        Operation::Gap if record.object == UNKNOWN_WRITE as u64 => {
            let write = UnknownWrite::read(&mut record.body)?;
            select.wants_write(&write, tracked).then_some(What::Unknown(write))
        }
        Operation::Gap => Some(What::Gap(Gap::read(&mut record.body)?)),
        Operation::Removed => tracked.remove(&record.object).map(What::Removed),
        Operation::Difference => {
            let is_heartbeat = record.is_heartbeat();
            let Some(before) = tracked.get_mut(&record.object) else {
                record.skip();
                return Ok(None);
            };
            let after = before.read_difference(&mut record.body)?;
            let before = std::mem::replace(before, after.clone());
            let is_skipped = is_heartbeat && after.kind() == Kind::Node && !select.wants_heartbeats();
            (!is_skipped).then_some(What::Put { before: Some(before), after })
        }
        Operation::Whole => {
            let is_selected = GroupRef::of_whole(record.body, |group| select.wants(group, Some(selectors)))?;
            let before = tracked.remove(&record.object);
            if !is_selected && before.is_none() {
                record.skip();
                return Ok(None);
            }
            let after = Recorded::read(&mut record.body)?;
            if is_selected {
                tracked.insert(record.object, after.clone());
            }
            Some(What::Put { before, after })
        }
    })
}

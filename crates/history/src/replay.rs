//! The changes of selected objects, in their order, and the state between them.

use std::collections::{BTreeMap, HashMap, VecDeque};

use jiff::Timestamp;
use kube_endpoint_model::{Labels, ObjectKey, Text};

use crate::archive::Archive;
use crate::change::{Change, Gap, Operation, Record, UNKNOWN_WRITE, UnknownWrite, What};
use crate::codec::Malformed;
use crate::error::ReadError;
use crate::header::Header;
use crate::index::FrameEntry;
use crate::object::{Group, Kind, Recorded};
use crate::records::Records;

/// Objects that are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Select {
    /// All.
    All,
    /// The objects of a namespace, and all Nodes.
    Namespace(Text),
    /// A Service, its Endpoints and slices, the Pods that it selected at any time of the segment, and all Nodes.
    Service(ObjectKey),
}

/// State of the selected objects, and what changes it. Returned by [`Archive::replay`].
///
/// Each call of [`next_change`](Self::next_change) moves to the next change, of all segments. Between two segments of different
/// runs of the recorder there is a [`Gap`], followed by the changes that happened in it. A Pod whose labels no longer match
/// the selected Service is seen changing once more, and not after it.
pub struct Replay<'a> {
    archive: &'a mut Archive,
    select: Select,
    max_objects: usize,
    /// The segment after the present one.
    next_segment: usize,
    /// Whether a segment has begun.
    has_begun: bool,
    /// Frames with changes of the segment that are still to be read.
    frames: VecDeque<usize>,
    /// The frame that is being read.
    frame: Option<(FrameEntry, Records)>,
    /// Selectors that the selected Service has in the segment.
    selectors: Vec<Labels>,
    /// Objects by number, as of the last record that was read.
    tracked: HashMap<u64, Recorded>,
    /// Objects as of the last change that was returned.
    objects: BTreeMap<(Kind, ObjectKey), Recorded>,
    /// Changes that were read and are not returned yet.
    changes: VecDeque<Change>,
    /// Time of the last change, or of the beginning of the segment.
    last: Timestamp,
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
            has_begun: false,
            frames: VecDeque::new(),
            frame: None,
            selectors: Vec::new(),
            tracked: HashMap::new(),
            objects: BTreeMap::new(),
            changes: VecDeque::new(),
            last: Timestamp::MIN,
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

    /// Returns the header of the present segment; `None` before the first one.
    pub fn header(&self) -> Option<&Header> {
        let segment = self.next_segment.checked_sub(1).filter(|_| self.has_begun)?;
        Some(self.archive.header(segment))
    }

    /// Moves to the next change; `None` at the end.
    ///
    /// # Errors
    ///
    /// [`ReadError`], if the segment is damaged there.
    pub fn next_change(&mut self) -> Result<Option<Change>, ReadError> {
        while self.changes.is_empty() && self.read_more()? {}
        let Some(change) = self.changes.pop_front() else { return Ok(None) };
        self.last = change.seen;
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

    /// Returns the number of the segment after the present one.
    pub(crate) fn next_segment(&self) -> usize {
        self.next_segment
    }

    /// Returns the time of the next change, without moving to it; `None` at the end.
    ///
    /// # Errors
    ///
    /// [`ReadError`], if the segment is damaged there.
    pub fn time_of_next(&mut self) -> Result<Option<Timestamp>, ReadError> {
        while self.changes.is_empty() && self.read_more()? {}
        Ok(self.changes.front().map(|change| change.seen))
    }

    /// Reads a record, or begins the next frame or segment; returns false at the end.
    fn read_more(&mut self) -> Result<bool, ReadError> {
        if self.read_record()? {
            return Ok(true);
        }
        match self.frames.pop_front() {
            Some(frame) => self.begin_frame(frame)?,
            None if self.next_segment < self.archive.segment_count() => self.begin_segment()?,
            None => return Ok(false),
        }
        Ok(true)
    }

    /// Reads the state with which the next segment begins.
    fn begin_segment(&mut self) -> Result<(), ReadError> {
        let segment = self.next_segment;
        self.next_segment += 1;
        self.selectors = self.selectors_in(segment)?;
        self.tracked.clear();
        let index = self.archive.index(segment)?;
        let wants = |group: &Group| self.select.wants(group, &self.selectors);
        let frames = index.frames_of(wants);
        let (state, changes): (Vec<usize>, Vec<usize>) =
            frames.into_iter().partition(|frame| index.frames().get(*frame).is_some_and(|it| it.is_state));
        self.frames = changes.into();
        for frame in state {
            self.begin_frame(frame)?;
            // The records of the state are no changes.
            while self.read_record()? {
                self.changes.clear();
            }
        }
        let state: BTreeMap<_, _> = self.tracked.values().map(|it| ((it.kind(), it.key()), it.clone())).collect();
        let Header { started, continues, .. } = *self.archive.header(segment);
        if std::mem::replace(&mut self.has_begun, true) && !continues {
            let end = self.archive.end_of(segment.saturating_sub(1))?;
            self.changes_between_runs((end.max(self.last), started), &state);
        } else {
            self.objects = state;
            self.last = started;
        }
        Ok(())
    }

    /// Adds what has changed while no recorder was running.
    fn changes_between_runs(
        &mut self,
        (since, started): (Timestamp, Timestamp),
        state: &BTreeMap<(Kind, ObjectKey), Recorded>,
    ) {
        let reason = "the recorder was not running, or could not write".into();
        let mut add = |what| self.changes.push_back(Change { seen: started, author: None, what });
        add(What::Gap(Gap { since, reason }));
        for (key, before) in &self.objects {
            if !state.contains_key(key) {
                add(What::Removed(before.clone()));
            }
        }
        for (key, after) in state {
            let before = self.objects.get(key);
            if before != Some(after) {
                add(What::Put { before: before.cloned(), after: after.clone() });
            }
        }
    }

    /// Returns the selectors of the selected Service in a segment.
    fn selectors_in(&mut self, segment: usize) -> Result<Vec<Labels>, ReadError> {
        let Select::Service(key) = &self.select else { return Ok(Vec::new()) };
        let own = Group::Service(key.clone());
        let index = self.archive.index(segment)?;
        let frames: Vec<_> = index
            .frames_of(|group| *group == own)
            .iter()
            .filter_map(|frame| index.frames().get(*frame).copied())
            .collect();
        let (mut selectors, mut services) = (Vec::new(), HashMap::new());
        for frame in frames {
            self.archive.read_frame(segment, frame, |_, mut record| {
                let service = match record.operation {
                    Operation::Whole => Recorded::read(&mut record.body)?,
                    Operation::Difference => match services.get(&record.object) {
                        Some(before) => Recorded::read_difference(before, &mut record.body)?,
                        None => return Ok(()),
                    },
                    Operation::Removed => {
                        services.remove(&record.object);
                        return Ok(());
                    }
                    Operation::Gap => return Ok(()),
                };
                if service.is(Kind::Service, key)
                    && let Recorded::Service(now) = &service
                {
                    selectors.extend(now.selector.clone());
                    services.insert(record.object, service);
                } else {
                    services.remove(&record.object);
                }
                Ok(())
            })?;
        }
        selectors.sort();
        selectors.dedup();
        Ok(selectors)
    }

    fn begin_frame(&mut self, frame: usize) -> Result<(), ReadError> {
        let segment = self.segment();
        if let Some(entry) = self.archive.index(segment)?.frames().get(frame).copied() {
            self.frame = Some((entry, self.archive.records(segment, entry)?));
        }
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
            if record.body.is_empty() || !is_read(&record, &self.tracked) {
                Ok(true)
            } else {
                Err(Malformed("a record is longer than its content"))
            }
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

/// Returns whether the body of a record has been read.
fn is_read(record: &Record<'_>, tracked: &HashMap<u64, Recorded>) -> bool {
    record.operation != Operation::Difference || tracked.contains_key(&record.object)
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
            let Some(before) = tracked.get_mut(&record.object) else { return Ok(None) };
            let after = before.read_difference(&mut record.body)?;
            let before = std::mem::replace(before, after.clone());
            Some(What::Put { before: Some(before), after })
        }
        Operation::Whole => {
            let after = Recorded::read(&mut record.body)?;
            let before = tracked.remove(&record.object);
            let is_selected = select.wants(&after.group(), selectors);
            if is_selected {
                tracked.insert(record.object, after.clone());
            }
            (is_selected || before.is_some()).then_some(What::Put { before, after })
        }
    })
}

impl Select {
    /// Returns whether the object of a write is selected, or may be.
    fn wants_write(&self, write: &UnknownWrite, tracked: &HashMap<u64, Recorded>) -> bool {
        let UnknownWrite { kind, key, is_recorded, .. } = write;
        match (self, kind) {
            (Select::All, _) | (_, Kind::Node) => true,
            (Select::Namespace(namespace), _) => key.namespace == *namespace,
            (Select::Service(service), Kind::Service | Kind::Endpoints) => key == service,
            (Select::Service(service), Kind::Pod | Kind::EndpointSlice) => {
                let is_tracked = || tracked.values().any(|object| object.is(*kind, key));
                key.namespace == service.namespace && (!is_recorded || is_tracked())
            }
        }
    }

    /// Returns whether the objects of a group are selected, with the selectors of the selected Service.
    fn wants(&self, group: &Group, selectors: &[Labels]) -> bool {
        match (self, group) {
            (Select::All, _) | (_, Group::Nodes | Group::Gaps) => true,
            (Select::Namespace(namespace), Group::Service(key)) => key.namespace == *namespace,
            (Select::Namespace(namespace), Group::Pods(of, _)) => of == namespace,
            (Select::Service(service), Group::Service(key)) => key == service,
            (Select::Service(service), Group::Pods(of, labels)) => {
                *of == service.namespace && selectors.iter().any(|selector| labels.contains_all(selector))
            }
        }
    }
}

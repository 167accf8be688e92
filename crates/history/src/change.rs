//! Changes, and how they are written into frames.

use jiff::{SignedDuration, Timestamp};
use kube_endpoint_model::{ObjectKey, Text};

use crate::codec::{Input, Malformed, Output};
use crate::delta::{Delta, HEARTBEAT};
use crate::encoder::Encoder;
use crate::object::{Kind, Recorded, number_of, read_kind};

/// Number of the object in the record of an [`UnknownWrite`]. That of a [`Gap`] is 0.
pub(crate) const UNKNOWN_WRITE: usize = 1;

/// A change of an object, or a time of which nothing is known.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Time at which the recorder saw it, in whole milliseconds.
    pub seen: Timestamp,
    /// Who wrote the object, if that is known.
    pub author: Option<Author>,
    /// What has changed.
    pub what: What,
}

impl Change {
    /// Records the change.
    pub fn record(self, encoder: &mut Encoder) {
        let (seen, author) = (self.seen, self.author.as_ref());
        match self.what {
            What::Put { after, .. } => encoder.put(seen, author, after),
            What::Removed(before) => encoder.remove(seen, author, before.kind(), &before.key()),
            What::Gap(gap) => encoder.gap(seen, &gap),
            What::Unknown(write) => encoder.unknown(seen, author, write.kind, &write.key, write.action),
        }
    }
}

/// What has changed.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// An object was created, or changed.
    Put {
        /// State before; `None` for a new object.
        before: Option<Recorded>,
        /// State after.
        after: Recorded,
    },
    /// An object was deleted.
    Removed(Recorded),
    /// Changes between this time and [`Change::seen`] may be missing, or were seen late.
    Gap(Gap),
    /// An object was written, and its content since then is unknown.
    Unknown(UnknownWrite),
}

/// What was done to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "causes", derive(serde::Serialize), serde(rename_all = "camelCase"))]
pub enum Action {
    /// It was created, or began to be selected.
    Created,
    /// It was changed.
    Changed,
    /// It was deleted.
    Deleted,
}

/// A write whose outcome is not recorded. Audit logs below the level `RequestResponse` have such writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownWrite {
    /// Kind of the object.
    pub kind: Kind,
    /// Namespace and name of the object.
    pub key: ObjectKey,
    /// What was requested. A deletion may still wait for a grace period or a finalizer.
    pub action: Action,
    /// Whether an earlier state of the object is recorded. It stays the last one that is known.
    pub is_recorded: bool,
}

/// A time of which nothing is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// Time of the last answer of the API server before.
    pub since: Timestamp,
    /// Why, such as the error of a watch.
    pub reason: Text,
}

/// Who wrote an object.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Author {
    /// Field manager, such as `kubelet`; empty if it is unknown.
    pub manager: Text,
    /// User, such as `system:node:node-1`; empty if it is unknown. Only audit logs have it.
    pub user: Text,
    /// Time of the write as the object states it; `None` if it does not.
    pub time: Option<Timestamp>,
}

#[cfg(any(feature = "audit", feature = "recorder"))]
impl Author {
    /// Returns the author of the last write of an object, from its `managedFields`; `None` without an entry that has a
    /// manager and a time.
    pub(crate) fn of_last_write(entries: Vec<kube_endpoint_model::ManagedFieldsEntry>) -> Option<Author> {
        let managers = entries.into_iter().map(|entry| (entry.manager, entry.time));
        let (manager, time) = kube_endpoint_model::last_write(managers)?;
        Some(Author { manager, user: Text::default(), time: Some(time) })
    }
}

/// How a record continues the state of its object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    /// The body is the whole object.
    Whole,
    /// The body is the difference from the state before.
    Difference,
    /// The object was deleted; there is no body.
    Removed,
    /// The body is a [`Gap`], or an [`UnknownWrite`] if the number of the object is [`UNKNOWN_WRITE`].
    Gap,
}

/// A record, whose body is not decoded.
#[derive(Clone, Debug)]
pub(crate) struct Record<'a> {
    pub(crate) object: u64,
    pub(crate) operation: Operation,
    pub(crate) seen: Timestamp,
    pub(crate) author: Option<Author>,
    pub(crate) body: Input<'a>,
}

impl Record<'_> {
    /// Leaves the body undecoded.
    pub(crate) fn skip(&mut self) {
        self.body = Input::new(&[]);
    }

    /// Returns whether of an object, if that is a Node, only the version has changed.
    pub(crate) fn is_heartbeat(&self) -> bool {
        self.operation == Operation::Difference && self.body.rest() == HEARTBEAT
    }
}

/// What the records of a frame have in common.
#[derive(Debug, Default)]
pub(crate) struct Context {
    seen: Timestamp,
    /// Number of the last version. Those of all objects grow together.
    version: u64,
    /// Authors that the frame has named, without times.
    authors: Vec<Author>,
}

impl Context {
    /// Begins a frame.
    pub(crate) fn write(start: Timestamp, out: &mut Output) -> Context {
        let start = whole_milliseconds(start);
        start.write(&Timestamp::default(), out);
        Context { seen: start, version: 0, authors: Vec::new() }
    }

    pub(crate) fn read(input: &mut Input<'_>) -> Result<Context, Malformed> {
        Ok(Context { seen: Timestamp::read(&Timestamp::default(), input)?, version: 0, authors: Vec::new() })
    }

    /// Returns the time of the last record, or of the beginning of the frame.
    pub(crate) fn seen(&self) -> Timestamp {
        self.seen
    }

    pub(crate) fn write_record(
        &mut self,
        (object, operation): (u64, Operation),
        seen: Timestamp,
        author: Option<&Author>,
        body: &Output,
        out: &mut Output,
    ) {
        out.number(object << 2 | operation as u64);
        let seen = whole_milliseconds(seen);
        out.signed(seen.as_millisecond() - self.seen.as_millisecond());
        self.seen = seen;
        self.write_author(author, out);
        let version = if body.version == 0 { self.version } else { body.version };
        out.signed(version.wrapping_sub(self.version).cast_signed());
        self.version = version;
        out.bytes(body.as_slice());
    }

    fn write_author(&mut self, author: Option<&Author>, out: &mut Output) {
        let Some(author) = author else { return out.number(0) };
        let known = self.authors.iter().position(|it| it.manager == author.manager && it.user == author.user);
        let at = known.unwrap_or(self.authors.len());
        out.number(at as u64 + 1);
        if known.is_none() {
            out.bytes(author.manager.as_bytes());
            out.bytes(author.user.as_bytes());
            self.authors.push(Author { time: None, ..author.clone() });
        }
        author.time.write(&Some(whole_seconds(self.seen)), out);
    }

    pub(crate) fn read_record<'a>(&mut self, input: &mut Input<'a>) -> Result<Record<'a>, Malformed> {
        let head = input.number()?;
        let operation = match head & 3 {
            0 => Operation::Whole,
            1 => Operation::Difference,
            2 => Operation::Removed,
            _ => Operation::Gap,
        };
        let passed = SignedDuration::from_millis(input.signed()?);
        self.seen = self.seen.checked_add(passed).map_err(|_| Malformed("a time is beyond the calendar"))?;
        let author = self.read_author(input)?;
        self.version = self.version.wrapping_add(input.signed()?.cast_unsigned());
        let body = Input::of_version(input.bytes()?, self.version);
        Ok(Record { object: head >> 2, operation, seen: self.seen, author, body })
    }

    fn read_author(&mut self, input: &mut Input<'_>) -> Result<Option<Author>, Malformed> {
        let Some(at) = input.number()?.checked_sub(1) else { return Ok(None) };
        let at = usize::try_from(at).unwrap_or(usize::MAX);
        if at == self.authors.len() {
            self.authors.push(Author { manager: input.text()?, user: input.text()?, time: None });
        }
        let author = self.authors.get(at).cloned().ok_or(Malformed("an author is not named"))?;
        let time = Option::read(&Some(whole_seconds(self.seen)), input)?;
        Ok(Some(Author { time, ..author }))
    }
}

impl Gap {
    pub(crate) fn write(&self, out: &mut Output) {
        self.since.write(&Timestamp::default(), out);
        out.bytes(self.reason.as_bytes());
    }

    pub(crate) fn read(input: &mut Input<'_>) -> Result<Gap, Malformed> {
        Ok(Gap { since: Timestamp::read(&Timestamp::default(), input)?, reason: input.text()? })
    }
}

impl UnknownWrite {
    pub(crate) fn write(&self, out: &mut Output) {
        out.byte(number_of(self.kind));
        out.bytes(self.key.namespace.as_bytes());
        out.bytes(self.key.name.as_bytes());
        out.byte(self.action as u8);
        self.is_recorded.write(&false, out);
    }

    pub(crate) fn read(input: &mut Input<'_>) -> Result<UnknownWrite, Malformed> {
        let kind = read_kind(input)?;
        let key = ObjectKey { namespace: input.text()?, name: input.text()? };
        let action = match input.byte()? {
            0 => Action::Created,
            1 => Action::Changed,
            2 => Action::Deleted,
            _ => return Err(Malformed("unknown action")),
        };
        Ok(UnknownWrite { kind, key, action, is_recorded: bool::read(&false, input)? })
    }
}

/// Returns the time as records state it.
pub(crate) fn whole_milliseconds(time: Timestamp) -> Timestamp {
    Timestamp::from_millisecond(time.as_millisecond()).unwrap_or(time)
}

/// Objects state times in whole seconds.
fn whole_seconds(time: Timestamp) -> Timestamp {
    Timestamp::from_second(time.as_second()).unwrap_or(time)
}

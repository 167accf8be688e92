//! Splitting of protobuf lists into items.

use super::{ListMeta, Split, other_version, unidentified, versioned};
use crate::{
    DecodeError, Resource,
    buffer::Buffer,
    protobuf::{Fields, Head, MAGIC, MalformedProtobuf, Problem, no_envelope, type_meta, unknown},
};

/// Field numbers that all list types have in common.
const METADATA: u32 = 1;
const ITEMS: u32 = 2;

/// Incremental parser of an envelope and the list in it.
#[derive(Debug)]
pub(super) struct ProtobufList {
    kind: String,
    resource: Resource,
    buffer: Buffer,
    state: State,
    /// Remaining bytes of an unknown field, which are skipped.
    skip: u64,
    /// Maximum length in bytes of a buffered field: an item, the metadata, the type.
    limit: usize,
    /// Number of items returned.
    items: usize,
    meta: Option<ListMeta>,
    named: bool,
    has_list: bool,
}

#[derive(Debug, Clone, Copy)]
enum State {
    Magic,
    /// Between fields of the envelope.
    Envelope,
    /// Between fields of the list, `left` bytes before its end.
    List {
        left: u64,
    },
}

impl ProtobufList {
    /// Returns a parser for a list of `kind` whose items are of `resource`.
    pub(super) fn new(kind: String, resource: &Resource, limit: usize) -> Self {
        let (resource, buffer, state) = (*resource, Buffer::default(), State::Magic);
        Self { kind, resource, buffer, state, skip: 0, limit, items: 0, meta: None, named: false, has_list: false }
    }

    fn malformed(&self, error: MalformedProtobuf) -> DecodeError {
        error.reading(&self.kind)
    }

    /// Discards available bytes of a skipped field. Returns whether the field is complete.
    fn skipped(&mut self) -> bool {
        let have = self.buffer.rest().len();
        let step = usize::try_from(self.skip).map_or(have, |skip| skip.min(have));
        self.buffer.take(step);
        self.skip -= step as u64;
        self.skip == 0
    }

    /// Returns the length of a field's content; `None` until it is complete. A field that exceeds the limit is an error
    /// before its content is buffered.
    fn whole(&self, head: Head) -> Result<Option<usize>, DecodeError> {
        let content = usize::try_from(head.content).ok().filter(|content| *content <= self.limit);
        let content = content.ok_or_else(|| DecodeError::item_too_long(&self.kind, self.items, self.limit))?;
        Ok((self.buffer.rest().len() - head.header >= content).then_some(content))
    }

    /// Reads one field of the envelope and returns the next state; `None` if more bytes are needed.
    fn envelope(&mut self) -> Result<Option<State>, DecodeError> {
        let head = Head::read(self.buffer.rest()).map_err(|error| self.malformed(error))?;
        let Some(head) = head else { return Ok(None) };
        match head.number {
            unknown::RAW => {
                if self.has_list {
                    return Err(self.malformed(Problem::Expected { expected: "one list" }.of_field(unknown::RAW)));
                }
                self.has_list = true;
                self.buffer.take(head.header);
                return Ok(Some(State::List { left: head.content }));
            }
            unknown::TYPE_META => {
                let Some(content) = self.whole(head)? else { return Ok(None) };
                self.buffer.take(head.header);
                let fields = Fields::new(self.buffer.take(content));
                match type_meta(fields) {
                    Ok((version, kind)) if kind == self.kind => {
                        if !self.resource.is_of_version(version) {
                            return Err(other_version(&self.kind, &self.resource, version));
                        }
                        self.named = true;
                    }
                    Ok((_, kind)) => {
                        return Err(DecodeError::kind(&self.kind, kind));
                    }
                    Err(error) => return Err(error.reading(&self.kind)),
                }
            }
            unknown::CONTENT_ENCODING if head.content > 0 => {
                let expected = Problem::Expected { expected: "an empty content encoding" };
                return Err(self.malformed(expected.of_field(unknown::CONTENT_ENCODING)));
            }
            _ => {
                self.buffer.take(head.header);
                self.skip = head.content;
            }
        }
        Ok(Some(State::Envelope))
    }
}

impl Split for ProtobufList {
    fn push(&mut self, chunk: &[u8]) {
        self.buffer.push(chunk);
    }

    fn next_item(&mut self) -> Result<Option<&[u8]>, DecodeError> {
        loop {
            if !self.skipped() {
                return Ok(None);
            }
            let left = match self.state {
                State::Magic => {
                    let seen = self.buffer.rest().len().min(MAGIC.len());
                    if self.buffer.rest()[..seen] != MAGIC[..seen] {
                        return Err(self.malformed(no_envelope()));
                    }
                    if seen < MAGIC.len() {
                        return Ok(None);
                    }
                    self.buffer.take(seen);
                    self.state = State::Envelope;
                    continue;
                }
                State::Envelope | State::List { left: 0 } => {
                    if self.buffer.rest().is_empty() {
                        return Ok(None);
                    }
                    let Some(next) = self.envelope()? else { return Ok(None) };
                    self.state = next;
                    continue;
                }
                State::List { left } => left,
            };
            let head = Head::read(self.buffer.rest()).map_err(|error| self.malformed(error))?;
            let Some(head) = head else { return Ok(None) };
            let left = left.checked_sub(head.header as u64).and_then(|left| left.checked_sub(head.content));
            let left = left.ok_or_else(|| self.malformed(Problem::Truncated.of_field(head.number)))?;
            let wanted = matches!(head.number, METADATA | ITEMS);
            let content = if wanted { self.whole(head)? } else { None };
            match (head.number, content) {
                (METADATA | ITEMS, None) => return Ok(None),
                (ITEMS, Some(content)) => {
                    self.state = State::List { left };
                    self.items += 1;
                    self.buffer.take(head.header);
                    return Ok(Some(self.buffer.take(content)));
                }
                (_, Some(content)) => {
                    self.buffer.take(head.header);
                    let meta = self.meta.get_or_insert_default();
                    metadata(meta, Fields::new(self.buffer.take(content)))
                        .map_err(|error| error.reading(&self.kind))?;
                }
                (_, None) => {
                    self.buffer.take(head.header);
                    self.skip = head.content;
                }
            }
            self.state = State::List { left };
        }
    }

    fn finish(self) -> Result<ListMeta, DecodeError> {
        let between = matches!(self.state, State::Envelope | State::List { left: 0 });
        if !between || self.skip > 0 || !self.buffer.rest().is_empty() || !self.has_list {
            return Err(DecodeError::list_truncated(&self.kind, self.items, self.buffer.position()));
        }
        if !self.named {
            return Err(unidentified(&self.kind));
        }
        versioned(&self.kind, self.meta.unwrap_or_default())
    }
}

/// Decodes the fields of a `metav1.ListMeta` into `meta`.
fn metadata(meta: &mut ListMeta, fields: Fields<'_>) -> Result<(), MalformedProtobuf> {
    for field in fields {
        let field = field?;
        match field.number {
            2 => meta.resource_version = (&*field.text()?).into(),
            3 => meta.continue_token = Some(field.text()?.into_owned()).filter(|token| !token.is_empty()),
            4 => meta.remaining = field.as_i64()?.try_into().ok(),
            _ => {}
        }
    }
    Ok(())
}

//! Splitting of protobuf lists into items.

use super::split::{ListMeta, Split, missing_kind, require_version, unexpected_api_version};
use crate::{
    DecodeError, DecodeProblem, Resource,
    buffer::Buffer,
    protobuf::{
        FieldHeader, Fields, MAGIC, MalformedProtobuf, Problem,
        fields::{list, list_meta, unknown},
        no_envelope, type_meta,
    },
};

/// Incremental parser of an envelope and the list in it.
#[derive(Debug)]
pub(super) struct ProtobufList {
    kind: String,
    resource: Resource,
    buffer: Buffer,
    position: Position,
    /// Remaining bytes of an unknown field, which are skipped.
    to_skip: u64,
    /// Maximum length in bytes of a buffered field: an item, the metadata, the type.
    limit: usize,
    /// Number of items returned.
    items: usize,
    meta: Option<ListMeta>,
    has_type: bool,
    has_list: bool,
}

#[derive(Debug, Clone, Copy)]
enum Position {
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
        Self {
            kind,
            resource: *resource,
            buffer: Buffer::default(),
            position: Position::Magic,
            to_skip: 0,
            limit,
            items: 0,
            meta: None,
            has_type: false,
            has_list: false,
        }
    }

    fn malformed(&self, error: MalformedProtobuf) -> DecodeError {
        error.reading(&self.kind)
    }

    /// Discards available bytes of a skipped field. Returns whether the field is complete.
    fn skip(&mut self) -> bool {
        let have = self.buffer.unconsumed().len();
        let step = usize::try_from(self.to_skip).map_or(have, |skip| skip.min(have));
        self.buffer.consume(step);
        self.to_skip -= step as u64;
        self.to_skip == 0
    }

    /// Returns the length of a field's content; `None` until it is complete. A field that exceeds the limit is an error
    /// before its content is buffered.
    fn complete_len(&self, header: FieldHeader) -> Result<Option<usize>, DecodeError> {
        let content = usize::try_from(header.content_len).ok().filter(|content| *content <= self.limit);
        let content = content.ok_or_else(|| {
            let problem = DecodeProblem::ItemTooLong { item: self.items, limit: self.limit };
            DecodeError::new(&self.kind, problem)
        })?;
        Ok((self.buffer.unconsumed().len() - header.header_len >= content).then_some(content))
    }

    /// Reads one field of the envelope and returns the next position; `None` if more bytes are needed.
    fn envelope(&mut self) -> Result<Option<Position>, DecodeError> {
        let header = FieldHeader::read(self.buffer.unconsumed()).map_err(|error| self.malformed(error))?;
        let Some(header) = header else { return Ok(None) };
        match header.number {
            unknown::RAW => {
                if self.has_list {
                    return Err(self.malformed(Problem::Expected { expected: "one list" }.of_field(unknown::RAW)));
                }
                self.has_list = true;
                self.buffer.consume(header.header_len);
                return Ok(Some(Position::List { left: header.content_len }));
            }
            unknown::TYPE_META => {
                let Some(content) = self.complete_len(header)? else { return Ok(None) };
                self.buffer.consume(header.header_len);
                let fields = Fields::new(self.buffer.consume(content));
                match type_meta(fields) {
                    Ok((version, kind)) if kind == self.kind => {
                        if !self.resource.is_of_version(version) {
                            return Err(unexpected_api_version(&self.kind, &self.resource, version));
                        }
                        self.has_type = true;
                    }
                    Ok((_, kind)) => {
                        return Err(DecodeError::kind(&self.kind, kind));
                    }
                    Err(error) => return Err(error.reading(&self.kind)),
                }
            }
            unknown::CONTENT_ENCODING if header.content_len > 0 => {
                let expected = Problem::Expected { expected: "an empty content encoding" };
                return Err(self.malformed(expected.of_field(unknown::CONTENT_ENCODING)));
            }
            _ => {
                self.buffer.consume(header.header_len);
                self.to_skip = header.content_len;
            }
        }
        Ok(Some(Position::Envelope))
    }
}

impl Split for ProtobufList {
    fn push(&mut self, chunk: &[u8]) {
        self.buffer.push(chunk);
    }

    fn next_item(&mut self) -> Result<Option<&[u8]>, DecodeError> {
        loop {
            if !self.skip() {
                return Ok(None);
            }
            let left = match self.position {
                Position::Magic => {
                    let seen = self.buffer.unconsumed().len().min(MAGIC.len());
                    if self.buffer.unconsumed()[..seen] != MAGIC[..seen] {
                        return Err(self.malformed(no_envelope()));
                    }
                    if seen < MAGIC.len() {
                        return Ok(None);
                    }
                    self.buffer.consume(seen);
                    self.position = Position::Envelope;
                    continue;
                }
                Position::Envelope | Position::List { left: 0 } => {
                    if self.buffer.unconsumed().is_empty() {
                        return Ok(None);
                    }
                    let Some(next) = self.envelope()? else { return Ok(None) };
                    self.position = next;
                    continue;
                }
                Position::List { left } => left,
            };
            let header = FieldHeader::read(self.buffer.unconsumed()).map_err(|error| self.malformed(error))?;
            let Some(header) = header else { return Ok(None) };
            let left = left.checked_sub(header.header_len as u64).and_then(|left| left.checked_sub(header.content_len));
            let left = left.ok_or_else(|| self.malformed(Problem::Truncated.of_field(header.number)))?;
            let is_known = matches!(header.number, list::METADATA | list::ITEMS);
            let content = if is_known { self.complete_len(header)? } else { None };
            match (header.number, content) {
                (list::METADATA | list::ITEMS, None) => return Ok(None),
                (list::ITEMS, Some(content)) => {
                    self.position = Position::List { left };
                    self.items += 1;
                    self.buffer.consume(header.header_len);
                    return Ok(Some(self.buffer.consume(content)));
                }
                (_, Some(content)) => {
                    self.buffer.consume(header.header_len);
                    let meta = self.meta.get_or_insert_default();
                    metadata(meta, Fields::new(self.buffer.consume(content)))
                        .map_err(|error| error.reading(&self.kind))?;
                }
                (_, None) => {
                    self.buffer.consume(header.header_len);
                    self.to_skip = header.content_len;
                }
            }
            self.position = Position::List { left };
        }
    }

    fn finish(self) -> Result<ListMeta, DecodeError> {
        let between = matches!(self.position, Position::Envelope | Position::List { left: 0 });
        if !between || self.to_skip > 0 || !self.buffer.unconsumed().is_empty() || !self.has_list {
            let problem = DecodeProblem::ListTruncated { item: self.items, position: self.buffer.position() };
            return Err(DecodeError::new(&self.kind, problem));
        }
        if !self.has_type {
            return Err(missing_kind(&self.kind));
        }
        require_version(&self.kind, self.meta.unwrap_or_default())
    }
}

/// Decodes the fields of a `metav1.ListMeta` into `meta`.
fn metadata(meta: &mut ListMeta, fields: Fields<'_>) -> Result<(), MalformedProtobuf> {
    for field in fields {
        let field = field?;
        match field.number {
            list_meta::RESOURCE_VERSION => meta.resource_version = (&*field.text()?).into(),
            list_meta::CONTINUE => {
                meta.continue_token = Some(field.text()?.into_owned()).filter(|token| !token.is_empty());
            }
            list_meta::REMAINING_ITEM_COUNT => meta.remaining = field.as_i64()?.try_into().ok(),
            _ => {}
        }
    }
    Ok(())
}

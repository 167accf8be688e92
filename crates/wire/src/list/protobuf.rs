//! Splitting of protobuf lists into items.

use super::split::{ListMeta, Split, missing_kind, require_version};
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
    /// Maximum length in bytes of a field: an item, the metadata, the type.
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

    /// Returns the header of the next field; `None` until it is complete.
    fn header(&self) -> Result<Option<FieldHeader>, DecodeError> {
        FieldHeader::read(self.buffer.unconsumed()).map_err(|error| self.malformed(error))
    }

    /// Returns whether the content of a field is complete. Fails before a field beyond the limit is buffered.
    fn is_complete(&self, header: FieldHeader) -> Result<bool, DecodeError> {
        if header.content_len > self.limit as u64 {
            let problem = DecodeProblem::ItemTooLong { item: self.items, limit: self.limit };
            return Err(DecodeError::new(&self.kind, problem));
        }
        Ok((self.buffer.unconsumed().len() - header.header_len) as u64 >= header.content_len)
    }

    /// Consumes a field and returns its content.
    fn content(&mut self, header: FieldHeader) -> &[u8] {
        self.buffer.consume(header.header_len);
        // Complete, so that its length fits.
        self.buffer.consume(usize::try_from(header.content_len).unwrap_or(usize::MAX))
    }

    /// Reads one field of the envelope. Returns whether it was complete.
    fn envelope(&mut self) -> Result<bool, DecodeError> {
        self.position = Position::Envelope;
        let Some(header) = self.header()? else { return Ok(false) };
        if header.number == unknown::RAW {
            if self.has_list {
                return Err(self.malformed(Problem::Expected { expected: "one list" }.of_field(unknown::RAW)));
            }
            self.has_list = true;
            self.buffer.consume(header.header_len);
            self.position = Position::List { left: header.content_len };
            return Ok(true);
        }
        if !self.is_complete(header)? {
            return Ok(false);
        }
        match header.number {
            unknown::TYPE_META => {
                self.has_type = true;
                let (kind, resource) = (self.kind.clone(), self.resource);
                let (version, found) =
                    type_meta(Fields::new(self.content(header))).map_err(|error| error.reading(&kind))?;
                DecodeError::check(&kind, &resource, found, version)?;
            }
            unknown::CONTENT_ENCODING if header.content_len > 0 => {
                let expected = Problem::Expected { expected: "an empty content encoding" };
                return Err(self.malformed(expected.of_field(unknown::CONTENT_ENCODING)));
            }
            _ => {
                self.content(header);
            }
        }
        Ok(true)
    }

    /// Reads the first bytes of the body. Returns whether they were complete.
    fn magic(&mut self) -> Result<bool, DecodeError> {
        let seen = self.buffer.unconsumed().len().min(MAGIC.len());
        if self.buffer.unconsumed()[..seen] != MAGIC[..seen] {
            return Err(self.malformed(no_envelope()));
        }
        if seen < MAGIC.len() {
            return Ok(false);
        }
        self.buffer.consume(seen);
        self.position = Position::Envelope;
        Ok(true)
    }
}

impl Split for ProtobufList {
    fn push(&mut self, chunk: &[u8]) {
        self.buffer.push(chunk);
    }

    fn next_item(&mut self) -> Result<Option<&[u8]>, DecodeError> {
        loop {
            let left = match self.position {
                Position::List { left } if left > 0 => left,
                position => {
                    let is_magic = matches!(position, Position::Magic);
                    let is_read = if is_magic { self.magic()? } else { self.envelope()? };
                    if !is_read {
                        return Ok(None);
                    }
                    continue;
                }
            };
            let Some(header) = self.header()? else { return Ok(None) };
            let left = left.checked_sub(header.header_len as u64).and_then(|left| left.checked_sub(header.content_len));
            let left = left.ok_or_else(|| self.malformed(Problem::Truncated.of_field(header.number)))?;
            if !self.is_complete(header)? {
                return Ok(None);
            }
            self.position = Position::List { left };
            match header.number {
                list::ITEMS => {
                    self.items += 1;
                    return Ok(Some(self.content(header)));
                }
                list::METADATA => {
                    let mut meta = self.meta.take().unwrap_or_default();
                    let read = metadata(&mut meta, Fields::new(self.content(header)));
                    read.map_err(|error| self.malformed(error))?;
                    self.meta = Some(meta);
                }
                _ => {
                    self.content(header);
                }
            }
        }
    }

    fn finish(self: Box<Self>) -> Result<ListMeta, DecodeError> {
        let between = matches!(self.position, Position::Envelope | Position::List { left: 0 });
        if !between || !self.buffer.unconsumed().is_empty() || !self.has_list {
            let problem = DecodeProblem::ListTruncated { item: self.items, position: self.buffer.position() };
            return Err(DecodeError::new(&self.kind, problem));
        }
        if !self.has_type {
            return Err(missing_kind(&self.kind));
        }
        require_version(&self.kind, self.meta.unwrap_or_default())
    }
}

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

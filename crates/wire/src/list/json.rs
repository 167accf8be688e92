//! Splitting of JSON lists into items.

use serde::Deserialize;

use super::split::{ListMeta, Split, missing_kind, require_version};
use crate::{DecodeError, DecodeProblem, Resource, ResourceVersion, buffer::Buffer, json, scan::ValueScanner};

/// Incremental parser of the outer object of a list, with its members in any order.
///
/// Items are not parsed; the caller decodes them.
#[derive(Debug)]
pub(super) struct JsonList {
    kind: String,
    resource: Resource,
    buffer: Buffer,
    position: Position,
    /// Scanner of the value at the beginning of the buffer, and the number of bytes that it has scanned.
    value: Option<(ValueScanner, usize)>,
    /// Maximum length in bytes of a value: an item, another member, a key.
    limit: usize,
    /// Number of items returned.
    items: usize,
    meta: Option<ListMeta>,
    has_items: bool,
    has_kind: bool,
}

/// Position before a token, or within it if it is a value.
#[derive(Debug, Clone, Copy)]
enum Position {
    Document,
    /// A key, or the end of the object unless `needed` (after a comma).
    Key {
        needed: bool,
    },
    Colon(Member),
    Value(Member),
    AfterValue,
    /// An item, or the end of the array unless `needed` (after a comma).
    Item {
        needed: bool,
    },
    AfterItem,
    End,
}

/// Member of the list object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Member {
    ApiVersion,
    Kind,
    Metadata,
    Items,
    Other,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Metadata {
    #[serde(deserialize_with = "json::nullable")]
    resource_version: ResourceVersion,
    #[serde(rename = "continue")]
    continue_token: Option<String>,
    remaining_item_count: Option<i64>,
}

impl JsonList {
    /// Returns a parser for a list of `kind` whose items are of `resource`.
    pub(super) fn new(kind: String, resource: &Resource, limit: usize) -> Self {
        let (resource, buffer, position) = (*resource, Buffer::default(), Position::Document);
        let (meta, has_items, has_kind) = (None, false, false);
        Self { kind, resource, buffer, position, value: None, limit, items: 0, meta, has_items, has_kind }
    }

    /// Returns the length of the value at the beginning of the buffer; `None` until it is complete.
    fn complete_len(&mut self) -> Result<Option<usize>, DecodeError> {
        let Some((scanner, scanned)) = &mut self.value else { return Ok(None) };
        let rest = self.buffer.unconsumed();
        let end = scanner.end(&rest[*scanned..]).map(|length| *scanned + length);
        *scanned = end.unwrap_or(rest.len());
        if *scanned > self.limit {
            let problem = DecodeProblem::ItemTooLong { item: self.items, limit: self.limit };
            return Err(DecodeError::new(&self.kind, problem));
        }
        if end.is_some() {
            self.value = None;
        }
        Ok(end)
    }

    /// Reads `next`, the next byte that is not white space, between two values: punctuation, or the start of a value.
    fn read(&mut self, next: u8) -> Result<(), DecodeError> {
        let position = match (self.position, next) {
            (Position::Document, b'{') => Position::Key { needed: false },
            (Position::Key { needed: false } | Position::AfterValue, b'}') => Position::End,
            (Position::Colon(member), b':') => Position::Value(member),
            (Position::Value(Member::Items), b'[') if !self.has_items => {
                self.has_items = true;
                Position::Item { needed: false }
            }
            (Position::AfterValue, b',') => Position::Key { needed: true },
            (Position::Item { needed: false } | Position::AfterItem, b']') => Position::AfterValue,
            (Position::AfterItem, b',') => Position::Item { needed: true },
            // Members and items are checked when decoded. Go decodes a `null` item as an object without fields.
            (Position::Key { .. }, b'"')
            | (Position::Item { .. }, b'{' | b'n')
            | (Position::Value(_), b'{' | b'[' | b'"' | b'-' | b'0'..=b'9' | b'n' | b't' | b'f') => {
                self.value = Some((ValueScanner::new(next), 0));
                return Ok(());
            }
            (position, _) => return Err(self.unexpected(position.expects())),
        };
        self.position = position;
        self.buffer.consume(1);
        Ok(())
    }

    fn key(&mut self, length: usize) -> Result<Member, DecodeError> {
        Ok(match self.buffer.consume(length) {
            br#""apiVersion""# => Member::ApiVersion,
            br#""kind""# => Member::Kind,
            br#""metadata""# => Member::Metadata,
            br#""items""# => Member::Items,
            // Servers send no escaped keys. One could be an escaped form of a member that must not be missed.
            key if key.contains(&b'\\') => return Err(self.unexpected("a key without escapes")),
            _ => Member::Other,
        })
    }

    fn member(&mut self, member: Member, length: usize) -> Result<(), DecodeError> {
        let value = self.buffer.consume(length);
        match member {
            Member::ApiVersion => {
                let found: Option<String> = json::from_slice(&self.kind, value)?;
                let found = found.unwrap_or_default();
                if !found.is_empty() {
                    DecodeError::check(&self.kind, &self.resource, &self.kind, &found)?;
                }
            }
            Member::Kind => {
                let found: Option<String> = json::from_slice(&self.kind, value)?;
                let found = found.unwrap_or_default();
                self.has_kind = !found.is_empty();
                if self.has_kind && found != self.kind {
                    return Err(DecodeError::kind(&self.kind, &found));
                }
            }
            Member::Metadata => {
                let metadata: Option<Metadata> = json::from_slice(&self.kind, value)
                    .map_err(|error| error.with_path_prefix(&self.kind, "metadata"))?;
                if let Some(Metadata { resource_version, continue_token, remaining_item_count }) = metadata {
                    let meta = self.meta.get_or_insert_default();
                    if !resource_version.is_empty() {
                        meta.resource_version = resource_version;
                    }
                    if let Some(token) = continue_token {
                        meta.continue_token = Some(token).filter(|token| !token.is_empty());
                    }
                    if let Some(count) = remaining_item_count {
                        meta.remaining = count.try_into().ok();
                    }
                }
            }
            // Go encodes a nil slice as `null`.
            Member::Items if value == b"null" && !self.has_items => self.has_items = true,
            Member::Items => return Err(self.unexpected("one array of items or null")),
            Member::Other => {}
        }
        Ok(())
    }

    fn unexpected(&self, expected: &str) -> DecodeError {
        let message = format!("expected {expected} at byte {}", self.buffer.position());
        DecodeError::new(&self.kind, DecodeProblem::Json { path: String::new(), message })
    }
}

impl Split for JsonList {
    fn push(&mut self, chunk: &[u8]) {
        self.buffer.push(chunk);
    }

    fn next_item(&mut self) -> Result<Option<&[u8]>, DecodeError> {
        loop {
            if self.value.is_none() {
                let blank = self.buffer.unconsumed().iter().take_while(|byte| byte.is_ascii_whitespace()).count();
                self.buffer.consume(blank);
                let Some(next) = self.buffer.unconsumed().first() else { return Ok(None) };
                self.read(*next)?;
                continue;
            }
            let Some(length) = self.complete_len()? else { return Ok(None) };
            self.position = match self.position {
                Position::Key { .. } => Position::Colon(self.key(length)?),
                Position::Value(member) => {
                    self.member(member, length)?;
                    Position::AfterValue
                }
                _ => {
                    self.position = Position::AfterItem;
                    self.items += 1;
                    return Ok(Some(self.buffer.consume(length)));
                }
            };
        }
    }

    fn finish(mut self: Box<Self>) -> Result<ListMeta, DecodeError> {
        if !matches!(self.position, Position::End) {
            let problem = DecodeProblem::ListTruncated { item: self.items, position: self.buffer.position() };
            return Err(DecodeError::new(&self.kind, problem));
        }
        if self.meta.is_none() && !self.has_items {
            return Err(self.unexpected("metadata or items before the end"));
        }
        if !self.has_kind {
            return Err(missing_kind(&self.kind));
        }
        require_version(&self.kind, self.meta.take().unwrap_or_default())
    }
}

impl Position {
    fn expects(self) -> &'static str {
        match self {
            Self::Document => "an object",
            Self::Key { needed: false } => "a key or `}`",
            Self::Key { needed: true } => "a key",
            Self::Colon(_) => "`:`",
            Self::Value(_) => "a value",
            Self::AfterValue => "`,` or `}`",
            Self::Item { needed: false } => "an item or `]`",
            Self::Item { needed: true } => "an item",
            Self::AfterItem => "`,` or `]`",
            Self::End => "nothing more",
        }
    }
}

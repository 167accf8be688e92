//! Splitting of JSON lists into items.

use std::mem;

use serde::Deserialize;

use super::split::{ListMeta, Split, missing_kind, require_version, unexpected_api_version};
use crate::{
    DecodeError, DecodeProblem, Location, Resource, ResourceVersion, buffer::Buffer, json, scan::ValueScanner,
};

/// Incremental parser of the outer object of a list, with its members in any order.
///
/// Items are not parsed; the caller decodes them. Unknown members are skipped as they arrive, without buffering.
#[derive(Debug)]
pub(super) struct JsonList {
    kind: String,
    resource: Resource,
    buffer: Buffer,
    state: State,
    /// Number of bytes of the incomplete value that were scanned.
    scanned: usize,
    /// Maximum length in bytes of a buffered value: an item, `metadata`, a key.
    limit: usize,
    /// Number of items returned.
    items: usize,
    meta: Option<ListMeta>,
    has_items: bool,
    has_kind: bool,
}

#[derive(Debug)]
enum State {
    Document,
    /// Before a key, or the end of the object unless `needed` (after a comma).
    Key {
        needed: bool,
    },
    InKey(ValueScanner),
    Colon(Member),
    Value(Member),
    InValue(Member, ValueScanner),
    AfterValue,
    /// Before an item, or the end of the array unless `needed` (after a comma).
    Item {
        needed: bool,
    },
    InItem(ValueScanner),
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
        let (resource, buffer, state) = (*resource, Buffer::default(), State::Document);
        let (meta, has_items, has_kind) = (None, false, false);
        Self { kind, resource, buffer, state, scanned: 0, limit, items: 0, meta, has_items, has_kind }
    }

    /// Returns the length of the value at the beginning of the buffer; `None` until it is complete.
    fn complete_len(&mut self, value: &mut ValueScanner) -> Result<Option<usize>, DecodeError> {
        let rest = self.buffer.unconsumed();
        let end = value.end(&rest[self.scanned..]).map(|length| self.scanned + length);
        let have = end.unwrap_or(rest.len());
        if have > self.limit {
            let problem = DecodeProblem::ItemTooLong { item: self.items, limit: self.limit };
            return Err(DecodeError::new(&self.kind, problem));
        }
        self.scanned = if end.is_some() { 0 } else { have };
        Ok(end)
    }

    /// Discards the available bytes of `value`. Returns whether its end was among them.
    fn skip(&mut self, value: &mut ValueScanner) -> bool {
        let rest = self.buffer.unconsumed();
        let end = value.end(rest);
        let have = end.unwrap_or(rest.len());
        self.buffer.consume(have);
        end.is_some()
    }

    /// Returns the state after `next`, the next byte that is not white space, between two values.
    fn transition(&mut self, state: &State, next: u8) -> Result<State, DecodeError> {
        let (taken, state) = match (state, next) {
            (State::Document, b'{') => (1, State::Key { needed: false }),
            (State::Key { needed: false } | State::AfterValue, b'}') => (1, State::End),
            (State::Key { .. }, b'"') => (0, State::InKey(ValueScanner::new(next))),
            (State::Colon(member), b':') => (1, State::Value(*member)),
            (State::Value(Member::Items), b'[') if !self.has_items => {
                self.has_items = true;
                (1, State::Item { needed: false })
            }
            (State::Value(Member::Items), first) if first != b'n' || self.has_items => {
                return Err(self.unexpected(state.expects()));
            }
            (State::Value(member), b'{' | b'[' | b'"' | b'-' | b'0'..=b'9' | b'n' | b't' | b'f') => {
                (0, State::InValue(*member, ValueScanner::new(next)))
            }
            (State::AfterValue, b',') => (1, State::Key { needed: true }),
            (State::Item { needed: false } | State::AfterItem, b']') => (1, State::AfterValue),
            // Go decodes a `null` item as an object without fields.
            (State::Item { .. }, b'{' | b'n') => (0, State::InItem(ValueScanner::new(next))),
            (State::AfterItem, b',') => (1, State::Item { needed: true }),
            (state, _) => return Err(self.unexpected(state.expects())),
        };
        self.buffer.consume(taken);
        Ok(state)
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
                if !found.is_empty() && !self.resource.is_of_version(&found) {
                    return Err(unexpected_api_version(&self.kind, &self.resource, &found));
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
            Member::Items if value == b"null" => self.has_items = true,
            Member::Items => return Err(self.unexpected("an array of items or null")),
            Member::Other => {}
        }
        Ok(())
    }

    fn unexpected(&self, expected: &str) -> DecodeError {
        let message = format!("expected {expected} at byte {}", self.buffer.position());
        DecodeError::new(&self.kind, DecodeProblem::Json { location: Location::default(), message })
    }
}

impl Split for JsonList {
    fn push(&mut self, chunk: &[u8]) {
        self.buffer.push(chunk);
    }

    fn next_item(&mut self) -> Result<Option<&[u8]>, DecodeError> {
        loop {
            let mut state = mem::replace(&mut self.state, State::Document);
            let next = match &mut state {
                State::InKey(value) => match self.complete_len(value)? {
                    Some(length) => Some(State::Colon(self.key(length)?)),
                    None => None,
                },
                State::InValue(Member::Other, value) => self.skip(value).then_some(State::AfterValue),
                State::InValue(member, value) => match self.complete_len(value)? {
                    Some(length) => {
                        self.member(*member, length)?;
                        Some(State::AfterValue)
                    }
                    None => None,
                },
                State::InItem(value) => {
                    if let Some(length) = self.complete_len(value)? {
                        self.state = State::AfterItem;
                        self.items += 1;
                        return Ok(Some(self.buffer.consume(length)));
                    }
                    None
                }
                between => {
                    let blank = self.buffer.unconsumed().iter().take_while(|byte| byte.is_ascii_whitespace()).count();
                    self.buffer.consume(blank);
                    match self.buffer.unconsumed().first() {
                        Some(next) => Some(self.transition(between, *next)?),
                        None => None,
                    }
                }
            };
            let Some(next) = next else {
                self.state = state;
                return Ok(None);
            };
            self.state = next;
        }
    }

    fn finish(mut self) -> Result<ListMeta, DecodeError> {
        if !matches!(self.state, State::End) {
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

impl State {
    fn expects(&self) -> &'static str {
        match self {
            Self::Document => "an object",
            Self::Key { needed: false } => "a key or `}`",
            Self::Key { needed: true } => "a key",
            Self::Colon(_) => "`:`",
            Self::Value(Member::Items) => "one array of items",
            Self::AfterValue => "`,` or `}`",
            Self::Item { needed: false } => "an item or `]`",
            Self::Item { needed: true } => "an item",
            Self::AfterItem => "`,` or `]`",
            Self::End => "nothing more",
            Self::InKey(_) | Self::Value(_) | Self::InValue(..) | Self::InItem(_) => "a value",
        }
    }
}

// Public API, listed by docs/tests/it/api.rs.

// crate

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Accept {
    pub encoding: Encoding,
    pub without_managed_fields: bool,
}
impl Accept {
    pub const fn of<T: Decode>(preferred: Encoding) -> Self {}
    pub const fn header(self) -> &'static str {}
}
impl From<Encoding> for Accept {}
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cause {
    pub reason: String,
    pub message: String,
    pub field: String,
}
pub const DEFAULT_LIMIT: usize = 16 << 20;
pub trait Decode: Object + Sized {
    /// API resource of the type: group, version, plural, kind and scope.
    const RESOURCE: Resource;
    /// Whether [`from_protobuf`](Self::from_protobuf) is implemented. If so, clients and informers request protobuf by
    /// default.
    const PROTOBUF: bool = false;
    /// Whether the type contains something of `metadata.managedFields`. If not, clients and informers ask the server to
    /// leave them out, see [`Accept::without_managed_fields`](crate::Accept::without_managed_fields).
    const READS_MANAGED_FIELDS: bool = true;
    fn from_json(bytes: &[u8]) -> Result<Self, DecodeError>;
    fn from_protobuf(bytes: &[u8]) -> Result<Self, DecodeError> {}
}
pub trait DecodeContext: Send + Sync {
    fn enter(&self, decode: &mut dyn FnMut());
}
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    Json {
        kind: String,
        location: Location,
        message: String,
        resource_version: Option<ResourceVersion>,
    },
    Protobuf {
        kind: String,
        cause: MalformedProtobuf,
        resource_version: Option<ResourceVersion>,
    },
    Encoding { kind: String, encoding: &'static str },
    Kind { kind: String, found: String, resource_version: Option<ResourceVersion> },
    MissingName { kind: String, resource_version: Option<ResourceVersion> },
    MissingResourceVersion { kind: String, resource_version: Option<ResourceVersion> },
    UnknownEvent {
        kind: String,
        event: String,
        resource_version: Option<ResourceVersion>,
    },
    FrameTooLong {
        kind: String,
        limit: usize,
        resource_version: Option<ResourceVersion>,
    },
    ItemTooLong {
        kind: String,
        item: usize,
        limit: usize,
        resource_version: Option<ResourceVersion>,
    },
    Truncated {
        kind: String,
        received: usize,
        resource_version: Option<ResourceVersion>,
    },
    ListTruncated {
        kind: String,
        item: usize,
        position: u64,
        resource_version: Option<ResourceVersion>,
    },
}
impl DecodeError {
    #[must_use]
    pub fn with_resource_version(mut self, version: &ResourceVersion) -> Self {}
}
impl From<Box<Undecodable>> for DecodeError {}
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Details {
    pub name: String,
    pub group: String,
    pub kind: String,
    pub uid: String,
    pub causes: Vec<Cause>,
    pub retry_after_seconds: u32,
}
#[derive(Debug, Clone, PartialEq)]
pub struct Dynamic {
    pub metadata: ObjectHead,
    pub value: Value,
}
impl Object for Dynamic {}
impl Decode for Dynamic {}
pub trait Encode: Decode + Serialize {
    fn to_protobuf(&self, message: &mut protobuf::Writer) -> bool {}
    fn response_from_protobuf(
        &self,
        request: &[u8],
        response: &[u8],
    ) -> Result<Self, DecodeError> {}
}
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Encoding {
    Json,
    Protobuf,
}
impl Encoding {
    pub const fn media_type(self) -> &'static str {}
    pub fn of_content_type(header: &str) -> Option<Self> {}
}
impl fmt::Display for Encoding {}
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventHead {
    pub added: bool,
    pub key: ObjectKey,
    pub resource_version: ResourceVersion,
}
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EventType {
    Added,
    Modified,
    Deleted,
}
pub trait Index<T>: Clone + Send + Sync + 'static {
    fn update(&mut self, old: Option<&Arc<T>>, new: Option<&Arc<T>>);
}
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct KeyError {}
#[derive(Debug)]
pub struct LineSplitter {}
impl LineSplitter {
    pub fn new(kind: &str) -> Self {}
    #[must_use]
    pub fn with_limit(self, limit: usize) -> Self {}
    pub fn push(&mut self, chunk: &[u8]) {}
    pub fn next_frame(&mut self) -> Result<Option<&[u8]>, DecodeError> {}
    pub fn finish(&self) -> Result<(), DecodeError> {}
}
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct List<T> {
    pub meta: ListMeta,
    pub items: Vec<T>,
}
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListMeta {
    pub resource_version: ResourceVersion,
    pub continue_token: Option<String>,
    pub remaining: Option<u64>,
}
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListParams {
    pub label_selector: Option<String>,
    pub field_selector: Option<String>,
    pub limit: Option<u32>,
    pub continue_token: Option<String>,
    pub resource_version: Option<ResourceVersion>,
    pub accept: Accept,
}
impl ListParams {
    pub fn path_and_query(
        &self,
        resource: &Resource,
        namespace: Option<&str>,
    ) -> String {}
}
#[derive(Debug)]
pub struct ListReader<T> {}
impl<T: Decode> ListReader<T> {
    pub fn new(encoding: Encoding) -> Self {}
    pub fn with_limit(encoding: Encoding, limit: usize) -> Self {}
    pub fn of(resource: &Resource, encoding: Encoding) -> Self {}
    pub fn push(&mut self, chunk: &[u8]) {}
    pub fn next_item(
        &mut self,
    ) -> Result<Option<Result<T, Box<Undecodable>>>, DecodeError> {}
    pub fn finish(self) -> Result<ListMeta, DecodeError> {}
}
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Location {
    pub path: String,
    pub line: usize,
    pub column: usize,
}
impl fmt::Display for Location {}
pub const MAX_RETRY_AFTER: Duration = Duration::from_secs(30);
pub trait Metadata {
    fn namespace(&self) -> &str;
    fn name(&self) -> &str;
    fn uid(&self) -> Uid;
    fn resource_version(&self) -> ResourceVersion;
    fn is_terminating(&self) -> bool;
    fn key(&self) -> ObjectKey {}
}
pub trait Object: Send + Sync + 'static {
    fn namespace(&self) -> &str;
    fn name(&self) -> &str;
    fn uid(&self) -> Uid;
    fn resource_version(&self) -> ResourceVersion;
    fn content_eq(&self, other: &Self) -> bool
    where
        Self: Sized,
    {}
    fn key(&self) -> ObjectKey {}
}
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct ObjectHead {
    pub name: Text,
    pub namespace: Text,
    pub uid: Uid,
    pub resource_version: ResourceVersion,
    pub terminating: bool,
}
impl ObjectHead {
    pub fn key(&self) -> ObjectKey {}
}
impl ObjectHead {
    pub fn from_fields(fields: Fields<'_>) -> Result<Self, MalformedProtobuf> {}
}
impl Metadata for ObjectHead {}
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectKey {
    pub namespace: Text,
    pub name: Text,
}
impl ObjectKey {
    pub fn new(namespace: impl Into<Text>, name: impl Into<Text>) -> Self {}
}
impl fmt::Display for ObjectKey {}
impl fmt::Debug for ObjectKey {}
impl FromStr for ObjectKey {}
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Received<T> {
    Event(WatchEvent<T>),
    Known(EventHead),
}
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Resource {
    pub group: &'static str,
    pub version: &'static str,
    pub plural: &'static str,
    pub kind: &'static str,
    pub namespaced: bool,
}
impl Resource {
    pub const fn namespaced(
        group: &'static str,
        version: &'static str,
        plural: &'static str,
        kind: &'static str,
    ) -> Self {}
    pub const fn cluster(
        group: &'static str,
        version: &'static str,
        plural: &'static str,
        kind: &'static str,
    ) -> Self {}
    pub fn discovered(
        group: &str,
        version: &str,
        plural: &str,
        kind: &str,
        namespaced: bool,
    ) -> Self {}
    pub fn api_version(&self) -> String {}
    pub fn path(&self, namespace: Option<&str>) -> String {}
    pub fn object_path(&self, namespace: &str, name: &str) -> String {}
}
impl fmt::Display for Resource {}
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct ResourceVersion(Repr);
impl ResourceVersion {
    pub fn is_empty(&self) -> bool {}
    pub fn number(&self) -> Option<u64> {}
}
impl Default for ResourceVersion {}
impl From<u64> for ResourceVersion {}
impl From<&str> for ResourceVersion {}
impl From<String> for ResourceVersion {}
impl fmt::Display for ResourceVersion {}
impl fmt::Debug for ResourceVersion {}
impl PartialEq<str> for ResourceVersion {}
impl PartialEq<&str> for ResourceVersion {}
impl PartialOrd for ResourceVersion {}
impl Serialize for ResourceVersion {}
impl<'de> Deserialize<'de> for ResourceVersion {}
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    pub status: String,
    pub code: u16,
    pub reason: String,
    pub message: String,
    pub details: Option<Details>,
}
impl Status {
    pub fn from_fields(fields: Fields<'_>) -> Result<Self, MalformedProtobuf> {}
}
impl Status {
    pub fn of_response(
        code: u16,
        phrase: &str,
        encoding: Encoding,
        body: &[u8],
    ) -> Self {}
    pub fn set_retry_after(&mut self, seconds: u32) {}
    pub fn has_cause(&self, reason: &str) -> bool {}
    pub fn is_not_found(&self) -> bool {}
    pub fn is_conflict(&self) -> bool {}
    pub fn is_forbidden(&self) -> bool {}
    pub fn is_expired(&self) -> bool {}
    pub fn is_too_large_resource_version(&self) -> bool {}
}
impl fmt::Display for Status {}
pub type Text = arcstr::ArcStr;
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Uid(Repr);
impl Uid {
    pub fn is_empty(&self) -> bool {}
}
impl Default for Uid {}
impl From<&str> for Uid {}
impl From<String> for Uid {}
impl fmt::Display for Uid {}
impl fmt::Debug for Uid {}
impl PartialEq<str> for Uid {}
impl PartialEq<&str> for Uid {}
impl Ord for Uid {}
impl PartialOrd for Uid {}
impl Serialize for Uid {}
impl<'de> Deserialize<'de> for Uid {}
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undecodable {
    pub key: Option<ObjectKey>,
    pub uid: Uid,
    pub resource_version: ResourceVersion,
    pub error: DecodeError,
}
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WatchEvent<T> {
    Added(T),
    Modified(T),
    Deleted(T),
    Bookmark { resource_version: ResourceVersion, initial_events_end: bool },
    Undecodable { event: EventType, object: Box<Undecodable> },
    Error(Status),
}
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WatchParams {
    pub label_selector: Option<String>,
    pub field_selector: Option<String>,
    pub resource_version: ResourceVersion,
    pub timeout_seconds: Option<u32>,
    pub allow_bookmarks: bool,
    pub send_initial_events: bool,
    pub accept: Accept,
}
impl WatchParams {
    pub fn path_and_query(
        &self,
        resource: &Resource,
        namespace: Option<&str>,
    ) -> String {}
}
#[derive(Debug)]
pub struct WatchReader<T> {}
impl<T: Decode> WatchReader<T> {
    pub fn new(encoding: Encoding, resource_version: ResourceVersion) -> Self {}
    pub fn with_limit(
        encoding: Encoding,
        resource_version: ResourceVersion,
        limit: usize,
    ) -> Self {}
    pub fn push(&mut self, chunk: &[u8]) {}
    pub fn next_event(&mut self) -> Result<Option<WatchEvent<T>>, DecodeError> {}
    pub fn next_event_unless(
        &mut self,
        is_known: Option<impl FnOnce(&EventHead) -> bool>,
    ) -> Result<Option<Received<T>>, DecodeError> {}
    pub fn resource_version(&self) -> &ResourceVersion {}
    pub fn finish(&self) -> Result<(), DecodeError> {}
}
#[derive(Clone, Debug, PartialEq)]
pub enum Write<T> {
    Create(T),
    Update { stored: Arc<T>, desired: T },
    Delete(Arc<T>),
}
impl<T> Write<T> {
    pub fn before(&self) -> Option<&T> {}
    pub fn after(&self) -> Option<&T> {}
    pub fn into_after(self) -> Option<T> {}
    pub fn verb(&self) -> &'static str {}
}
pub fn decode_list<T: Decode>(bytes: &[u8]) -> Result<List<T>, DecodeError> {}
pub fn percent_encode(text: &str) -> Cow<'_, str> {}
pub use status::reason;

// json

pub fn from_slice<D: DeserializeOwned>(
    kind: &str,
    bytes: &[u8],
) -> Result<D, DecodeError> {}

// protobuf

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Envelope<'a> {
    pub kind: &'a str,
    pub api_version: &'a str,
    pub object: &'a [u8],
}
impl<'a> Envelope<'a> {
    pub fn open(bytes: &'a [u8]) -> Result<Self, MalformedProtobuf> {}
    pub fn check(&self, resource: &Resource) -> Result<(), DecodeError> {}
}
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field<'a> {
    pub number: u32,
    pub value: Value<'a>,
}
impl<'a> Field<'a> {
    pub fn as_bytes(&self) -> Result<&'a [u8], MalformedProtobuf> {}
    pub fn text(&self) -> Result<Cow<'a, str>, MalformedProtobuf> {}
    pub fn as_i64(&self) -> Result<i64, MalformedProtobuf> {}
    pub fn as_i32(&self) -> Result<i32, MalformedProtobuf> {}
    pub fn as_bool(&self) -> Result<bool, MalformedProtobuf> {}
    pub fn message(&self) -> Result<Fields<'a>, MalformedProtobuf> {}
    pub fn entry(&self) -> Result<(Cow<'a, str>, Cow<'a, str>), MalformedProtobuf> {}
    pub fn time(&self) -> Result<Option<Timestamp>, MalformedProtobuf> {}
    pub fn expected(&self, expected: &'static str) -> MalformedProtobuf {}
}
#[derive(Debug, Clone)]
pub struct Fields<'a> {}
impl<'a> Fields<'a> {
    pub fn new(message: &'a [u8]) -> Self {}
    pub fn rest(&self) -> &'a [u8] {}
}
impl<'a> Iterator for Fields<'a> {}
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub struct MalformedProtobuf {
    pub path: Path,
    pub problem: Problem,
}
impl MalformedProtobuf {
    pub fn reading(self, kind: &str) -> DecodeError {}
}
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Path(u64);
impl fmt::Display for Path {}
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    Truncated,
    Overlong,
    Number,
    Group,
    WireType(u64),
    Expected { expected: &'static str },
    NoEnvelope,
    Utf8,
}
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp {
    pub seconds: i64,
    pub nanos: i32,
}
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value<'a> {
    Varint(u64),
    Fixed64(u64),
    Bytes(&'a [u8]),
    Fixed32(u32),
}
#[derive(Debug, Default)]
pub struct Writer {}
impl Writer {
    pub fn with_capacity(capacity: usize) -> Self {}
    pub fn as_bytes(&self) -> &[u8] {}
    pub fn text(&mut self, number: u32, text: &str) {}
    pub fn bytes(&mut self, number: u32, bytes: &[u8]) {}
    pub fn display(&mut self, number: u32, value: &impl Display) {}
    pub fn number(&mut self, number: u32, value: impl Into<i64>) {}
    pub fn boolean(&mut self, number: u32, value: bool) {}
    pub fn time(&mut self, number: u32, seconds: Option<i64>) {}
    pub fn entry(&mut self, number: u32, key: &str, value: &str) {}
    pub fn message(&mut self, number: u32, write: impl FnOnce(&mut Writer)) {}
}
impl fmt::Write for Writer {}
pub fn enveloped(resource: &Resource, object: &[u8]) -> Vec<u8> {}

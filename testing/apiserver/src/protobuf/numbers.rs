//! Numbers of the fields of messages that are not in `schema.txt`.

/// The only field of a message around one value: `Quantity`, `FieldsV1`, `JSON`, `RawExtension`, and lists of texts.
pub(super) const ONLY: u32 = 1;

// `runtime.Unknown`, and its `runtime.TypeMeta`.
pub(super) const TYPE_META: u32 = 1;
pub(super) const RAW: u32 = 2;
pub(super) const CONTENT_ENCODING: u32 = 3;
pub(super) const CONTENT_TYPE: u32 = 4;
pub(super) const API_VERSION: u32 = 1;
pub(super) const KIND: u32 = 2;

// Lists of objects.
pub(super) const LIST_METADATA: u32 = 1;
pub(super) const ITEMS: u32 = 2;

// `metav1.WatchEvent`.
pub(super) const EVENT_TYPE: u32 = 1;
pub(super) const EVENT_OBJECT: u32 = 2;

// Entries of maps.
pub(super) const KEY: u32 = 1;
pub(super) const VALUE: u32 = 2;

// `metav1.Time`.
pub(super) const SECONDS: u32 = 1;
pub(super) const NANOS: u32 = 2;

// `intstr.IntOrString`.
pub(super) const IS_TEXT: u32 = 1;
pub(super) const INTEGER: u32 = 2;
pub(super) const TEXT: u32 = 3;

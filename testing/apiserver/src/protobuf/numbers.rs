//! Numbers of the fields of messages that are not in `schema.txt`.

/// The only field of a message around one value: `Quantity`, `FieldsV1`, `JSON`, `RawExtension`, and lists of texts.
pub(super) const ONLY: u32 = 1;

/// `runtime.Unknown`.
pub(super) mod unknown {
    pub(in crate::protobuf) const TYPE_META: u32 = 1;
    pub(in crate::protobuf) const RAW: u32 = 2;
    pub(in crate::protobuf) const CONTENT_ENCODING: u32 = 3;
    pub(in crate::protobuf) const CONTENT_TYPE: u32 = 4;
}

/// `runtime.TypeMeta`.
pub(super) mod type_meta {
    pub(in crate::protobuf) const API_VERSION: u32 = 1;
    pub(in crate::protobuf) const KIND: u32 = 2;
}

/// Lists of objects.
pub(super) mod list {
    pub(in crate::protobuf) const METADATA: u32 = 1;
    pub(in crate::protobuf) const ITEMS: u32 = 2;
}

/// `metav1.WatchEvent`.
pub(super) mod watch_event {
    pub(in crate::protobuf) const TYPE: u32 = 1;
    pub(in crate::protobuf) const OBJECT: u32 = 2;
}

/// Entries of maps.
pub(super) mod entry {
    pub(in crate::protobuf) const KEY: u32 = 1;
    pub(in crate::protobuf) const VALUE: u32 = 2;
}

/// `metav1.Time`.
pub(super) mod time {
    pub(in crate::protobuf) const SECONDS: u32 = 1;
    pub(in crate::protobuf) const NANOS: u32 = 2;
}

/// `intstr.IntOrString`.
pub(super) mod int_or_string {
    pub(in crate::protobuf) const TYPE: u32 = 1;
    pub(in crate::protobuf) const INTEGER: u32 = 2;
    pub(in crate::protobuf) const TEXT: u32 = 3;
}

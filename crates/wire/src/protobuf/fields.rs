//! Field numbers of the protobuf messages that decoders and encoders share: those of Kubernetes' published `.proto` files.

#![expect(missing_docs, reason = "the constants are named after the fields")]

/// `metav1.ObjectMeta`.
pub mod object_meta {
    pub const NAME: u32 = 1;
    pub const GENERATE_NAME: u32 = 2;
    pub const NAMESPACE: u32 = 3;
    pub const SELF_LINK: u32 = 4;
    pub const UID: u32 = 5;
    pub const RESOURCE_VERSION: u32 = 6;
    pub const GENERATION: u32 = 7;
    pub const CREATION_TIMESTAMP: u32 = 8;
    pub const DELETION_TIMESTAMP: u32 = 9;
    pub const DELETION_GRACE_PERIOD_SECONDS: u32 = 10;
    pub const LABELS: u32 = 11;
    pub const ANNOTATIONS: u32 = 12;
    pub const OWNER_REFERENCES: u32 = 13;
    pub const FINALIZERS: u32 = 14;
}

/// Fields that all objects have, of which some have no specification or status.
pub mod object {
    pub const METADATA: u32 = 1;
    pub const SPEC: u32 = 2;
    pub const STATUS: u32 = 3;
}

/// An entry of a map.
pub mod map_entry {
    pub const KEY: u32 = 1;
    pub const VALUE: u32 = 2;
}

/// Fields that all lists have.
pub(crate) mod list {
    pub(crate) const METADATA: u32 = 1;
    pub(crate) const ITEMS: u32 = 2;
}

/// `metav1.ListMeta`.
pub(crate) mod list_meta {
    pub(crate) const RESOURCE_VERSION: u32 = 2;
    pub(crate) const CONTINUE: u32 = 3;
    pub(crate) const REMAINING_ITEM_COUNT: u32 = 4;
}

/// `metav1.Time`, `metav1.MicroTime` and `google.protobuf.Timestamp`.
pub(crate) mod time {
    pub(crate) const SECONDS: u32 = 1;
    pub(crate) const NANOS: u32 = 2;
}

/// `metav1.Status`.
pub(crate) mod status {
    pub(crate) const MESSAGE: u32 = 3;
    pub(crate) const REASON: u32 = 4;
    pub(crate) const DETAILS: u32 = 5;
    pub(crate) const CODE: u32 = 6;
}

/// `metav1.StatusDetails`.
pub(crate) mod status_details {
    pub(crate) const NAME: u32 = 1;
    pub(crate) const CAUSES: u32 = 4;
    pub(crate) const RETRY_AFTER_SECONDS: u32 = 5;
}

/// `metav1.StatusCause`.
pub(crate) mod status_cause {
    pub(crate) const REASON: u32 = 1;
}

/// `metav1.WatchEvent`.
pub(crate) mod watch_event {
    pub(crate) const TYPE: u32 = 1;
    pub(crate) const OBJECT: u32 = 2;
}

/// `runtime.RawExtension`.
pub(crate) mod raw_extension {
    pub(crate) const RAW: u32 = 1;
}

/// `runtime.TypeMeta`.
pub(crate) mod type_meta {
    pub(crate) const API_VERSION: u32 = 1;
    pub(crate) const KIND: u32 = 2;
}

/// `runtime.Unknown`.
pub(crate) mod unknown {
    pub(crate) const TYPE_META: u32 = 1;
    pub(crate) const RAW: u32 = 2;
    pub(crate) const CONTENT_ENCODING: u32 = 3;
    pub(crate) const CONTENT_TYPE: u32 = 4;
}

//! What a type must offer to be read and stored.

use crate::{DecodeError, ObjectKey, Resource, ResourceVersion, Uid};

/// What the machinery must know of any stored object.
pub trait Object: Send + Sync + 'static {
    /// The namespace; empty for a cluster-scoped object.
    fn namespace(&self) -> &str;
    /// The name, unique within the namespace.
    fn name(&self) -> &str;
    /// The identity that tells an object from a later one of the same name.
    fn uid(&self) -> Uid;
    /// The version of this state of the object.
    fn resource_version(&self) -> ResourceVersion;

    /// Whether two states of one object that carry the same version have the same content. The default trusts the version.
    ///
    /// A server that was restored from a backup counts versions again, so that a version can come twice with different content.
    /// Types with a cheap comparison override this.
    fn has_content_of(&self, other: &Self) -> bool
    where
        Self: Sized,
    {
        let _ = other;
        true
    }

    /// Namespace and name. Override it where the object holds them as [`Text`](crate::Text), which need not be copied.
    fn key(&self) -> ObjectKey {
        ObjectKey::new(self.namespace(), self.name())
    }
}

/// How a type is read from the API server's bytes.
///
/// JSON is always enough. Where protobuf is worth the code, say so with [`PROTOBUF`](Self::PROTOBUF).
pub trait Decode: Object + Sized {
    /// Where the type lives in the API.
    const RESOURCE: Resource;

    /// Whether [`from_protobuf`](Self::from_protobuf) is written: informers then ask the server for protobuf first.
    const PROTOBUF: bool = false;

    /// Reads one object from JSON: a list item or the `object` of a watch event.
    ///
    /// List items carry neither `kind` nor `apiVersion`; do not insist on them. For a type that implements
    /// [`serde::Deserialize`] this is one line, see [`crate::json::from_slice`].
    fn from_json(bytes: &[u8]) -> Result<Self, DecodeError>;

    /// Reads one object from its bare protobuf message, without an envelope: a list item or the object of a watch event.
    ///
    /// [`crate::protobuf`] is made for this. Fails unless written.
    fn from_protobuf(bytes: &[u8]) -> Result<Self, DecodeError> {
        let _ = bytes;
        Err(DecodeError::Encoding { kind: Self::RESOURCE.kind.to_owned(), encoding: "protobuf" })
    }
}

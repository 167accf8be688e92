//! Traits of types that can be decoded, cached and written.

use std::sync::Arc;

use serde::Serialize;

use crate::{DecodeError, DecodeProblem, ObjectKey, Resource, ResourceVersion, Uid, protobuf};

/// The metadata of an object that readers, caches and work queues need.
pub trait Object: Send + Sync + 'static {
    /// Returns `metadata.namespace`; empty for a cluster-scoped object.
    fn namespace(&self) -> &str;
    /// Returns `metadata.name`, which is unique per type and namespace.
    fn name(&self) -> &str;
    /// Returns `metadata.uid`, which differs between an object and a later one of the same name.
    fn uid(&self) -> Uid;
    /// Returns `metadata.resourceVersion`.
    fn resource_version(&self) -> ResourceVersion;

    /// Returns whether two states of an object with equal UID and resource version have equal content. The default is
    /// `true`.
    ///
    /// An API server whose etcd was restored from a backup assigns resource versions again, so that one version can
    /// appear with different content. Types with a cheap comparison should override this.
    fn content_eq(&self, other: &Self) -> bool
    where
        Self: Sized,
    {
        let _ = other;
        true
    }

    /// Returns namespace and name as a key. Types that store them as [`Text`](crate::Text) should override this to
    /// avoid a copy.
    fn key(&self) -> ObjectKey {
        ObjectKey::new(self.namespace(), self.name())
    }
}

/// An index over cached objects, which the cache updates with each change of an object; `()` is no index.
///
/// The value with which a cache starts is the index of no objects. An index must depend only on the objects, not on the
/// order of their changes: a cache may build it anew from clones of that value.
pub trait Index<T>: Clone + Send + Sync + 'static {
    /// Replaces `old` by `new`: `old` is `None` for an added object, `new` for a removed one.
    fn update(&mut self, old: Option<&Arc<T>>, new: Option<&Arc<T>>);
}

impl<T> Index<T> for () {
    fn update(&mut self, _: Option<&Arc<T>>, _: Option<&Arc<T>>) {}
}

/// A type that can be decoded from an API server's response.
///
/// JSON is mandatory, protobuf is optional: a type that implements [`from_protobuf`](Self::from_protobuf) sets
/// [`PROTOBUF`](Self::PROTOBUF).
pub trait Decode: Object + Sized {
    /// API resource of the type: group, version, plural, kind and scope.
    const RESOURCE: Resource;

    /// Whether [`from_protobuf`](Self::from_protobuf) is implemented. If so, clients and informers request protobuf by
    /// default.
    const PROTOBUF: bool = false;

    /// Whether the type contains something of `metadata.managedFields`. If not, clients and informers ask the server to
    /// leave them out, see [`Accept::without_managed_fields`](crate::Accept::without_managed_fields).
    const READS_MANAGED_FIELDS: bool = true;

    /// Decodes one object from JSON: a list item or the `object` of a watch event.
    ///
    /// List items have neither `kind` nor `apiVersion`, so implementations must not require them. A type that
    /// implements [`serde::Deserialize`] calls [`crate::json::from_slice`].
    ///
    /// # Errors
    ///
    /// [`DecodeProblem::Json`] if the bytes are not JSON or do not match the type.
    fn from_json(bytes: &[u8]) -> Result<Self, DecodeError>;

    /// Decodes one object from its protobuf message without the envelope: a list item or the object of a watch event.
    ///
    /// Implementations use [`crate::protobuf`].
    ///
    /// # Errors
    ///
    /// [`DecodeProblem::Protobuf`] if the message is malformed or does not match the type. The default implementation
    /// always returns [`DecodeProblem::Encoding`].
    fn from_protobuf(bytes: &[u8]) -> Result<Self, DecodeError> {
        let _ = bytes;
        Err(DecodeError::new(Self::RESOURCE.kind, DecodeProblem::Encoding("protobuf")))
    }
}

/// A type whose objects can be written to an API server.
///
/// JSON is mandatory and comes from [`Serialize`], which must write the complete object including `kind` and
/// `apiVersion`. Protobuf is optional.
pub trait Encode: Decode + Serialize {
    /// Writes the protobuf message of the object, without the envelope. Returns `false` if the type has no protobuf
    /// encoder, which is the default.
    fn to_protobuf(&self, message: &mut protobuf::Writer) -> bool {
        let _ = message;
        false
    }

    /// Decodes the protobuf response to a write of this object. Both messages are without the envelope.
    ///
    /// Types can override this to decode only the metadata if the rest is equal, which it nearly always is: API servers
    /// encode equal objects to equal bytes. The default implementation decodes everything.
    ///
    /// # Errors
    ///
    /// Those of [`Decode::from_protobuf`].
    fn response_from_protobuf(&self, request: &[u8], response: &[u8]) -> Result<Self, DecodeError> {
        let _ = request;
        Self::from_protobuf(response)
    }
}

/// Context in which objects are decoded, for example with pools of the values that they share.
pub trait DecodeContext: Send + Sync {
    /// Calls `decode` once, within the context.
    fn enter(&self, decode: &mut dyn FnMut());
}

impl dyn DecodeContext + '_ {
    /// Calls `decode` within the context, and returns its result.
    ///
    /// # Panics
    ///
    /// If [`enter`](DecodeContext::enter) does not call its argument.
    pub fn run<R>(&self, decode: impl FnOnce() -> R) -> R {
        let (mut decode, mut result) = (Some(decode), None);
        self.enter(&mut || result = decode.take().map(|decode| decode()));
        result.expect("`enter` calls `decode`")
    }
}

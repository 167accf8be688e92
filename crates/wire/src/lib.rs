//! Streaming decoder for Kubernetes objects, lists and watch streams, from JSON and protobuf. No I/O.
//!
//! The caller pushes the chunks of a response body and gets objects of its own type, each as soon as its last byte was
//! pushed. It is for programs that
//!
//! - decode API objects directly into their own types, without a `serde_json::Value` or unused fields in between
//!   ([`Object`], [`Decode`]);
//! - read a list response item by item while it arrives ([`ListReader`]), or a complete one from JSON
//!   ([`decode_list`]);
//! - read a watch event by event, bookmarks and `ERROR` events included ([`WatchReader`]);
//! - decode and encode `application/vnd.kubernetes.protobuf` field by field without generated code ([`protobuf`],
//!   [`Encode`]);
//! - build the URLs of lists and watches ([`ListParams`], [`WatchParams`]), and interpret an error response ([`Status`]);
//! - store many keys, UIDs and resource versions in 16 bytes each ([`ObjectKey`], [`Uid`], [`ResourceVersion`]).
//!
//! ```text
//!            response body, in chunks of any size
//!           | push                           | push
//!           v                                v
//!      ListReader                       WatchReader
//!      splits a list into items         splits a watch into frames
//!           |                                |
//!           +---- bytes of one object -------+
//!                           |
//!                           v
//!            T::from_json or T::from_protobuf      T: Decode
//!                           |
//!           +---------------+----------------+
//!           v                                v
//!      T or Undecodable, then ListMeta  WatchEvent<T>
//! ```
//!
//! # Example
//!
//! A type implements [`Object`] (key, UID and resource version) and [`Decode`] (API resource and decoding). The macro
//! [`object!`] does so for types with `metadata` and [`serde::Deserialize`]; written out:
//!
//! ```
//! use kube_wire::{
//!     Decode, DecodeError, Encoding, ListReader, Object, ObjectHead, Resource, ResourceVersion, Uid, WatchEvent, WatchReader,
//! };
//!
//! /// The part of a Node that this program reads.
//! #[derive(serde::Deserialize)]
//! struct Node {
//!     metadata: ObjectHead,
//! }
//!
//! impl Object for Node {
//!     fn namespace(&self) -> &str {
//!         "" // cluster-scoped
//!     }
//!     fn name(&self) -> &str {
//!         &self.metadata.name
//!     }
//!     fn uid(&self) -> Uid {
//!         self.metadata.uid.clone()
//!     }
//!     fn resource_version(&self) -> ResourceVersion {
//!         self.metadata.resource_version.clone()
//!     }
//! }
//!
//! impl Decode for Node {
//!     const RESOURCE: Resource = Resource::cluster("", "v1", "nodes", "Node");
//!
//!     fn from_json(bytes: &[u8]) -> Result<Self, DecodeError> {
//!         kube_wire::json::from_slice(Self::RESOURCE.kind, bytes)
//!     }
//! }
//!
//! // `next_item` returns an object as soon as its last byte has been pushed; the body is not kept.
//! let mut list = ListReader::<Node>::new(Encoding::Json);
//! list.push(br#"{"kind":"NodeList","items":[{"metadata":{"name":"a"}},{"meta"#);
//! assert_eq!(list.next_item()?.expect("complete")?.name(), "a");
//! assert!(list.next_item()?.is_none(), "not complete yet");
//! list.push(br#"data":{"name":"b"}}],"metadata":{"resourceVersion":"7"}}"#);
//! assert_eq!(list.next_item()?.expect("complete now")?.name(), "b");
//! assert!(list.next_item()?.is_none());
//! let version = list.finish()?.resource_version;
//!
//! let mut watch = WatchReader::<Node>::new(Encoding::Json, version);
//! watch.push(br#"{"type":"DELETED","object":{"metadata":{"#);
//! assert!(watch.next_event()?.is_none(), "not complete yet");
//! watch.push(b"\"name\":\"a\",\"resourceVersion\":\"8\"}}}\n");
//! assert!(matches!(watch.next_event()?, Some(WatchEvent::Deleted(_))));
//! assert_eq!(*watch.resource_version(), "8");
//! # Ok::<(), DecodeError>(())
//! ```
//!
//! A type that also implements [`Decode::from_protobuf`], with the reader in [`protobuf`], can be read with
//! [`Encoding::Protobuf`].
//!
//! With the feature `k8s-openapi`, every object type of that crate implements [`Object`], [`Decode`] and [`Encode`]
//! (JSON only).
//! The program then selects a version feature of `k8s-openapi` 0.29, such as `v1_36`. A type that keeps only the fields
//! in use is smaller and faster: the Pod of `kube-endpoint-model` takes 320 bytes of heap instead of 23 kB, and a
//! quarter of the time to decode from JSON.
//!
//! # Errors and limits
//!
//! - An object that cannot be decoded is returned as [`Undecodable`], with its key if that can be read, and reading
//!   continues with the next one: one bad object does not hide the others.
//! - A malformed or truncated document, another kind or API version, and a list without `metadata.resourceVersion` are
//!   a [`DecodeError`] of the whole list or watch. It contains the position, and in a watch the resource version of the
//!   last good event. The caller discards the items of the list, or closes the watch.
//! - An item or frame of more than 16 MiB ([`DEFAULT_LIMIT`]) is an error too; [`ListReader::with_limit`] and
//!   [`WatchReader::with_limit`] set another limit.
//! - Input that Go's decoders accept is decoded as in Go, with the exceptions in the
//!   [README](https://github.com/kube-endpoints/kube-endpoints/blob/main/crates/wire/README.md#guarantees).
//!
//! # When not to use it
//!
//! - For requests, authentication and retries: use a client, such as `kube` or `kube-controller-client`.
//! - For complete objects that are decoded once and not cached: `serde_json` with the types of `k8s-openapi` is enough.
//! - For YAML or CBOR: they are not supported. Types that are known only at run time are [`Dynamic`], in JSON.
//! - For encoding without types of your own: [`Encode`] and [`protobuf::Writer`] are only the frame for them.

mod accept;
mod author;
mod buffer;
mod dynamic;
mod encoding;
mod error;
pub mod json;
#[cfg(feature = "k8s-openapi")]
mod k8s;
mod key;
mod list;
mod metadata;
mod object;
pub mod protobuf;
mod request;
mod resource;
mod scan;
mod status;
#[cfg(test)]
mod testing;
mod text;
mod uid;
mod undecodable;
mod version;
mod watch;
mod write;

pub use accept::Accept;
pub use dynamic::Dynamic;
pub use encoding::Encoding;
pub use error::{DecodeError, DecodeProblem, Location};
pub use key::{KeyError, ObjectKey};
pub use list::{List, ListMeta, ListReader, decode_list};
pub use metadata::{Metadata, ObjectHead};
pub use object::{Decode, DecodeContext, Encode, Index, Object};
pub use request::{ListParams, WatchParams, percent_encode};
pub use resource::Resource;
pub use status::{Cause, Details, MAX_RETRY_AFTER, Status, reason};
pub use text::Text;
pub use uid::Uid;
pub use undecodable::Undecodable;
pub use version::ResourceVersion;
pub use watch::{EventHead, EventType, LineSplitter, Received, WatchEvent, WatchReader};
pub use write::Write;

/// Default limit in bytes of one list item or watch frame: 16 MiB.
///
/// etcd limits a request, and so an object, to 1.5 MiB by default; JSON escapes can make an object several times
/// longer.
pub const DEFAULT_LIMIT: usize = 16 << 20;

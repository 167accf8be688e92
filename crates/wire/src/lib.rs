//! How Kubernetes objects, lists and watch frames are read from bytes. No I/O.
//!
//! An API server answers a list with one document and a watch with a stream of frames that the network cuts wherever it
//! likes. This crate turns those bytes into the type a program stores, directly: never through `serde_json::Value`, never
//! through an object that carries more than the program reads.
//!
//! A type says what it is ([`Object`]) and how it is read ([`Decode`]); everything else follows from that:
//!
//! ```
//! use kube_wire::{
//!     Decode, DecodeError, Encoding, ListReader, Object, ObjectMeta, Resource, ResourceVersion, Uid, WatchEvent, WatchReader,
//! };
//!
//! /// A Node, as far as this program is interested.
//! #[derive(serde::Deserialize)]
//! struct Node {
//!     metadata: ObjectMeta,
//! }
//!
//! impl Object for Node {
//!     fn namespace(&self) -> &str {
//!         "" // of the cluster
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
//! // Each object of a list comes out as soon as its last byte is there; the body is never held.
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
//! An object that cannot be decoded is reported in its place as [`Undecodable`], with the name of the object, and what surrounds it is
//! read as if nothing had happened: one object does not keep a program from seeing the others.
//!
//! The same type is read from protobuf once it says how ([`Decode::from_protobuf`], with the reader in [`protobuf`]); the
//! readers then take [`Encoding::Protobuf`].
//!
//! With the feature `k8s-openapi`, every type of that crate can be read whole. A type of one's own that keeps only what is
//! needed is several times smaller and faster.

mod buffer;
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

pub use encoding::Encoding;
pub use error::{DecodeError, Place};
pub use key::{KeyError, ObjectKey};
pub use list::{List, ListMeta, ListReader, decode_list};
pub use metadata::ObjectMeta;
pub use object::{Decode, Object};
pub use resource::Resource;
pub use status::{Cause, Details, Status, reason};
pub use text::Text;
pub use uid::Uid;
pub use undecodable::Undecodable;
pub use version::ResourceVersion;
pub use watch::{EventType, LineSplitter, WatchEvent, WatchReader};

/// The longest item of a list, or frame of a watch, that is accepted unless said otherwise.
///
/// An object is at most 1.5 MiB in etcd by default; JSON escapes can make it several times longer.
pub const DEFAULT_LIMIT: usize = 16 << 20;

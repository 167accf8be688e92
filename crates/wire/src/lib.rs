//! How Kubernetes objects, lists and watch frames are read from bytes. No I/O.
//!
//! An API server answers a list with one document and a watch with a stream of frames that the network cuts wherever it
//! likes. This crate turns those bytes into the type a program stores, directly: never through `serde_json::Value`, never
//! through an object that carries more than the program reads.
//!
//! A type says what it is ([`Object`]) and how it is read ([`Decode`]); everything else follows from that:
//!
//! ```
//! use kube_wire::{Decode, DecodeError, LineSplitter, Object, ObjectMeta, Resource, ResourceVersion, Uid, WatchEvent};
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
//! let list = kube_wire::decode_list::<Node>(br#"{"metadata":{"resourceVersion":"7"},"items":[{"metadata":{"name":"a"}}]}"#)?;
//! assert_eq!(list.items[0].key().to_string(), "a");
//!
//! let mut frames = LineSplitter::new("Node");
//! frames.push(br#"{"type":"DELETED","object":{"metadata":{"#);
//! assert!(frames.next_frame()?.is_none(), "not complete yet");
//! frames.push(b"\"name\":\"a\"}}}\n");
//! let frame = frames.next_frame()?.expect("complete now");
//! assert!(matches!(kube_wire::decode_watch_event::<Node>(frame)?, WatchEvent::Deleted(_)));
//! # Ok::<(), DecodeError>(())
//! ```
//!
//! With the feature `k8s-openapi`, every type of that crate can be read whole. A type of one's own that keeps only what is
//! needed is several times smaller and faster.

mod error;
mod frame;
pub mod json;
#[cfg(feature = "k8s-openapi")]
mod k8s;
mod key;
mod list;
mod metadata;
mod object;
pub mod protobuf;
mod resource;
mod status;
#[cfg(test)]
mod testing;
mod text;
mod uid;
mod version;
mod watch;

pub use error::{DecodeError, Place};
pub use frame::{DEFAULT_MAX_FRAME, LineSplitter};
pub use key::{KeyError, ObjectKey};
pub use list::{List, decode_list};
pub use metadata::ObjectMeta;
pub use object::{Decode, Object};
pub use resource::Resource;
pub use status::{Cause, Details, Status, reason};
pub use text::Text;
pub use uid::Uid;
pub use version::ResourceVersion;
pub use watch::{WatchEvent, decode_watch_event};

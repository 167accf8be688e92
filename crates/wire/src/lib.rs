#![doc = include_str!("../README.md")]

mod accept;
mod author;
mod buffer;
mod deletion;
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
pub use deletion::deletion_is_pending;
pub use dynamic::Dynamic;
pub use encoding::Encoding;
pub use error::{DecodeError, DecodeProblem};
pub use key::{KeyError, ObjectKey};
pub use list::{List, ListMeta, ListReader, decode_list};
pub use metadata::{Metadata, ObjectHead};
pub use object::{Decode, DecodeContext, Encode, Index, Object};
pub use request::{ListParams, WatchParams, percent_encode};
pub use resource::Resource;
pub use status::{Cause, Details, MAX_RETRY_AFTER, Status, reason, retry_after_seconds};
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

//! Protobuf encoding of objects, lists and watch events.
//!
//! Objects are stored as JSON and converted on demand, driven by the message table in `schema.txt`. For each message it
//! lists the field numbers, JSON names and types, and whether Go writes empty values, so that the bytes equal those of
//! a real server.

mod calendar;
mod decode;
mod encode;
mod envelope;
mod numbers;
mod omit;
mod schema;
#[cfg(test)]
mod tests;
mod wire;

pub(crate) use envelope::{Envelope, ListEnvelope, envelope, list_item, status, watch_frame};
pub use envelope::{decode_protobuf, decode_watch_frame};
pub(crate) use omit::omit_zero_values;
pub(crate) use schema::is_supported;

/// Media type of a single document.
pub(crate) const MEDIA_TYPE: &str = "application/vnd.kubernetes.protobuf";
/// Media type of a watch stream.
pub(crate) const STREAM_TYPE: &str = "application/vnd.kubernetes.protobuf;stream=watch";

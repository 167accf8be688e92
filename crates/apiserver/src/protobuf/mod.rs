//! The protobuf encoding of objects, lists and watch events, made from their JSON by a table of messages, and read
//! back into it.
//!
//! A stored object is JSON; its protobuf form is made when somebody asks for it, from the table in `schema.txt`. That
//! table says of each message which field of the JSON goes under which number and whether Go writes it even when it is
//! empty, so that the bytes are those of a real server.

mod calendar;
mod decode;
mod encode;
mod envelope;
mod schema;
#[cfg(test)]
mod tests;
mod wire;

pub(crate) use envelope::{Document, ListEnvelope, envelope, list_item, status, watch_frame};
pub(crate) use schema::speaks;
pub(crate) use wire::Malformed;

/// The media type of one document.
pub(crate) const MEDIA_TYPE: &str = "application/vnd.kubernetes.protobuf";
/// That of the frames of a watch.
pub(crate) const STREAM_TYPE: &str = "application/vnd.kubernetes.protobuf;stream=watch";

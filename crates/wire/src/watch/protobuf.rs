//! Decoding of protobuf watch frames.

use super::{FrameType, INITIAL_EVENTS_END, WatchEvent, unknown_event};
use crate::{
    Decode, DecodeError, Encoding, ResourceVersion, Status,
    protobuf::{Envelope, Fields, MalformedProtobuf},
};

/// Decodes a frame: a `metav1.WatchEvent` whose object has an envelope of its own.
pub(super) fn event<T: Decode>(frame: &[u8]) -> Result<WatchEvent<T>, DecodeError> {
    let kind = T::RESOURCE.kind;
    let malformed = |error: MalformedProtobuf| error.reading(&format!("WatchEvent of {kind}"));
    let (event, object) = parts(frame).map_err(malformed)?;
    let event = FrameType::parse(event).ok_or_else(|| unknown_event(kind, event))?;
    let Envelope { kind: found, api_version, object } = Envelope::open(object).map_err(malformed)?;
    let is_error = matches!(event, FrameType::Error);
    let expected = if is_error { "Status" } else { kind };
    if found != expected {
        return Err(DecodeError::kind(expected, found));
    }
    if !is_error && !T::RESOURCE.is_of_version(api_version) {
        return Err(DecodeError::kind(
            &format!("{kind} of {}", T::RESOURCE.api_version()),
            &format!("{kind} of {api_version}"),
        ));
    }
    match event {
        FrameType::Object(event) => event.decode(Encoding::Protobuf, object),
        FrameType::Bookmark => bookmark(object).map_err(|error| error.reading(kind)),
        FrameType::Error => {
            Status::from_fields(Fields::new(object)).map(WatchEvent::Error).map_err(|error| error.reading("Status"))
        }
    }
}

/// Returns the type of the event and the bytes of the object, which is wrapped in a `runtime.RawExtension`.
fn parts(frame: &[u8]) -> Result<(&str, &[u8]), MalformedProtobuf> {
    let (mut event, mut object) = ("", &[][..]);
    for field in Fields::new(frame) {
        let field = field?;
        match field.number {
            1 => event = field.utf8()?,
            2 => {
                for field in field.message()? {
                    let field = field?;
                    if field.number == 1 {
                        object = field.as_bytes()?;
                    }
                }
            }
            _ => {}
        }
    }
    Ok((event, object))
}

/// Decodes resource version and annotations of the object of a bookmark.
fn bookmark<T>(object: &[u8]) -> Result<WatchEvent<T>, MalformedProtobuf> {
    let (mut resource_version, mut initial_events_end) = (ResourceVersion::default(), false);
    for field in Fields::new(object) {
        let field = field?;
        if field.number == 1 {
            for field in field.message()? {
                let field = field?;
                match field.number {
                    6 => resource_version = (&*field.text()?).into(),
                    12 => {
                        let (key, value) = field.entry()?;
                        if key == INITIAL_EVENTS_END {
                            initial_events_end = value == "true";
                        }
                    }
                    _ => {}
                }
            }
        }
    }
    Ok(WatchEvent::Bookmark { resource_version, initial_events_end })
}

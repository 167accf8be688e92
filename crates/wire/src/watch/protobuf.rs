//! Decoding of protobuf watch frames.

use super::{EventHead, EventType, FrameType, INITIAL_EVENTS_END, Observe, Received, WatchEvent, unknown_event};
use crate::{
    Decode, DecodeError, Encoding, Metadata as _, ObjectHead, ResourceVersion, Status,
    protobuf::{
        Envelope, Fields, MalformedProtobuf,
        fields::{object, object_meta, raw_extension, watch_event},
    },
};

/// Decodes a frame: a `metav1.WatchEvent` whose object has an envelope of its own. Does not decode the object of an
/// `ADDED` or `MODIFIED` event for which `is_known` returns true.
pub(super) fn event<T: Decode>(
    frame: &[u8],
    is_known: Option<impl FnOnce(&EventHead) -> bool>,
    observe: Observe<'_>,
) -> Result<Received<T>, DecodeError> {
    let kind = T::RESOURCE.kind;
    let malformed = |error: MalformedProtobuf| error.reading(&format!("WatchEvent of {kind}"));
    let (event, object) = parts(frame).map_err(malformed)?;
    let event = FrameType::parse(event).ok_or_else(|| unknown_event(kind, event))?;
    let envelope = Envelope::open(object).map_err(malformed)?;
    if !matches!(event, FrameType::Error) {
        envelope.check(&T::RESOURCE)?;
    } else if envelope.kind != "Status" {
        return Err(DecodeError::kind("Status", envelope.kind));
    }
    let object = envelope.object;
    let event = match event {
        FrameType::Object(event) => {
            if let Some(head) = is_known.and_then(|is_known| head(event, object).filter(|head| is_known(head))) {
                return Ok(Received::Known(head));
            }
            event.decode(Encoding::Protobuf, object, observe)
        }
        FrameType::Bookmark => bookmark(object).map_err(|error| error.reading(kind)),
        FrameType::Error => {
            Status::from_fields(Fields::new(object)).map(WatchEvent::Error).map_err(|error| error.reading("Status"))
        }
    };
    event.map(Received::Event)
}

/// Returns the type of the event and the bytes of the object, which is wrapped in a `runtime.RawExtension`.
fn parts(frame: &[u8]) -> Result<(&str, &[u8]), MalformedProtobuf> {
    let (mut event, mut object) = ("", &[][..]);
    for field in Fields::new(frame) {
        let field = field?;
        match field.number {
            watch_event::TYPE => event = field.utf8()?,
            watch_event::OBJECT => {
                for field in field.message()? {
                    let field = field?;
                    if field.number == raw_extension::RAW {
                        object = field.as_bytes()?;
                    }
                }
            }
            _ => {}
        }
    }
    Ok((event, object))
}

/// Reads key and version of an object; `None` for a deleted one, or if its metadata cannot be read.
fn head(event: EventType, object: &[u8]) -> Option<EventHead> {
    if event == EventType::Deleted {
        return None;
    }
    // API servers encode the metadata first.
    let metadata = Fields::new(object).next()?.ok().filter(|field| field.number == object::METADATA)?;
    let head = ObjectHead::from_fields(metadata.message().ok()?).ok()?;
    let key = head.key();
    Some(EventHead { added: event == EventType::Added, key, resource_version: head.resource_version })
}

/// Decodes resource version and annotations of the object of a bookmark.
fn bookmark<T>(object: &[u8]) -> Result<WatchEvent<T>, MalformedProtobuf> {
    let (mut resource_version, mut initial_events_end) = (ResourceVersion::default(), false);
    for field in Fields::new(object) {
        let field = field?;
        if field.number == object::METADATA {
            for field in field.message()? {
                let field = field?;
                match field.number {
                    object_meta::RESOURCE_VERSION => resource_version = (&*field.text()?).into(),
                    object_meta::ANNOTATIONS => {
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

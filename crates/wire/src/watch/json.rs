//! A frame of a watch in JSON.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{EventType, WatchEvent, unknown_event};
use crate::{Decode, DecodeError, ResourceVersion, json, list::named};

#[derive(Deserialize)]
struct Frame<'a> {
    #[serde(rename = "type", borrow)]
    event: Cow<'a, str>,
    #[serde(borrow)]
    object: &'a RawValue,
}

#[derive(Deserialize, Default)]
struct Bookmark {
    #[serde(default)]
    metadata: BookmarkMeta,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct BookmarkMeta {
    resource_version: ResourceVersion,
    annotations: BookmarkAnnotations,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct BookmarkAnnotations {
    #[serde(rename = "k8s.io/initial-events-end")]
    initial_events_end: Option<String>,
}

/// Takes apart a frame as API servers write it, without a look at the object, which is what takes time.
fn usual(frame: &[u8]) -> Option<(&str, &[u8])> {
    let rest = frame.strip_prefix(br#"{"type":""#)?;
    let (event, rest) = rest.split_at(rest.iter().position(|byte| *byte == b'"')?);
    let object = rest.strip_prefix(br#"","object":"#)?.trim_ascii_end().strip_suffix(b"}")?;
    Some((std::str::from_utf8(event).ok()?, object))
}

/// Reads one frame; the object is decoded straight from its bytes.
pub(super) fn event<T: Decode>(frame: &[u8]) -> Result<WatchEvent<T>, DecodeError> {
    let kind = T::RESOURCE.kind;
    if let Some((event, object)) = usual(frame)
        && let Some(EventType::Object(wrap)) = EventType::named(event)
        && let Ok(object) = T::from_json(object)
    {
        return named(object).map(wrap);
    }
    // Anything else, and whatever may be wrong with it.
    let Frame { event, object } = serde_json::from_slice(frame)
        .map_err(|error| json::located(&format!("WatchEvent of {kind}"), String::new(), &error))?;
    let object = object.get().as_bytes();
    match EventType::named(&event).ok_or_else(|| unknown_event(kind, &event))? {
        EventType::Object(wrap) => T::from_json(object).and_then(named).map(wrap),
        EventType::Bookmark => {
            let Bookmark { metadata } = json::from_slice(kind, object)?;
            Ok(WatchEvent::Bookmark {
                resource_version: metadata.resource_version,
                initial_events_end: metadata.annotations.initial_events_end.as_deref() == Some("true"),
            })
        }
        EventType::Error => json::from_slice("Status", object).map(WatchEvent::Error),
    }
}

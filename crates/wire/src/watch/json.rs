//! Decoding of JSON watch frames.

use std::borrow::Cow;

use memchr::memchr;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{FrameType, Observe, WatchEvent, unknown_event};
use crate::{Decode, DecodeError, Encoding, ResourceVersion, json};

#[derive(Deserialize)]
struct Frame<'a> {
    #[serde(rename = "type", borrow)]
    event: Cow<'a, str>,
    #[serde(borrow)]
    object: &'a RawValue,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Bookmark {
    #[serde(deserialize_with = "json::nullable")]
    metadata: BookmarkMeta,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct BookmarkMeta {
    #[serde(deserialize_with = "json::nullable")]
    resource_version: ResourceVersion,
    #[serde(deserialize_with = "json::nullable")]
    annotations: BookmarkAnnotations,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct BookmarkAnnotations {
    #[serde(rename = "k8s.io/initial-events-end")]
    initial_events_end: Option<String>,
}

/// Splits a frame in the exact form that API servers send into type and object, without scanning the object.
fn split_canonical(frame: &[u8]) -> Option<(&str, &[u8])> {
    let rest = frame.strip_prefix(br#"{"type":""#)?;
    let (event, rest) = rest.split_at(memchr(b'"', rest)?);
    let object = rest.strip_prefix(br#"","object":"#)?.trim_ascii_end().strip_suffix(b"}")?;
    // Whitespace around the object would shift the columns of its errors.
    let is_trimmed = object.trim_ascii().len() == object.len();
    is_trimmed.then_some((std::str::from_utf8(event).ok()?, object))
}

pub(super) fn event<T: Decode>(frame: &[u8], observe: Observe<'_>) -> Result<WatchEvent<T>, DecodeError> {
    if let Some((event, object)) = split_canonical(frame)
        && let Some(FrameType::Object(event)) = FrameType::parse(event)
        && let Ok(event) = event.decode(Encoding::Json, object, observe)
    {
        return Ok(event);
    }
    // Bookmarks, errors, frames in another form, and malformed frames.
    event_slow(frame, observe)
}

/// Decodes a frame in any valid form. Slower, since the end of the object has to be found.
fn event_slow<T: Decode>(frame: &[u8], observe: Observe<'_>) -> Result<WatchEvent<T>, DecodeError> {
    let kind = T::RESOURCE.kind;
    let Frame { event, object } = serde_json::from_slice(frame)
        .map_err(|error| json::decode_error(&format!("WatchEvent of {kind}"), String::new(), &error))?;
    let object = object.get().as_bytes();
    match FrameType::parse(&event).ok_or_else(|| unknown_event(kind, &event))? {
        FrameType::Object(event) => event.decode(Encoding::Json, object, observe),
        FrameType::Bookmark => {
            let Bookmark { metadata } = json::from_slice(kind, object)?;
            Ok(WatchEvent::Bookmark {
                resource_version: metadata.resource_version,
                initial_events_end: metadata.annotations.initial_events_end.as_deref() == Some("true"),
            })
        }
        FrameType::Error => json::from_slice("Status", object).map(WatchEvent::Error),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::Thing;

    const FRAMES: [&str; 4] = [
        r#"{"type":"ADDED","object":{"kind":"Thing","metadata":{"name":"a","labels":{"b":"c"}},"size":1}}"#,
        r#"{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"7"}}}"#,
        r#"{"object":{"metadata":{"name":"a"}},"type":"DELETED"} "#,
        r#"{"type":"ADDED","object": {"kind":"Thing"}}"#,
    ];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]
        #[test]
        fn fast_path_equals_slow_path(
            frame in 0..FRAMES.len(),
            edits in prop::collection::vec((any::<prop::sample::Index>(), r#"[\[\]{}",:x1 \\]{0,3}"#), 0..3),
        ) {
            let mut frame = FRAMES[frame].to_owned();
            for (at, with) in edits {
                let at = at.index(frame.len());
                frame.replace_range(at..=at, &with);
            }
            let outcome = |event: Result<WatchEvent<Thing>, DecodeError>| event.map_err(|error| error.to_string());
            prop_assert_eq!(outcome(event(frame.as_bytes(), None)), outcome(event_slow(frame.as_bytes(), None)), "{}", frame);
        }
    }
}

//! Watch events.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{Decode, DecodeError, Status, json, list::named};

/// One event of a watch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WatchEvent<T> {
    /// The object came into view.
    Added(T),
    /// The object changed.
    Modified(T),
    /// The object left the view; this is its last state.
    Deleted(T),
    /// Nothing changed up to this version.
    Bookmark {
        /// A watch may be resumed from here.
        resource_version: String,
        /// Everything that existed when the watch was opened has been sent.
        initial_events_end: bool,
    },
    /// The server ends the watch, and says why.
    Error(Status),
}

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
    resource_version: String,
    annotations: BookmarkAnnotations,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct BookmarkAnnotations {
    #[serde(rename = "k8s.io/initial-events-end")]
    initial_events_end: Option<String>,
}

/// Reads one frame of a watch from JSON; the object is decoded straight from its bytes.
///
/// Use [`DecodeError::after`] to let the error name the version up to which the watch was good.
pub fn decode_watch_event<T: Decode>(frame: &[u8]) -> Result<WatchEvent<T>, DecodeError> {
    let kind = T::RESOURCE.kind;
    let Frame { event, object } = serde_json::from_slice(frame)
        .map_err(|error| json::located(&format!("WatchEvent of {kind}"), String::new(), &error))?;
    let object = object.get().as_bytes();
    match &*event {
        "ADDED" => T::from_json(object).and_then(named).map(WatchEvent::Added),
        "MODIFIED" => T::from_json(object).and_then(named).map(WatchEvent::Modified),
        "DELETED" => T::from_json(object).and_then(named).map(WatchEvent::Deleted),
        "BOOKMARK" => {
            let Bookmark { metadata } = json::from_slice(kind, object)?;
            Ok(WatchEvent::Bookmark {
                resource_version: metadata.resource_version,
                initial_events_end: metadata.annotations.initial_events_end.as_deref() == Some("true"),
            })
        }
        "ERROR" => json::from_slice("Status", object).map(WatchEvent::Error),
        other => {
            let (kind, event) = (kind.to_owned(), other.to_owned());
            Err(DecodeError::UnknownEvent { kind, event, resource_version: None })
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::{Object, testing::Thing};

    fn check(text: &str) -> String {
        match decode_watch_event::<Thing>(text.as_bytes()) {
            Ok(WatchEvent::Added(thing)) => format!("added {} {}", thing.key(), thing.size),
            Ok(WatchEvent::Modified(thing)) => format!("modified {} {}", thing.key(), thing.size),
            Ok(WatchEvent::Deleted(thing)) => format!("deleted {}", thing.key()),
            Ok(WatchEvent::Bookmark { resource_version, initial_events_end }) => {
                format!("bookmark {resource_version} {initial_events_end}")
            }
            Ok(WatchEvent::Error(status)) => format!("error {} {}", status.code, status.reason),
            Err(error) => error.after("41").to_string(),
        }
    }

    #[rstest]
    #[case(r#"{"type":"ADDED","object":{"kind":"Thing","metadata":{"name":"a"},"size":1}}"#, "added a 1")]
    #[case(r#"{"object":{"metadata":{"name":"a"},"size":2},"type":"MODIFIED"}"#, "modified a 2")]
    #[case(r#"{"type":"DELETED","object":{"metadata":{"name":"a"}}}"#, "deleted a")]
    #[case(r#"{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"7"}}}"#, "bookmark 7 false")]
    #[case(
        r#"{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"7","annotations":{"k8s.io/initial-events-end":"true"}}}}"#,
        "bookmark 7 true"
    )]
    #[case(r#"{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}}"#, "error 410 Expired")]
    fn events(#[case] text: &str, #[case] expect: &str) {
        assert_eq!(check(text), expect);
    }

    #[rstest]
    #[case::unknown(
        r#"{"type":"RENAMED","object":{}}"#,
        "unknown watch event type \"RENAMED\" for Thing after resourceVersion 41"
    )]
    #[case::field(
        r#"{"type":"ADDED","object":{"metadata":{"name":"a"},"size":-1}}"#,
        "cannot decode Thing after resourceVersion 41: size"
    )]
    #[case::nameless(
        r#"{"type":"ADDED","object":{"metadata":{}}}"#,
        "cannot decode Thing after resourceVersion 41: an object without metadata.name"
    )]
    #[case::no_object(
        r#"{"type":"ADDED"}"#,
        "cannot decode WatchEvent of Thing after resourceVersion 41: line 1 column 16: missing field `object`"
    )]
    #[case::cut(r#"{"type":"ADD"#, "cannot decode WatchEvent of Thing after resourceVersion 41: line 1 column 12: EOF")]
    fn refuses(#[case] text: &str, #[case] expect: &str) {
        let error = check(text);
        assert!(error.starts_with(expect), "{error}");
    }
}

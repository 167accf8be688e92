//! What a list, watch or delete may be narrowed by.

use std::fmt;

use kube_wire::{Encoding, ResourceVersion};

use crate::query::Query;

/// Parameters of a list request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListParams {
    /// Only objects with these labels.
    pub label_selector: Option<String>,
    /// Only objects with these fields.
    pub field_selector: Option<String>,
    /// Page size; `None` asks for everything at once.
    pub limit: Option<u32>,
    /// The next page of an earlier answer.
    pub continue_token: Option<String>,
    /// `None` asks for the most recent state, `0` for any, another value for a state at least as new.
    pub resource_version: Option<String>,
    /// The encoding to ask for first; JSON is asked for in any case. See [`Body::encoding`](crate::Body::encoding).
    pub accept: Encoding,
}

impl ListParams {
    pub(crate) fn query(&self) -> String {
        let Self { label_selector, field_selector, limit, continue_token, resource_version, accept: _ } = self;
        let mut query = Query::default();
        query.add("labelSelector", label_selector.as_deref());
        query.add("fieldSelector", field_selector.as_deref());
        query.add("limit", limit.map(|limit| limit.to_string()).as_deref());
        query.add("continue", continue_token.as_deref());
        query.add("resourceVersion", resource_version.as_deref());
        query.into_string()
    }
}

/// Parameters of a watch request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WatchParams {
    /// Only objects with these labels.
    pub label_selector: Option<String>,
    /// Only objects with these fields.
    pub field_selector: Option<String>,
    /// Changes after this version.
    pub resource_version: String,
    /// When the server ends the watch.
    pub timeout_seconds: Option<u32>,
    /// Whether the server may say that nothing changed.
    pub allow_bookmarks: bool,
    /// Asks for all objects first, and for a bookmark after them: a list as a stream.
    pub send_initial_events: bool,
    /// The encoding to ask for first; JSON is asked for in any case. See [`Body::encoding`](crate::Body::encoding).
    pub accept: Encoding,
}

impl WatchParams {
    pub(crate) fn query(&self) -> String {
        let Self {
            label_selector,
            field_selector,
            resource_version,
            timeout_seconds,
            allow_bookmarks,
            send_initial_events,
            accept: _,
        } = self;
        let mut query = Query::default();
        query.add("watch", Some("true"));
        query.add("labelSelector", label_selector.as_deref());
        query.add("fieldSelector", field_selector.as_deref());
        query.add("resourceVersion", Some(resource_version).filter(|version| !version.is_empty()).map(String::as_str));
        query.add("timeoutSeconds", timeout_seconds.map(|seconds| seconds.to_string()).as_deref());
        query.add("allowWatchBookmarks", allow_bookmarks.then_some("true"));
        query.add("sendInitialEvents", send_initial_events.then_some("true"));
        // A server refuses the one without the other.
        query.add("resourceVersionMatch", send_initial_events.then_some("NotOlderThan"));
        query.into_string()
    }
}

/// What must hold of an object for it to be deleted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Preconditions {
    /// It is this very object, not a later one of the same name.
    pub uid: Option<String>,
    /// It is in this very state.
    pub resource_version: Option<String>,
}

impl Preconditions {
    /// This very object in this very state, so that a request which comes late deletes nothing newer. What is empty is not
    /// known and no condition.
    pub fn unchanged(uid: impl fmt::Display, resource_version: &ResourceVersion) -> Self {
        let known = |text: String| Some(text).filter(|it| !it.is_empty());
        Self { uid: known(uid.to_string()), resource_version: known(resource_version.to_string()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_query() {
        assert_eq!(ListParams::default().query(), "");
        let params = ListParams {
            label_selector: Some("app in (a,b)".to_owned()),
            field_selector: Some("metadata.name=x".to_owned()),
            limit: Some(500),
            continue_token: Some("a+b".to_owned()),
            resource_version: Some("0".to_owned()),
            accept: Encoding::Protobuf,
        };
        assert_eq!(
            params.query(),
            "?labelSelector=app%20in%20%28a%2Cb%29&fieldSelector=metadata.name%3Dx&limit=500&continue=a%2Bb&resourceVersion=0"
        );
    }

    #[test]
    fn watch_query() {
        assert_eq!(WatchParams::default().query(), "?watch=true");
        let params = WatchParams {
            resource_version: "7".to_owned(),
            timeout_seconds: Some(300),
            allow_bookmarks: true,
            ..WatchParams::default()
        };
        assert_eq!(params.query(), "?watch=true&resourceVersion=7&timeoutSeconds=300&allowWatchBookmarks=true");
        let params = WatchParams { send_initial_events: true, resource_version: String::new(), ..params };
        assert_eq!(
            params.query(),
            "?watch=true&timeoutSeconds=300&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
        );
    }
}

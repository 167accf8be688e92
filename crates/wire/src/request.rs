//! Lists and watches: their parameters, paths and queries.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::{Accept, Resource, ResourceVersion};

/// Parameters of a list request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListParams {
    /// Label selector, such as `app in (a,b)`.
    pub label_selector: Option<String>,
    /// Field selector, such as `metadata.name=web`.
    pub field_selector: Option<String>,
    /// Maximum number of objects in the response; `None` for no limit.
    pub limit: Option<u32>,
    /// Continue token: `metadata.continue` of the previous page; `None` for the first.
    pub continue_token: Option<String>,
    /// `None` returns the most recent state, `0` any state the server has cached, another value a state at least as
    /// new.
    pub resource_version: Option<ResourceVersion>,
    /// The `Accept` header.
    pub accept: Accept,
}

impl ListParams {
    /// Returns the path and query of a list of a resource in `namespace`, or in all namespaces if `None`.
    pub fn path_and_query(&self, resource: &Resource, namespace: Option<&str>) -> String {
        let Self { label_selector, field_selector, limit, continue_token, resource_version, accept: _ } = self;
        let query = query(&[
            ("labelSelector", label_selector.as_deref()),
            ("fieldSelector", field_selector.as_deref()),
            ("limit", limit.map(|limit| limit.to_string()).as_deref()),
            ("continue", continue_token.as_deref()),
            ("resourceVersion", resource_version.as_ref().map(ResourceVersion::to_string).as_deref()),
        ]);
        resource.path(namespace) + &query
    }
}

/// Parameters of a watch request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WatchParams {
    /// Label selector, such as `app in (a,b)`.
    pub label_selector: Option<String>,
    /// Field selector, such as `metadata.name=web`.
    pub field_selector: Option<String>,
    /// Resource version after which changes are sent; omitted from the request if empty.
    pub resource_version: ResourceVersion,
    /// Time after which the server ends the watch, in seconds; `None` leaves it to the server.
    pub timeout_seconds: Option<u32>,
    /// Whether the server may send bookmarks.
    pub allow_bookmarks: bool,
    /// Requests a streaming list: all objects as initial events, followed by a bookmark (`sendInitialEvents`).
    pub send_initial_events: bool,
    /// The `Accept` header.
    pub accept: Accept,
}

impl WatchParams {
    /// Returns the path and query of a watch of a resource in `namespace`, or in all namespaces if `None`.
    pub fn path_and_query(&self, resource: &Resource, namespace: Option<&str>) -> String {
        let Self {
            label_selector,
            field_selector,
            resource_version,
            timeout_seconds,
            allow_bookmarks,
            send_initial_events,
            accept: _,
        } = self;
        let version = resource_version.to_string();
        let query = query(&[
            ("watch", Some("true")),
            ("labelSelector", label_selector.as_deref()),
            ("fieldSelector", field_selector.as_deref()),
            ("resourceVersion", Some(&*version).filter(|version| !version.is_empty())),
            ("timeoutSeconds", timeout_seconds.map(|seconds| seconds.to_string()).as_deref()),
            ("allowWatchBookmarks", allow_bookmarks.then_some("true")),
            ("sendInitialEvents", send_initial_events.then_some("true")),
            // The server rejects sendInitialEvents without resourceVersionMatch.
            ("resourceVersionMatch", send_initial_events.then_some("NotOlderThan")),
        ]);
        resource.path(namespace) + &query
    }
}

/// All characters except the unreserved ones of RFC 3986.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Returns a query string of the parameters that have a value, with the leading `?`; empty if there are none.
fn query(parameters: &[(&str, Option<&str>)]) -> String {
    let mut query = String::new();
    for (name, value) in parameters {
        let Some(value) = value else { continue };
        query.push(if query.is_empty() { '?' } else { '&' });
        query.extend([name, "=", &percent_encode(value)]);
    }
    query
}

/// Percent-encodes a query value or path segment: everything except the unreserved characters of RFC 3986. A space
/// becomes `%20`, which servers decode in both; the `+` of form encoding would be a plus sign in a path.
pub fn percent_encode(text: &str) -> Cow<'_, str> {
    utf8_percent_encode(text, RESERVED).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Encoding;

    const PODS: Resource = Resource::namespaced("", "v1", "pods", "Pod");

    #[test]
    fn list_query() {
        assert_eq!(ListParams::default().path_and_query(&PODS, None), "/api/v1/pods");
        let params = ListParams {
            label_selector: Some("app in (a,b)".to_owned()),
            field_selector: Some("metadata.name=x".to_owned()),
            limit: Some(500),
            continue_token: Some("a+b".to_owned()),
            resource_version: Some(0.into()),
            accept: Encoding::Protobuf.into(),
        };
        assert_eq!(
            params.path_and_query(&PODS, Some("shop")),
            "/api/v1/namespaces/shop/pods?labelSelector=app%20in%20%28a%2Cb%29&fieldSelector=metadata.name%3Dx&limit=500\
             &continue=a%2Bb&resourceVersion=0"
        );
    }

    #[test]
    fn watch_query() {
        assert_eq!(WatchParams::default().path_and_query(&PODS, None), "/api/v1/pods?watch=true");
        let params = WatchParams {
            resource_version: 7.into(),
            timeout_seconds: Some(300),
            allow_bookmarks: true,
            send_initial_events: true,
            ..WatchParams::default()
        };
        assert_eq!(
            params.path_and_query(&PODS, None),
            "/api/v1/pods?watch=true&resourceVersion=7&timeoutSeconds=300&allowWatchBookmarks=true\
             &sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
        );
    }

    #[test]
    fn reserved_characters_are_percent_encoded() {
        assert_eq!(percent_encode("web-1.x_~"), "web-1.x_~");
        assert_eq!(percent_encode("a/b?c=d&e f+ä"), "a%2Fb%3Fc%3Dd%26e%20f%2B%C3%A4");
    }
}

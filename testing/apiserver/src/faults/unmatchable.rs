//! Selectors that can match no request, because of a verb, group or resource that the server does not serve.

use std::sync::Arc;

use super::On;
use crate::http;
use crate::kinds::Kind;

/// Error of a selector that can match no request.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum UnmatchableError {
    /// No request has the verb.
    #[error("there is no verb {verb:?}; the verbs are {}", Kind::VERBS.join(", "))]
    Verb { verb: String },
    /// The server does not serve the group, or the resource in it.
    #[error(
        "the server does not serve {selected}; it serves {served}; a kind that is not built in has to be defined first"
    )]
    NotServed {
        /// The selector.
        selected: String,
        /// What the server serves instead.
        served: String,
    },
}

/// Returns an error if `on` selects a group or resource that is neither that of one of `kinds` nor a virtual one.
pub(super) fn check(on: &On, kinds: &[Arc<Kind>]) -> Result<(), UnmatchableError> {
    let served: Vec<(&str, &str)> = kinds.iter().map(|it| (it.group.as_str(), it.plural.as_str())).collect();
    let group = on.group.as_deref();
    let resource = on.resource.as_deref().filter(|it| !it.is_empty());
    let is_selected = |(in_group, plural): &(&str, &str)| {
        group.is_none_or(|it| it == *in_group) && resource.is_none_or(|it| it == *plural)
    };
    if served.iter().any(is_selected) || http::virtual_resources().any(|it| is_selected(&it)) {
        return Ok(());
    }
    let name = |(group, plural): &(&str, &str)| {
        if group.is_empty() { format!("{plural} (core)") } else { format!("{plural}.{group}") }
    };
    let served: Vec<String> = served.iter().map(name).collect();
    Err(UnmatchableError::NotServed { selected: on.to_string(), served: served.join(", ") })
}

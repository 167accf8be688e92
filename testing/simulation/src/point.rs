//! Points of a run at which a fault can be injected.

use std::fmt;
use std::str::FromStr;

/// Name of a request of a process, or of an event that a watch delivers to it.
///
/// It does not depend on times or on other processes, so it identifies the same exchange in a run with fewer steps or
/// faults. Its text form is `process/verb/resource/number`, such as `a/create/endpointslices/3`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Point {
    /// Name of the process.
    pub process: String,
    /// Kind of exchange.
    pub verb: Verb,
    /// Plural name of the resource; empty for requests without one.
    pub resource: String,
    /// Number among the exchanges with the same process, verb and resource, starting at 1. A restart of the process
    /// does not reset it.
    pub nth: u32,
}

/// Kind of exchange between a process and the API server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verb {
    /// GET of one object or document.
    Get,
    /// GET of a collection.
    List,
    /// GET of a collection with `watch`.
    Watch,
    /// POST.
    Create,
    /// PUT.
    Update,
    /// PATCH.
    Patch,
    /// DELETE.
    Delete,
    /// An event of a watch, bookmarks included.
    Event,
}

impl Verb {
    const ALL: [Verb; 8] =
        [Verb::Get, Verb::List, Verb::Watch, Verb::Create, Verb::Update, Verb::Patch, Verb::Delete, Verb::Event];

    /// Returns whether the exchange can change an object.
    pub fn is_write(self) -> bool {
        matches!(self, Verb::Create | Verb::Update | Verb::Patch | Verb::Delete)
    }

    /// Returns the verb as in RBAC, or `event`.
    pub fn as_str(self) -> &'static str {
        match self {
            Verb::Get => "get",
            Verb::List => "list",
            Verb::Watch => "watch",
            Verb::Create => "create",
            Verb::Update => "update",
            Verb::Patch => "patch",
            Verb::Delete => "delete",
            Verb::Event => "event",
        }
    }
}

impl fmt::Display for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}/{}", self.process, self.verb, self.resource, self.nth)
    }
}

/// Error of parsing a point, fault, disturbance or plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not {expected}")]
pub struct ParseError {
    text: String,
    expected: &'static str,
}

impl ParseError {
    pub(crate) fn new(text: &str, expected: &'static str) -> Self {
        ParseError { text: text.to_owned(), expected }
    }
}

impl FromStr for Point {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let parse = || {
            let mut parts = text.split('/');
            let process = parts.next().filter(|it| !it.is_empty())?.to_owned();
            let verb = parts.next()?;
            let verb = Verb::ALL.into_iter().find(|it| it.as_str() == verb)?;
            let (resource, nth) = (parts.next()?.to_owned(), parts.next()?.parse().ok()?);
            parts.next().is_none().then_some(Point { process, verb, resource, nth })
        };
        parse().ok_or_else(|| ParseError::new(text, "a point, such as a/create/endpointslices/3"))
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("a/create/endpointslices/3")]
    #[case("b/event/pods/17")]
    #[case("a/get//1")]
    fn a_point_is_read_back(#[case] text: &str) {
        assert_eq!(text.parse::<Point>().unwrap().to_string(), text);
    }

    #[rstest]
    #[case("")]
    #[case("a/create/pods")]
    #[case("a/sing/pods/1")]
    #[case("a/create/pods/x")]
    #[case("a/create/pods/1/2")]
    fn other_texts_are_refused(#[case] text: &str) {
        assert!(text.parse::<Point>().is_err());
    }
}

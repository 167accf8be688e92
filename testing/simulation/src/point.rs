//! Points of a run at which a fault can be injected.

use parse_display::{Display, FromStr};

/// Name of a request of a process, or of an event that a watch delivers to it.
///
/// It does not depend on times or on other processes, so it identifies the same exchange in a run with fewer steps or
/// faults. Its text form is `process/verb/resource/number`, such as `a/create/endpointslices/3`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Display, FromStr)]
#[display("{process}/{verb}/{resource}/{nth}")]
pub struct Point {
    /// Name of the process.
    #[from_str(regex = "[^/]+")]
    pub process: String,
    /// Kind of exchange.
    pub verb: Verb,
    /// Plural name of the resource; empty for requests without one.
    #[from_str(regex = "[^/]*")]
    pub resource: String,
    /// Number among the exchanges with the same process, verb and resource, starting at 1. A restart of the process
    /// does not reset it.
    pub nth: u32,
}

/// Kind of exchange between a process and the API server; formatted as in RBAC, or `event`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Display, FromStr)]
#[display(style = "lowercase")]
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
    /// Returns whether the exchange can change an object.
    pub fn is_write(self) -> bool {
        matches!(self, Verb::Create | Verb::Update | Verb::Patch | Verb::Delete)
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

//! Query strings and percent-encoding.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// All characters except the unreserved ones of RFC 3986.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A query string under construction.
#[derive(Debug, Default)]
pub(crate) struct Query(String);

impl Query {
    /// Appends `name=value`; does nothing if `value` is `None`.
    pub(crate) fn add(&mut self, name: &str, value: Option<&str>) {
        let Some(value) = value else { return };
        self.0.push(if self.0.is_empty() { '?' } else { '&' });
        self.0.push_str(name);
        self.0.push('=');
        self.0.push_str(&percent_encode(value));
    }

    /// Returns the query string including the leading `?`; empty if no parameter was added.
    pub(crate) fn into_string(self) -> String {
        self.0
    }
}

/// Percent-encodes a query value or path segment: everything except the unreserved characters of RFC 3986. A space
/// becomes `%20`, which servers decode in both; the `+` of form encoding would be a plus sign in a path.
pub(crate) fn percent_encode(text: &str) -> Cow<'_, str> {
    utf8_percent_encode(text, RESERVED).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_characters_are_percent_encoded() {
        assert_eq!(percent_encode("web-1.x_~"), "web-1.x_~");
        assert_eq!(percent_encode("a/b?c=d&e f+ä"), "a%2Fb%3Fc%3Dd%26e%20f%2B%C3%A4");
    }
}

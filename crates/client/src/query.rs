//! Query strings and percent-encoding.

use std::fmt::Write as _;

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

/// Percent-encodes a query value or path segment: everything except the unreserved characters of RFC 3986.
pub(crate) fn percent_encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
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

//! Rewrites JSON that Go's `encoding/json` accepts and serde rejects into JSON that serde decodes as Go does.
//!
//! - Repeated members: the last one wins. Objects are merged member by member. Arrays are merged element by element and
//!   get the length of the later one. A later `null` clears an array and leaves any other value unchanged; Go also
//!   clears maps and pointers, which cannot be distinguished from structs without the type.
//! - An escaped surrogate without its pair and each byte of invalid UTF-8 become U+FFFD.
//! - `-0` becomes the integer 0.
//!
//! API servers send none of these. Only documents that failed to decode are rewritten.

use std::borrow::Cow;

use serde::de::IgnoredAny;

use crate::{scan, text::lossy};

/// Maximum nesting depth, the same as `serde_json`'s.
const MAX_DEPTH: usize = 128;

/// JSON value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Node {
    /// String, number, `true`, `false` or `null`, as JSON text.
    Scalar(String),
    Array(Vec<Node>),
    /// Decoded names and values, in the order of the first occurrence of each name.
    Object(Vec<(String, Node)>),
}

/// Parses a document. `None` if Go's `encoding/json` would reject it.
pub(crate) fn read(document: &[u8]) -> Option<Node> {
    let mut reader = Reader { rest: document };
    let node = reader.value(MAX_DEPTH)?;
    reader.rest.trim_ascii().is_empty().then_some(node)
}

impl Node {
    /// Returns a member of an object; `None` if it is absent or the value is not an object.
    pub(crate) fn member(&self, name: &str) -> Option<&Self> {
        let Self::Object(members) = self else { return None };
        members.iter().find(|(it, _)| it == name).map(|(_, value)| value)
    }

    /// Returns the decoded text of a string; `None` for any other value.
    pub(crate) fn text(&self) -> Option<String> {
        let Self::Scalar(text) = self else { return None };
        serde_json::from_str(text).ok()
    }

    /// Encodes the value as JSON that serde accepts.
    pub(crate) fn to_json(&self) -> Vec<u8> {
        let mut json = Vec::new();
        self.write(&mut json);
        json
    }

    fn write(&self, json: &mut Vec<u8>) {
        match self {
            Self::Scalar(text) => json.extend(text.as_bytes()),
            Self::Array(elements) => {
                json.push(b'[');
                for (at, element) in elements.iter().enumerate() {
                    if at > 0 {
                        json.push(b',');
                    }
                    element.write(json);
                }
                json.push(b']');
            }
            Self::Object(members) => {
                json.push(b'{');
                for (at, (name, value)) in members.iter().enumerate() {
                    if at > 0 {
                        json.push(b',');
                    }
                    json.extend(serde_json::Value::from(name.as_str()).to_string().as_bytes());
                    json.push(b':');
                    value.write(json);
                }
                json.push(b'}');
            }
        }
    }

    /// Merges a later value of the same member, as Go does.
    fn merge(&mut self, later: Self) {
        match (self, later) {
            (Self::Object(members), Self::Object(later)) => {
                for (name, value) in later {
                    insert(members, name, value);
                }
            }
            (Self::Array(elements), Self::Array(mut later)) => {
                for (earlier, later) in elements.drain(..).zip(&mut later) {
                    let value = std::mem::replace(later, earlier);
                    later.merge(value);
                }
                *elements = later;
            }
            (Self::Object(_) | Self::Scalar(_), Self::Scalar(null)) if null == "null" => {}
            (earlier, later) => *earlier = later,
        }
    }
}

fn insert(members: &mut Vec<(String, Node)>, name: String, value: Node) {
    match members.iter_mut().find(|(it, _)| *it == name) {
        Some((_, earlier)) => earlier.merge(value),
        None => members.push((name, value)),
    }
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl Reader<'_> {
    /// Skips white space, and consumes the next byte if it is `byte`. Returns whether it was.
    fn consume_if(&mut self, byte: u8) -> bool {
        self.rest = self.rest.trim_ascii_start();
        let found = self.rest.first() == Some(&byte);
        if found {
            self.rest = &self.rest[1..];
        }
        found
    }

    fn value(&mut self, depth: usize) -> Option<Node> {
        let depth = depth.checked_sub(1)?;
        if self.consume_if(b'{') {
            return self.object(depth);
        }
        if self.consume_if(b'[') {
            return self.array(depth);
        }
        self.scalar().map(Node::Scalar)
    }

    fn object(&mut self, depth: usize) -> Option<Node> {
        let mut members = Vec::new();
        if self.consume_if(b'}') {
            return Some(Node::Object(members));
        }
        loop {
            let name = serde_json::from_str(&self.scalar()?).ok()?;
            if !self.consume_if(b':') {
                return None;
            }
            insert(&mut members, name, self.value(depth)?);
            if self.consume_if(b'}') {
                return Some(Node::Object(members));
            }
            if !self.consume_if(b',') {
                return None;
            }
        }
    }

    fn array(&mut self, depth: usize) -> Option<Node> {
        let mut elements = Vec::new();
        if self.consume_if(b']') {
            return Some(Node::Array(elements));
        }
        loop {
            elements.push(self.value(depth)?);
            if self.consume_if(b']') {
                return Some(Node::Array(elements));
            }
            if !self.consume_if(b',') {
                return None;
            }
        }
    }

    fn scalar(&mut self) -> Option<String> {
        self.rest = self.rest.trim_ascii_start();
        let first = *self.rest.first()?;
        let end = scan::ValueScanner::new(first).end(self.rest);
        // A number or literal may end with the document, a string may not.
        let end = end.or((first != b'"').then_some(self.rest.len()))?;
        let (taken, rest) = self.rest.split_at_checked(end)?;
        self.rest = rest;
        let text = match lossy(taken) {
            Cow::Borrowed("-0") => "0".to_owned(),
            text => without_lone_surrogates(&text),
        };
        serde_json::from_str::<IgnoredAny>(&text).is_ok().then_some(text)
    }
}

/// Replaces escaped surrogates that are not part of a pair by `\ufffd`.
fn without_lone_surrogates(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let length = match (code_unit(rest), rest.get(6..).and_then(code_unit)) {
            (Some(0xd800..0xdc00), Some(0xdc00..0xe000)) => 12,
            (Some(0xd800..0xe000), _) => {
                out.push_str("\\ufffd");
                rest = &rest[6..];
                continue;
            }
            (Some(_), _) => 6,
            // The backslash (one byte) and the escaped character, which may be multi-byte in invalid JSON.
            (None, _) => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
        };
        out.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    out + rest
}

/// Returns the UTF-16 code unit of a `\u` escape at the beginning of `text`; `None` if there is none.
fn code_unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| u16::from_str_radix(digits, 16).ok())?
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    // Expected values: results of Go 1.26.
    #[rstest]
    #[case::last_wins(r#"{"a":1,"b":2,"a":3}"#, r#"{"a":3,"b":2}"#)]
    #[case::one_name_by_two_spellings(r#"{"a":1,"\u0061":3}"#, r#"{"a":3}"#)]
    #[case::objects_merge(r#"{"a":{"b":1,"c":{"d":2}},"a":{"c":{"e":3}}}"#, r#"{"a":{"b":1,"c":{"d":2,"e":3}}}"#)]
    #[case::arrays_take_the_later_length(r#"{"a":[1,2,3],"a":[4]}"#, r#"{"a":[4]}"#)]
    #[case::elements_merge(r#"{"a":[{"b":1}],"a":[{"c":2},{"c":3}]}"#, r#"{"a":[{"b":1,"c":2},{"c":3}]}"#)]
    #[case::null_leaves_a_value(r#"{"a":{"b":1},"a":null,"c":"d","c":null}"#, r#"{"a":{"b":1},"c":"d"}"#)]
    #[case::null_clears_an_array(r#"{"a":[1],"a":null}"#, r#"{"a":null}"#)]
    #[case::lone_surrogates(
        r#"["\ud800","\udc00x","\ud800\ud83d\ude00"]"#,
        r#"["\ufffd","\ufffdx","\ufffd\ud83d\ude00"]"#
    )]
    #[case::other_escapes(r#"["\u0000\/\\u\\ud800\"\n"]"#, r#"["\u0000\/\\u\\ud800\"\n"]"#)]
    #[case::minus_zero(r"[-0,-0.0,-1]", r"[0,-0.0,-1]")]
    #[case::spaces(" { \"a\" : [ 1 , true , null ] , \"b\" : { } } ", r#"{"a":[1,true,null],"b":{}}"#)]
    fn rewrites_like_go(#[case] document: &str, #[case] expect: &str) {
        let node = read(document.as_bytes()).unwrap();
        assert_eq!(String::from_utf8(node.to_json()).unwrap(), expect);
    }

    #[test]
    fn invalid_utf8_bytes_are_replaced_one_by_one() {
        let node = read(b"{\"a\":\"x\xe2\x82y\xff\"}").unwrap();
        assert_eq!(node.member("a").unwrap().text().unwrap(), "x\u{fffd}\u{fffd}y\u{fffd}");
    }

    #[rstest]
    #[case("")]
    #[case("{")]
    #[case(r#"{"a"}"#)]
    #[case(r#"{"a":1,}"#)]
    #[case(r#"{"a":1}}"#)]
    #[case(r"{a:1}")]
    #[case("[1 2]")]
    #[case("[01]")]
    #[case("[nul]")]
    #[case("\"a\nb\"")]
    #[case(r#""a\x""#)]
    #[case(r#""\u12g4""#)]
    fn malformed_json_is_rejected(#[case] document: &str) {
        assert_eq!(read(document.as_bytes()), None);
    }

    #[test]
    fn unbounded_nesting_is_rejected() {
        assert_eq!(read("[".repeat(100_000).as_bytes()), None);
    }

    proptest! {
        #[test]
        fn random_bytes_terminate_and_output_is_valid_json(bytes in prop::collection::vec(prop_oneof![any::<u8>(), prop::sample::select(br#"{}[]":,\u0d8"#.to_vec())], 0..60)) {
            if let Some(node) = read(&bytes) {
                let json = node.to_json();
                prop_assert!(serde_json::from_slice::<serde_json::Value>(&json).is_ok(), "{}", String::from_utf8_lossy(&json));
                prop_assert_eq!(read(&json), Some(node));
            }
        }
    }
}

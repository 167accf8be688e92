//! `metadata.resourceVersion` of objects and lists.

use std::{cmp::Ordering, fmt};

use serde::{Deserialize, Serialize, Serializer};

/// Resource version of an object or a list; empty if the server sent none. 16 bytes.
///
/// Kubernetes sends decimal numbers, which are stored as `u64`; any other text is stored unchanged. Equality is that of
/// the texts. Numbers are ordered, as Kubernetes guarantees from 1.35 on ([KEP-5504]); two other texts are equal or not
/// comparable.
///
/// ```
/// use kube_wire::ResourceVersion;
///
/// let version = ResourceVersion::from("41");
/// assert!(version < ResourceVersion::from(112) && version != ResourceVersion::from("041"));
/// assert_eq!(version.partial_cmp(&ResourceVersion::from("v2")), None);
/// assert_eq!((version.to_string().as_str(), size_of::<ResourceVersion>()), ("41", 16));
/// ```
///
/// [KEP-5504]: https://github.com/kubernetes/enhancements/issues/5504
#[derive(Clone, PartialEq, Eq, Hash, Deserialize)]
#[serde(from = "String")]
pub struct ResourceVersion(Repr);

#[derive(Clone, PartialEq, Eq, Hash)]
enum Repr {
    Number(u64),
    Text(Box<str>),
}

const _: () = assert!(size_of::<ResourceVersion>() == 16);

impl ResourceVersion {
    /// Returns whether the version is empty.
    pub fn is_empty(&self) -> bool {
        matches!(&self.0, Repr::Text(text) if text.is_empty())
    }

    /// Returns the version as a number; `None` unless its text is a decimal `u64` without sign or leading zeros.
    pub fn number(&self) -> Option<u64> {
        match self.0 {
            Repr::Number(number) => Some(number),
            Repr::Text(_) => None,
        }
    }
}

/// Parses `text` as a number, if formatting the number gives exactly `text` again.
fn canonical(text: &str) -> Option<u64> {
    // `parse` alone would also accept a sign and leading zeros.
    let canonical = text == "0" || text.starts_with(|first: char| matches!(first, '1'..='9'));
    canonical.then(|| text.parse().ok()).flatten()
}

impl Default for ResourceVersion {
    fn default() -> Self {
        Self(Repr::Text(Box::default()))
    }
}

impl From<u64> for ResourceVersion {
    fn from(number: u64) -> Self {
        Self(Repr::Number(number))
    }
}

impl From<&str> for ResourceVersion {
    fn from(text: &str) -> Self {
        Self(canonical(text).map_or_else(|| Repr::Text(text.into()), Repr::Number))
    }
}

impl From<String> for ResourceVersion {
    fn from(text: String) -> Self {
        Self(canonical(&text).map_or_else(|| Repr::Text(text.into()), Repr::Number))
    }
}

impl fmt::Display for ResourceVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Number(number) => number.fmt(f),
            Repr::Text(text) => f.pad(text),
        }
    }
}

impl fmt::Debug for ResourceVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Number(number) => write!(f, "\"{number}\""),
            Repr::Text(text) => fmt::Debug::fmt(text, f),
        }
    }
}

impl PartialEq<str> for ResourceVersion {
    fn eq(&self, other: &str) -> bool {
        match &self.0 {
            Repr::Number(number) => canonical(other) == Some(*number),
            Repr::Text(text) => **text == *other,
        }
    }
}

impl PartialEq<&str> for ResourceVersion {
    fn eq(&self, other: &&str) -> bool {
        self == *other
    }
}

impl PartialOrd for ResourceVersion {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        match (&self.0, &other.0) {
            (Repr::Number(a), Repr::Number(b)) => Some(a.cmp(b)),
            (a, b) => (a == b).then_some(Ordering::Equal),
        }
    }
}

impl Serialize for ResourceVersion {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Repr::Number(number) => serializer.collect_str(number),
            Repr::Text(text) => serializer.serialize_str(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn texts() -> impl Strategy<Value = String> {
        prop_oneof![
            "0",
            "[1-9][0-9]{0,18}",
            "[+-]?[0-9]{0,22}",
            "\\PC{0,12}",
            any::<u64>().prop_map(|it| it.to_string())
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 1024, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn behaves_like_its_text(a in texts(), b in texts()) {
            let (x, y) = (ResourceVersion::from(a.as_str()), ResourceVersion::from(b.clone()));
            prop_assert_eq!(x.to_string(), a.as_str());
            prop_assert_eq!(&x, a.as_str());
            prop_assert_eq!(serde_json::to_string(&x).unwrap(), serde_json::to_string(&a).unwrap());
            prop_assert_eq!(x.is_empty(), a.is_empty());
            prop_assert_eq!(x == y, a == b);
            prop_assert_eq!(x.partial_cmp(&y) == Some(Ordering::Equal), a == b);
        }

        #[test]
        fn numbers_are_ordered(a: u64, b: u64) {
            let of = |number: u64| ResourceVersion::from(number.to_string());
            prop_assert_eq!(of(a).partial_cmp(&of(b)), Some(a.cmp(&b)));
            prop_assert_eq!(of(a).number(), Some(a));
        }
    }

    #[test]
    fn decodes_from_json() {
        assert_eq!(serde_json::from_str::<ResourceVersion>(r#""7""#).unwrap(), ResourceVersion::from(7));
        assert!(serde_json::from_str::<ResourceVersion>("7").unwrap_err().to_string().contains("a string"));
    }
}

//! `metadata.uid`.

use std::{cmp::Ordering, fmt, num::NonZeroU64, sync::Arc};

use serde::{Deserialize, Serialize, Serializer};
use uuid::Uuid;

/// UID of an object (`metadata.uid`); empty for an object that was not created yet. 16 bytes.
///
/// API servers generate UUIDs; those in canonical form are stored as 16 bytes without an allocation. The API guarantees
/// only a string, so any other text is stored unchanged and shared between clones. `Display`, equality and order are
/// those of the text.
///
/// ```
/// use kube_wire::Uid;
///
/// let uid = Uid::from("0e6b7a2c-35f4-4ca7-8a2d-5b1c8f0d9e11");
/// assert_eq!(uid.to_string(), "0e6b7a2c-35f4-4ca7-8a2d-5b1c8f0d9e11");
/// assert!(Uid::default().is_empty() && Uid::from("web-1") < Uid::from("web-2"));
/// assert_eq!(size_of::<Uid>(), 16);
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Deserialize)]
#[serde(from = "String")]
pub struct Uid(Repr);

// The lower half of a UUID contains the variant bits and is never zero: zero is the niche of the enum.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Repr {
    Uuid(u64, NonZeroU64),
    Other(Option<Arc<Box<str>>>),
}

const _: () = assert!(size_of::<Uid>() == 16);

impl Uid {
    /// Returns whether the UID is empty.
    pub fn is_empty(&self) -> bool {
        matches!(self.0, Repr::Other(None))
    }

    fn with_text<R>(&self, use_text: impl FnOnce(&str) -> R) -> R {
        match &self.0 {
            Repr::Other(text) => use_text(text.as_deref().map_or("", |text| text)),
            Repr::Uuid(high, low) => {
                let uuid = Uuid::from_u64_pair(*high, low.get());
                use_text(uuid.hyphenated().encode_lower(&mut Uuid::encode_buffer()))
            }
        }
    }
}

/// Parses a UUID in canonical form (lower case, with dashes) into its upper and lower 64 bits.
fn parse(text: &str) -> Option<(u64, u64)> {
    let uuid = Uuid::try_parse(text).ok()?;
    (*uuid.hyphenated().encode_lower(&mut Uuid::encode_buffer()) == *text).then(|| uuid.as_u64_pair())
}

impl Default for Uid {
    fn default() -> Self {
        Self(Repr::Other(None))
    }
}

impl From<&str> for Uid {
    fn from(text: &str) -> Self {
        match parse(text).and_then(|(high, low)| Some((high, NonZeroU64::new(low)?))) {
            Some((high, low)) => Self(Repr::Uuid(high, low)),
            None => Self(Repr::Other((!text.is_empty()).then(|| Arc::new(Box::from(text))))),
        }
    }
}

impl From<String> for Uid {
    fn from(text: String) -> Self {
        Self::from(text.as_str())
    }
}

impl fmt::Display for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.with_text(|text| f.pad(text))
    }
}

impl fmt::Debug for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.with_text(|text| fmt::Debug::fmt(text, f))
    }
}

impl PartialEq<str> for Uid {
    fn eq(&self, other: &str) -> bool {
        self.with_text(|text| text == other)
    }
}

impl PartialEq<&str> for Uid {
    fn eq(&self, other: &&str) -> bool {
        self == *other
    }
}

impl Ord for Uid {
    fn cmp(&self, other: &Self) -> Ordering {
        match (&self.0, &other.0) {
            // Canonical texts have equal length and lower-case digits, so they sort like the numbers.
            (Repr::Uuid(a, b), Repr::Uuid(c, d)) => (a, b).cmp(&(c, d)),
            _ => self.with_text(|a| other.with_text(|b| a.cmp(b))),
        }
    }
}

impl PartialOrd for Uid {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Serialize for Uid {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.with_text(|text| serializer.serialize_str(text))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn texts() -> impl Strategy<Value = String> {
        prop_oneof![
            "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}",
            "[0-9a-fA-F-]{36}",
            "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-0{4}-0{11}[01]",
            "\\PC{0,40}",
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 1024, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn behaves_like_its_text(a in texts(), b in texts()) {
            let (x, y) = (Uid::from(a.as_str()), Uid::from(b.as_str()));
            prop_assert_eq!(x.to_string(), a.as_str());
            prop_assert_eq!(&x, a.as_str());
            prop_assert_eq!(serde_json::to_string(&x).unwrap(), serde_json::to_string(&a).unwrap());
            prop_assert_eq!(x.is_empty(), a.is_empty());
            prop_assert_eq!(x == y, a == b);
            prop_assert_eq!(x.cmp(&y), a.cmp(&b));
        }
    }

    #[test]
    fn canonical_uuid_does_not_allocate() {
        assert!(matches!(Uid::from("0e6b7a2c-35f4-4ca7-8a2d-5b1c8f0d9e11").0, Repr::Uuid(..)));
        assert!(matches!(Uid::from("0E6B7A2C-35F4-4CA7-8A2D-5B1C8F0D9E11").0, Repr::Other(_)));
    }

    #[test]
    fn decodes_from_json() {
        assert_eq!(serde_json::from_str::<Uid>(r#""u-1""#).unwrap(), "u-1");
        assert!(serde_json::from_str::<Uid>("7").unwrap_err().to_string().contains("a string"));
    }
}

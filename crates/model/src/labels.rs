//! Labels, annotations and selectors.

use std::fmt;
use std::sync::Arc;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::{Serialize, Serializer};

use crate::Text;
use crate::intern::{self, Pair};
use crate::json::Str;

/// A map of strings to strings, sorted by key. Equal maps share one allocation, so clones are cheap.
///
/// Used for labels, annotations and selectors. An absent map equals an empty one, since the API server does not serve
/// empty maps. Where absence has a meaning (a Service's selector), the field is an `Option<Labels>`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Labels(Arc<[Pair]>);

impl Labels {
    /// Returns the value of `key`.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.entry(key).map(|(_, value)| &**value)
    }

    /// Returns the value of `key` as interned text.
    pub(crate) fn get_text(&self, key: &str) -> Option<&Text> {
        self.entry(key).map(|(_, value)| value)
    }

    /// Returns whether `key` is present.
    pub fn contains_key(&self, key: &str) -> bool {
        self.entry(key).is_some()
    }

    /// Returns the pairs, sorted by key.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, value)| (&**key, &**value))
    }

    /// Returns the pairs as interned text, sorted by key.
    pub fn pairs(&self) -> &[(Text, Text)] {
        &self.0
    }

    /// Creates a map from pairs in any order; of several pairs with the same key, the last one counts.
    pub(crate) fn from_pairs<K: AsRef<str>, V: AsRef<str>>(mut pairs: Vec<(K, V)>) -> Labels {
        let sorted = pairs.is_sorted_by(|a, b| a.0.as_ref() < b.0.as_ref());
        if !sorted {
            // The sort is stable, so that of equal keys the last one given is kept.
            pairs.reverse();
            pairs.sort_by(|a, b| a.0.as_ref().cmp(b.0.as_ref()));
            pairs.dedup_by(|a, b| a.0.as_ref() == b.0.as_ref());
        }
        Labels(intern::labels(&pairs))
    }

    /// Returns the number of pairs.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether the map is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether the map contains every pair of `selector`; true for an empty selector.
    pub fn contains_all(&self, selector: &Labels) -> bool {
        selector.iter().all(|(key, value)| self.get(key) == Some(value))
    }

    /// Returns a copy without the keys for which `drop` returns true.
    #[must_use]
    pub fn without(&self, drop: impl Fn(&str) -> bool) -> Labels {
        Labels::from_pairs(self.iter().filter(|(key, _)| !drop(key)).collect())
    }

    /// Returns a copy with these pairs, which replace pairs with the same key.
    #[must_use]
    pub fn with<'a>(&'a self, pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Labels {
        Labels::from_pairs(self.iter().chain(pairs).collect())
    }

    /// Deserializes the pairs whose key `keeps` returns `true` for.
    pub(crate) fn deserialize_if<'de, D: Deserializer<'de>>(
        deserializer: D,
        keeps: impl Fn(&str) -> bool,
    ) -> Result<Self, D::Error> {
        struct Pairs<F>(F);
        impl<'de, F: Fn(&str) -> bool> Visitor<'de> for Pairs<F> {
            type Value = Labels;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map of strings to strings")
            }
            fn visit_unit<E>(self) -> Result<Labels, E> {
                Ok(Labels::default())
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Labels, A::Error> {
                let mut pairs = Vec::with_capacity(8);
                while let Some(pair) = map.next_entry::<Str<'_>, Str<'_>>()? {
                    if (self.0)(&pair.0.0) {
                        pairs.push(pair);
                    }
                }
                Ok(Labels::from_pairs(pairs))
            }
        }
        deserializer.deserialize_any(Pairs(keeps))
    }

    fn entry(&self, key: &str) -> Option<&Pair> {
        self.0.binary_search_by(|(it, _)| (**it).cmp(key)).ok().map(|at| &self.0[at])
    }
}

impl fmt::Debug for Labels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<K: AsRef<str>, V: AsRef<str>> FromIterator<(K, V)> for Labels {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(pairs: I) -> Self {
        Labels::from_pairs(pairs.into_iter().collect())
    }
}

impl Serialize for Labels {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for Labels {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Labels::deserialize_if(deserializer, |_| true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn labels(pairs: &[(&str, &str)]) -> Labels {
        pairs.iter().map(|(k, v)| (*k, *v)).collect()
    }

    #[rstest]
    #[case::empty_selector_is_everywhere(&[("a", "1")], &[], true)]
    #[case::empty_in_empty(&[], &[], true)]
    #[case::same(&[("a", "1")], &[("a", "1")], true)]
    #[case::more_labels_than_selector(&[("a", "1"), ("b", "2")], &[("b", "2")], true)]
    #[case::other_value(&[("a", "1")], &[("a", "2")], false)]
    #[case::missing_key(&[("a", "1")], &[("a", "1"), ("b", "")], false)]
    fn contains_all(#[case] have: &[(&str, &str)], #[case] selector: &[(&str, &str)], #[case] expected: bool) {
        assert_eq!(labels(have).contains_all(&labels(selector)), expected);
    }

    #[test]
    fn null_map_and_null_value_are_empty() {
        assert_eq!(serde_json::from_str::<Labels>("null").unwrap(), Labels::default());
        assert_eq!(serde_json::from_str::<Labels>(r#"{"b":"2","a":null}"#).unwrap(), labels(&[("a", ""), ("b", "2")]));
    }

    #[test]
    fn with_replaces_and_without_removes() {
        let it = labels(&[("a", "1"), ("b", "2")]);
        assert_eq!(it.with([("b", "3"), ("c", "4")]), labels(&[("a", "1"), ("b", "3"), ("c", "4")]));
        assert_eq!(it.without(|key| key == "a"), labels(&[("b", "2")]));
        assert_eq!(labels(&[("b", "1"), ("a", "1"), ("b", "2")]), it);
    }
}

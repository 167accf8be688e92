//! JSON and YAML documents with the paths of their duplicate keys.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// Maximum number of duplicate fields reported for a document, as in `sigs.k8s.io/json`.
const MAX_DUPLICATES: usize = 100;

/// A decoded document. The last value of a duplicate key is used.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Document {
    pub(crate) value: Value,
    /// Paths of the fields that occur more than once, such as `spec.ports[1].port`.
    pub(crate) duplicates: Vec<String>,
}

impl Document {
    /// Returns one message in upstream's wording for each duplicate field.
    pub(crate) fn messages(&self) -> Vec<String> {
        self.duplicates.iter().map(|path| format!("duplicate field {path:?}")).collect()
    }

    /// Adds the duplicates of a nested value; `step` is its key or index.
    fn add_duplicates(&mut self, step: &str, part: Vec<String>) {
        for path in part {
            if self.duplicates.len() < MAX_DUPLICATES {
                let dot = if path.starts_with('[') { "" } else { "." };
                self.duplicates.push(format!("{step}{dot}{path}"));
            }
        }
    }
}

impl From<Value> for Document {
    fn from(value: Value) -> Self {
        Self { value, duplicates: Vec::new() }
    }
}

impl<'de> Deserialize<'de> for Document {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(DocumentVisitor)
    }
}

struct DocumentVisitor;

impl<'de> Visitor<'de> for DocumentVisitor {
    type Value = Document;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Document, E> {
        Ok(Document::from(Value::from(value)))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Document, E> {
        Ok(Document::from(Value::from(value)))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Document, E> {
        Ok(Document::from(Value::from(value)))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Document, E> {
        Ok(Document::from(Value::from(value)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Document, E> {
        Ok(Document::from(Value::from(value)))
    }

    fn visit_string<E>(self, value: String) -> Result<Document, E> {
        Ok(Document::from(Value::from(value)))
    }

    fn visit_none<E>(self) -> Result<Document, E> {
        Ok(Document::default())
    }

    fn visit_unit<E>(self) -> Result<Document, E> {
        Ok(Document::default())
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Document, D::Error> {
        Document::deserialize(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Document, A::Error> {
        let mut whole = Document::default();
        let mut values = Vec::new();
        while let Some(Document { value, duplicates }) = items.next_element()? {
            if !duplicates.is_empty() {
                whole.add_duplicates(&format!("[{}]", values.len()), duplicates);
            }
            values.push(value);
        }
        whole.value = Value::Array(values);
        Ok(whole)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Document, A::Error> {
        let mut whole = Document::default();
        let mut map = Map::new();
        while let Some((key, Document { value, duplicates })) = entries.next_entry::<String, Document>()? {
            if map.contains_key(&key) && whole.duplicates.len() < MAX_DUPLICATES && !whole.duplicates.contains(&key) {
                whole.duplicates.push(key.clone());
            }
            whole.add_duplicates(&key, duplicates);
            map.insert(key, value);
        }
        whole.value = Value::Object(map);
        Ok(whole)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[rstest]
    #[case::none(r#"{"a": 1, "b": [{"a": 2}, {"a": 3}]}"#, &[])]
    #[case::top(r#"{"a": 1, "a": 2}"#, &["a"])]
    #[case::thrice_is_reported_once(r#"{"a": 1, "a": 2, "a": 3}"#, &["a"])]
    #[case::deep(r#"{"metadata": {"labels": {"x": "1", "x": "2"}}}"#, &["metadata.labels.x"])]
    #[case::in_a_list(r#"{"spec": {"ports": [{}, {"port": 1, "port": 2}]}}"#, &["spec.ports[1].port"])]
    #[case::in_lists(r#"[[{"a": 1, "a": 2}]]"#, &["[0][0].a"])]
    fn duplicate_keys_are_reported_with_their_paths(#[case] text: &str, #[case] expect: &[&str]) {
        let read: Document = serde_json::from_str(text).unwrap();
        assert_eq!(read.duplicates, expect);
        assert_eq!(read.value, serde_json::from_str::<Value>(text).unwrap());
    }

    fn anything() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            (-1e9..1e9_f64).prop_map(Value::from),
            ".*".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::btree_map(".*", inner, 0..6).prop_map(|map| json!(map)),
            ]
        })
    }

    proptest! {
        #[test]
        fn value_equals_that_of_serde_json(value in anything()) {
            let text = value.to_string();
            let read: Document = serde_json::from_str(&text).unwrap();
            let value: Value = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(read, Document { value, duplicates: Vec::new() });
        }
    }
}

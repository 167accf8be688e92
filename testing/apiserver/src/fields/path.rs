//! Elements of the paths of fields.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

use crate::schema::Node;

/// Step from a value to one inside of it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Element {
    /// Field of an object, or key of a map.
    Field(String),
    /// Item of a list of objects: its key fields, as JSON with sorted names.
    Key(String),
    /// Item of a list of scalars without duplicates, as JSON.
    Value(String),
}

impl Element {
    /// Returns the element of an item of a list with the key fields `keys`, or of a set if there are none. An absent key
    /// field has its default value.
    pub(super) fn of(item: &Value, keys: &[&str], schema: Option<Node<'_>>) -> Self {
        if keys.is_empty() {
            return Element::Value(item.to_string());
        }
        let value = |name: &str| {
            let default = || schema.and_then(|schema| schema.field(name)).and_then(Node::default_value);
            item.get(name).or_else(default).cloned()
        };
        let keys: BTreeMap<&str, Value> = keys.iter().filter_map(|name| Some((*name, value(name)?))).collect();
        // Strings and JSON values: encoding cannot fail.
        Element::Key(serde_json::to_string(&keys).unwrap_or_default())
    }

    /// Returns the name of the element in `FieldsV1`.
    pub(super) fn encode(&self) -> String {
        match self {
            Element::Field(name) => format!("f:{name}"),
            Element::Key(keys) => format!("k:{keys}"),
            Element::Value(value) => format!("v:{value}"),
        }
    }

    /// Parses the name of an element in `FieldsV1`; `None` for an index or an unknown name.
    pub(super) fn decode(text: &str) -> Option<Self> {
        let (kind, rest) = text.split_once(':')?;
        let canonical = || Some(serde_json::from_str::<Value>(rest).ok()?.to_string());
        match kind {
            "f" => Some(Element::Field(rest.to_owned())),
            "k" => {
                let keys: BTreeMap<String, Value> = serde_json::from_str(rest).ok()?;
                Some(Element::Key(serde_json::to_string(&keys).ok()?))
            }
            "v" => canonical().map(Element::Value),
            _ => None,
        }
    }
}

/// Formats the element as upstream's messages do: `.name`, `[port=80,protocol="TCP"]` or `[="value"]`.
impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Element::Field(name) => write!(f, ".{name}"),
            Element::Value(value) => write!(f, "[={value}]"),
            Element::Key(keys) => {
                let keys: BTreeMap<String, Value> = serde_json::from_str(keys).unwrap_or_default();
                let keys: Vec<String> = keys.iter().map(|(name, value)| format!("{name}={value}")).collect();
                write!(f, "[{}]", keys.join(","))
            }
        }
    }
}

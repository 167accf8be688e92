//! Descriptions of Go types: names in JSON, numbers in protobuf, and the kinds of their fields.

use std::{collections::HashMap, sync::LazyLock};

use serde_json::Value;

/// Table of the messages, from which the API server for tests encodes: its name, then a line per field with number, name in
/// JSON, a letter (value, pointer, repeated, map or inline) and type.
const TABLE: &str = include_str!("../../../../apiserver/src/protobuf/schema.txt");

/// Types that are copied unchanged: those with decoders of their own, and managed fields. Malformed ones of these are skipped
/// by the decoder, so a different order of their fields may change the result.
const OPAQUE: [&str; 4] = ["quantity", "intorstring", "fields", "ManagedFieldsEntry"];

/// Shape of a field or of a whole object.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// `v`: absent, null and zero are equal. `p`: absent and null are equal, zero is different. `r`: a list, `m`: a map.
    letter: &'static str,
    of: &'static str,
}

/// Field: name in JSON, number in protobuf, and shape.
type Field = (&'static str, u32, Shape);

static MESSAGES: LazyLock<HashMap<&str, Vec<Field>>> = LazyLock::new(|| {
    let mut messages: HashMap<&str, Vec<Field>> = HashMap::new();
    let mut current = "";
    for line in TABLE.lines() {
        match line.split(' ').collect::<Vec<_>>()[..] {
            [number, name, letter, of] => {
                let field = (name, number.parse().expect("a number"), Shape { letter, of });
                messages.entry(current).or_default().push(field);
            }
            _ => current = line,
        }
    }
    messages
});

impl Shape {
    /// Returns the shape of the objects of a kind, such as `Pod`.
    pub fn of_kind(kind: &'static str) -> Self {
        assert!(MESSAGES.contains_key(kind), "no message {kind}");
        Self { letter: "v", of: kind }
    }

    /// Returns whether this is a message or a list of messages.
    pub(super) fn is_object(self) -> bool {
        self.letter != "i" && !OPAQUE.contains(&self.of) && MESSAGES.contains_key(self.of)
    }

    pub(super) fn is_struct(self) -> bool {
        self.is_object() && self.letter != "r"
    }

    pub(super) fn is_repeated(self) -> bool {
        matches!(self.letter, "r" | "m" | "i") || OPAQUE.contains(&self.of)
    }

    fn fields(self) -> &'static [Field] {
        if self.is_object() { &MESSAGES[self.of] } else { &[] }
    }

    /// Returns name and shape of the members of a JSON object; none for other shapes.
    pub(super) fn members(self) -> impl Iterator<Item = (&'static str, Self)> {
        let fields = if self.is_struct() { self.fields() } else { &[] };
        fields.iter().filter(|(_, _, shape)| shape.letter != "i").map(|(name, _, shape)| (*name, *shape))
    }

    pub(super) fn member(self, name: &str) -> Option<Self> {
        self.members().find(|(it, _)| *it == name).map(|(_, shape)| shape)
    }

    pub(super) fn element(self) -> Option<Self> {
        (self.letter == "r" && self.is_object()).then_some(Self { letter: "v", ..self })
    }

    /// Returns the shape of a field of a protobuf message.
    pub(super) fn field(self, number: u32) -> Option<Self> {
        self.fields().iter().find(|(_, it, _)| *it == number).map(|(_, _, shape)| *shape)
    }

    /// Returns the JSON value that is equal to an absent member.
    pub(super) fn zero(self) -> Value {
        match (self.letter, self.of) {
            ("v", "string") => "".into(),
            ("v", "int") => 0.into(),
            ("v", "bool") => false.into(),
            ("v", _) if self.is_struct() => Value::Object(serde_json::Map::new()),
            ("r", of) if !OPAQUE.contains(&of) => Value::Array(Vec::new()),
            _ => Value::Null,
        }
    }
}

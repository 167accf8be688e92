//! Renderings in JSON: members in another order, repeated, null or unknown; other escapes and white space.

use serde_json::{Map, Value};

use super::{Choices, Shape};

/// Returns a rendering of a document with this shape.
pub fn render(document: &Value, shape: &Shape, choices: &mut Choices) -> Vec<u8> {
    let mut writer = Writer { out: Vec::new(), choices };
    writer.value(document, Some(shape));
    writer.blank();
    writer.out
}

struct Writer<'a> {
    out: Vec<u8>,
    choices: &'a mut Choices,
}

impl Writer<'_> {
    fn blank(&mut self) {
        if self.choices.once_in(8) {
            let blank = [&b" "[..], b"\n", b"\t\r\n "][self.choices.one_of(3)];
            self.out.extend(blank);
        }
    }

    fn value(&mut self, value: &Value, shape: Option<&Shape>) {
        self.blank();
        match value {
            Value::Null | Value::Bool(_) => self.out.extend(value.to_string().as_bytes()),
            Value::Number(number) if number.as_i64() == Some(0) && self.choices.once_in(2) => self.out.extend(b"-0"),
            Value::Number(number) => self.out.extend(number.to_string().as_bytes()),
            Value::String(text) => self.text(text),
            Value::Array(elements) => {
                let of_element = shape.and_then(Shape::element);
                self.out.push(b'[');
                for (at, element) in elements.iter().enumerate() {
                    if at > 0 {
                        self.out.push(b',');
                    }
                    self.value(element, of_element);
                    self.blank();
                }
                self.out.push(b']');
            }
            Value::Object(members) => self.object(members, shape, true),
        }
    }

    /// Writes an object. Absent members are written as zero values only if the object is `complete`: in a part of an
    /// object they would replace those of the other part.
    fn object(&mut self, members: &Map<String, Value>, shape: Option<&Shape>, complete: bool) {
        let mut written: Vec<(u64, (String, Value, bool))> = Vec::new();
        for (group, (name, value)) in (0..).zip(members) {
            // Members without a shape are not repeated, since their Go types are unknown.
            if shape.is_some_and(|shape| shape.is_map() || shape.member(name).is_some()) && self.choices.once_in(4) {
                written.extend(self.earlier(value).map(|earlier| (group, (name.clone(), earlier, true))));
            }
            match value {
                Value::Object(inner) if self.splits(shape, name) => {
                    let (mut first, mut second) = (Map::new(), Map::new());
                    for (key, value) in inner {
                        let part = if self.choices.once_in(2) { &mut first } else { &mut second };
                        part.insert(key.clone(), value.clone());
                    }
                    written.push((group, (name.clone(), first.into(), false)));
                    written.push((group, (name.clone(), second.into(), false)));
                }
                _ => written.push((group, (name.clone(), value.clone(), true))),
            }
        }
        if let Some(shape) = shape.filter(|shape| shape.is_struct()) {
            let mut group = u64::MAX;
            for (name, absent) in shape.members() {
                if complete && !members.contains_key(name) && self.choices.once_in(2) {
                    let zero = if self.choices.once_in(2) { Value::Null } else { absent.zero() };
                    written.push((group, (name.to_owned(), zero, true)));
                    group -= 1;
                }
            }
            if self.choices.once_in(4) {
                written.push((
                    group,
                    ("anUnknownField".to_owned(), serde_json::json!([{"metadata": {"name": -1.5e3}}, null]), true),
                ));
            }
            if self.choices.once_in(4) {
                // Names are case-sensitive in sigs.k8s.io/json, so this member is unknown.
                written.push((group - 1, ("Metadata".to_owned(), Value::from(7), true)));
            }
        }
        self.out.push(b'{');
        for (at, (name, value, complete)) in self.choices.shuffle(written).into_iter().enumerate() {
            if at > 0 {
                self.out.push(b',');
            }
            self.blank();
            self.text(&name);
            self.blank();
            self.out.push(b':');
            let of_member = shape.and_then(|shape| shape.member(&name));
            match &value {
                Value::Object(members) if !complete => self.object(members, of_member, false),
                _ => self.value(&value, of_member),
            }
            self.blank();
        }
        self.out.push(b'}');
    }

    /// Decides whether a member is written as two objects, which Go merges.
    fn splits(&mut self, shape: Option<&Shape>, name: &str) -> bool {
        shape.and_then(|shape| shape.member(name)).is_some_and(Shape::is_object) && self.choices.once_in(4)
    }

    /// Returns a value of the same type for an earlier member of the same name, which the later one replaces.
    fn earlier(&mut self, value: &Value) -> Option<Value> {
        if self.choices.once_in(3) {
            return Some(Value::Null);
        }
        match value {
            Value::String(_) => Some("earlier".into()),
            Value::Number(_) => Some(7.into()),
            Value::Bool(it) => Some((!it).into()),
            Value::Array(elements) => Some(elements[..elements.len().min(self.choices.one_of(3))].to_vec().into()),
            Value::Object(_) => Some(Map::new().into()),
            Value::Null => None,
        }
    }

    fn text(&mut self, text: &str) {
        self.out.push(b'"');
        for character in text.chars() {
            let mut buffer = [0; 4];
            match character {
                // Go decodes half a surrogate pair, and bytes that are not UTF-8, to the replacement character.
                char::REPLACEMENT_CHARACTER if self.choices.once_in(2) => self.out.extend(br"\udc00"),
                char::REPLACEMENT_CHARACTER if self.choices.once_in(2) => self.out.push(0xff),
                '/' if self.choices.once_in(2) => self.out.extend(br"\/"),
                '"' | '\\' | '\0'..' ' => self.escaped(character),
                _ if self.choices.once_in(10) => self.escaped(character),
                _ => self.out.extend(character.encode_utf8(&mut buffer).as_bytes()),
            }
        }
        self.out.push(b'"');
    }

    fn escaped(&mut self, character: char) {
        for unit in character.encode_utf16(&mut [0; 2]) {
            let escape = if self.choices.once_in(2) { format!("\\u{unit:04x}") } else { format!("\\u{unit:04X}") };
            self.out.extend(escape.as_bytes());
        }
    }
}

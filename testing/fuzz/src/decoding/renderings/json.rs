//! Renderings in JSON: members in another order, null or unknown; other escapes and white space.

use serde_json::{Map, Value};

use super::{Choices, Shape};

/// Returns a rendering of a document with this shape.
pub fn render(document: &Value, shape: Shape, choices: &mut Choices) -> Vec<u8> {
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

    fn value(&mut self, value: &Value, shape: Option<Shape>) {
        self.blank();
        match value {
            Value::Null | Value::Bool(_) => self.out.extend(value.to_string().as_bytes()),
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
            Value::Object(members) => self.object(members, shape),
        }
    }

    /// Writes an object, some absent members as zero values.
    fn object(&mut self, members: &Map<String, Value>, shape: Option<Shape>) {
        let mut written: Vec<(u64, (String, Value))> =
            (0..).zip(members).map(|(group, (name, value))| (group, (name.clone(), value.clone()))).collect();
        if let Some(shape) = shape.filter(|shape| shape.is_struct()) {
            let mut group = u64::MAX;
            for (name, absent) in shape.members() {
                if !members.contains_key(name) && self.choices.once_in(2) {
                    let zero = if self.choices.once_in(2) { Value::Null } else { absent.zero() };
                    written.push((group, (name.to_owned(), zero)));
                    group -= 1;
                }
            }
            if self.choices.once_in(4) {
                let unknown = serde_json::json!([{"metadata": {"name": -1.5e3}}, null]);
                written.push((group, ("anUnknownField".to_owned(), unknown)));
            }
            if self.choices.once_in(4) {
                // Names are case-sensitive in sigs.k8s.io/json, so this member is unknown.
                written.push((group - 1, ("Metadata".to_owned(), Value::from(7))));
            }
        }
        self.out.push(b'{');
        for (at, (name, value)) in self.choices.shuffle(written).into_iter().enumerate() {
            if at > 0 {
                self.out.push(b',');
            }
            self.blank();
            self.text(&name);
            self.blank();
            self.out.push(b':');
            let of_member = shape.and_then(|shape| shape.member(&name));
            self.value(&value, of_member);
            self.blank();
        }
        self.out.push(b'}');
    }

    fn text(&mut self, text: &str) {
        self.out.push(b'"');
        for character in text.chars() {
            let mut buffer = [0; 4];
            match character {
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

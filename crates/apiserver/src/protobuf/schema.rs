//! The table of messages.

use std::collections::HashMap;
use std::sync::LazyLock;

/// One message for each block: its name, and for each field its number, its name in JSON, its shape and its type. Made
/// from the struct tags of the Go types of Kubernetes 1.36 (`k8s.io/api` and `k8s.io/apimachinery`, Apache-2.0).
const TEXT: &str = include_str!("schema.txt");

/// The objects that have a protobuf form here, by apiVersion and kind; the message is called as the kind.
const KINDS: [(&str, &str); 5] =
    [("v1", "Endpoints"), ("v1", "Node"), ("v1", "Pod"), ("v1", "Service"), ("discovery.k8s.io/v1", "EndpointSlice")];

/// Whether objects of a kind can be had in protobuf.
pub(crate) fn speaks(api_version: &str, kind: &str) -> bool {
    KINDS.contains(&(api_version, kind))
}

#[derive(Debug)]
pub(super) struct Field {
    pub(super) number: u32,
    pub(super) name: &'static str,
    pub(super) shape: Shape,
    pub(super) of: Type,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// Written even when it is empty.
    Value,
    /// Written when it is there.
    Pointer,
    Repeated,
    /// From texts.
    Map,
    /// A message of its own whose fields stand among those around it in JSON.
    Inline,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Type {
    Text,
    Integer,
    Boolean,
    Bytes,
    Time,
    MicroTime,
    Quantity,
    IntOrString,
    /// `FieldsV1`: JSON as it is.
    Fields,
    Message(&'static str),
}

/// The fields of a message, in the order of their numbers; none of a message that is not in the table.
pub(super) fn fields(message: &str) -> &'static [Field] {
    static MESSAGES: LazyLock<HashMap<&'static str, Vec<Field>>> = LazyLock::new(parse);
    MESSAGES.get(message).map_or(&[], Vec::as_slice)
}

fn parse() -> HashMap<&'static str, Vec<Field>> {
    let mut messages = HashMap::new();
    let mut current = "";
    for line in TEXT.lines() {
        let words: Vec<&'static str> = line.split(' ').collect();
        match words.as_slice() {
            [message] => {
                current = message;
                messages.insert(current, Vec::new());
            }
            [number, name, shape, of] => {
                let field =
                    Field { number: number.parse().unwrap_or_default(), name, shape: shape_of(shape), of: type_of(of) };
                messages.entry(current).or_default().push(field);
            }
            _ => {}
        }
    }
    messages
}

fn shape_of(letter: &str) -> Shape {
    match letter {
        "p" | "b" => Shape::Pointer,
        "r" => Shape::Repeated,
        "m" => Shape::Map,
        "i" => Shape::Inline,
        _ => Shape::Value,
    }
}

fn type_of(name: &'static str) -> Type {
    match name {
        "string" => Type::Text,
        "int" => Type::Integer,
        "bool" => Type::Boolean,
        "bytes" => Type::Bytes,
        "time" => Type::Time,
        "microtime" => Type::MicroTime,
        "quantity" => Type::Quantity,
        "intorstring" => Type::IntOrString,
        "fields" => Type::Fields,
        message => Type::Message(message),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_message_is_in_the_table() {
        for (_, kind) in KINDS {
            assert!(!fields(kind).is_empty(), "{kind}");
        }
        for line in TEXT.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            if let [number, _, shape, of] = words.as_slice() {
                assert!(number.parse::<u32>().is_ok_and(|it| it > 0) && "vprmbi".contains(shape), "{line}");
                if let Type::Message(message) = type_of(Box::leak(of.to_string().into_boxed_str())) {
                    let empty = TEXT.lines().any(|line| line == message);
                    assert!(empty, "{message} is missing");
                }
            }
        }
    }
}

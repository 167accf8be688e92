//! The message table.

use std::collections::HashMap;
use std::sync::LazyLock;

/// One block per message: its name, then a line per field with number, JSON name, shape and type. Generated from the
/// struct tags of the Go types of Kubernetes 1.36 (`k8s.io/api`, `k8s.io/apimachinery` and
/// `k8s.io/apiextensions-apiserver`, Apache-2.0).
const TEXT: &str = include_str!("schema.txt");

/// Kinds with a protobuf encoding, by apiVersion. The message has the name of the kind.
const KINDS: [(&str, &[&str]); 10] = [
    (
        "v1",
        &[
            "ConfigMap",
            "Endpoints",
            "Event",
            "Namespace",
            "Node",
            "Pod",
            "Secret",
            "Service",
            "ServiceAccount",
            "Status",
        ],
    ),
    ("apps/v1", &["Deployment", "ReplicaSet"]),
    ("autoscaling/v1", &["Scale"]),
    ("batch/v1", &["Job"]),
    ("discovery.k8s.io/v1", &["EndpointSlice"]),
    ("coordination.k8s.io/v1", &["Lease"]),
    ("rbac.authorization.k8s.io/v1", &["ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"]),
    ("authentication.k8s.io/v1", &["SelfSubjectReview", "TokenRequest", "TokenReview"]),
    ("authorization.k8s.io/v1", &["SelfSubjectAccessReview", "SelfSubjectRulesReview", "SubjectAccessReview"]),
    // Any apiVersion: clients send that of the deleted object.
    ("", &["DeleteOptions"]),
];

/// Returns the message of a kind; `None` if it has no protobuf encoding.
pub(super) fn message_of(api_version: &str, kind: &str) -> Option<&'static str> {
    let mut kinds = KINDS.iter().filter(|(version, _)| version.is_empty() || *version == api_version);
    kinds.find_map(|(_, kinds)| kinds.iter().find(|it| **it == kind).copied())
}

/// Returns `true` if a kind has a protobuf encoding.
pub(crate) fn is_supported(api_version: &str, kind: &str) -> bool {
    message_of(api_version, kind).is_some()
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
    /// Non-pointer field: always written, even if empty.
    Value,
    /// Pointer field: written if present.
    Pointer,
    Repeated,
    /// Map with string keys.
    Map,
    /// Embedded struct: its fields are inlined in JSON, but a separate message in protobuf.
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
    /// `FieldsV1`: raw JSON.
    Fields,
    Message(&'static str),
}

/// Returns the fields of a message, ordered by number; empty if the message is not in the table.
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
        "p" => Shape::Pointer,
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
    fn schema_table_has_every_message() {
        for (version, kinds) in KINDS {
            for kind in kinds {
                assert!(!fields(message_of(version, kind).unwrap()).is_empty(), "{version} {kind}");
            }
        }
        for line in TEXT.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            if let [number, _, shape, of] = words.as_slice() {
                assert!(number.parse::<u32>().is_ok_and(|it| it > 0) && "vprmi".contains(shape), "{line}");
                if let Type::Message(message) = type_of(Box::leak(of.to_string().into_boxed_str())) {
                    let empty = TEXT.lines().any(|line| line == message);
                    assert!(empty, "{message} is missing");
                }
            }
        }
    }
}

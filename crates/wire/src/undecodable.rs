//! Objects that cannot be decoded.

use serde_json::Value;

use crate::{
    DecodeError, DecodeProblem, Encoding, Metadata as _, ObjectHead, ObjectKey, ResourceVersion, Uid,
    protobuf::{Fields, fields::object},
};

/// Item of a list, or object of a watch event, that cannot be decoded into its type.
///
/// Reading of the list or watch continues with the next object. The object still exists on the server in an unknown
/// state, so a cache must not treat it as deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undecodable {
    /// Namespace and name; `None` if the name cannot be read.
    pub key: Option<ObjectKey>,
    /// `metadata.uid`; empty if it cannot be read.
    pub uid: Uid,
    /// `metadata.resourceVersion`; empty if it cannot be read.
    pub resource_version: ResourceVersion,
    /// Error of decoding the object.
    pub error: DecodeError,
}

impl From<Box<Undecodable>> for DecodeError {
    fn from(it: Box<Undecodable>) -> Self {
        it.error
    }
}

impl Undecodable {
    /// Reads the metadata of an object whose decoding failed with `error`.
    ///
    /// Returns `error` if it affects more than this object: the type does not support the encoding, or the JSON is
    /// malformed, in which case the detected end of the object may be wrong.
    pub(crate) fn of(encoding: Encoding, object: &[u8], error: DecodeError) -> Result<Box<Self>, DecodeError> {
        let head = match encoding {
            _ if matches!(error.problem, DecodeProblem::Encoding(_)) => return Err(error),
            Encoding::Json => match serde_json::from_slice(object) {
                Ok(document) => head_of_json(&document),
                Err(_) => return Err(error),
            },
            Encoding::Protobuf => head_of_protobuf(object),
        };
        let key = (!head.name.is_empty()).then(|| head.key());
        Ok(Box::new(Self { key, uid: head.uid, resource_version: head.resource_version, error }))
    }
}

/// Reads the metadata field by field, since one of them may be the reason of the error.
fn head_of_json(document: &Value) -> ObjectHead {
    let text = |name| document["metadata"][name].as_str().unwrap_or_default();
    ObjectHead {
        name: text("name").into(),
        namespace: text("namespace").into(),
        uid: text("uid").into(),
        resource_version: text("resourceVersion").into(),
        terminating: false,
    }
}

/// Reads the metadata up to the first malformed field. Fields after it stay empty; the object's own error is reported.
fn head_of_protobuf(object: &[u8]) -> ObjectHead {
    let mut head = ObjectHead::default();
    for field in Fields::new(object).map_while(Result::ok).filter(|field| field.number == object::METADATA) {
        let _ = field.message().and_then(|fields| head.merge(fields));
    }
    head
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::testing::{bytes, text};

    fn read(encoding: Encoding, object: &[u8]) -> Result<String, DecodeError> {
        let error = DecodeError::new("Thing", DecodeProblem::MissingName);
        let it = Undecodable::of(encoding, object, error)?;
        let key = it.key.map_or_else(|| "unnamed".to_owned(), |key| key.to_string());
        Ok(format!("{key} {} {}", it.uid, it.resource_version))
    }

    #[rstest]
    #[case::all(r#"{"size":"x","metadata":{"name":"a","namespace":"n","uid":"u","resourceVersion":"7"}}"#, "n/a u 7")]
    #[case::of_the_wrong_shape(r#"{"metadata":{"name":"a","namespace":7,"uid":null,"resourceVersion":"7"}}"#, "a  7")]
    #[case::no_name(r#"{"metadata":{"uid":"u"}}"#, "unnamed u ")]
    #[case::no_metadata("{}", "unnamed  ")]
    #[case::metadata_is_no_object(r#"{"metadata":7}"#, "unnamed  ")]
    #[case::no_object("null", "unnamed  ")]
    fn reads_metadata_from_json(#[case] object: &str, #[case] expect: &str) {
        assert_eq!(read(Encoding::Json, object.as_bytes()).unwrap(), expect);
    }

    #[test]
    fn malformed_json_is_an_error_of_the_list() {
        assert!(read(Encoding::Json, br#"{"metadata":{"name":"a"},"size":01}"#).is_err());
    }

    #[test]
    fn reads_metadata_from_protobuf() {
        let metadata = [text(1, "a"), text(3, "n"), text(5, "u"), text(6, "7")].concat();
        let read = |object: &[u8]| read(Encoding::Protobuf, object).unwrap();
        assert_eq!(read(&bytes(1, &metadata)), "n/a u 7");
        assert_eq!(read(&[bytes(1, &metadata), b"\x12\x7f".to_vec()].concat()), "n/a u 7", "cut after the metadata");
        assert_eq!(read(&bytes(1, &[text(1, "a"), b"\x18\x01".to_vec()].concat())), "a  ", "the namespace is a number");
        assert_eq!(read(b"\x0b"), "unnamed  ");
    }
}

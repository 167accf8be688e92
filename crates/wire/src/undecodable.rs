//! An object that cannot be decoded, as far as it can be named.

use crate::{
    DecodeError, Encoding, ObjectKey, ResourceVersion, Uid,
    json::{self, Node},
    protobuf::{Fields, MalformedProtobuf},
};

/// An item of a list, or the object of a watch event, that its type cannot be decoded from.
///
/// It says nothing about the objects beside it: the list or watch goes on. The object exists, so its state is unknown, not gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undecodable {
    /// Namespace and name; `None` if they cannot be read either.
    pub key: Option<ObjectKey>,
    /// `metadata.uid`; empty if it cannot be read.
    pub uid: Uid,
    /// `metadata.resourceVersion`; empty if it cannot be read.
    pub resource_version: ResourceVersion,
    /// Why it cannot be decoded.
    pub error: DecodeError,
}

impl From<Box<Undecodable>> for DecodeError {
    fn from(it: Box<Undecodable>) -> Self {
        it.error
    }
}

impl Undecodable {
    /// Reads the metadata of an object for which decoding returned `error`. Returns the error if it concerns more than the object:
    /// the type is not read from this encoding, or JSON is malformed, so that its end may not be where it was found.
    pub(crate) fn of(encoding: Encoding, object: &[u8], error: DecodeError) -> Result<Box<Self>, DecodeError> {
        let mut it = Self { key: None, uid: Uid::default(), resource_version: ResourceVersion::default(), error };
        match encoding {
            _ if matches!(it.error, DecodeError::Encoding { .. }) => return Err(it.error),
            Encoding::Json => match json::read(object) {
                Some(document) => it.read_json(&document),
                None => return Err(it.error),
            },
            // What cannot be read of it is missing; the error is reported already.
            Encoding::Protobuf => drop(it.read_protobuf(object)),
        }
        Ok(Box::new(it))
    }

    fn read_json(&mut self, document: &Node) {
        let text = |name| document.member("metadata")?.member(name)?.text();
        self.name(text("namespace").unwrap_or_default(), text("name").unwrap_or_default());
        self.uid = text("uid").unwrap_or_default().into();
        self.resource_version = text("resourceVersion").unwrap_or_default().into();
    }

    /// Reads up to the first field that is malformed.
    fn read_protobuf(&mut self, object: &[u8]) -> Result<(), MalformedProtobuf> {
        const METADATA: u32 = 1;
        let (mut namespace, mut name) = (String::new(), String::new());
        let mut read = || {
            for field in Fields::new(object) {
                let field = field?;
                if field.number == METADATA {
                    for field in field.message()? {
                        let field = field?;
                        match field.number {
                            1 => name = field.text()?.into_owned(),
                            3 => namespace = field.text()?.into_owned(),
                            5 => self.uid = (&*field.text()?).into(),
                            6 => self.resource_version = (&*field.text()?).into(),
                            _ => {}
                        }
                    }
                }
            }
            Ok(())
        };
        let result = read();
        self.name(namespace, name);
        result
    }

    fn name(&mut self, namespace: String, name: String) {
        self.key = (!name.is_empty()).then(|| ObjectKey::new(namespace, name));
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::testing::{bytes, text};

    fn read(encoding: Encoding, object: &[u8]) -> Result<String, DecodeError> {
        let error = DecodeError::Nameless { kind: "Thing".to_owned(), resource_version: None };
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
    #[case::as_go_reads_it(r#"{"metadata":{"name":"x"},"metadata":{"name":"a\ud800"}}"#, "a\u{fffd}  ")]
    fn json(#[case] object: &str, #[case] expect: &str) {
        assert_eq!(read(Encoding::Json, object.as_bytes()).unwrap(), expect);
    }

    #[test]
    fn malformed_json_is_not_contained() {
        assert!(read(Encoding::Json, br#"{"metadata":{"name":"a"},"size":01}"#).is_err());
    }

    #[test]
    fn protobuf() {
        let metadata = [text(1, "a"), text(3, "n"), text(5, "u"), text(6, "7")].concat();
        let read = |object: &[u8]| read(Encoding::Protobuf, object).unwrap();
        assert_eq!(read(&bytes(1, &metadata)), "n/a u 7");
        assert_eq!(read(&[bytes(1, &metadata), b"\x12\x7f".to_vec()].concat()), "n/a u 7", "cut behind the metadata");
        assert_eq!(read(&bytes(1, &[text(1, "a"), b"\x18\x01".to_vec()].concat())), "a  ", "the namespace is a number");
        assert_eq!(read(b"\x0b"), "unnamed  ");
    }
}

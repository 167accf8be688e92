//! Who wrote an object last.

use kube_endpoint_model::{ManagedFields, Part};
use kube_wire::{DecodeError, Encoding, ResourceVersion};

use crate::Author;

/// The newest entry of `metadata.managedFields`; of equal times, the last one.
///
/// Entries that are not as the API server writes them are no error, and leave the author unknown: the object itself is
/// recorded all the same.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LastAuthor(
    /// Its manager and time; `None` without an entry that has both.
    pub Option<Author>,
);

impl Part for LastAuthor {
    const PROTOBUF: bool = true;

    fn from_json(_kind: &str, bytes: &[u8]) -> Result<Self, DecodeError> {
        Ok(version_and_author(Encoding::Json, bytes).1)
    }

    fn from_protobuf(_kind: &str, bytes: &[u8]) -> Result<Self, DecodeError> {
        Ok(version_and_author(Encoding::Protobuf, bytes).1)
    }
}

/// Returns the version of an object and its author; neither if they cannot be decoded.
pub(super) fn version_and_author(encoding: Encoding, object: &[u8]) -> (ResourceVersion, LastAuthor) {
    let fields = match encoding {
        Encoding::Json => ManagedFields::from_json("object", object),
        Encoding::Protobuf => ManagedFields::from_protobuf("object", object),
    };
    let ManagedFields { resource_version, entries } = fields.unwrap_or_default();
    (resource_version, LastAuthor(Author::of_last_write(entries)))
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use kube_wire::protobuf::Writer;
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    const TIME: &str = "2026-11-27T14:02:00Z";

    fn known() -> LastAuthor {
        let time = Some(TIME.parse().unwrap());
        LastAuthor(Some(Author { manager: "a".into(), time, ..Author::default() }))
    }

    #[rstest]
    #[case::known(json!([{"manager": "a", "time": TIME}]), known())]
    #[case::not_a_time(json!([{"manager": "a", "time": "noon"}]), LastAuthor(None))]
    #[case::another_type(json!("kubelet"), LastAuthor(None))]
    #[case::entries_of_another_type(json!([{"manager": 7, "time": TIME}]), LastAuthor(None))]
    fn managed_fields_in_json(#[case] managed_fields: Value, #[case] expect: LastAuthor) {
        let object = json!({"metadata": {"name": "p", "managedFields": managed_fields}, "spec": {}}).to_string();
        assert_eq!(LastAuthor::from_json("Pod", object.as_bytes()).unwrap(), expect);
    }

    #[test]
    fn malformed_protobuf_leaves_the_author_unknown() {
        let mut object = Writer::default();
        object.message(1, |metadata| {
            metadata.text(1, "p");
            metadata.message(17, |entry| {
                entry.text(1, "a");
                entry.time(4, TIME.parse::<Timestamp>().ok().map(Timestamp::as_second));
            });
        });
        let object = object.as_bytes();
        assert_eq!(LastAuthor::from_protobuf("Pod", object).unwrap(), known());
        for length in 1..object.len() {
            assert_eq!(LastAuthor::from_protobuf("Pod", &object[..length]).unwrap(), LastAuthor(None), "{length}");
        }
    }
}

//! Who wrote an object last.

use jiff::Timestamp;
use kube_endpoint_model::{Part, Text};
use kube_wire::protobuf::fields::object;
use kube_wire::protobuf::{Fields, MalformedProtobuf};
use kube_wire::{DecodeError, Encoding, ResourceVersion};
use serde::Deserialize;

use crate::Author;
use crate::managed_fields::{Entry, newest};

/// Field number of `metav1.ObjectMeta`.
const RESOURCE_VERSION: u32 = 6;

/// Field numbers of `metav1.ManagedFieldsEntry`, and of the field of `metav1.ObjectMeta` that has them.
mod managed_fields {
    pub(super) const OF_OBJECT_META: u32 = 17;
    pub(super) const MANAGER: u32 = 1;
    pub(super) const TIME: u32 = 4;
}

/// The newest entry of `metadata.managedFields`; of equal times, the last one.
///
/// Entries that are not as the API server writes them are no error, and leave the author unknown: the object itself is
/// recorded all the same.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LastAuthor(
    /// Its manager and time; `None` without an entry that has both.
    pub Option<Author>,
);

#[derive(Deserialize)]
struct Document {
    metadata: Metadata,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    #[serde(default)]
    resource_version: Option<String>,
    managed_fields: Option<Vec<Entry>>,
}

impl Part for LastAuthor {
    const PROTOBUF: bool = true;

    fn from_json(_kind: &str, bytes: &[u8]) -> Result<Self, DecodeError> {
        Ok(version_and_author(Encoding::Json, bytes).1)
    }

    fn from_protobuf(_kind: &str, bytes: &[u8]) -> Result<Self, DecodeError> {
        Ok(version_and_author(Encoding::Protobuf, bytes).1)
    }
}

/// Returns the version of an object and its author, each as far as it can be read.
pub(super) fn version_and_author(encoding: Encoding, object: &[u8]) -> (ResourceVersion, LastAuthor) {
    match encoding {
        Encoding::Json => serde_json::from_slice(object).map(Document::version_and_author).unwrap_or_default(),
        Encoding::Protobuf => {
            let read = version_and_entries(object).unwrap_or_default();
            (read.0, LastAuthor(newest(read.1.into_iter())))
        }
    }
}

impl Document {
    fn version_and_author(self) -> (ResourceVersion, LastAuthor) {
        let Document { metadata } = self;
        let dated = metadata.managed_fields.iter().flatten().filter_map(Entry::dated);
        (metadata.resource_version.as_deref().unwrap_or_default().into(), LastAuthor(newest(dated)))
    }
}

/// Reads the version, and the entries that have a manager and a time.
fn version_and_entries(message: &[u8]) -> Result<(ResourceVersion, Vec<(Timestamp, Text)>), MalformedProtobuf> {
    let (mut version, mut entries) = (ResourceVersion::default(), Vec::new());
    for field in Fields::new(message) {
        let field = field?;
        if field.number != object::METADATA {
            continue;
        }
        for field in field.message()? {
            let field = field?;
            match field.number {
                RESOURCE_VERSION => version = (&*field.text()?).into(),
                managed_fields::OF_OBJECT_META => entries.extend(entry(field.message()?)?),
                _ => {}
            }
        }
    }
    Ok((version, entries))
}

fn entry(fields: Fields<'_>) -> Result<Option<(Timestamp, Text)>, MalformedProtobuf> {
    let (mut manager, mut time) = (None, None);
    for field in fields {
        let field = field?;
        match field.number {
            managed_fields::MANAGER => manager = Some(field.text()?).filter(|manager| !manager.is_empty()),
            managed_fields::TIME => time = field.time()?.and_then(|it| Timestamp::from_second(it.seconds).ok()),
            _ => {}
        }
    }
    Ok(time.zip(manager).map(|(time, manager)| (time, manager.as_ref().into())))
}

#[cfg(test)]
mod tests {
    use kube_wire::protobuf::Writer;
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    const EARLY: &str = "2026-11-27T14:00:00Z";
    const LATE: &str = "2026-11-27T14:02:00Z";

    fn shown(author: LastAuthor) -> String {
        author.0.map_or("unknown".to_owned(), |it| format!("{} {}", it.manager, it.time.expect("a time")))
    }

    #[rstest]
    #[case::newest(json!([{"manager": "a", "time": LATE}, {"manager": "b", "time": EARLY}]), "a 2026-11-27T14:02:00Z")]
    #[case::last_of_the_same_time(
        json!([{"manager": "a", "time": LATE, "subresource": "status"}, {"manager": "b", "time": LATE, "fieldsV1": {}}]),
        "b 2026-11-27T14:02:00Z"
    )]
    #[case::without_a_time(json!([{"manager": "a"}, {"manager": "b", "time": EARLY}]), "b 2026-11-27T14:00:00Z")]
    #[case::not_a_time(json!([{"manager": "a", "time": "noon"}]), "unknown")]
    #[case::without_a_manager(json!([{"time": LATE}, {"manager": "", "time": LATE}]), "unknown")]
    #[case::null(json!(null), "unknown")]
    #[case::none(json!([]), "unknown")]
    #[case::another_type(json!("kubelet"), "unknown")]
    #[case::entries_of_another_type(json!([{"manager": 7, "time": LATE}]), "unknown")]
    fn managed_fields_in_json(#[case] managed_fields: Value, #[case] expect: &str) {
        let object = json!({"metadata": {"name": "p", "managedFields": managed_fields}, "spec": {}}).to_string();
        assert_eq!(shown(LastAuthor::from_json("Pod", object.as_bytes()).unwrap()), expect);
    }

    #[test]
    fn managed_fields_may_be_absent() {
        assert_eq!(LastAuthor::from_json("Pod", br#"{"metadata": {}}"#).unwrap(), LastAuthor(None));
        assert_eq!(LastAuthor::from_protobuf("Pod", b"").unwrap(), LastAuthor(None));
    }

    fn protobuf(entries: &[(&str, Option<&str>)]) -> Vec<u8> {
        let mut object = Writer::default();
        object.message(1, |metadata| {
            metadata.text(1, "p");
            for (manager, time) in entries {
                metadata.message(17, |entry| {
                    entry.text(1, manager);
                    entry.time(4, time.map(|it| it.parse::<Timestamp>().unwrap().as_second()));
                });
            }
        });
        object.as_bytes().to_vec()
    }

    #[rstest]
    #[case::newest(&[("a", Some(EARLY)), ("b", Some(LATE)), ("c", Some(EARLY))], "b 2026-11-27T14:02:00Z")]
    #[case::last_of_the_same_time(&[("a", Some(EARLY)), ("b", Some(EARLY))], "b 2026-11-27T14:00:00Z")]
    #[case::without_a_time(&[("a", None)], "unknown")]
    #[case::without_a_manager(&[("", Some(LATE))], "unknown")]
    fn managed_fields_in_protobuf(#[case] entries: &[(&str, Option<&str>)], #[case] expect: &str) {
        assert_eq!(shown(LastAuthor::from_protobuf("Pod", &protobuf(entries)).unwrap()), expect);
    }

    #[test]
    fn malformed_protobuf_leaves_the_author_unknown() {
        let object = protobuf(&[("a", Some(LATE))]);
        for length in 1..object.len() {
            assert_eq!(LastAuthor::from_protobuf("Pod", &object[..length]).unwrap(), LastAuthor(None), "{length}");
        }
    }
}

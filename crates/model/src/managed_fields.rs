//! Who has written an object: the entries of `metadata.managedFields`.

use jiff::Timestamp;
use kube_wire::DecodeError;
use kube_wire::protobuf::{Field, Fields};
use serde::Deserialize;

use crate::protobuf::fields::{managed_fields, object, object_meta};
use crate::protobuf::{Message, Result, from_str, message, text};
use crate::{Part, ResourceVersion, Text, json, time};

/// The field managers of an object and the version that they belong to, for [`With`](crate::With).
#[derive(Clone, Debug, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ManagedFields {
    /// `metadata.resourceVersion`.
    #[serde(deserialize_with = "json::from_str")]
    pub resource_version: ResourceVersion,
    /// `metadata.managedFields`.
    #[serde(rename = "managedFields", deserialize_with = "json::list")]
    pub entries: Vec<ManagedFieldsEntry>,
}

/// An entry of `metadata.managedFields`, without the names of the fields.
#[derive(Clone, Debug, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub struct ManagedFieldsEntry {
    /// Field manager; empty if it is unknown.
    #[serde(deserialize_with = "json::text")]
    pub manager: Text,
    /// Time of its last write of these fields; `None` if it is absent, zero, or cannot be represented by [`Timestamp`].
    #[serde(deserialize_with = "time::value")]
    pub time: Option<Timestamp>,
}

/// Returns manager and time of the last write of an object: those of the newest entry of its `managedFields` that has
/// both. Of equal times, the last entry counts.
pub fn last_write<M: AsRef<str>>(entries: impl IntoIterator<Item = (M, Option<Timestamp>)>) -> Option<(M, Timestamp)> {
    let named = entries.into_iter().filter(|(manager, _)| !manager.as_ref().is_empty());
    named.filter_map(|(manager, time)| Some((manager, time?))).max_by_key(|(_, time)| *time)
}

impl Part for ManagedFields {
    const PROTOBUF: bool = true;

    fn from_json(kind: &str, bytes: &[u8]) -> std::result::Result<Self, DecodeError> {
        #[derive(Deserialize)]
        struct Document {
            #[serde(default)]
            metadata: ManagedFields,
        }

        let Document { metadata } = kube_wire::json::from_slice(kind, bytes)?;
        Ok(metadata)
    }

    fn from_protobuf(kind: &str, bytes: &[u8]) -> std::result::Result<Self, DecodeError> {
        of_object(Fields::new(bytes)).map_err(|error| error.reading(kind))
    }
}

fn of_object(fields: Fields<'_>) -> Result<ManagedFields> {
    let mut it = ManagedFields::default();
    for field in fields {
        let field = field?;
        if field.number == object::METADATA {
            it.merge(field.message()?)?;
        }
    }
    Ok(it)
}

impl Message for ManagedFields {
    fn field(&mut self, field: &Field<'_>) -> Result<()> {
        match field.number {
            object_meta::RESOURCE_VERSION => self.resource_version = from_str(field)?,
            managed_fields::OF_OBJECT_META => self.entries.push(message(field)?),
            _ => {}
        }
        Ok(())
    }
}

impl Message for ManagedFieldsEntry {
    fn field(&mut self, field: &Field<'_>) -> Result<()> {
        match field.number {
            managed_fields::MANAGER => self.manager = text(field)?,
            managed_fields::TIME => self.time = time::value_of_field(field)?,
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use kube_wire::protobuf::Writer;
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    const EARLY: &str = "2026-11-27T14:00:00Z";
    const LATE: &str = "2026-11-27T14:02:00Z";

    fn shown(fields: ManagedFields) -> String {
        let last = last_write(fields.entries.into_iter().map(|entry| (entry.manager, entry.time)));
        last.map_or("unknown".to_owned(), |(manager, time)| format!("{manager} {time}"))
    }

    #[rstest]
    #[case::newest(json!([{"manager": "a", "time": LATE}, {"manager": "b", "time": EARLY}]), "a 2026-11-27T14:02:00Z")]
    #[case::last_of_the_same_time(
        json!([{"manager": "a", "time": LATE, "subresource": "status"}, {"manager": "b", "time": LATE, "fieldsV1": {}}]),
        "b 2026-11-27T14:02:00Z"
    )]
    #[case::without_a_time(json!([{"manager": "a"}, {"manager": "b", "time": EARLY}]), "b 2026-11-27T14:00:00Z")]
    #[case::not_a_time(json!([{"manager": "a", "time": "noon"}]), "unknown")]
    #[case::one_not_a_time(
        json!([{"manager": "a", "time": "noon"}, {"manager": "b", "time": EARLY}]),
        "b 2026-11-27T14:00:00Z"
    )]
    #[case::without_a_manager(json!([{"time": LATE}, {"manager": "", "time": LATE}]), "unknown")]
    #[case::null(json!(null), "unknown")]
    #[case::none(json!([]), "unknown")]
    fn last_write_in_json(#[case] managed_fields: Value, #[case] expect: &str) {
        let metadata = json!({"name": "p", "resourceVersion": "7", "managedFields": managed_fields});
        let object = json!({"metadata": metadata, "spec": {}}).to_string();
        let fields = ManagedFields::from_json("Pod", object.as_bytes()).unwrap();
        assert_eq!(fields.resource_version, ResourceVersion::from(7));
        assert_eq!(shown(fields), expect);
    }

    #[rstest]
    #[case::newest(&[("a", Some(EARLY)), ("b", Some(LATE)), ("c", Some(EARLY))], "b 2026-11-27T14:02:00Z")]
    #[case::last_of_the_same_time(&[("a", Some(EARLY)), ("b", Some(EARLY))], "b 2026-11-27T14:00:00Z")]
    #[case::without_a_time(&[("a", None)], "unknown")]
    #[case::without_a_manager(&[("", Some(LATE))], "unknown")]
    fn last_write_in_protobuf(#[case] entries: &[(&str, Option<&str>)], #[case] expect: &str) {
        let mut object = Writer::default();
        object.message(1, |metadata| {
            metadata.text(1, "p");
            metadata.text(6, "7");
            for (manager, time) in entries {
                metadata.message(17, |entry| {
                    entry.text(1, manager);
                    entry.time(4, time.map(|it| it.parse::<Timestamp>().unwrap().as_second()));
                });
            }
        });
        let fields = ManagedFields::from_protobuf("Pod", object.as_bytes()).unwrap();
        assert_eq!(fields.resource_version, ResourceVersion::from(7));
        assert_eq!(shown(fields), expect);
    }

    #[test]
    fn managed_fields_may_be_absent() {
        for json in ["{}", r#"{"metadata": {}}"#] {
            assert_eq!(ManagedFields::from_json("Pod", json.as_bytes()).unwrap(), ManagedFields::default());
        }
        assert_eq!(ManagedFields::from_protobuf("Pod", b"").unwrap(), ManagedFields::default());
    }
}

//! `events.k8s.io/v1` Event: a view of core events with different field names.

use k8s_openapi::api::core::v1::Event as Core;
use k8s_openapi::api::events::v1::Event;
use k8s_openapi::schemars::JsonSchema as _;
use serde_json::{Map, Value, json};

use super::{Kind, KindSchema, Typed, View};

/// Renamed fields: name in core, name in `events.k8s.io`.
const RENAMED: [(&str, &str); 7] = [
    ("count", "deprecatedCount"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("involvedObject", "regarding"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("message", "note"),
    ("reportingComponent", "reportingController"),
    ("source", "deprecatedSource"),
];

/// Renamed selectable fields: name in `events.k8s.io`, name in core.
const FIELDS: [(&str, &str); 8] = [
    ("regarding.apiVersion", "involvedObject.apiVersion"),
    ("regarding.fieldPath", "involvedObject.fieldPath"),
    ("regarding.kind", "involvedObject.kind"),
    ("regarding.name", "involvedObject.name"),
    ("regarding.namespace", "involvedObject.namespace"),
    ("regarding.resourceVersion", "involvedObject.resourceVersion"),
    ("regarding.uid", "involvedObject.uid"),
    ("reportingController", "reportingComponent"),
];

/// Returns the kind `events.k8s.io/v1` Event as a view of the core kind `events`.
pub(super) fn kind(events: &Kind) -> Kind {
    Kind {
        index: events.index,
        create_on_update: true,
        blank: r#","eventTime":null"#,
        view: Some(View { stored_version: "v1", fields: &FIELDS, to_served, to_stored }),
        schema: KindSchema::Builtin(Event::schema_name()),
        rules: Box::new(Typed::<Core>::new()),
        group: "events.k8s.io".to_owned(),
        ..Kind::builtin::<Core>(&["ev"])
    }
}

fn to_served(object: &mut Map<String, Value>) {
    for (old, new) in RENAMED {
        if let Some(value) = object.remove(old).filter(|value| !value.is_null() && value != &json!({})) {
            object.insert(new.to_owned(), value);
        }
    }
    // Empty strings in core, absent in `events.k8s.io`.
    object.retain(|name, value| value != "" || !matches!(name.as_str(), "reportingController" | "reportingInstance"));
}

fn to_stored(object: &mut Map<String, Value>) {
    for (old, new) in RENAMED {
        if let Some(value) = object.remove(new) {
            object.insert(old.to_owned(), value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_convert_between_both_groups() {
        let stored = json!({
            "metadata": {"name": "e"}, "involvedObject": {"kind": "Pod", "name": "p"}, "message": "hello",
            "source": {"component": "c"}, "firstTimestamp": "2027-01-01T00:00:00Z", "count": 3, "reason": "R",
            "reportingComponent": "c"
        });
        let Value::Object(mut object) = stored.clone() else { panic!("an object") };
        to_served(&mut object);
        assert_eq!(object["regarding"]["name"], "p");
        assert_eq!((&object["note"], &object["deprecatedCount"]), (&json!("hello"), &json!(3)));
        to_stored(&mut object);
        assert_eq!(Value::Object(object), stored);
    }
}

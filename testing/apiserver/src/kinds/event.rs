//! Event of `v1` and of `events.k8s.io/v1`.

use k8s_openapi::api::{core, events};
use serde_json::{Map, Value, json};

use super::{Kind, Resource, shape};
use crate::names::NameRule;

impl Resource for core::v1::Event {
    const NAME_RULE: NameRule = NameRule::PathSegment;
    const SELECTABLE: &'static [&'static str] = &[
        "involvedObject.kind",
        "involvedObject.namespace",
        "involvedObject.name",
        "involvedObject.uid",
        "involvedObject.apiVersion",
        "involvedObject.resourceVersion",
        "involvedObject.fieldPath",
        "reason",
        "reportingComponent",
        "source",
        "type",
    ];

    fn shape(object: &mut Map<String, Value>) {
        shape::always(
            object,
            &[
                ("involvedObject", json!({})),
                ("source", json!({})),
                ("firstTimestamp", Value::Null),
                ("lastTimestamp", Value::Null),
                ("eventTime", Value::Null),
                ("reportingComponent", json!("")),
                ("reportingInstance", json!("")),
            ],
        );
    }
}

impl Resource for events::v1::Event {
    const NAME_RULE: NameRule = NameRule::PathSegment;
    const SELECTABLE: &'static [&'static str] = &[
        "regarding.kind",
        "regarding.namespace",
        "regarding.name",
        "regarding.uid",
        "regarding.apiVersion",
        "regarding.resourceVersion",
        "regarding.fieldPath",
        "reason",
        "reportingController",
        "type",
    ];

    fn shape(object: &mut Map<String, Value>) {
        // `v1` has them always.
        object.retain(|field, value| !(field.starts_with("reporting") && value == ""));
        shape::always(
            object,
            &[
                ("regarding", json!({})),
                ("deprecatedSource", json!({})),
                ("deprecatedFirstTimestamp", Value::Null),
                ("deprecatedLastTimestamp", Value::Null),
                ("eventTime", Value::Null),
            ],
        );
    }
}

const EVENTS: &str = "events.k8s.io";

/// Returns the other group that serves the objects of a kind; `None` if it is not Event.
pub(crate) fn other_group(kind: &Kind) -> Option<&'static str> {
    match (kind.name.as_str(), kind.group.as_str()) {
        ("Event", "") => Some(EVENTS),
        ("Event", EVENTS) => Some(""),
        _ => None,
    }
}

/// Fields by their name in `v1` and in `events.k8s.io/v1` (upstream: `pkg/apis/core/v1` and `pkg/apis/events/v1`, `conversion.go`).
const RENAMED: [(&str, &str); 7] = [
    ("involvedObject", "regarding"),
    ("message", "note"),
    ("source", "deprecatedSource"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("count", "deprecatedCount"),
    ("reportingComponent", "reportingController"),
];

/// Returns an Event of the other group as one of `kind`, without kind and apiVersion.
pub(crate) fn converted(mut object: Value, kind: &Kind) -> Value {
    if let Value::Object(fields) = &mut object {
        fields.retain(|field, _| field != "kind" && field != "apiVersion");
        for (core, events) in RENAMED {
            let (from, to) = if kind.group == EVENTS { (core, events) } else { (events, core) };
            if let Some(value) = fields.remove(from) {
                fields.insert(to.to_owned(), value);
            }
        }
    }
    object
}

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

/// Group of an Event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Group {
    Core,
    Events,
}

impl Group {
    /// Returns the group of a kind; `None` if it is not Event.
    pub(crate) fn of(kind: &Kind) -> Option<Self> {
        [Self::Core, Self::Events].into_iter().find(|it| kind.name == "Event" && kind.group == it.name())
    }

    pub(crate) fn other(self) -> Self {
        if self == Self::Core { Self::Events } else { Self::Core }
    }

    pub(crate) fn name(self) -> &'static str {
        if self == Self::Core { "" } else { "events.k8s.io" }
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

/// Returns an Event of the other group as one of `group`, without kind and apiVersion.
pub(crate) fn converted(mut object: Value, group: Group) -> Value {
    if let Value::Object(fields) = &mut object {
        fields.retain(|field, _| field != "kind" && field != "apiVersion");
        for (core, events) in RENAMED {
            let (from, to) = if group == Group::Core { (events, core) } else { (core, events) };
            if let Some(value) = fields.remove(from) {
                fields.insert(to.to_owned(), value);
            }
        }
    }
    object
}

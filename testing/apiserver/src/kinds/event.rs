//! `v1` Event.

use k8s_openapi::api::core::v1::Event;
use serde_json::{Map, Value, json};

use super::{Resource, shape};
use crate::names::NameRule;

impl Resource for Event {
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

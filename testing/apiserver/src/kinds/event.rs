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

    fn fields(&self) -> Vec<(&'static str, String)> {
        let involved = &self.involved_object;
        let component = self.source.as_ref().and_then(|source| source.component.clone());
        let reporter = self.reporting_component.clone().filter(|it| !it.is_empty());
        [
            ("involvedObject.kind", involved.kind.clone()),
            ("involvedObject.namespace", involved.namespace.clone()),
            ("involvedObject.name", involved.name.clone()),
            ("involvedObject.uid", involved.uid.clone()),
            ("involvedObject.apiVersion", involved.api_version.clone()),
            ("involvedObject.resourceVersion", involved.resource_version.clone()),
            ("involvedObject.fieldPath", involved.field_path.clone()),
            ("reason", self.reason.clone()),
            ("reportingComponent", self.reporting_component.clone()),
            ("source", component.filter(|it| !it.is_empty()).or(reporter)),
            ("type", self.type_.clone()),
        ]
        .into_iter()
        .filter_map(|(field, value)| Some((field, value?)))
        .collect()
    }

    fn shape(object: &mut Map<String, Value>) {
        shape::drop_zero(object, &["count", "message", "reason", "type", "action"]);
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

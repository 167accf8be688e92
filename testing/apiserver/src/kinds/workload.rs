//! What Deployments, `ReplicaSet`s and Jobs have in common: pod templates and label selectors.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::PodTemplateSpec;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector as MetaSelector, ObjectMeta};
use serde::Serialize;
use serde_json::{Map, Value};

use super::rules::Part;
use super::{pod_defaults, pod_spec, pod_warnings, shape};
use crate::field::FieldErrors;
use crate::names::{check_annotations, check_labels, check_qualified_name};
use crate::selector::{LabelSelector, format_meta};

const TEMPLATE: &str = "spec.template";

/// Sets the defaults of a pod template.
pub(super) fn apply_template_defaults(template: &mut PodTemplateSpec) {
    if let Some(spec) = &mut template.spec {
        pod_defaults::apply(spec);
    }
}

/// Returns warnings about a template; in an update only if the spec has changed, and in one of the status none.
pub(super) fn template_warnings(
    template: Option<&PodTemplateSpec>,
    meta: &ObjectMeta,
    old: Option<&ObjectMeta>,
    part: Part,
) -> Vec<String> {
    match template.filter(|_| part != Part::Status).and_then(|template| template.spec.as_ref()) {
        Some(spec) if old.is_none_or(|old| old.generation != meta.generation) => {
            pod_warnings::about_ports(&format!("{TEMPLATE}.spec"), spec)
        }
        _ => Vec::new(),
    }
}

/// Reports a negative number.
pub(super) fn check_not_negative(field: &str, value: Option<impl Into<i64>>, errors: &mut FieldErrors) {
    let value: i64 = value.map(Into::into).unwrap_or_default();
    if value < 0 {
        errors.invalid(field, value, "must be greater than or equal to 0");
    }
}

/// Reports a status count that is greater than another one.
pub(super) fn check_at_most(
    field: &str,
    value: Option<i32>,
    (limit_name, limit): (&str, Option<i32>),
    errors: &mut FieldErrors,
) {
    let value = value.unwrap_or_default();
    if value > limit.unwrap_or_default() {
        errors.invalid(field, value, format_args!("cannot be greater than {limit_name}"));
    }
}

/// Reports what is wrong with a template whose Pods restart for ever, and with the selector of these Pods (Go:
/// `ValidatePodTemplateSpecForReplicaSet`).
pub(super) fn validate_replicated(selector: &MetaSelector, template: &PodTemplateSpec, errors: &mut FieldErrors) {
    if is_empty(selector) {
        errors.required("spec.selector", "");
    }
    validate_selector("spec.selector", selector, errors);
    check_selects(selector, template, errors);
    validate_template(template, errors);
    let Some(spec) = &template.spec else { return };
    let restart_policy = spec.restart_policy.as_deref().unwrap_or_default();
    if restart_policy != "Always" {
        errors.unsupported(format!("{TEMPLATE}.spec.restartPolicy"), restart_policy, &["Always"]);
    }
    if spec.active_deadline_seconds.is_some() {
        let field = format!("{TEMPLATE}.spec.activeDeadlineSeconds");
        errors.forbidden(field, "activeDeadlineSeconds in ReplicaSet is not Supported");
    }
}

/// Reports a template whose labels the selector does not match. An absent selector matches nothing.
pub(super) fn check_selects(selector: &MetaSelector, template: &PodTemplateSpec, errors: &mut FieldErrors) {
    let labels = template.metadata.as_ref().and_then(|meta| meta.labels.clone()).unwrap_or_default();
    let parsed = format_meta(selector).and_then(|text| text.parse::<LabelSelector>().ok());
    // Invalid selectors are reported by `validate_selector`.
    if is_empty(selector) || parsed.is_some_and(|selector| !selector.matches(&labels)) {
        let field = format!("{TEMPLATE}.metadata.labels");
        errors.invalid(field, as_json(&labels), "`selector` does not match template `labels`");
    }
}

/// Reports what is wrong with the labels, annotations and spec of a template.
pub(super) fn validate_template(template: &PodTemplateSpec, errors: &mut FieldErrors) {
    if let Some(meta) = &template.metadata {
        check_labels(&format!("{TEMPLATE}.labels"), meta.labels.as_ref().unwrap_or(&<_>::default()), errors);
        let annotations = meta.annotations.as_ref();
        check_annotations(&format!("{TEMPLATE}.annotations"), annotations.unwrap_or(&<_>::default()), errors);
    }
    match &template.spec {
        Some(spec) => pod_spec::validate(&format!("{TEMPLATE}.spec"), spec, errors),
        None => errors.required(format!("{TEMPLATE}.spec.containers"), ""),
    }
}

fn validate_selector(field: &str, selector: &MetaSelector, errors: &mut FieldErrors) {
    if let Some(labels) = &selector.match_labels {
        check_labels(&format!("{field}.matchLabels"), labels, errors);
    }
    for (i, requirement) in selector.match_expressions.iter().flatten().enumerate() {
        let field = format!("{field}.matchExpressions[{i}]");
        let has_values = requirement.values.as_ref().is_some_and(|values| !values.is_empty());
        match requirement.operator.as_str() {
            "In" | "NotIn" if !has_values => {
                let detail = "must be specified when `operator` is 'In' or 'NotIn'";
                errors.required(format!("{field}.values"), detail);
            }
            "Exists" | "DoesNotExist" if has_values => {
                let detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
                errors.forbidden(format!("{field}.values"), detail);
            }
            "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
            other => errors.invalid(format!("{field}.operator"), other, "not a valid selector operator"),
        }
        check_qualified_name(&format!("{field}.key"), &requirement.key, errors);
    }
}

fn is_empty(selector: &MetaSelector) -> bool {
    selector.match_labels.as_ref().is_none_or(BTreeMap::is_empty)
        && selector.match_expressions.as_ref().is_none_or(Vec::is_empty)
}

/// Reports a changed field that cannot change.
pub(super) fn check_immutable<T: Serialize>(field: &str, new: &T, old: &T, errors: &mut FieldErrors) {
    let new = as_json(new);
    if new != as_json(old) {
        errors.invalid(field, new, "field is immutable");
    }
}

/// Encodes a value as it is stored: without empty fields.
fn as_json(value: &impl Serialize) -> Value {
    let mut value = serde_json::to_value(value).unwrap_or_default();
    if let Value::Object(object) = &mut value {
        shape::prune(object);
    }
    value
}

/// Adapts the encoded spec of a workload to Go's encoding, and returns it.
pub(super) fn shape(object: &mut Map<String, Value>) -> Option<&mut Map<String, Value>> {
    let spec = shape::section(object, "spec")?;
    let template = shape::section(spec, "template")?;
    shape::section(template, "metadata");
    if let Some(spec) = shape::section(template, "spec") {
        pod_spec::shape(spec);
    }
    Some(spec)
}

/// Adapts the encoded status of a workload to Go's encoding: zero counts and empty texts of conditions are omitted.
pub(super) fn shape_status(object: &mut Map<String, Value>, counts: &[&str], condition_times: &[&str]) {
    let Some(status) = shape::section(object, "status") else { return };
    shape::drop_zero(status, counts);
    for condition in shape::items(status, "conditions") {
        shape::drop_zero(condition, &["message", "reason"]);
        for time in condition_times {
            shape::always(condition, &[(time, Value::Null)]);
        }
    }
}

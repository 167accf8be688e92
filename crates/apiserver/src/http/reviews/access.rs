//! Access reviews: `SubjectAccessReview` and its variants, and `SelfSubjectRulesReview`.

use std::sync::Arc;

use k8s_openapi::api::authorization::v1::{
    NonResourceAttributes, ResourceAttributes, SelfSubjectRulesReview, SubjectAccessReview,
};
use k8s_openapi::api::rbac::v1::PolicyRule;
use serde_json::{Value, json};

use super::{AUTHORIZATION, decode};
use crate::attributes::Attributes;
use crate::field::FieldErrors;
use crate::identity::User;
use crate::shared::Shared;
use crate::status::StatusError;

/// Evaluates an access review of any of the three kinds.
///
/// `asker` is the requesting user for a `SelfSubjectAccessReview`; `namespace` that of the path for a
/// `LocalSubjectAccessReview`.
///
/// # Errors
/// 400 if the review cannot be decoded, 422 if its spec is invalid.
pub(super) fn review_access(
    shared: &Arc<Shared>,
    kind: &'static str,
    body: &Value,
    asker: Option<&User>,
    namespace: Option<&str>,
) -> Result<Value, StatusError> {
    // The spec of `SubjectAccessReview` has all fields of the other two.
    let spec = decode::<SubjectAccessReview>(body)?.spec;
    let mut errors = FieldErrors::default();
    let attributes = match (&spec.resource_attributes, &spec.non_resource_attributes) {
        (Some(resource), None) => of_resource(resource),
        (None, Some(path)) => of_path(path),
        (Some(_), Some(_)) => {
            let detail = "cannot be specified in combination with resourceAttributes";
            errors.invalid("spec.nonResourceAttributes", "", detail);
            Attributes::default()
        }
        (None, None) => {
            let detail = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
            errors.invalid("spec.resourceAttributes", "", detail);
            Attributes::default()
        }
    };
    if namespace.is_some_and(|namespace| namespace != attributes.namespace) {
        let detail = "must match metadata.namespace";
        errors.invalid("spec.resourceAttributes.namespace", attributes.namespace.as_str(), detail);
    }
    let user = match asker {
        Some(asker) => asker.clone(),
        None => User {
            name: spec.user.clone().unwrap_or_default(),
            uid: spec.uid.clone().unwrap_or_default(),
            groups: spec.groups.clone().unwrap_or_default(),
        },
    };
    if user.name.is_empty() && user.groups.is_empty() {
        errors.invalid("spec.user", "", "at least one of user or group must be specified");
    }
    if !errors.is_empty() {
        return Err(StatusError::invalid_review(AUTHORIZATION, kind, errors));
    }
    let verdict = shared.rulebook.decide(shared, &user, &attributes);
    let mut status = json!({"allowed": verdict.allowed});
    if !verdict.reason.is_empty() {
        status["reason"] = json!(verdict.reason);
    }
    Ok(json!({
        "kind": kind,
        "apiVersion": "authorization.k8s.io/v1",
        "metadata": {},
        "spec": spec,
        "status": status,
    }))
}

/// Evaluates a `SelfSubjectRulesReview`: the rules that apply to `asker` in a namespace.
///
/// # Errors
/// 400 if the review has no namespace.
pub(super) fn review_rules(
    shared: &Arc<Shared>,
    asker: &User,
    review: SelfSubjectRulesReview,
) -> Result<Value, StatusError> {
    let namespace = review.spec.namespace.filter(|namespace| !namespace.is_empty());
    let namespace = namespace.ok_or_else(|| StatusError::bad_request("no namespace on request"))?;
    let (rules, error) = shared.rulebook.rules_of(shared, asker, &namespace);
    let (paths, resources): (Vec<&PolicyRule>, _) = rules.iter().partition(|rule| rule.non_resource_urls.is_some());
    let resource = |rule: &PolicyRule| {
        let mut shown = json!({"verbs": rule.verbs, "apiGroups": rule.api_groups, "resources": rule.resources});
        if let Some(names) = &rule.resource_names {
            shown["resourceNames"] = json!(names);
        }
        shown
    };
    let path = |rule: &&PolicyRule| json!({"verbs": rule.verbs, "nonResourceURLs": rule.non_resource_urls});
    let mut status = json!({
        "resourceRules": resources.into_iter().map(resource).collect::<Vec<_>>(),
        "nonResourceRules": paths.iter().map(path).collect::<Vec<_>>(),
        "incomplete": !error.is_empty(),
    });
    if !error.is_empty() {
        status["evaluationError"] = json!(error);
    }
    Ok(json!({
        "kind": "SelfSubjectRulesReview",
        "apiVersion": "authorization.k8s.io/v1",
        "metadata": {},
        "spec": {},
        "status": status,
    }))
}

fn of_resource(asked: &ResourceAttributes) -> Attributes {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    Attributes {
        verb: text(&asked.verb),
        group: text(&asked.group),
        version: text(&asked.version),
        resource: text(&asked.resource),
        subresource: text(&asked.subresource),
        namespace: text(&asked.namespace),
        name: text(&asked.name),
        path: String::new(),
    }
}

fn of_path(asked: &NonResourceAttributes) -> Attributes {
    Attributes {
        verb: asked.verb.clone().unwrap_or_default(),
        path: asked.path.clone().unwrap_or_default(),
        ..Attributes::default()
    }
}

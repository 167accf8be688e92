//! Access reviews: `SubjectAccessReview` and its variants, and `SelfSubjectRulesReview`.

use std::sync::Arc;

use k8s_openapi::api::authorization::v1::{
    NonResourceAttributes, ResourceAttributes, SelfSubjectRulesReview, SubjectAccessReview,
};
use k8s_openapi::api::rbac::v1::PolicyRule;
use serde_json::{Value, json};

use crate::attributes::Attributes;
use crate::authorization;
use crate::field::FieldErrors;
use crate::identity::User;
use crate::shared::Shared;
use crate::status::StatusError;

pub(super) const AUTHORIZATION: &str = "authorization.k8s.io";

/// Evaluates an access review of any of the three kinds; the spec of `SubjectAccessReview` has all fields of the others.
///
/// `requester` is the requesting user for a `SelfSubjectAccessReview`; `namespace` that of the path for a
/// `LocalSubjectAccessReview`.
///
/// # Errors
/// 422 if its spec is invalid.
pub(super) fn review_access(
    shared: &Arc<Shared>,
    kind: &'static str,
    review: SubjectAccessReview,
    requester: Option<&User>,
    namespace: Option<&str>,
) -> Result<Value, StatusError> {
    let spec = review.spec;
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
    let user = match requester {
        Some(requester) => requester.clone(),
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
    let decision = authorization::decide(shared, &user, &attributes);
    let mut status = json!({"allowed": decision.allowed});
    if !decision.reason.is_empty() {
        status["reason"] = json!(decision.reason);
    }
    Ok(json!({
        "kind": kind,
        "apiVersion": "authorization.k8s.io/v1",
        "metadata": {},
        "spec": spec,
        "status": status,
    }))
}

/// Evaluates a `SelfSubjectRulesReview`: the rules that apply to `requester` in a namespace.
///
/// # Errors
/// 400 if the review has no namespace.
pub(super) fn review_rules(
    shared: &Arc<Shared>,
    requester: &User,
    review: SelfSubjectRulesReview,
) -> Result<Value, StatusError> {
    let namespace = review.spec.namespace.filter(|namespace| !namespace.is_empty());
    let namespace = namespace.ok_or_else(|| StatusError::bad_request("no namespace on request"))?;
    let (rules, error) = authorization::rules_of(shared, requester, &namespace);
    let (paths, resources): (Vec<&PolicyRule>, _) = rules.iter().partition(|rule| rule.non_resource_urls.is_some());
    let resource = |rule: &PolicyRule| {
        let mut document = json!({"verbs": rule.verbs, "apiGroups": rule.api_groups, "resources": rule.resources});
        if let Some(names) = &rule.resource_names {
            document["resourceNames"] = json!(names);
        }
        document
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

fn of_resource(attributes: &ResourceAttributes) -> Attributes {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    Attributes {
        verb: text(&attributes.verb),
        group: text(&attributes.group),
        version: text(&attributes.version),
        resource: text(&attributes.resource),
        subresource: text(&attributes.subresource),
        namespace: text(&attributes.namespace),
        name: text(&attributes.name),
        path: String::new(),
    }
}

fn of_path(attributes: &NonResourceAttributes) -> Attributes {
    Attributes {
        verb: attributes.verb.clone().unwrap_or_default(),
        path: attributes.path.clone().unwrap_or_default(),
        ..Attributes::default()
    }
}

//! Access reviews: `SubjectAccessReview` and its variants, and `SelfSubjectRulesReview`.

use k8s_openapi::api::authorization::v1::{
    NonResourceAttributes, ResourceAttributes, SelfSubjectRulesReview, SubjectAccessReview,
};
use k8s_openapi::api::rbac::v1::PolicyRule;
use serde_json::{Value, json};

use crate::attributes::Attributes;
use crate::authorization;
use crate::identity::User;
use crate::shared::Shared;
use crate::status::StatusError;

pub(super) const AUTHORIZATION: &str = "authorization.k8s.io";

/// Returns the status of an access review of either kind; the spec of `SubjectAccessReview` has all fields of the others.
///
/// `requester` is the requesting user for a `SelfSubjectAccessReview`. Fails with 400 if it has no attributes.
pub(super) fn review_access(
    shared: &Shared,
    review: SubjectAccessReview,
    requester: Option<&User>,
) -> Result<Value, StatusError> {
    let spec = review.spec;
    let attributes = match (&spec.resource_attributes, &spec.non_resource_attributes) {
        (Some(resource), _) => of_resource(resource),
        (None, Some(path)) => of_path(path),
        (None, None) => {
            return Err(StatusError::bad_request("a review needs resourceAttributes or nonResourceAttributes"));
        }
    };
    let user = match requester {
        Some(requester) => requester.clone(),
        None => User {
            name: spec.user.unwrap_or_default(),
            uid: spec.uid.unwrap_or_default(),
            groups: spec.groups.unwrap_or_default(),
        },
    };
    let decision = authorization::decide(shared, &user, &attributes);
    let mut status = json!({"allowed": decision.allowed});
    if !decision.reason.is_empty() {
        status["reason"] = json!(decision.reason);
    }
    Ok(status)
}

/// Returns the status of a `SelfSubjectRulesReview`: the rules that apply to `requester` in a namespace. Fails with 400
/// if the review has no namespace.
pub(super) fn review_rules(
    shared: &Shared,
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
    Ok(status)
}

fn of_resource(attributes: &ResourceAttributes) -> Attributes {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    Attributes {
        verb: text(&attributes.verb),
        group: text(&attributes.group),
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

//! Authorization of requests by the mode of the server.

use k8s_openapi::api::rbac::v1::PolicyRule;
use serde::de::DeserializeOwned;

use super::{Decision, Policy};
use crate::attributes::Attributes;
use crate::cluster::Cluster;
use crate::config::Authorization;
use crate::identity::User;
use crate::shared::Shared;
use crate::status::StatusError;

pub(crate) const GROUP: &str = "rbac.authorization.k8s.io";

/// Decides whether `user` may make a request, by the authorization mode of the server.
pub(crate) fn decide(shared: &Shared, user: &User, attributes: &Attributes) -> Decision {
    match shared.config.authorization {
        Authorization::AlwaysAllow => Decision::allowed(""),
        Authorization::Rbac => shared.read(|cluster| cluster.policy().decide(user, attributes)),
    }
}

/// Returns the rules that apply to `user` in `namespace`, and an error message if they are incomplete.
pub(crate) fn rules_of(shared: &Shared, user: &User, namespace: &str) -> (Vec<PolicyRule>, String) {
    match shared.config.authorization {
        Authorization::AlwaysAllow => (allow_everything(), String::new()),
        Authorization::Rbac => shared.read(|cluster| cluster.policy().rules_of(user, namespace)),
    }
}

/// Authorizes a request. Fails with 403 `Forbidden` if `user` may not make it.
pub(crate) fn check(shared: &Shared, user: &User, attributes: &Attributes) -> Result<(), StatusError> {
    let decision = decide(shared, user, attributes);
    if decision.allowed { Ok(()) } else { Err(StatusError::not_authorized(&user.name, attributes, &decision.reason)) }
}

/// Returns the error of an update or an apply that would create its object: `user` needs the verb `create`, too (Go:
/// `withAuthorization` of the handlers of both). `None` if `user` may create it, and for other verbs.
pub(crate) fn refused_create(shared: &Shared, user: &User, attributes: &Attributes) -> Option<StatusError> {
    if shared.config.authorization == Authorization::AlwaysAllow || !["update", "patch"].contains(&&*attributes.verb) {
        return None;
    }
    check(shared, user, &Attributes { verb: "create".to_owned(), ..attributes.clone() }).err()
}

/// Returns the policy of the stored roles and bindings.
pub(crate) fn policy_of(cluster: &Cluster) -> Policy {
    Policy::new(
        decode_all(cluster, "clusterroles"),
        decode_all(cluster, "roles"),
        decode_all(cluster, "clusterrolebindings"),
        decode_all(cluster, "rolebindings"),
    )
}

fn allow_everything() -> Vec<PolicyRule> {
    let all = || Some(vec!["*".to_owned()]);
    let verbs = vec!["*".to_owned()];
    vec![
        PolicyRule { verbs: verbs.clone(), api_groups: all(), resources: all(), ..PolicyRule::default() },
        PolicyRule { verbs, non_resource_urls: all(), ..PolicyRule::default() },
    ]
}

fn decode_all<T: DeserializeOwned>(cluster: &Cluster, plural: &str) -> Vec<T> {
    let Some(kind) = cluster.kinds().find(GROUP, "v1", plural) else { return Vec::new() };
    let objects = cluster.list(kind, None);
    objects.iter().filter_map(|object| T::deserialize(&object.value()).ok()).collect()
}

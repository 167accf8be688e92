//! Cache of the RBAC policy, rebuilt after a change of a role or a binding.

use std::sync::{Arc, Mutex, PoisonError};

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
const KINDS: [&str; 4] = ["clusterroles", "roles", "clusterrolebindings", "rolebindings"];

/// Cached policy, with the last change of each RBAC kind when it was built.
#[derive(Debug, Default)]
pub(crate) struct PolicyCache {
    cached: Mutex<Option<([u64; 4], Arc<Policy>)>>,
}

impl PolicyCache {
    /// Drops the cached policy. Needed after a restore, which sets revisions back: equal revisions no longer mean equal
    /// objects.
    pub(crate) fn clear(&self) {
        *self.cached.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn policy(&self, shared: &Shared) -> Arc<Policy> {
        // Read before the objects, so that a change in between leads to a rebuild on the next call.
        let versions = KINDS.map(|plural| shared.last_change(GROUP, "v1", plural));
        let mut cached = self.cached.lock().unwrap_or_else(PoisonError::into_inner);
        match &*cached {
            Some((of, policy)) if *of == versions => Arc::clone(policy),
            _ => {
                let policy = Arc::new(shared.read(|cluster| {
                    let [cluster_roles, roles, cluster_bindings, bindings] = KINDS;
                    Policy::new(
                        &decode_all(cluster, cluster_roles),
                        decode_all(cluster, roles),
                        decode_all(cluster, cluster_bindings),
                        decode_all(cluster, bindings),
                    )
                }));
                *cached = Some((versions, Arc::clone(&policy)));
                policy
            }
        }
    }

    /// Decides whether `user` may make a request, by the authorization mode of the server.
    pub(crate) fn decide(&self, shared: &Shared, user: &User, attributes: &Attributes) -> Decision {
        match shared.config.authorization {
            Authorization::AlwaysAllow => Decision::allowed(""),
            Authorization::Rbac => self.policy(shared).decide(user, attributes),
        }
    }

    /// Returns the rules that apply to `user` in `namespace`, cluster-wide ones included, and an error message if they
    /// are incomplete.
    pub(crate) fn rules_of(&self, shared: &Shared, user: &User, namespace: &str) -> (Vec<PolicyRule>, String) {
        match shared.config.authorization {
            Authorization::AlwaysAllow => (allow_everything(), String::new()),
            Authorization::Rbac => self.policy(shared).rules_of(user, namespace),
        }
    }

    /// Authorizes a request.
    ///
    /// # Errors
    /// 403 `Forbidden` if `user` may not make it.
    pub(crate) fn check(&self, shared: &Shared, user: &User, attributes: &Attributes) -> Result<(), StatusError> {
        let decision = self.decide(shared, user, attributes);
        if decision.allowed {
            Ok(())
        } else {
            Err(StatusError::not_authorized(&user.name, attributes, &decision.reason))
        }
    }
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
    objects.iter().filter_map(|object| serde_json::from_slice(&object.json).ok()).collect()
}

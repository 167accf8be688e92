//! The policy of now, made again when a role or a binding has changed.

use std::sync::{Arc, Mutex, PoisonError};

use k8s_openapi::api::rbac::v1::PolicyRule;
use serde::de::DeserializeOwned;

use super::{Policy, Verdict};
use crate::attributes::Attributes;
use crate::cluster::Cluster;
use crate::config::Authorization;
use crate::identity::User;
use crate::shared::Shared;
use crate::status::StatusError;

pub(crate) const GROUP: &str = "rbac.authorization.k8s.io";
const KINDS: [&str; 4] = ["clusterroles", "roles", "clusterrolebindings", "rolebindings"];

/// The last policy and the versions of what it was made of.
#[derive(Debug, Default)]
pub(crate) struct Rulebook {
    last: Mutex<Option<([u64; 4], Arc<Policy>)>>,
}

impl Rulebook {
    /// Reads the policy anew when it is asked for next, whatever versions its objects have.
    pub(crate) fn forget(&self) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn policy(&self, shared: &Shared) -> Arc<Policy> {
        // Before the objects are read: what changes in between is then read again the next time.
        let versions = KINDS.map(|plural| shared.last_change(GROUP, "v1", plural));
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some((of, policy)) if *of == versions => Arc::clone(policy),
            _ => {
                let policy = Arc::new(shared.read(|cluster| {
                    let [cluster_roles, roles, cluster_bindings, bindings] = KINDS;
                    Policy::new(
                        &all(cluster, cluster_roles),
                        all(cluster, roles),
                        all(cluster, cluster_bindings),
                        all(cluster, bindings),
                    )
                }));
                *last = Some((versions, Arc::clone(&policy)));
                policy
            }
        }
    }

    /// Whether a user may do something on this server.
    pub(crate) fn decide(&self, shared: &Shared, user: &User, attributes: &Attributes) -> Verdict {
        match shared.config.authorization {
            Authorization::AlwaysAllow => Verdict::allowed(""),
            Authorization::Rbac => self.policy(shared).decide(user, attributes),
        }
    }

    /// What a user may do in a namespace and outside of any, with what stands in the way of telling all.
    pub(crate) fn rules_of(&self, shared: &Shared, user: &User, namespace: &str) -> (Vec<PolicyRule>, String) {
        match shared.config.authorization {
            Authorization::AlwaysAllow => (everything(), String::new()),
            Authorization::Rbac => self.policy(shared).rules_of(user, namespace),
        }
    }

    /// # Errors
    /// 403 for what a user may not do.
    pub(crate) fn check(&self, shared: &Shared, user: &User, attributes: &Attributes) -> Result<(), StatusError> {
        let verdict = self.decide(shared, user, attributes);
        if verdict.allowed { Ok(()) } else { Err(StatusError::not_authorized(&user.name, attributes, &verdict.reason)) }
    }
}

fn everything() -> Vec<PolicyRule> {
    let all = || Some(vec!["*".to_owned()]);
    let verbs = vec!["*".to_owned()];
    vec![
        PolicyRule { verbs: verbs.clone(), api_groups: all(), resources: all(), ..PolicyRule::default() },
        PolicyRule { verbs, non_resource_urls: all(), ..PolicyRule::default() },
    ]
}

fn all<T: DeserializeOwned>(cluster: &Cluster, plural: &str) -> Vec<T> {
    let Some(kind) = cluster.kinds().find(GROUP, "v1", plural) else { return Vec::new() };
    let objects = cluster.list(kind, None);
    objects.iter().filter_map(|object| serde_json::from_slice(&object.json).ok()).collect()
}

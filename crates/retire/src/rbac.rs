//! Who may read Endpoints, by RBAC.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding, Subject};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::{Deserialize, Serialize};

/// Prefix of the names of users that are service accounts.
const SERVICE_ACCOUNT: &str = "system:serviceaccount:";
const READS: [&str; 3] = ["get", "list", "watch"];

/// Who sends requests.
#[derive(Clone, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Who {
    /// A service account, as Pods use it.
    ServiceAccount {
        /// Namespace.
        namespace: String,
        /// Name.
        name: String,
    },
    /// Another user.
    User {
        /// Name.
        name: String,
    },
}

impl Who {
    /// Returns who has the user name of an audit event.
    pub fn of_user(user: &str) -> Who {
        let account = user.strip_prefix(SERVICE_ACCOUNT).and_then(|rest| rest.split_once(':'));
        match account {
            Some((namespace, name)) if !name.contains([' ', ',']) => Who::account(namespace, name),
            _ => Who::User { name: user.to_owned() },
        }
    }

    /// Returns the service account of a name.
    pub fn account(namespace: &str, name: &str) -> Who {
        Who::ServiceAccount { namespace: namespace.to_owned(), name: name.to_owned() }
    }
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Who::ServiceAccount { namespace, name } => write!(f, "ServiceAccount {namespace}/{name}"),
            Who::User { name } => write!(f, "User {name}"),
        }
    }
}

/// A right to read Endpoints.
#[derive(Clone, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Right {
    /// Namespace; `None` for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Names of objects; empty for all.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub names: BTreeSet<String>,
    /// Verbs among `get`, `list` and `watch`.
    pub verbs: BTreeSet<String>,
    /// Binding that grants it, such as `ClusterRoleBinding prometheus`.
    pub binding: String,
    /// Role that contains it, such as `ClusterRole prometheus`.
    pub role: String,
}

/// Rights of all service accounts to read Endpoints.
#[derive(Clone, Debug, Default)]
pub struct Rights {
    accounts: BTreeMap<(String, String), Vec<Right>>,
    groups: BTreeMap<String, Vec<Right>>,
}

impl Rights {
    /// Returns the rights that bindings grant. The rules of an aggregated ClusterRole are those that its controller has written.
    pub fn new<'a>(
        cluster_roles: impl IntoIterator<Item = &'a ClusterRole>,
        cluster_bindings: impl IntoIterator<Item = &'a ClusterRoleBinding>,
        roles: impl IntoIterator<Item = &'a Role>,
        bindings: impl IntoIterator<Item = &'a RoleBinding>,
    ) -> Rights {
        let cluster_roles = cluster_roles.into_iter().map(|it| (&it.metadata, &it.rules));
        let roles = roles.into_iter().map(|it| (&it.metadata, &it.rules));
        let mut readable = BTreeMap::new();
        for (metadata, rules) in cluster_roles.chain(roles) {
            let rules: Vec<(BTreeSet<String>, BTreeSet<String>)> = rules.iter().flatten().filter_map(reads).collect();
            if !rules.is_empty() {
                readable.insert(namespace_and_name(metadata), rules);
            }
        }
        let mut rights = Rights::default();
        let cluster_bindings = cluster_bindings.into_iter().map(|it| (&it.metadata, &it.role_ref, &it.subjects));
        let bindings = bindings.into_iter().map(|it| (&it.metadata, &it.role_ref, &it.subjects));
        for (metadata, role, subjects) in cluster_bindings.chain(bindings) {
            let (namespace, name) = namespace_and_name(metadata);
            let of_role = if role.kind == "ClusterRole" { "" } else { namespace };
            let Some(rules) = readable.get(&(of_role, role.name.as_str())) else { continue };
            let scope = (!namespace.is_empty()).then(|| namespace.to_owned());
            let kind_of_binding = if scope.is_some() { "RoleBinding" } else { "ClusterRoleBinding" };
            let separator = if scope.is_some() { "/" } else { "" };
            for (verbs, names) in rules {
                let right = Right {
                    namespace: scope.clone(),
                    names: names.clone(),
                    verbs: verbs.clone(),
                    binding: format!("{kind_of_binding} {namespace}{separator}{name}"),
                    role: format!("{} {}", role.kind, role.name),
                };
                for subject in subjects.iter().flatten() {
                    rights.add(subject, namespace, &right);
                }
            }
        }
        rights
    }

    /// Returns the rights of a service account: its own, and those of its groups.
    pub fn of_account(&self, namespace: &str, name: &str) -> Vec<&Right> {
        let of_namespace = format!("system:serviceaccounts:{namespace}");
        let groups = ["system:serviceaccounts", &of_namespace, "system:authenticated"];
        let own = self.accounts.get(&(namespace.to_owned(), name.to_owned())).into_iter().flatten();
        own.chain(groups.into_iter().filter_map(|group| self.groups.get(group)).flatten()).collect()
    }

    fn add(&mut self, subject: &Subject, namespace: &str, right: &Right) {
        let list = match subject.kind.as_str() {
            "ServiceAccount" => {
                let namespace = subject.namespace.as_deref().filter(|it| !it.is_empty()).unwrap_or(namespace);
                self.accounts.entry((namespace.to_owned(), subject.name.clone())).or_default()
            }
            "Group" => self.groups.entry(subject.name.clone()).or_default(),
            // Service accounts are users, too.
            "User" => match Who::of_user(&subject.name) {
                Who::ServiceAccount { namespace, name } => self.accounts.entry((namespace, name)).or_default(),
                Who::User { .. } => return,
            },
            _ => return,
        };
        list.push(right.clone());
    }
}

/// Returns the namespace, which is empty for an object of the cluster, and the name.
fn namespace_and_name(metadata: &ObjectMeta) -> (&str, &str) {
    (metadata.namespace.as_deref().unwrap_or_default(), metadata.name.as_deref().unwrap_or_default())
}

/// Returns the verbs and names of a rule that allows to read Endpoints.
fn reads(rule: &PolicyRule) -> Option<(BTreeSet<String>, BTreeSet<String>)> {
    let has = |list: &[String], wanted: &str| list.iter().any(|it| it == wanted || it == "*");
    let (groups, resources) = (rule.api_groups.as_deref(), rule.resources.as_deref());
    if !has(groups.unwrap_or_default(), "") || !has(resources.unwrap_or_default(), "endpoints") {
        return None;
    }
    let verbs: BTreeSet<String> =
        READS.iter().filter(|verb| has(&rule.verbs, verb)).map(|verb| (*verb).to_owned()).collect();
    (!verbs.is_empty()).then(|| (verbs, rule.resource_names.iter().flatten().cloned().collect()))
}

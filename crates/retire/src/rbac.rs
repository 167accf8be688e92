//! Who may read Endpoints, by RBAC.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use kube_wire::{ObjectHead, Resource};
use serde::{Deserialize, Serialize};

const GROUP: &str = "rbac.authorization.k8s.io";
/// Prefix of the names of users that are service accounts.
const SERVICE_ACCOUNT: &str = "system:serviceaccount:";
const READS: [&str; 3] = ["get", "list", "watch"];

/// Role or ClusterRole, reduced to its rules.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Role {
    /// Metadata; the namespace of a ClusterRole is empty.
    pub metadata: ObjectHead,
    /// Rules; those of an aggregated ClusterRole are the ones that its controller has written.
    #[serde(default)]
    pub rules: Option<Vec<Rule>>,
}

/// ClusterRole: as [`Role`], of another resource.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(transparent)]
pub struct ClusterRole {
    /// The role.
    pub role: Role,
}

/// Rule of a role.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Rule {
    /// API groups; `*` for all.
    pub api_groups: Option<Vec<String>>,
    /// Resources; `*` for all.
    pub resources: Option<Vec<String>>,
    /// Names of objects; empty for all.
    pub resource_names: Option<Vec<String>>,
    /// Verbs; `*` for all.
    pub verbs: Option<Vec<String>>,
}

/// RoleBinding or ClusterRoleBinding.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Binding {
    /// Metadata; the namespace of a ClusterRoleBinding is empty.
    pub metadata: ObjectHead,
    /// Role whose rules apply.
    #[serde(default)]
    pub role_ref: RoleRef,
    /// Who gets the rights.
    #[serde(default)]
    pub subjects: Option<Vec<Subject>>,
}

/// ClusterRoleBinding: as [`Binding`], of another resource.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(transparent)]
pub struct ClusterBinding {
    /// The binding.
    pub binding: Binding,
}

/// Reference to a role.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct RoleRef {
    /// `Role` or `ClusterRole`.
    pub kind: String,
    /// Name.
    pub name: String,
}

/// Subject of a binding.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Subject {
    /// `User`, `Group` or `ServiceAccount`.
    pub kind: String,
    /// Name.
    pub name: String,
    /// Namespace of a service account.
    pub namespace: String,
}

kube_wire::object!(Role, Resource::namespaced(GROUP, "v1", "roles", "Role"));
kube_wire::object!(Binding, Resource::namespaced(GROUP, "v1", "rolebindings", "RoleBinding"));

macro_rules! cluster_scoped {
    ($type:ty, $field:ident, $plural:literal, $kind:literal) => {
        impl kube_wire::Object for $type {
            fn namespace(&self) -> &str {
                ""
            }

            fn name(&self) -> &str {
                &self.$field.metadata.name
            }

            fn uid(&self) -> kube_wire::Uid {
                self.$field.metadata.uid.clone()
            }

            fn resource_version(&self) -> kube_wire::ResourceVersion {
                self.$field.metadata.resource_version.clone()
            }
        }

        impl kube_wire::Decode for $type {
            const RESOURCE: Resource = Resource::cluster(GROUP, "v1", $plural, $kind);

            fn from_json(bytes: &[u8]) -> Result<Self, kube_wire::DecodeError> {
                kube_wire::json::from_slice($kind, bytes)
            }
        }
    };
}

cluster_scoped!(ClusterRole, role, "clusterroles", "ClusterRole");
cluster_scoped!(ClusterBinding, binding, "clusterrolebindings", "ClusterRoleBinding");

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
    /// Returns the rights that bindings grant. `roles` are Roles and ClusterRoles, `bindings` RoleBindings and
    /// ClusterRoleBindings.
    pub fn new<'a>(
        roles: impl IntoIterator<Item = &'a Role>,
        bindings: impl IntoIterator<Item = &'a Binding>,
    ) -> Rights {
        let mut readable = BTreeMap::new();
        for role in roles {
            let rules: Vec<(BTreeSet<String>, BTreeSet<String>)> =
                role.rules.iter().flatten().filter_map(reads).collect();
            if !rules.is_empty() {
                readable.insert((role.metadata.namespace.to_string(), role.metadata.name.to_string()), rules);
            }
        }
        let mut rights = Rights::default();
        for binding in bindings {
            let namespace = binding.metadata.namespace.to_string();
            let RoleRef { kind, name } = &binding.role_ref;
            let of_role = if kind == "ClusterRole" { String::new() } else { namespace.clone() };
            let Some(rules) = readable.get(&(of_role, name.clone())) else { continue };
            let scope = (!namespace.is_empty()).then(|| namespace.clone());
            let kind_of_binding = if scope.is_some() { "RoleBinding" } else { "ClusterRoleBinding" };
            let separator = if scope.is_some() { "/" } else { "" };
            for (verbs, names) in rules {
                let right = Right {
                    namespace: scope.clone(),
                    names: names.clone(),
                    verbs: verbs.clone(),
                    binding: format!("{kind_of_binding} {namespace}{separator}{}", binding.metadata.name),
                    role: format!("{kind} {name}"),
                };
                for subject in binding.subjects.iter().flatten() {
                    rights.add(subject, &namespace, &right);
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
                let namespace = if subject.namespace.is_empty() { namespace } else { &subject.namespace };
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

/// Returns the verbs and names of a rule that allows to read Endpoints.
fn reads(rule: &Rule) -> Option<(BTreeSet<String>, BTreeSet<String>)> {
    let has = |list: &Option<Vec<String>>, wanted: &str| list.iter().flatten().any(|it| it == wanted || it == "*");
    if !has(&rule.api_groups, "") || !has(&rule.resources, "endpoints") {
        return None;
    }
    let verbs: BTreeSet<String> =
        READS.iter().filter(|verb| has(&rule.verbs, verb)).map(|verb| (*verb).to_owned()).collect();
    (!verbs.is_empty()).then(|| (verbs, rule.resource_names.iter().flatten().cloned().collect()))
}

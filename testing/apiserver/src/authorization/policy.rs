//! The RBAC authorizer, with the decisions and reasons of upstream's `plugin/pkg/auth/authorizer/rbac`.

use std::collections::BTreeMap;
use std::sync::Arc;

use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding, RoleRef, Subject};

use crate::attributes::Attributes;
use crate::identity::{MASTERS, User};

/// Permissions of all users, computed from the roles and bindings stored at one time.
#[derive(Debug, Default)]
pub(crate) struct Policy {
    /// `ClusterRoleBinding`s.
    cluster_wide: Vec<Binding>,
    /// `RoleBinding`s by namespace.
    namespaced: BTreeMap<String, Vec<Binding>>,
}

#[derive(Debug)]
struct Binding {
    subjects: Vec<Subject>,
    /// Namespace of the binding, used for service accounts without one; empty for a `ClusterRoleBinding`.
    namespace: String,
    /// Description of binding and role, for the reason of an allowed request.
    description: String,
    /// Rules of the bound role; an error message if the role does not exist.
    rules: Result<Arc<[PolicyRule]>, String>,
}

/// Authorization decision with its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Decision {
    pub(crate) allowed: bool,
    pub(crate) reason: String,
}

impl Decision {
    pub(crate) fn allowed(reason: impl Into<String>) -> Self {
        Self { allowed: true, reason: reason.into() }
    }
}

impl Policy {
    pub(crate) fn new(
        cluster_roles: Vec<ClusterRole>,
        roles: Vec<Role>,
        cluster_bindings: Vec<ClusterRoleBinding>,
        bindings: Vec<RoleBinding>,
    ) -> Self {
        let all = |rules: Option<Vec<PolicyRule>>| Arc::<[PolicyRule]>::from(rules.unwrap_or_default());
        let cluster_rules: BTreeMap<String, Arc<[PolicyRule]>> =
            cluster_roles.into_iter().map(|role| (role.metadata.name.unwrap_or_default(), all(role.rules))).collect();
        let rules: BTreeMap<(String, String), Arc<[PolicyRule]>> = roles
            .into_iter()
            .map(|role| {
                let key = (role.metadata.namespace.unwrap_or_default(), role.metadata.name.unwrap_or_default());
                (key, all(role.rules))
            })
            .collect();
        let bind = |description: String, role: &RoleRef, subjects: Option<Vec<Subject>>, namespace: String| {
            let found = if role.kind == "Role" {
                rules.get(&(namespace.clone(), role.name.clone()))
            } else {
                cluster_rules.get(&role.name)
            };
            let missing =
                || format!("{}.rbac.authorization.k8s.io \"{}\" not found", role.kind.to_lowercase(), role.name);
            let description = format!("{description} of {} \"{}\"", role.kind, role.name);
            let rules = found.cloned().ok_or_else(missing);
            Binding { subjects: subjects.unwrap_or_default(), namespace, description, rules }
        };

        let mut policy = Self::default();
        for ClusterRoleBinding { metadata, role_ref, subjects } in cluster_bindings {
            let description = format!("ClusterRoleBinding \"{}\"", metadata.name.unwrap_or_default());
            policy.cluster_wide.push(bind(description, &role_ref, subjects, String::new()));
        }
        for RoleBinding { metadata, role_ref, subjects } in bindings {
            let namespace = metadata.namespace.unwrap_or_default();
            let description = format!("RoleBinding \"{}/{namespace}\"", metadata.name.unwrap_or_default());
            let binding = bind(description, &role_ref, subjects, namespace.clone());
            policy.namespaced.entry(namespace).or_default().push(binding);
        }
        policy
    }

    /// Decides whether `user` may make a request. Members of `system:masters` may do everything.
    pub(crate) fn decide(&self, user: &User, attributes: &Attributes) -> Decision {
        if user.groups.iter().any(|group| group == MASTERS) {
            return Decision::allowed("");
        }
        let mut missing = Vec::new();
        for (binding, subject) in self.bindings_of(user, &attributes.namespace) {
            match &binding.rules {
                Ok(rules) if rules.iter().any(|rule| allows(rule, attributes)) => {
                    let subject = format!("{} \"{}\"", subject.kind, subject.name);
                    return Decision::allowed(format!("RBAC: allowed by {} to {subject}", binding.description));
                }
                Ok(_) => {}
                Err(error) => missing.push(error.as_str()),
            }
        }
        let reason = join_errors(&missing);
        Decision { allowed: false, reason: if reason.is_empty() { reason } else { format!("RBAC: {reason}") } }
    }

    /// Returns the rules that apply to `user` in `namespace`, cluster-wide ones included, and an error message about
    /// bound roles that do not exist; empty if all exist.
    pub(crate) fn rules_of(&self, user: &User, namespace: &str) -> (Vec<PolicyRule>, String) {
        let mut rules = Vec::new();
        let mut missing = Vec::new();
        for (binding, _) in self.bindings_of(user, namespace) {
            match &binding.rules {
                Ok(bound) => rules.extend(bound.iter().cloned()),
                Err(error) => missing.push(error.as_str()),
            }
        }
        (rules, join_errors(&missing))
    }

    fn bindings_of(&self, user: &User, namespace: &str) -> impl Iterator<Item = (&Binding, &Subject)> {
        // `namespace` is empty for cluster-scoped requests, to which no `RoleBinding` applies.
        let namespaced = self.namespaced.get(namespace).into_iter().flatten();
        self.cluster_wide.iter().chain(namespaced).filter_map(|binding| {
            let subject = binding.subjects.iter().find(|subject| matches_subject(subject, &binding.namespace, user))?;
            Some((binding, subject))
        })
    }
}

fn join_errors(errors: &[&str]) -> String {
    match errors {
        [] => String::new(),
        [one] => (*one).to_owned(),
        more => format!("[{}]", more.join(", ")),
    }
}

/// Returns whether `user` matches `subject`. `namespace` is that of the binding.
fn matches_subject(subject: &Subject, namespace: &str, user: &User) -> bool {
    match subject.kind.as_str() {
        "User" => subject.name == user.name,
        "Group" => user.groups.contains(&subject.name),
        "ServiceAccount" => {
            let namespace = subject.namespace.as_deref().unwrap_or(namespace);
            !namespace.is_empty() && user.name == User::service_account(namespace, &subject.name).name
        }
        _ => false,
    }
}

fn allows(rule: &PolicyRule, attributes: &Attributes) -> bool {
    if !contains_word(Some(&rule.verbs), &attributes.verb) {
        return false;
    }
    if !attributes.is_resource() {
        let urls = rule.non_resource_urls.iter().flatten();
        return urls.into_iter().any(|url| match url.strip_suffix('*') {
            Some(prefix) => attributes.path.starts_with(prefix),
            None => *url == attributes.path,
        });
    }
    let names = rule.resource_names.as_deref().unwrap_or_default();
    contains_word(rule.api_groups.as_ref(), &attributes.group)
        && rule.resources.iter().flatten().any(|resource| covers_resource(resource, attributes))
        && (names.is_empty() || names.contains(&attributes.name))
}

fn contains_word(words: Option<&Vec<String>>, word: &str) -> bool {
    words.into_iter().flatten().any(|it| it == "*" || it == word)
}

/// Returns whether a resource of a rule covers a request: `pods` does not cover `pods/status`, `*/status` covers the
/// status of every resource.
fn covers_resource(resource: &str, attributes: &Attributes) -> bool {
    resource == "*"
        || resource == attributes.full_resource()
        || (!attributes.subresource.is_empty()
            && resource.strip_prefix("*/").is_some_and(|subresource| subresource == attributes.subresource))
}

//! `rbac.authorization.k8s.io/v1` Role, `ClusterRole`, `RoleBinding` and `ClusterRoleBinding`.

use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding, RoleRef, Subject};
use serde_json::{Map, Value};

use super::{Resource, shape};
use crate::field::FieldErrors;
use crate::names::NameRule;
use crate::optional::optional;

const GROUP: &str = "rbac.authorization.k8s.io";

fn validate_rules(rules: Option<&[PolicyRule]>, namespaced: bool, errors: &mut FieldErrors) {
    for (i, rule) in rules.unwrap_or_default().iter().enumerate() {
        let field = |name: &str| format!("rules[{i}].{name}");
        if rule.verbs.is_empty() {
            errors.required(field("verbs"), "verbs must contain at least one value");
        }
        if rule.non_resource_urls.as_ref().is_some_and(|urls| !urls.is_empty()) {
            if namespaced {
                let detail = "namespaced rules cannot apply to non-resource URLs";
                errors.invalid(field("nonResourceURLs"), "", detail);
            }
            continue;
        }
        if rule.api_groups.as_ref().is_none_or(Vec::is_empty) {
            errors.required(field("apiGroups"), "resource rules must supply at least one api group");
        }
        if rule.resources.as_ref().is_none_or(Vec::is_empty) {
            errors.required(field("resources"), "resource rules must supply at least one resource");
        }
    }
}

fn api_group(role: &RoleRef) -> &str {
    optional(&role.api_group).map_or("", String::as_str)
}

fn default_binding(role: &mut RoleRef, subjects: Option<&mut Vec<Subject>>) {
    if api_group(role).is_empty() {
        role.api_group = GROUP.to_owned().into();
    }
    for subject in subjects.into_iter().flatten() {
        if subject.api_group.as_deref().unwrap_or_default().is_empty() {
            subject.api_group = matches!(subject.kind.as_str(), "User" | "Group").then(|| GROUP.to_owned());
        }
    }
}

fn validate_binding(role: &RoleRef, subjects: Option<&[Subject]>, kinds: &[&str], errors: &mut FieldErrors) {
    if api_group(role) != GROUP {
        errors.unsupported("roleRef.apiGroup", api_group(role), &[GROUP]);
    }
    if !kinds.contains(&role.kind.as_str()) {
        errors.unsupported("roleRef.kind", &role.kind, kinds);
    }
    if role.name.is_empty() {
        errors.required("roleRef.name", "");
    }
    for (i, subject) in subjects.unwrap_or_default().iter().enumerate() {
        if subject.name.is_empty() {
            errors.required(format!("subjects[{i}].name"), "");
        }
        match subject.kind.as_str() {
            "ServiceAccount" if kinds.len() == 1 && subject.namespace.as_deref().unwrap_or_default().is_empty() => {
                errors.required(format!("subjects[{i}].namespace"), "");
            }
            "ServiceAccount" | "User" | "Group" => {}
            other => {
                errors.unsupported(format!("subjects[{i}].kind"), other, &["ServiceAccount", "User", "Group"]);
            }
        }
    }
}

fn validate_role_ref(new: &RoleRef, old: &RoleRef, errors: &mut FieldErrors) {
    if new != old {
        errors.invalid("roleRef", new.name.as_str(), "cannot change roleRef");
    }
}

impl Resource for Role {
    const NAME_RULE: NameRule = NameRule::PathSegment;

    fn validate(&self, errors: &mut FieldErrors) {
        validate_rules(self.rules.as_deref(), true, errors);
    }

    fn shape(object: &mut Map<String, Value>) {
        shape::always(object, &[("rules", Value::Null)]);
    }
}

impl Resource for ClusterRole {
    const NAME_RULE: NameRule = NameRule::PathSegment;

    fn validate(&self, errors: &mut FieldErrors) {
        validate_rules(self.rules.as_deref(), false, errors);
    }

    fn shape(object: &mut Map<String, Value>) {
        shape::always(object, &[("rules", Value::Null)]);
    }
}

impl Resource for RoleBinding {
    const NAME_RULE: NameRule = NameRule::PathSegment;

    fn apply_defaults(&mut self) {
        default_binding(&mut self.role_ref, self.subjects.as_mut());
    }

    fn validate(&self, errors: &mut FieldErrors) {
        validate_binding(&self.role_ref, self.subjects.as_deref(), &["Role", "ClusterRole"], errors);
    }

    fn validate_update(&self, old: &Self, errors: &mut FieldErrors) {
        validate_role_ref(&self.role_ref, &old.role_ref, errors);
    }
}

impl Resource for ClusterRoleBinding {
    const NAME_RULE: NameRule = NameRule::PathSegment;

    fn apply_defaults(&mut self) {
        default_binding(&mut self.role_ref, self.subjects.as_mut());
    }

    fn validate(&self, errors: &mut FieldErrors) {
        validate_binding(&self.role_ref, self.subjects.as_deref(), &["ClusterRole"], errors);
    }

    fn validate_update(&self, old: &Self, errors: &mut FieldErrors) {
        validate_role_ref(&self.role_ref, &old.role_ref, errors);
    }
}

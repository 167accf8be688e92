//! `rbac.authorization.k8s.io/v1` Role, `ClusterRole`, `RoleBinding` and `ClusterRoleBinding`. Their rules and subjects are
//! not validated.

use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding, Role, RoleBinding, RoleRef, Subject};
use serde_json::{Map, Value};

use super::{Resource, shape};
use crate::field::FieldErrors;
use crate::names::NameRule;
use crate::optional::optional;

const GROUP: &str = "rbac.authorization.k8s.io";

fn default_binding(role: &mut RoleRef, subjects: Option<&mut Vec<Subject>>) {
    if optional(&role.api_group).is_none_or(String::is_empty) {
        role.api_group = GROUP.to_owned().into();
    }
    for subject in subjects.into_iter().flatten() {
        if subject.api_group.as_deref().unwrap_or_default().is_empty() {
            subject.api_group = matches!(subject.kind.as_str(), "User" | "Group").then(|| GROUP.to_owned());
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

    fn shape(object: &mut Map<String, Value>) {
        shape::always(object, &[("rules", Value::Null)]);
    }
}

impl Resource for ClusterRole {
    const NAME_RULE: NameRule = NameRule::PathSegment;

    fn shape(object: &mut Map<String, Value>) {
        shape::always(object, &[("rules", Value::Null)]);
    }
}

impl Resource for RoleBinding {
    const NAME_RULE: NameRule = NameRule::PathSegment;

    fn apply_defaults(&mut self) {
        default_binding(&mut self.role_ref, self.subjects.as_mut());
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

    fn validate_update(&self, old: &Self, errors: &mut FieldErrors) {
        validate_role_ref(&self.role_ref, &old.role_ref, errors);
    }
}

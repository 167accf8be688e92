//! Validation of pod specs.

use std::collections::BTreeSet;

use k8s_openapi::api::core::v1::PodSpec;

use super::endpoints::{check_port_number, check_protocol};
use crate::field::FieldErrors;
use crate::names::{NameRule, check_container_port_name};

const RESTART_POLICIES: [&str; 3] = ["Always", "Never", "OnFailure"];

/// Reports what is wrong with a spec; `root` is its field path.
pub(super) fn validate(root: &str, spec: &PodSpec, errors: &mut FieldErrors) {
    if spec.containers.is_empty() {
        errors.required(format!("{root}.containers"), "");
    }
    let restart_policy = spec.restart_policy.as_deref().unwrap_or_default();
    if !RESTART_POLICIES.contains(&restart_policy) {
        errors.unsupported(format!("{root}.restartPolicy"), restart_policy, &RESTART_POLICIES);
    }
    let mut names = BTreeSet::new();
    let init =
        spec.init_containers.iter().flatten().enumerate().map(|(i, it)| (format!("{root}.initContainers[{i}]"), it));
    let main = spec.containers.iter().enumerate().map(|(i, it)| (format!("{root}.containers[{i}]"), it));
    for (field, container) in init.chain(main) {
        if container.name.is_empty() {
            errors.required(format!("{field}.name"), "");
        } else {
            NameRule::Label.check(&format!("{field}.name"), &container.name, errors);
            if !names.insert(&container.name) {
                errors.duplicate(format!("{field}.name"), &container.name);
            }
        }
        if container.image.as_deref().is_none_or(str::is_empty) {
            errors.required(format!("{field}.image"), "");
        }
        let mut port_names = BTreeSet::new();
        for (i, port) in container.ports.iter().flatten().enumerate() {
            let field = format!("{field}.ports[{i}]");
            if let Some(name) = port.name.as_deref().filter(|it| !it.is_empty()) {
                check_container_port_name(&format!("{field}.name"), name, errors);
                if !port_names.insert(name) {
                    errors.duplicate(format!("{field}.name"), name);
                }
            }
            check_port_number(&format!("{field}.containerPort"), port.container_port, errors);
            check_protocol(&field, port.protocol.as_deref(), errors);
        }
    }
    for (field, label) in [("hostname", &spec.hostname), ("subdomain", &spec.subdomain)] {
        if let Some(label) = label.as_deref().filter(|it| !it.is_empty()) {
            NameRule::Label.check(&format!("{root}.{field}"), label, errors);
        }
    }
    if let Some(node) = spec.node_name.as_deref().filter(|it| !it.is_empty()) {
        NameRule::Subdomain.check(&format!("{root}.nodeName"), node, errors);
    }
}

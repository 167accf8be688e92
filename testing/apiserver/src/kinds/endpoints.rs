//! `v1` Endpoints.

use k8s_openapi::api::core::v1::{EndpointAddress, EndpointPort, EndpointSubset, Endpoints};

use super::Resource;
use super::resource::or;
use crate::address::check_endpoint_ip;
use crate::field::FieldErrors;
use crate::names::{NameRule, check_qualified_name};

pub(crate) const PROTOCOLS: [&str; 3] = ["SCTP", "TCP", "UDP"];

impl Resource for Endpoints {
    fn apply_defaults(&mut self) {
        for port in self.subsets.iter_mut().flatten().flat_map(|subset| subset.ports.iter_mut().flatten()) {
            or(&mut port.protocol, "TCP");
        }
    }

    fn validate_over(&self, old: &Self, errors: &mut FieldErrors) {
        // As upstream: earlier versions may have accepted them.
        if self.subsets != old.subsets {
            self.validate(errors);
        }
    }

    fn validate(&self, errors: &mut FieldErrors) {
        for (i, subset) in self.subsets.iter().flatten().enumerate() {
            validate_subset(&format!("subsets[{i}]"), subset, errors);
        }
    }
}

fn validate_subset(field: &str, subset: &EndpointSubset, errors: &mut FieldErrors) {
    let ready = subset.addresses.as_deref().unwrap_or_default();
    let not_ready = subset.not_ready_addresses.as_deref().unwrap_or_default();
    if ready.is_empty() && not_ready.is_empty() {
        errors.required(field, "must specify `addresses` or `notReadyAddresses`");
    }
    for (i, address) in ready.iter().enumerate() {
        validate_address(&format!("{field}.addresses[{i}]"), address, errors);
    }
    for (i, address) in not_ready.iter().enumerate() {
        validate_address(&format!("{field}.notReadyAddresses[{i}]"), address, errors);
    }
    let ports = subset.ports.as_deref().unwrap_or_default();
    for (i, port) in ports.iter().enumerate() {
        validate_port(&format!("{field}.ports[{i}]"), port, ports.len() > 1, errors);
    }
}

fn validate_address(field: &str, address: &EndpointAddress, errors: &mut FieldErrors) {
    check_endpoint_ip(&format!("{field}.ip"), &address.ip, errors);
    if let Some(hostname) = address.hostname.as_deref().filter(|it| !it.is_empty()) {
        NameRule::Label.check(&format!("{field}.hostname"), hostname, errors);
    }
    if let Some(node) = &address.node_name {
        NameRule::Subdomain.check(&format!("{field}.nodeName"), node, errors);
    }
}

fn validate_port(field: &str, port: &EndpointPort, name_required: bool, errors: &mut FieldErrors) {
    match port.name.as_deref() {
        None | Some("") if name_required => errors.required(format!("{field}.name"), ""),
        None | Some("") => {}
        Some(name) => NameRule::Label.check(&format!("{field}.name"), name, errors),
    }
    check_port_number(&format!("{field}.port"), port.port, errors);
    check_protocol(field, port.protocol.as_deref(), errors);
    if let Some(app_protocol) = &port.app_protocol {
        check_qualified_name(&format!("{field}.appProtocol"), app_protocol, errors);
    }
}

/// Reports a port number outside of 1 to 65535.
pub(super) fn check_port_number(field: &str, port: i32, errors: &mut FieldErrors) {
    if !(1..=65_535).contains(&port) {
        errors.invalid(field, port, "must be between 1 and 65535, inclusive");
    }
}

/// Reports an unknown protocol of a port. An absent one has been set to the default.
pub(super) fn check_protocol(port: &str, protocol: Option<&str>, errors: &mut FieldErrors) {
    let protocol = protocol.unwrap_or_default();
    if !PROTOCOLS.contains(&protocol) {
        errors.unsupported(format!("{port}.protocol"), protocol, &PROTOCOLS);
    }
}

//! Node ports of a Service.

use k8s_openapi::api::core::v1::ServiceSpec;

use super::rules::Context;
use crate::field::FieldErrors;
use crate::service_addresses::{Allocation, ServiceAddresses};

fn needs_node_ports(spec: &ServiceSpec) -> bool {
    match spec.type_.as_deref() {
        Some("NodePort") => true,
        Some("LoadBalancer") => spec.allocate_load_balancer_node_ports != Some(false),
        _ => false,
    }
}

pub(super) fn node_ports(spec: &ServiceSpec) -> impl Iterator<Item = i32> {
    spec.ports.iter().flatten().filter_map(|port| port.node_port).filter(|port| *port != 0)
}

/// Keeps the stored node ports in an update that does not set them, matching ports by number and protocol.
pub(super) fn carry_node_ports(spec: &mut ServiceSpec, old: Option<&ServiceSpec>) {
    let Some(old) = old else { return };
    if !needs_node_ports(spec) {
        return;
    }
    let mentioned: Vec<i32> = node_ports(spec).collect();
    for port in spec.ports.iter_mut().flatten().filter(|port| port.node_port.unwrap_or_default() == 0) {
        let kept = old.ports.iter().flatten().find(|it| it.port == port.port && it.protocol == port.protocol);
        port.node_port = kept.and_then(|it| it.node_port).filter(|it| !mentioned.contains(it));
    }
}

pub(super) fn drop_fields_of_other_types(spec: &mut ServiceSpec) {
    let service_type = spec.type_.as_deref();
    if !matches!(service_type, Some("NodePort" | "LoadBalancer")) {
        for port in spec.ports.iter_mut().flatten() {
            port.node_port = None;
        }
        spec.external_traffic_policy = None;
    }
    if service_type != Some("LoadBalancer") {
        spec.allocate_load_balancer_node_ports = None;
        spec.load_balancer_class = None;
    }
}

/// Chooses missing node ports, and reports requested ones that are out of range or in use.
pub(super) fn allocate(
    spec: &mut ServiceSpec,
    allocated: &[Allocation],
    context: &mut Context<'_>,
    errors: &mut FieldErrors,
) {
    for (i, port) in spec.ports.iter().flatten().enumerate() {
        let Some(number) = port.node_port.filter(|port| *port != 0) else { continue };
        let field = format!("spec.ports[{i}].nodePort");
        if allocated.contains(&Allocation::NodePort(number)) {
            continue;
        }
        if !ServiceAddresses::is_node_port(number) {
            errors.invalid(
                field,
                number,
                "provided port is not in the valid range. The range of valid ports is 30000-32767",
            );
        } else if context.addresses.is_taken(Allocation::NodePort(number)) {
            errors.invalid(field, number, "provided port is already allocated");
        }
    }
    if !needs_node_ports(spec) {
        return;
    }
    let mut chosen: Vec<i32> = node_ports(spec).collect();
    for port in spec.ports.iter_mut().flatten().filter(|port| port.node_port.unwrap_or_default() == 0) {
        match context.addresses.pick_node_port(&chosen, context.rng) {
            Some(number) => {
                chosen.push(number);
                port.node_port = Some(number);
            }
            None => errors.forbidden("spec.ports", "no free node port is left"),
        }
    }
}

//! `v1` Service.

use k8s_openapi::api::core::v1::{
    ClientIPConfig, LoadBalancerStatus, Service, ServiceSpec, ServiceStatus, SessionAffinityConfig,
};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use serde_json::{Map, Value, json};

use super::resource::or;
use super::rules::Context;
use super::{Resource, service_families, service_ports, service_validation, shape};
use crate::address;
use crate::field::FieldErrors;
use crate::names::NameRule;
use crate::service_addresses::Allocation;

const CLIENT_IP_TIMEOUT_SECONDS: i32 = 10_800;

impl Resource for Service {
    const NAME_RULE: NameRule = NameRule::Label1035;
    const SELECTABLE: &'static [&'static str] = &["spec.clusterIP", "spec.type"];

    fn apply_defaults(&mut self) {
        apply_defaults(self.spec.get_or_insert_default());
    }

    fn prepare_create(&mut self) {
        let load_balancer = Some(LoadBalancerStatus::default());
        self.status = Some(ServiceStatus { load_balancer, ..ServiceStatus::default() });
        let spec = self.spec.get_or_insert_default();
        drop_internal_traffic_policy(spec);
        service_families::normalize(spec, None);
        service_families::complete(spec, None);
    }

    fn prepare_update(&mut self, old: &Self) {
        self.status.clone_from(&old.status);
        let spec = self.spec.get_or_insert_default();
        let old = old.spec.as_ref();
        service_families::carry_allocated(spec, old);
        service_ports::carry_node_ports(spec, old);
        service_families::normalize(spec, old);
        service_families::drop_fields_of_other_types(spec, old);
        service_ports::drop_fields_of_other_types(spec);
        drop_internal_traffic_policy(spec);
        service_families::complete(spec, old);
    }

    fn prepare_status_update(&mut self, old: &Self) {
        self.spec.clone_from(&old.spec);
    }

    fn validate(&self, errors: &mut FieldErrors) {
        if let Some(spec) = &self.spec {
            service_validation::validate(spec, None, errors);
        }
    }

    fn validate_over(&self, old: &Self, errors: &mut FieldErrors) {
        if let Some(spec) = &self.spec {
            service_validation::validate(spec, old.spec.as_ref(), errors);
        }
    }

    fn validate_update(&self, old: &Self, errors: &mut FieldErrors) {
        if let (Some(spec), Some(old)) = (&self.spec, &old.spec) {
            service_validation::validate_update(spec, old, errors);
        }
    }

    fn allocate(&mut self, old: Option<&Self>, context: &mut Context<'_>, errors: &mut FieldErrors) {
        let allocations = old.map(Resource::allocations).unwrap_or_default();
        let spec = self.spec.get_or_insert_default();
        service_families::allocate(spec, &allocations, context, errors);
        service_ports::allocate(spec, &allocations, context, errors);
    }

    fn allocations(&self) -> Vec<Allocation> {
        let Some(spec) = &self.spec else { return Vec::new() };
        let addresses = spec.cluster_ips.iter().flatten().filter_map(|ip| address::parse(ip)).map(Allocation::Address);
        addresses.chain(service_ports::node_ports(spec).map(Allocation::NodePort)).collect()
    }

    fn shape(object: &mut Map<String, Value>) {
        shape::section(object, "spec");
        if let Some(status) = shape::section(object, "status") {
            shape::always(status, &[("loadBalancer", json!({}))]);
        }
    }
}

/// Removes the policy of an `ExternalName`, which has no effect (Go: `defaultOnReadInternalTrafficPolicy`).
fn drop_internal_traffic_policy(spec: &mut ServiceSpec) {
    if spec.type_.as_deref() == Some("ExternalName") {
        spec.internal_traffic_policy = None;
    }
}

fn apply_defaults(spec: &mut ServiceSpec) {
    or(&mut spec.session_affinity, "None");
    or(&mut spec.type_, "ClusterIP");
    if spec.session_affinity.as_deref() == Some("None") {
        spec.session_affinity_config = None;
    }
    if spec.session_affinity.as_deref() == Some("ClientIP") {
        let config = spec.session_affinity_config.get_or_insert_with(SessionAffinityConfig::default);
        let client_ip = config.client_ip.get_or_insert_with(ClientIPConfig::default);
        client_ip.timeout_seconds.get_or_insert(CLIENT_IP_TIMEOUT_SECONDS);
    }
    for port in spec.ports.iter_mut().flatten() {
        or(&mut port.protocol, "TCP");
        let unset = match &port.target_port {
            None | Some(IntOrString::Int(0)) => true,
            Some(IntOrString::String(name)) => name.is_empty(),
            Some(IntOrString::Int(_)) => false,
        };
        if unset {
            port.target_port = Some(IntOrString::Int(port.port));
        }
    }
    let service_type = spec.type_.as_deref();
    if matches!(service_type, Some("NodePort" | "LoadBalancer")) {
        or(&mut spec.external_traffic_policy, "Cluster");
    }
    if service_type == Some("LoadBalancer") {
        spec.allocate_load_balancer_node_ports.get_or_insert(true);
    }
    if matches!(service_type, Some("NodePort" | "LoadBalancer" | "ClusterIP")) {
        or(&mut spec.internal_traffic_policy, "Cluster");
    }
}

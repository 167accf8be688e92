//! Validation of Services.

use std::collections::BTreeSet;

use k8s_openapi::api::core::v1::{ServicePort, ServiceSpec};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;

use super::endpoints::{check_port_number, check_protocol};
use super::service_families::{HEADLESS, PREFER_DUAL, REQUIRE_DUAL, SINGLE, is_headless, needs_cluster_ip};
use crate::address::{self, Family, check_strict_ip};
use crate::field::FieldErrors;
use crate::names::{NameRule, check_container_port_name, check_labels, check_qualified_name};

const TYPES: [&str; 4] = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
const AFFINITIES: [&str; 2] = ["ClientIP", "None"];
const POLICIES: [&str; 3] = [PREFER_DUAL, REQUIRE_DUAL, SINGLE];
pub(crate) const TRAFFIC_POLICIES: [&str; 2] = ["Cluster", "Local"];
const DISTRIBUTIONS: [&str; 3] = ["PreferClose", "PreferSameNode", "PreferSameZone"];

/// Reports what is wrong with a spec. Cluster IPs of `old`, the stored spec, are accepted in any form, since earlier
/// versions have accepted them (Go: `IsValidIPForLegacyField`).
pub(super) fn validate(spec: &ServiceSpec, old: Option<&ServiceSpec>, errors: &mut FieldErrors) {
    let mut one_of = |field: &str, value: &Option<String>, supported: &[&str]| match value {
        Some(value) if !supported.contains(&value.as_str()) => errors.unsupported(field, value, supported),
        _ => {}
    };
    one_of("spec.type", &spec.type_, &TYPES);
    one_of("spec.sessionAffinity", &spec.session_affinity, &AFFINITIES);
    one_of("spec.ipFamilyPolicy", &spec.ip_family_policy, &POLICIES);
    one_of("spec.internalTrafficPolicy", &spec.internal_traffic_policy, &TRAFFIC_POLICIES);
    one_of("spec.externalTrafficPolicy", &spec.external_traffic_policy, &TRAFFIC_POLICIES);
    one_of("spec.trafficDistribution", &spec.traffic_distribution, &DISTRIBUTIONS);
    if let Some(selector) = &spec.selector {
        check_labels("spec.selector", selector, errors);
    }
    let ports = spec.ports.as_deref().unwrap_or_default();
    if spec.type_.as_deref() == Some("ExternalName") {
        let name = spec.external_name.as_deref().unwrap_or_default();
        if name.is_empty() {
            errors.required("spec.externalName", "");
        } else {
            NameRule::Subdomain.check("spec.externalName", name.trim_end_matches('.'), errors);
        }
    } else if ports.is_empty() && !is_headless(spec) {
        errors.required("spec.ports", "");
    }
    validate_ports(ports, errors);
    validate_cluster_ips(spec, old, errors);
}

fn validate_ports(ports: &[ServicePort], errors: &mut FieldErrors) {
    let mut names = BTreeSet::new();
    let mut numbers = BTreeSet::new();
    for (i, port) in ports.iter().enumerate() {
        let field = format!("spec.ports[{i}]");
        match port.name.as_deref() {
            None | Some("") if ports.len() > 1 => errors.required(format!("{field}.name"), ""),
            None | Some("") => {}
            Some(name) => {
                NameRule::Label.check(&format!("{field}.name"), name, errors);
                if !names.insert(name) {
                    errors.duplicate(format!("{field}.name"), name);
                }
            }
        }
        check_port_number(&format!("{field}.port"), port.port, errors);
        let protocol = port.protocol.as_deref().unwrap_or_default();
        check_protocol(&field, Some(protocol), errors);
        match &port.target_port {
            Some(IntOrString::Int(number)) => check_port_number(&format!("{field}.targetPort"), *number, errors),
            Some(IntOrString::String(name)) => check_container_port_name(&format!("{field}.targetPort"), name, errors),
            None => {}
        }
        if let Some(app_protocol) = &port.app_protocol {
            check_qualified_name(&format!("{field}.appProtocol"), app_protocol, errors);
        }
        if !numbers.insert((port.port, protocol)) {
            errors.duplicate(&field, format!("{protocol}/{}", port.port));
        }
    }
}

fn validate_cluster_ips(spec: &ServiceSpec, old: Option<&ServiceSpec>, errors: &mut FieldErrors) {
    let ips = spec.cluster_ips.as_deref().unwrap_or_default();
    let stored = old.and_then(|old| old.cluster_ips.as_deref()).unwrap_or_default();
    let families = spec.ip_families.as_deref().unwrap_or_default();
    if !needs_cluster_ip(spec) {
        return;
    }
    for (i, family) in families.iter().enumerate() {
        if Family::parse(family).is_none() {
            errors.unsupported(format!("spec.ipFamilies[{i}]"), family, &["IPv4", "IPv6"]);
        }
    }
    if let [first, second, ..] = families
        && first == second
    {
        errors.duplicate("spec.ipFamilies[1]", second);
    }
    if families.len() == 2 && spec.ip_family_policy.as_deref() == Some(SINGLE) {
        let detail = "must be RequireDualStack or PreferDualStack when multiple ipFamilies are specified";
        errors.invalid("spec.ipFamilyPolicy", SINGLE, detail);
    }
    if let (Some(first), single) = (ips.first(), spec.cluster_ip.as_deref().unwrap_or_default())
        && first != single
    {
        errors.invalid("spec.clusterIP", ips, "first value must match clusterIP");
    }
    for (i, ip) in ips.iter().enumerate() {
        let field = format!("spec.clusterIPs[{i}]");
        if ip == HEADLESS {
            if ips.len() > 1 {
                errors.invalid(field, ip, "'None' must be the first and only value");
            }
            continue;
        }
        let unchanged = address::parse(ip).filter(|_| stored.contains(ip));
        let address = unchanged.or_else(|| check_strict_ip(&field, ip, errors));
        let family = families.get(i).and_then(|family| Family::parse(family));
        if let (Some(address), Some(family)) = (address, family)
            && Family::of(address) != family
        {
            let detail = format!("expected an {} value as indicated by `ipFamilies[{i}]`", family.as_str());
            errors.invalid(field, ip, detail);
        }
    }
}

pub(super) fn validate_update(spec: &ServiceSpec, old: &ServiceSpec, errors: &mut FieldErrors) {
    // The primary address and family are immutable, except by an update to `ExternalName` and back.
    if !needs_cluster_ip(spec) || !needs_cluster_ip(old) {
        return;
    }
    let first = |spec: &ServiceSpec| spec.cluster_ips.as_ref().and_then(|ips| ips.first()).cloned();
    if let Some(was) = first(old)
        && first(spec).as_ref() != Some(&was)
    {
        let ips = spec.cluster_ips.as_deref().unwrap_or_default();
        errors.invalid("spec.clusterIPs[0]", ips, "may not change once set");
    }
    let family = |spec: &ServiceSpec| spec.ip_families.as_ref().and_then(|families| families.first()).cloned();
    if let Some(was) = family(old)
        && family(spec).as_ref() != Some(&was)
    {
        errors.invalid("spec.ipFamilies[0]", family(spec).unwrap_or_default(), "may not change once set");
    }
}

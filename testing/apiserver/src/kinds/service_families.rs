//! Cluster IPs of a Service and their families.
//!
//! Four fields overlap (`clusterIP`, `clusterIPs`, `ipFamilies`, `ipFamilyPolicy`). Each can be omitted, and an update
//! can come from a client that does not support all of them. The functions here resolve that in upstream's order.

use k8s_openapi::api::core::v1::ServiceSpec;

use super::rules::Context;
use crate::address::{self, Family};
use crate::field::FieldErrors;
use crate::service_addresses::{Allocation, ServiceAddresses};

/// Value of `clusterIP` for a headless Service.
pub(super) const HEADLESS: &str = "None";
pub(super) const SINGLE: &str = "SingleStack";
pub(super) const PREFER_DUAL: &str = "PreferDualStack";
pub(super) const REQUIRE_DUAL: &str = "RequireDualStack";

/// Returns `true` if Services of this type have a cluster IP or are headless.
pub(super) fn needs_cluster_ip(spec: &ServiceSpec) -> bool {
    matches!(spec.type_.as_deref(), Some("ClusterIP" | "NodePort" | "LoadBalancer"))
}

pub(super) fn is_headless(spec: &ServiceSpec) -> bool {
    spec.cluster_ip.as_deref() == Some(HEADLESS)
}

fn ip(spec: &ServiceSpec) -> &str {
    spec.cluster_ip.as_deref().unwrap_or_default()
}

fn ips(spec: &ServiceSpec) -> &[String] {
    spec.cluster_ips.as_deref().unwrap_or_default()
}

fn families(spec: &ServiceSpec) -> &[String] {
    spec.ip_families.as_deref().unwrap_or_default()
}

/// Keeps the stored addresses in an update that does not set them, as upstream's `patchAllocatedValues`.
pub(super) fn carry_allocated(spec: &mut ServiceSpec, old: Option<&ServiceSpec>) {
    let Some(old) = old else { return };
    if !needs_cluster_ip(old) || !needs_cluster_ip(spec) {
        return;
    }
    if ip(spec).is_empty() {
        spec.cluster_ip.clone_from(&old.cluster_ip);
    }
    if ips(spec).is_empty() && ip(spec) == ip(old) {
        spec.cluster_ips.clone_from(&old.cluster_ips);
    }
}

/// Synchronizes `clusterIP` and `clusterIPs` if only one is set, as upstream's `normalizeClusterIPs`.
pub(super) fn normalize(spec: &mut ServiceSpec, old: Option<&ServiceSpec>) {
    let Some(old) = old else {
        if !ip(spec).is_empty() && ips(spec).is_empty() {
            spec.cluster_ips = Some(vec![ip(spec).to_owned()]);
        }
        return;
    };
    if !ips(old).is_empty() && ips(spec).is_empty() && ip(old) == ip(spec) {
        spec.cluster_ips.clone_from(&old.cluster_ips);
    }
    if ip(old) != ip(spec) && ips(old) == ips(spec) {
        spec.cluster_ips = (!ip(spec).is_empty()).then(|| vec![ip(spec).to_owned()]);
    }
}

/// Clears the addresses of a Service that becomes an `ExternalName`, unless the client changed them, as upstream's
/// `dropTypeDependentFields`.
pub(super) fn drop_fields_of_other_types(spec: &mut ServiceSpec, old: Option<&ServiceSpec>) {
    let Some(old) = old else { return };
    if !needs_cluster_ip(old) || needs_cluster_ip(spec) {
        return;
    }
    if ip(spec) == ip(old) && ips(spec) == ips(old) {
        spec.cluster_ip = None;
        spec.cluster_ips = None;
    }
    if families(spec) == families(old) {
        spec.ip_families = None;
    }
    if spec.ip_family_policy == old.ip_family_policy {
        spec.ip_family_policy = None;
    }
}

/// Sets `ipFamilyPolicy` and `ipFamilies` from the given fields, as upstream's `initIPFamilyFields`.
pub(super) fn complete(spec: &mut ServiceSpec, old: Option<&ServiceSpec>) {
    if !needs_cluster_ip(spec) {
        return;
    }
    if let Some(old) = old {
        trim_to_single(spec, old);
    }
    // Each requested address determines the family at its index.
    let from_ips: Vec<&'static str> =
        ips(spec).iter().map_while(|ip| address::parse(ip)).map(|ip| Family::of(ip).as_str()).collect();
    let mut list: Vec<String> = families(spec).to_vec();
    for family in from_ips.iter().skip(list.len()) {
        list.push((*family).to_owned());
    }
    if is_headless(spec) && spec.selector.as_ref().is_none_or(std::collections::BTreeMap::is_empty) {
        // As upstream: its endpoints are managed by the user and may have either family.
        spec.ip_family_policy.get_or_insert_with(|| REQUIRE_DUAL.to_owned());
    }
    let policy = spec.ip_family_policy.get_or_insert_with(|| SINGLE.to_owned());
    if list.is_empty() {
        list.push(Family::V4.as_str().to_owned());
    }
    if policy != SINGLE
        && let [only] = list.as_slice()
        && let Some(family) = Family::parse(only)
    {
        list.push(family.other().as_str().to_owned());
    }
    spec.ip_families = Some(list);
}

/// Removes the second family and address if an update changes the policy to single-stack and leaves them unchanged, as
/// upstream's `trimFieldsForDualStackDowngrade`.
fn trim_to_single(spec: &mut ServiceSpec, old: &ServiceSpec) {
    let was_dual = old.ip_family_policy.as_deref().is_some_and(|policy| policy != SINGLE);
    if !was_dual || spec.ip_family_policy.as_deref() != Some(SINGLE) {
        return;
    }
    let same_ips = ips(spec) == ips(old);
    let same_families = families(spec) == families(old);
    if same_ips && let Some(list) = &mut spec.cluster_ips {
        list.truncate(1);
    }
    if same_families && let Some(list) = &mut spec.ip_families {
        list.truncate(1);
    }
}

/// Chooses missing addresses, and reports requested ones that are out of range or in use. `allocated` is what the
/// stored Service occupies.
pub(super) fn allocate(
    spec: &mut ServiceSpec,
    allocated: &[Allocation],
    context: &mut Context<'_>,
    errors: &mut FieldErrors,
) {
    if !needs_cluster_ip(spec) {
        return;
    }
    if is_headless(spec) {
        spec.cluster_ips = Some(vec![HEADLESS.to_owned()]);
        return;
    }
    let mut list = ips(spec).to_vec();
    for (i, text) in list.iter().enumerate() {
        let Some(ip) = address::parse(text) else { continue };
        let why = if allocated.contains(&Allocation::Address(ip)) {
            None
        } else if !ServiceAddresses::contains(ip) {
            let range = ServiceAddresses::range(Family::of(ip));
            Some(format!("the provided IP ({text}) is not in the valid range. The range of valid IPs is {range}"))
        } else if context.addresses.is_taken(Allocation::Address(ip)) {
            Some("provided IP is already allocated".to_owned())
        } else {
            None
        };
        if let Some(why) = why {
            let detail = format!("failed to allocate IP {text}: {why}");
            errors.invalid(format!("spec.clusterIPs[{i}]"), list.as_slice(), detail);
        }
    }
    for family in families(spec).iter().skip(list.len()).filter_map(|family| Family::parse(family)) {
        match context.addresses.pick(family, context.rng) {
            Some(ip) => list.push(ip.to_string()),
            None => errors.forbidden("spec.clusterIPs", &format!("no free {} address is left", family.as_str())),
        }
    }
    spec.cluster_ip = list.first().cloned();
    spec.cluster_ips = Some(list);
}

//! Defaults of pod specs, the quality-of-service class, and the fields of a spec that can change after creation.

use k8s_openapi::api::core::v1::{Container, PodSecurityContext, PodSpec};

use super::pod_admission;
use super::resource::or;

/// Default of `terminationGracePeriodSeconds`.
const GRACE_SECONDS: i64 = 30;

/// Sets the defaults of the spec of a Pod (Go: `SetDefaults_Pod`, then those of its parts).
pub(super) fn apply_to_pod(spec: &mut PodSpec) {
    apply(spec);
    spec.enable_service_links.get_or_insert(true);
    let host_network = spec.host_network == Some(true);
    for container in spec.containers.iter_mut().chain(spec.init_containers.iter_mut().flatten()) {
        let resources = container.resources.get_or_insert_default();
        if let Some(limits) = &resources.limits {
            let requests = resources.requests.get_or_insert_default();
            for (name, limit) in limits {
                requests.entry(name.clone()).or_insert_with(|| limit.clone());
            }
        }
        for port in container.ports.iter_mut().flatten().filter(|_| host_network) {
            if port.host_port.unwrap_or_default() == 0 {
                port.host_port = Some(port.container_port);
            }
        }
    }
}

/// Sets the defaults that a Pod and a pod template have in common.
pub(super) fn apply(spec: &mut PodSpec) {
    or(&mut spec.restart_policy, "Always");
    or(&mut spec.dns_policy, "ClusterFirst");
    or(&mut spec.scheduler_name, "default-scheduler");
    spec.termination_grace_period_seconds.get_or_insert(GRACE_SECONDS);
    spec.security_context.get_or_insert_with(PodSecurityContext::default);
    for container in spec.containers.iter_mut().chain(spec.init_containers.iter_mut().flatten()) {
        apply_to_container(container);
    }
}

fn apply_to_container(container: &mut Container) {
    or(&mut container.termination_message_path, "/dev/termination-log");
    or(&mut container.termination_message_policy, "File");
    let image = container.image.as_deref().unwrap_or_default();
    // Only the part after the last slash can contain a tag; an earlier colon separates the port of the registry.
    let last = image.rsplit('/').next().unwrap_or_default();
    let floating = !last.contains('@') && last.split_once(':').is_none_or(|(_, tag)| tag == "latest");
    or(&mut container.image_pull_policy, if floating { "Always" } else { "IfNotPresent" });
    container.resources.get_or_insert_default();
    for port in container.ports.iter_mut().flatten() {
        or(&mut port.protocol, "TCP");
    }
    let probes = [&mut container.liveness_probe, &mut container.readiness_probe, &mut container.startup_probe];
    for probe in probes.into_iter().flatten() {
        for (field, default) in [
            (&mut probe.timeout_seconds, 1),
            (&mut probe.period_seconds, 10),
            (&mut probe.success_threshold, 1),
            (&mut probe.failure_threshold, 3),
        ] {
            if field.unwrap_or_default() == 0 {
                *field = Some(default);
            }
        }
        if let Some(get) = &mut probe.http_get {
            or(&mut get.path, "/");
            or(&mut get.scheme, "HTTP");
        }
    }
}

/// Returns the quality-of-service class derived from the requests and limits of the containers.
pub(super) fn qos_class(spec: &PodSpec) -> &'static str {
    let mut containers = spec.containers.iter().chain(spec.init_containers.iter().flatten());
    let has_resources = |container: &Container| {
        container.resources.as_ref().is_some_and(|it| {
            [&it.requests, &it.limits]
                .into_iter()
                .flatten()
                .any(|map| map.keys().any(|key| key == "cpu" || key == "memory"))
        })
    };
    let guaranteed = |container: &Container| {
        container.resources.as_ref().is_some_and(|it| {
            ["cpu", "memory"].iter().all(|&key| {
                let limit = it.limits.as_ref().and_then(|map| map.get(key));
                let request = it.requests.as_ref().and_then(|map| map.get(key));
                limit.is_some() && (request.is_none() || request == limit)
            })
        })
    };
    if containers.clone().all(guaranteed) {
        "Guaranteed"
    } else if containers.any(has_resources) {
        "Burstable"
    } else {
        "BestEffort"
    }
}

/// Returns `true` if two specs differ only in mutable fields, as defined by upstream's `ValidatePodUpdate`.
pub(super) fn differs_only_where_mutable(new: &PodSpec, old: &PodSpec) -> bool {
    if new == old {
        return true;
    }
    let mut munged = new.clone();
    munged.active_deadline_seconds = old.active_deadline_seconds;
    if old.termination_grace_period_seconds.is_some_and(|seconds| seconds < 0) {
        munged.termination_grace_period_seconds = old.termination_grace_period_seconds;
    }
    if pod_admission::keeps_tolerations(new, old) {
        munged.tolerations.clone_from(&old.tolerations);
    }
    for (container, old) in munged.containers.iter_mut().zip(&old.containers) {
        container.image.clone_from(&old.image);
    }
    let old_init = old.init_containers.iter().flatten();
    for (container, old) in munged.init_containers.iter_mut().flatten().zip(old_init) {
        container.image.clone_from(&old.image);
    }
    // Absent and empty fields are equal; stored specs contain no empty ones.
    same_json(&munged, old)
}

fn same_json(a: &PodSpec, b: &PodSpec) -> bool {
    let pruned = |spec: &PodSpec| {
        let mut value = serde_json::to_value(spec).ok()?;
        super::shape::prune(value.as_object_mut()?);
        Some(value)
    };
    pruned(a) == pruned(b)
}

//! `v1` Pod.

use std::collections::BTreeSet;

use k8s_openapi::api::core::v1::{Pod, PodIP, PodStatus};
use serde_json::{Map, Value};

use super::{Resource, metadata, pod_admission, pod_defaults, pod_spec, shape};
use crate::address::{Family, check_strict_ip};
use crate::field::FieldErrors;

impl Resource for Pod {
    const SELECTABLE: &'static [&'static str] = &[
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.schedulerName",
        "spec.serviceAccountName",
        "spec.hostNetwork",
        "status.phase",
        "status.podIP",
        "status.podIPs",
        "status.nominatedNodeName",
    ];

    fn apply_defaults(&mut self) {
        if let Some(spec) = &mut self.spec {
            pod_defaults::apply_to_pod(spec);
        }
        if let Some(status) = &mut self.status {
            align_pod_ips(status);
        }
    }

    fn prepare_create(&mut self) {
        if let Some(spec) = &mut self.spec {
            pod_admission::apply(spec);
        }
        initialize(self);
    }

    fn prepare_load(&mut self) {
        let status = self.status.take();
        initialize(self);
        if let (Some(status), Some(new)) = (status, &mut self.status) {
            let qos_class = new.qos_class.take();
            *new = PodStatus { qos_class: status.qos_class.or(qos_class), ..status };
        }
    }

    fn prepare_update(&mut self, old: &Self) {
        self.status.clone_from(&old.status);
        if let Some(spec) = &mut self.spec
            && old.spec.as_ref() != Some(spec)
        {
            pod_admission::add_tolerations(spec);
        }
        metadata::count_generation(&mut self.metadata, &old.metadata, self.spec != old.spec);
    }

    fn prepare_status_update(&mut self, old: &Self) {
        self.spec.clone_from(&old.spec);
        self.metadata.owner_references.clone_from(&old.metadata.owner_references);
        // The class is derived from the spec; as upstream, a status without one keeps it.
        if let (Some(status), Some(old)) = (&mut self.status, &old.status)
            && status.qos_class.as_deref().is_none_or(str::is_empty)
        {
            status.qos_class.clone_from(&old.qos_class);
        }
    }

    fn validate(&self, errors: &mut FieldErrors) {
        match &self.spec {
            Some(spec) => pod_spec::validate("spec", spec, errors),
            None => errors.required("spec.containers", ""),
        }
        validate_pod_ips(self, errors);
    }

    fn validate_update(&self, old: &Self, errors: &mut FieldErrors) {
        let (Some(new), Some(old)) = (&self.spec, &old.spec) else { return };
        if !pod_defaults::differs_only_where_mutable(new, old) {
            errors.forbidden(
                "spec",
                "pod updates may not change fields other than `spec.containers[*].image`,\
                 `spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to \
                 existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was \
                 previously negative)",
            );
        }
    }

    fn shape(object: &mut Map<String, Value>) {
        if let Some(spec) = shape::section(object, "spec") {
            shape::always(spec, &[("containers", Value::Null)]);
        }
        let Some(status) = shape::section(object, "status") else { return };
        for condition in shape::items(status, "conditions") {
            shape::always(condition, &[("lastProbeTime", Value::Null), ("lastTransitionTime", Value::Null)]);
        }
    }
}

/// Sets generation and status of a new Pod.
fn initialize(pod: &mut Pod) {
    pod.metadata.generation = Some(1);
    let qos_class = pod.spec.as_ref().map(pod_defaults::qos_class).map(str::to_owned);
    pod.status = Some(PodStatus { phase: Some("Pending".to_owned()), qos_class, ..PodStatus::default() });
}

/// Makes `podIP` and `podIPs` agree. As upstream, `podIP` wins if they differ: old kubelets set only `podIP`.
fn align_pod_ips(status: &mut PodStatus) {
    let single = status.pod_ip.as_deref().unwrap_or_default();
    let first = status.pod_ips.as_ref().and_then(|ips| ips.first()).map(|it| it.ip.as_str());
    if single.is_empty() {
        status.pod_ip = first.filter(|ip| !ip.is_empty()).map(str::to_owned);
    } else if first != Some(single) {
        status.pod_ips = Some(vec![PodIP { ip: single.to_owned() }]);
    }
}

fn validate_pod_ips(pod: &Pod, errors: &mut FieldErrors) {
    let ips = pod.status.as_ref().and_then(|status| status.pod_ips.as_deref()).unwrap_or_default();
    let mut families = BTreeSet::new();
    let mut all_distinct = true;
    for (i, pod_ip) in ips.iter().enumerate() {
        if let Some(ip) = check_strict_ip(&format!("status.podIPs[{i}]"), &pod_ip.ip, errors) {
            all_distinct &= families.insert(Family::of(ip));
        }
    }
    if !all_distinct {
        let listed: Vec<String> = ips.iter().map(|it| it.ip.clone()).collect();
        errors.invalid("status.podIPs", listed.as_slice(), "may specify no more than one IP for each IP family");
    }
}

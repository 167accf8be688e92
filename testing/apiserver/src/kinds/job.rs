//! `batch/v1` Job.

use std::collections::BTreeMap;

use k8s_openapi::api::batch::v1::{Job, JobSpec, JobStatus};
use k8s_openapi::api::core::v1::{PodSpec, PodTemplateSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta};
use serde_json::{Map, Value};

use super::rules::Part;
use super::{Resource, metadata, workload};
use crate::field::FieldErrors;

const CONTROLLER_UID: &str = "batch.kubernetes.io/controller-uid";

impl Resource for Job {
    const SELECTABLE: &'static [&'static str] = &["status.successful"];

    fn apply_defaults(&mut self) {
        let Some(spec) = &mut self.spec else { return };
        if spec.completions.is_none() && spec.parallelism.is_none() {
            spec.completions = Some(1);
        }
        spec.parallelism.get_or_insert(1);
        spec.backoff_limit.get_or_insert(if spec.backoff_limit_per_index.is_some() { i32::MAX } else { 6 });
        spec.completion_mode.get_or_insert_with(|| "NonIndexed".to_owned());
        spec.suspend.get_or_insert(false);
        spec.manual_selector.get_or_insert(false);
        spec.pod_replacement_policy.get_or_insert_with(|| {
            if spec.pod_failure_policy.is_some() { "Failed" } else { "TerminatingOrFailed" }.to_owned()
        });
        workload::apply_template_defaults(&mut spec.template);
        let labels = spec.template.metadata.as_ref().and_then(|meta| meta.labels.as_ref());
        if self.metadata.labels.as_ref().is_none_or(BTreeMap::is_empty) {
            self.metadata.labels = labels.cloned();
        }
    }

    fn prepare_create(&mut self) {
        self.metadata.generation = Some(1);
        self.status = Some(JobStatus::default());
        if let Some(spec) = self.spec.as_mut().filter(|spec| spec.manual_selector != Some(true)) {
            generate_selector(&self.metadata, spec);
        }
    }

    fn prepare_update(&mut self, old: &Self) {
        self.status.clone_from(&old.status);
        metadata::count_generation(&mut self.metadata, &old.metadata, self.spec != old.spec);
    }

    fn prepare_status_update(&mut self, old: &Self) {
        self.spec.clone_from(&old.spec);
    }

    fn warnings(&self, old: Option<&Self>, part: Part) -> Vec<String> {
        let template = self.spec.as_ref().map(|spec| &spec.template);
        workload::template_warnings(template, &self.metadata, old.map(|old| &old.metadata), part)
    }

    fn validate(&self, errors: &mut FieldErrors) {
        match &self.spec {
            Some(spec) => validate_spec(spec, errors),
            None => errors.required("spec.template.spec.containers", ""),
        }
        let status = self.status.clone().unwrap_or_default();
        for (field, value) in [
            ("status.active", status.active),
            ("status.succeeded", status.succeeded),
            ("status.failed", status.failed),
            ("status.ready", status.ready),
            ("status.terminating", status.terminating),
        ] {
            workload::check_not_negative(field, value, errors);
        }
    }

    fn validate_update(&self, old: &Self, errors: &mut FieldErrors) {
        let (Some(new_spec), Some(old_spec)) = (&self.spec, &old.spec) else { return };
        // An indexed Job can be resized: completions and parallelism change together.
        let is_resized = new_spec.completion_mode.as_deref() == Some("Indexed")
            && new_spec.completions.is_some()
            && new_spec.completions == new_spec.parallelism;
        if !is_resized {
            workload::check_immutable("spec.completions", &new_spec.completions, &old_spec.completions, errors);
        }
        workload::check_immutable("spec.selector", &new_spec.selector, &old_spec.selector, errors);
        let has_started = old.status.as_ref().is_some_and(|status| status.start_time.is_some());
        let template = if old_spec.suspend == Some(true) && !has_started {
            with_scheduling_of(&new_spec.template, &old_spec.template)
        } else {
            new_spec.template.clone()
        };
        workload::check_immutable("spec.template", &template, &old_spec.template, errors);
        workload::check_immutable("spec.completionMode", &new_spec.completion_mode, &old_spec.completion_mode, errors);
        let (new, old) = (&new_spec.pod_failure_policy, &old_spec.pod_failure_policy);
        workload::check_immutable("spec.podFailurePolicy", new, old, errors);
        let (new, old) = (&new_spec.backoff_limit_per_index, &old_spec.backoff_limit_per_index);
        workload::check_immutable("spec.backoffLimitPerIndex", new, old, errors);
        workload::check_immutable("spec.managedBy", &new_spec.managed_by, &old_spec.managed_by, errors);
        workload::check_immutable("spec.successPolicy", &new_spec.success_policy, &old_spec.success_policy, errors);
    }

    fn fields(&self) -> Vec<(&'static str, String)> {
        let succeeded = self.status.as_ref().and_then(|status| status.succeeded).unwrap_or_default();
        vec![("status.successful", succeeded.to_string())]
    }

    fn shape(object: &mut Map<String, Value>) {
        workload::shape(object);
        let counts = ["active", "completedIndexes", "failed", "succeeded"];
        workload::shape_status(object, &counts, &["lastProbeTime", "lastTransitionTime"]);
    }
}

/// Sets the selector to the uid of the Job, and labels its Pods accordingly.
fn generate_selector(meta: &ObjectMeta, spec: &mut JobSpec) {
    let uid = meta.uid.clone().unwrap_or_default();
    let name = meta.name.clone().unwrap_or_default();
    let labels = spec.template.metadata.get_or_insert_default().labels.get_or_insert_default();
    for (key, value) in
        [("controller-uid", &uid), (CONTROLLER_UID, &uid), ("job-name", &name), ("batch.kubernetes.io/job-name", &name)]
    {
        labels.insert(key.to_owned(), value.clone());
    }
    let selector = spec.selector.get_or_insert_with(LabelSelector::default);
    selector.match_labels.get_or_insert_default().insert(CONTROLLER_UID.to_owned(), uid);
}

fn validate_spec(spec: &JobSpec, errors: &mut FieldErrors) {
    for (field, value) in [
        ("spec.parallelism", spec.parallelism.map(i64::from)),
        ("spec.completions", spec.completions.map(i64::from)),
        ("spec.activeDeadlineSeconds", spec.active_deadline_seconds),
        ("spec.backoffLimit", spec.backoff_limit.map(i64::from)),
        ("spec.backoffLimitPerIndex", spec.backoff_limit_per_index.map(i64::from)),
        ("spec.maxFailedIndexes", spec.max_failed_indexes.map(i64::from)),
        ("spec.ttlSecondsAfterFinished", spec.ttl_seconds_after_finished.map(i64::from)),
    ] {
        workload::check_not_negative(field, value, errors);
    }
    match spec.completion_mode.as_deref().unwrap_or_default() {
        "NonIndexed" => {}
        "Indexed" if spec.completions.is_some() => {}
        "Indexed" => errors.required("spec.completions", "when completion mode is Indexed"),
        other => errors.unsupported("spec.completionMode", other, &["Indexed", "NonIndexed"]),
    }
    match &spec.selector {
        Some(selector) => workload::check_selects(selector, &spec.template, errors),
        None => errors.required("spec.selector", ""),
    }
    workload::validate_template(&spec.template, errors);
    let restart_policy = spec.template.spec.as_ref().and_then(|spec| spec.restart_policy.as_deref());
    if restart_policy == Some("Always") {
        errors.required("spec.template.spec.restartPolicy", "valid values: \"OnFailure\", \"Never\"");
    }
}

/// Returns `new` with those parts of `old` that may change before a suspended Job starts.
fn with_scheduling_of(new: &PodTemplateSpec, old: &PodTemplateSpec) -> PodTemplateSpec {
    let mut merged = new.clone();
    merged.metadata.clone_from(&old.metadata);
    if let (Some(spec), Some(old)) = (&mut merged.spec, &old.spec) {
        let PodSpec { node_selector, affinity, tolerations, scheduling_gates, .. } = spec;
        node_selector.clone_from(&old.node_selector);
        affinity.clone_from(&old.affinity);
        tolerations.clone_from(&old.tolerations);
        scheduling_gates.clone_from(&old.scheduling_gates);
    }
    merged
}

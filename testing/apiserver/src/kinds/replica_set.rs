//! `apps/v1` `ReplicaSet`.

use k8s_openapi::api::apps::v1::{ReplicaSet, ReplicaSetSpec, ReplicaSetStatus};
use serde_json::{Map, Value, json};

use super::rules::Part;
use super::{Resource, metadata, shape, workload};
use crate::field::FieldErrors;

impl Resource for ReplicaSet {
    const SELECTABLE: &'static [&'static str] = &["status.replicas"];

    fn apply_defaults(&mut self) {
        let Some(spec) = Option::<&mut ReplicaSetSpec>::from(&mut self.spec) else { return };
        spec.replicas.get_or_insert(1);
        if let Some(template) = &mut spec.template {
            workload::apply_template_defaults(template);
        }
    }

    fn prepare_create(&mut self) {
        self.metadata.generation = Some(1);
        self.status = Some(ReplicaSetStatus::default());
    }

    fn prepare_update(&mut self, old: &Self) {
        self.status.clone_from(&old.status);
        metadata::count_generation(&mut self.metadata, &old.metadata, self.spec != old.spec);
    }

    fn prepare_status_update(&mut self, old: &Self) {
        self.spec.clone_from(&old.spec);
    }

    fn warnings(&self, old: Option<&Self>, part: Part) -> Vec<String> {
        let template = spec(self).and_then(|spec| spec.template.as_ref());
        workload::template_warnings(template, &self.metadata, old.map(|old| &old.metadata), part)
    }

    fn validate(&self, errors: &mut FieldErrors) {
        match spec(self) {
            Some(spec) => validate_spec(spec, errors),
            None => errors.required("spec.selector", ""),
        }
        if let Some(status) = &self.status {
            validate_status(status, errors);
        }
    }

    fn validate_update(&self, old: &Self, errors: &mut FieldErrors) {
        let (Some(new), Some(old)) = (spec(self), spec(old)) else { return };
        workload::check_immutable("spec.selector", &new.selector, &old.selector, errors);
    }

    fn fields(&self) -> Vec<(&'static str, String)> {
        let replicas = self.status.as_ref().map(|status| status.replicas).unwrap_or_default();
        vec![("status.replicas", replicas.to_string())]
    }

    fn shape(object: &mut Map<String, Value>) {
        if let Some(spec) = workload::shape(object) {
            shape::drop_zero(spec, &["minReadySeconds"]);
        }
        let counts = ["availableReplicas", "fullyLabeledReplicas", "observedGeneration", "readyReplicas"];
        workload::shape_status(object, &counts, &["lastTransitionTime"]);
        if let Some(status) = shape::section(object, "status") {
            shape::always(status, &[("replicas", json!(0))]);
        }
    }
}

/// The type has an optional spec up to Kubernetes 1.36, and a required one from 1.37 on.
fn spec(object: &ReplicaSet) -> Option<&ReplicaSetSpec> {
    Option::from(&object.spec)
}

fn validate_spec(spec: &ReplicaSetSpec, errors: &mut FieldErrors) {
    workload::check_not_negative("spec.replicas", spec.replicas, errors);
    workload::check_not_negative("spec.minReadySeconds", spec.min_ready_seconds, errors);
    workload::validate_replicated(&spec.selector, &spec.template.clone().unwrap_or_default(), errors);
}

fn validate_status(status: &ReplicaSetStatus, errors: &mut FieldErrors) {
    for (field, value) in [
        ("status.replicas", Some(status.replicas)),
        ("status.fullyLabeledReplicas", status.fully_labeled_replicas),
        ("status.readyReplicas", status.ready_replicas),
        ("status.availableReplicas", status.available_replicas),
    ] {
        workload::check_not_negative(field, value, errors);
    }
    workload::check_not_negative("status.observedGeneration", status.observed_generation, errors);
    let all = ("status.replicas", Some(status.replicas));
    workload::check_at_most("status.fullyLabeledReplicas", status.fully_labeled_replicas, all, errors);
    workload::check_at_most("status.readyReplicas", status.ready_replicas, all, errors);
    workload::check_at_most("status.availableReplicas", status.available_replicas, all, errors);
    let ready = ("readyReplicas", status.ready_replicas);
    workload::check_at_most("status.availableReplicas", status.available_replicas, ready, errors);
}

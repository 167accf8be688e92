//! `apps/v1` Deployment.

use k8s_openapi::api::apps::v1::{
    Deployment, DeploymentSpec, DeploymentStatus, DeploymentStrategy, RollingUpdateDeployment,
};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use serde_json::{Map, Value};

use super::rules::Part;
use super::{Resource, metadata, shape, workload};
use crate::field::FieldErrors;

const ROLLING_UPDATE: &str = "spec.strategy.rollingUpdate";

impl Resource for Deployment {
    fn apply_defaults(&mut self) {
        let Some(spec) = Option::<&mut DeploymentSpec>::from(&mut self.spec) else { return };
        spec.replicas.get_or_insert(1);
        spec.revision_history_limit.get_or_insert(10);
        spec.progress_deadline_seconds.get_or_insert(600);
        apply_strategy_defaults(spec.strategy.get_or_insert_default());
        workload::apply_template_defaults(&mut spec.template);
    }

    fn prepare_create(&mut self) {
        self.metadata.generation = Some(1);
        self.status = Some(DeploymentStatus::default());
    }

    fn prepare_update(&mut self, old: &Self) {
        self.status.clone_from(&old.status);
        // As upstream: annotations count, too.
        let has_changed = self.spec != old.spec || self.metadata.annotations != old.metadata.annotations;
        metadata::count_generation(&mut self.metadata, &old.metadata, has_changed);
    }

    fn prepare_status_update(&mut self, old: &Self) {
        self.spec.clone_from(&old.spec);
        self.metadata.labels.clone_from(&old.metadata.labels);
    }

    fn warnings(&self, old: Option<&Self>, part: Part) -> Vec<String> {
        let template = spec(self).map(|spec| &spec.template);
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

    fn shape(object: &mut Map<String, Value>) {
        if let Some(spec) = workload::shape(object) {
            shape::section(spec, "strategy");
            shape::drop_zero(spec, &["minReadySeconds", "paused"]);
        }
        let counts = [
            "availableReplicas",
            "observedGeneration",
            "readyReplicas",
            "replicas",
            "unavailableReplicas",
            "updatedReplicas",
        ];
        workload::shape_status(object, &counts, &["lastTransitionTime", "lastUpdateTime"]);
    }
}

/// The type has an optional spec up to Kubernetes 1.36, and a required one from 1.37 on.
fn spec(object: &Deployment) -> Option<&DeploymentSpec> {
    Option::from(&object.spec)
}

fn apply_strategy_defaults(strategy: &mut DeploymentStrategy) {
    if strategy.type_.as_deref().is_none_or(str::is_empty) {
        strategy.type_ = Some("RollingUpdate".to_owned());
    }
    if strategy.type_.as_deref() == Some("RollingUpdate") {
        let RollingUpdateDeployment { max_surge, max_unavailable } = strategy.rolling_update.get_or_insert_default();
        for field in [max_surge, max_unavailable] {
            field.get_or_insert_with(|| IntOrString::String("25%".to_owned()));
        }
    }
}

fn validate_spec(spec: &DeploymentSpec, errors: &mut FieldErrors) {
    workload::check_not_negative("spec.replicas", spec.replicas, errors);
    workload::validate_replicated(&spec.selector, &spec.template, errors);
    validate_strategy(&spec.strategy.clone().unwrap_or_default(), errors);
    workload::check_not_negative("spec.minReadySeconds", spec.min_ready_seconds, errors);
    workload::check_not_negative("spec.revisionHistoryLimit", spec.revision_history_limit, errors);
    if let Some(deadline) = spec.progress_deadline_seconds {
        workload::check_not_negative("spec.progressDeadlineSeconds", Some(deadline), errors);
        if deadline <= spec.min_ready_seconds.unwrap_or_default() {
            errors.invalid("spec.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds");
        }
    }
}

fn validate_strategy(strategy: &DeploymentStrategy, errors: &mut FieldErrors) {
    match (strategy.type_.as_deref().unwrap_or_default(), &strategy.rolling_update) {
        ("Recreate", None) => {}
        ("Recreate", Some(_)) => {
            errors.forbidden(ROLLING_UPDATE, "may not be specified when strategy `type` is 'Recreate'");
        }
        ("RollingUpdate", Some(rolling)) => validate_rolling_update(rolling, errors),
        ("RollingUpdate", None) => errors.required(ROLLING_UPDATE, "this should be defaulted and never be nil"),
        (other, _) => errors.unsupported("spec.strategy.type", other, &["Recreate", "RollingUpdate"]),
    }
}

fn validate_rolling_update(rolling: &RollingUpdateDeployment, errors: &mut FieldErrors) {
    let RollingUpdateDeployment { max_surge, max_unavailable } = rolling;
    let unavailable = check_count_or_percent("maxUnavailable", max_unavailable.as_ref(), errors);
    let surge = check_count_or_percent("maxSurge", max_surge.as_ref(), errors);
    let field = format!("{ROLLING_UPDATE}.maxUnavailable");
    let Some(value) = max_unavailable else { return };
    if unavailable == Some(0) && surge == Some(0) {
        errors.invalid(field.as_str(), value, "may not be 0 when `maxSurge` is 0");
    }
    if matches!(value, IntOrString::String(_)) && unavailable.is_some_and(|percent| percent > 100) {
        errors.invalid(field, value, "must not be greater than 100%");
    }
}

/// Returns a count, or the number of a percentage; `None` if it is neither, which is reported.
fn check_count_or_percent(name: &str, value: Option<&IntOrString>, errors: &mut FieldErrors) -> Option<i32> {
    let field = format!("{ROLLING_UPDATE}.{name}");
    match value? {
        IntOrString::Int(count) => {
            workload::check_not_negative(&field, Some(*count), errors);
            Some(*count)
        }
        IntOrString::String(text) => {
            let digits = text.strip_suffix('%').filter(|it| it.bytes().all(|byte| byte.is_ascii_digit()));
            let percent = digits.and_then(|it| it.parse().ok());
            if percent.is_none() {
                errors.invalid(field, text, "must be an integer or percentage (e.g '5%%')");
            }
            percent
        }
    }
}

fn validate_status(status: &DeploymentStatus, errors: &mut FieldErrors) {
    for (field, value) in [
        ("status.replicas", status.replicas),
        ("status.updatedReplicas", status.updated_replicas),
        ("status.readyReplicas", status.ready_replicas),
        ("status.availableReplicas", status.available_replicas),
        ("status.unavailableReplicas", status.unavailable_replicas),
        ("status.collisionCount", status.collision_count),
    ] {
        workload::check_not_negative(field, value, errors);
    }
    workload::check_not_negative("status.observedGeneration", status.observed_generation, errors);
    let all = ("status.replicas", status.replicas);
    workload::check_at_most("status.updatedReplicas", status.updated_replicas, all, errors);
    workload::check_at_most("status.readyReplicas", status.ready_replicas, all, errors);
    workload::check_at_most("status.availableReplicas", status.available_replicas, all, errors);
    let ready = ("readyReplicas", status.ready_replicas);
    workload::check_at_most("status.availableReplicas", status.available_replicas, ready, errors);
}

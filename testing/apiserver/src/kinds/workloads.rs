//! Deployments, `ReplicaSet`s and Jobs: defaults, generations and selectors. Their specs are not validated.

use k8s_openapi::api::apps::v1::{
    Deployment, DeploymentSpec, DeploymentStatus, DeploymentStrategy, ReplicaSet, ReplicaSetSpec, ReplicaSetStatus,
    RollingUpdateDeployment,
};
use k8s_openapi::api::batch::v1::{Job, JobSpec, JobStatus};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;

use super::resource::or;
use super::{Resource, metadata, pod_defaults};

const CONTROLLER_UID: &str = "batch.kubernetes.io/controller-uid";

impl Resource for Deployment {
    fn apply_defaults(&mut self) {
        let Some(spec) = Option::<&mut DeploymentSpec>::from(&mut self.spec) else { return };
        spec.replicas.get_or_insert(1);
        spec.revision_history_limit.get_or_insert(10);
        spec.progress_deadline_seconds.get_or_insert(600);
        apply_strategy_defaults(spec.strategy.get_or_insert_default());
        spec.template.spec.iter_mut().for_each(pod_defaults::apply);
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
}

fn apply_strategy_defaults(strategy: &mut DeploymentStrategy) {
    or(&mut strategy.type_, "RollingUpdate");
    if strategy.type_.as_deref() == Some("RollingUpdate") {
        let RollingUpdateDeployment { max_surge, max_unavailable } = strategy.rolling_update.get_or_insert_default();
        for field in [max_surge, max_unavailable] {
            field.get_or_insert_with(|| IntOrString::String("25%".to_owned()));
        }
    }
}

impl Resource for ReplicaSet {
    fn apply_defaults(&mut self) {
        let Some(spec) = Option::<&mut ReplicaSetSpec>::from(&mut self.spec) else { return };
        spec.replicas.get_or_insert(1);
        spec.template.iter_mut().filter_map(|template| template.spec.as_mut()).for_each(pod_defaults::apply);
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
}

impl Resource for Job {
    fn apply_defaults(&mut self) {
        let Some(spec) = &mut self.spec else { return };
        if spec.completions.is_none() && spec.parallelism.is_none() {
            spec.completions = Some(1);
        }
        spec.parallelism.get_or_insert(1);
        spec.backoff_limit.get_or_insert(6);
        spec.completion_mode.get_or_insert_with(|| "NonIndexed".to_owned());
        spec.suspend.get_or_insert(false);
        spec.template.spec.iter_mut().for_each(pod_defaults::apply);
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
}

/// Sets the selector to the uid of the Job, and labels its Pods accordingly.
fn generate_selector(meta: &ObjectMeta, spec: &mut JobSpec) {
    let uid = meta.uid.clone().unwrap_or_default();
    let labels = spec.template.metadata.get_or_insert_default().labels.get_or_insert_default();
    labels.insert(CONTROLLER_UID.to_owned(), uid.clone());
    labels.insert("batch.kubernetes.io/job-name".to_owned(), meta.name.clone().unwrap_or_default());
    let selector = spec.selector.get_or_insert_default();
    selector.match_labels.get_or_insert_default().insert(CONTROLLER_UID.to_owned(), uid);
}

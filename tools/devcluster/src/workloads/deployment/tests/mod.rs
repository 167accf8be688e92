//! Tests of the plans: a Deployment whose `ReplicaSet`s are simulated.

mod rollouts;

use std::sync::Arc;

use k8s_openapi::{
    api::{
        apps::v1::{Deployment, DeploymentStatus, ReplicaSet},
        core::v1::Pod,
    },
    jiff::{SignedDuration, Timestamp},
};
use rstest::rstest;
use serde_json::{Value, json};

use super::{
    plan::{Change, Plan, plan},
    revisions::revision_of,
    sets::{actual, available, name_of, replicas},
};
use crate::workloads::template::HASH_LABEL;

const START: Timestamp = Timestamp::constant(1_800_000_000, 0);

/// A Deployment and its `ReplicaSet`s, whose status a test sets.
struct Cluster {
    deployment: Deployment,
    sets: Vec<Arc<ReplicaSet>>,
    pods: Vec<Arc<Pod>>,
    now: Timestamp,
    created: u32,
}

impl Cluster {
    fn new(replicas: i32, strategy: &Value) -> Self {
        let template =
            json!({"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "1"}]}});
        let spec = json!({"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": template,
                          "strategy": strategy, "revisionHistoryLimit": 10});
        let meta = json!({"name": "web", "namespace": "shop", "uid": "d", "generation": 1});
        let deployment = serde_json::from_value(json!({"metadata": meta, "spec": spec})).unwrap();
        Self { deployment, sets: Vec::new(), pods: Vec::new(), now: START, created: 0 }
    }

    fn rolling(replicas: i32, surge: i32, unavailable: i32) -> Self {
        Self::new(replicas, &json!({"rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}}))
    }

    /// Changes the spec by a JSON merge patch.
    fn change(&mut self, spec: &Value) {
        let mut value = serde_json::to_value(&self.deployment).unwrap();
        merge(&mut value["spec"], spec);
        self.deployment = serde_json::from_value(value).unwrap();
        *self.deployment.metadata.generation.get_or_insert(0) += 1;
    }

    fn set_image(&mut self, image: &str) {
        self.change(&json!({"template": {"spec": {"containers": [{"name": "c", "image": image}]}}}));
    }

    fn plan(&self) -> Plan {
        plan(&self.deployment, &self.sets, &self.pods, self.now)
    }

    /// Executes one plan. Returns whether it changed sets.
    fn step(&mut self) -> bool {
        let Plan { changes, status, revision } = self.plan();
        self.deployment.status = Some(status);
        if let Some(revision) = revision {
            let annotations = self.deployment.metadata.annotations.get_or_insert_default();
            annotations.insert(super::revisions::REVISION.to_owned(), revision);
        }
        for change in &changes {
            match change.clone() {
                Change::Create(mut set) => {
                    self.created += 1;
                    set.metadata.uid = Some(self.created.to_string());
                    let at = START + SignedDuration::from_secs(self.created.into());
                    set.metadata.creation_timestamp = Some(k8s_openapi::apimachinery::pkg::apis::meta::v1::Time(at));
                    self.sets.push(Arc::new(set));
                }
                Change::Update { stored, set } => {
                    let at = self.sets.iter().position(|it| Arc::ptr_eq(it, &stored)).unwrap();
                    self.sets[at] = Arc::new(set);
                }
                Change::Delete(set) => self.sets.retain(|it| !Arc::ptr_eq(it, &set)),
            }
        }
        !changes.is_empty()
    }

    /// Sets the status of each set: all its Pods exist, and all but `pending` are available.
    fn observe(&mut self, pending: i32) {
        for set in &mut self.sets {
            let set = Arc::make_mut(set);
            let size = replicas(set);
            let is_new = revision_of(set) == i64::from(self.created);
            let available = if is_new { (size - pending).max(0) } else { size };
            let status = json!({"replicas": size, "readyReplicas": available, "availableReplicas": available});
            set.status = Some(serde_json::from_value(status).unwrap());
        }
    }

    /// Runs until nothing changes, with all Pods available at once.
    fn settle(&mut self) {
        for _ in 0..100 {
            let is_changed = self.step();
            self.observe(0);
            if !is_changed {
                self.step();
                return;
            }
        }
        panic!("still changing: {}", self.sizes());
    }

    /// Returns the sizes of the sets in order of creation.
    fn sizes(&self) -> String {
        self.sets.iter().map(|set| replicas(set).to_string()).collect::<Vec<_>>().join(" ")
    }

    fn condition(&self, type_: &str) -> String {
        let status = self.deployment.status.clone().unwrap_or_default();
        let condition = status.conditions.unwrap_or_default().into_iter().find(|condition| condition.type_ == type_);
        condition.map_or_else(|| "-".to_owned(), |it| format!("{} {}", it.status, it.reason.unwrap_or_default()))
    }

    fn progress(&self) -> String {
        self.condition("Progressing")
    }
}

fn merge(into: &mut Value, patch: &Value) {
    match (into, patch) {
        (Value::Object(into), Value::Object(patch)) => {
            for (key, value) in patch {
                merge(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (into, value) => *into = value.clone(),
    }
}

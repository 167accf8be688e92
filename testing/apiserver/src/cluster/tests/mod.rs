//! Tests of the store, without sockets or a real clock.

#![expect(clippy::needless_pass_by_value, reason = "objects are literals in the argument list")]

mod deletion;
mod events;
mod garbage;
mod history;
mod metadata;
mod namespaces;
mod pods;
mod services;
mod slices;
mod watch_contract;

use jiff::{SignedDuration, Timestamp};
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use serde_json::{Value, json};

use super::{Change, Cluster, DeleteOptions, Deleted, Patch, WriteOptions, WriteTarget};
use crate::kinds::{Kind, Part};
use crate::status::StatusError;
use crate::{Clock, Config};

const START: Timestamp = Timestamp::constant(1_800_000_000, 0);

/// Store under test, and its current time.
struct TestStore {
    cluster: Cluster,
    now: Timestamp,
}

impl TestStore {
    fn new() -> Self {
        Self::with_history(1_000)
    }

    fn with_history(history_length: usize) -> Self {
        let config = Config { watch_history: history_length, clock: Clock::new(|| START), ..Config::default() };
        let cluster = Cluster::new(config, StdRng::seed_from_u64(1)).unwrap();
        Self { cluster, now: START }
    }

    fn kind(&self, plural: &str) -> std::sync::Arc<Kind> {
        let kind = self.cluster.kinds().all().iter().find(|kind| kind.plural == plural);
        std::sync::Arc::clone(kind.unwrap_or_else(|| panic!("no kind {plural}")))
    }

    fn options(&self) -> WriteOptions<'static> {
        WriteOptions::at(self.now)
    }

    fn namespace(kind: &Kind) -> &'static str {
        if kind.namespaced { "default" } else { "" }
    }

    fn try_create(&mut self, plural: &str, object: Value) -> Result<Value, StatusError> {
        let kind = self.kind(plural);
        let written = self.cluster.create(&kind, Self::namespace(&kind), object, self.options())?;
        Ok(written.object.value())
    }

    #[track_caller]
    fn create(&mut self, plural: &str, object: Value) -> Value {
        self.try_create(plural, object).unwrap()
    }

    /// Replaces the object of the same name, as PUT does.
    fn try_update(&mut self, plural: &str, object: Value, part: Part) -> Result<Value, StatusError> {
        let kind = self.kind(plural);
        let name = object["metadata"]["name"].as_str().unwrap().to_owned();
        let target = WriteTarget { kind: &kind, namespace: Self::namespace(&kind), name: &name, part };
        let written = self.cluster.update(target, object, self.options())?;
        Ok(written.object.value())
    }

    fn try_merge(&mut self, plural: &str, name: &str, patch: Value, part: Part) -> Result<Value, StatusError> {
        let kind = self.kind(plural);
        let patch = Patch::Merge(patch);
        let target = WriteTarget { kind: &kind, namespace: Self::namespace(&kind), name, part };
        let written = self.cluster.patch(target, &patch, self.options())?;
        Ok(written.object.value())
    }

    #[track_caller]
    fn merge(&mut self, plural: &str, name: &str, patch: Value) -> Value {
        self.try_merge(plural, name, patch, Part::Main).unwrap()
    }

    #[track_caller]
    fn merge_status(&mut self, plural: &str, name: &str, status: Value) -> Value {
        self.try_merge(plural, name, json!({"status": status}), Part::Status).unwrap()
    }

    fn try_delete(&mut self, plural: &str, name: &str, options: &DeleteOptions) -> Result<Deleted, StatusError> {
        let kind = self.kind(plural);
        self.cluster.delete(&kind, Self::namespace(&kind), name, options, self.options())
    }

    #[track_caller]
    fn delete(&mut self, plural: &str, name: &str, grace: Option<i64>) -> Deleted {
        let options = DeleteOptions { grace_period_seconds: grace, ..DeleteOptions::default() };
        self.try_delete(plural, name, &options).unwrap()
    }

    /// Empties all terminating namespaces, as the server does after `Config::namespace_grace`.
    fn empty_namespaces(&mut self) {
        for namespace in self.cluster.namespaces_to_empty() {
            self.cluster.empty_namespace(&namespace, self.options()).unwrap();
        }
    }

    fn get(&self, plural: &str, name: &str) -> Option<Value> {
        let kind = self.kind(plural);
        self.cluster.get(&kind, Self::namespace(&kind), name).ok().map(|object| object.value())
    }

    /// Returns the changes after a revision, as type of change, name and revision.
    fn changes(&self, plural: &str, after: u64) -> Vec<String> {
        let show = |change: &std::sync::Arc<Change>| {
            format!("{:?} {} {}", change.kind, change.object.name, change.object.revision)
        };
        self.cluster.changes_after(&self.kind(plural), after, usize::MAX).unwrap().changes.iter().map(show).collect()
    }

    fn advance(&mut self, seconds: i64) {
        self.now += SignedDuration::from_secs(seconds);
    }
}

fn pod(name: &str) -> Value {
    json!({"metadata": {"name": name}, "spec": {"containers": [{"name": "main", "image": "app:1"}]}})
}

fn pod_on(name: &str, node: &str) -> Value {
    let mut pod = pod(name);
    pod["spec"]["nodeName"] = json!(node);
    pod
}

fn service(name: &str, spec: Value) -> Value {
    let mut spec = spec;
    if spec["type"] != "ExternalName" && spec.get("ports").is_none() {
        spec["ports"] = json!([{"port": 80}]);
    }
    json!({"metadata": {"name": name}, "spec": spec})
}

fn slice(name: &str, endpoints: Value) -> Value {
    json!({"metadata": {"name": name}, "addressType": "IPv4", "endpoints": endpoints, "ports": [{"port": 80}]})
}

fn revision(object: &Value) -> u64 {
    object["metadata"]["resourceVersion"].as_str().unwrap().parse().unwrap()
}

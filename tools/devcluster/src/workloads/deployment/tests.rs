//! Tests of the plans: a Deployment whose `ReplicaSet`s are simulated.

use std::sync::Arc;

use k8s_openapi::{apimachinery::pkg::apis::meta::v1::Time, jiff::Timestamp};
use rstest::rstest;
use serde_json::{Value, json};

use super::{
    limits::Limits,
    plan::{Change, Plan, available, plan, replicas},
};
use crate::workloads::{
    objects::{Deployment, ReplicaSet},
    template::HASH_LABEL,
};

/// A Deployment and its `ReplicaSet`s, whose status a test sets.
struct Cluster {
    deployment: Deployment,
    sets: Vec<Arc<ReplicaSet>>,
    created: u32,
}

impl Cluster {
    /// Returns a Deployment whose Pods are all available.
    fn settled(replicas: i32, surge: i32, unavailable: i32) -> Self {
        let mut cluster = Self::new(replicas, surge, unavailable);
        cluster.settle();
        cluster
    }

    fn new(replicas: i32, surge: i32, unavailable: i32) -> Self {
        let template =
            json!({"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "1"}]}});
        let strategy = json!({"rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}});
        let spec = json!({"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": template,
                          "strategy": strategy});
        let meta = json!({"name": "web", "namespace": "shop", "uid": "d", "generation": 1});
        let deployment = serde_json::from_value(json!({"metadata": meta, "spec": spec})).unwrap();
        Self { deployment, sets: Vec::new(), created: 0 }
    }

    fn set_replicas(&mut self, replicas: i32) {
        self.deployment.spec.replicas = Some(replicas);
    }

    fn set_image(&mut self, image: &str) {
        self.deployment.spec.template.spec["containers"][0]["image"] = json!(image);
    }

    /// Executes one plan. Returns whether it changed sets.
    fn step(&mut self) -> bool {
        let Plan { changes, status } = plan(&self.deployment, &self.sets);
        self.deployment.status = Some(status);
        for change in &changes {
            match change.clone() {
                Change::Create(mut set) => {
                    self.created += 1;
                    set.metadata.uid = Some(self.created.to_string());
                    set.metadata.creation_timestamp = Some(Time(Timestamp::constant(self.created.into(), 0)));
                    self.sets.push(Arc::new(set));
                }
                Change::Scale(set) => {
                    let at = self.sets.iter().position(|it| it.metadata.uid == set.metadata.uid).unwrap();
                    self.sets[at] = Arc::new(set);
                }
                Change::Delete(set) => self.sets.retain(|it| !Arc::ptr_eq(it, &set)),
            }
        }
        !changes.is_empty()
    }

    /// Sets the status of each set: all its Pods exist, and all but `pending` of those of the newest set are available.
    fn observe(&mut self, pending: i32) {
        let newest = self.created.to_string();
        for set in &mut self.sets {
            let set = Arc::make_mut(set);
            let size = replicas(set);
            let is_newest = set.metadata.uid.as_ref() == Some(&newest);
            let available = if is_newest { (size - pending).max(0) } else { size };
            let status = json!({"replicas": size, "readyReplicas": available, "availableReplicas": available});
            set.status = Some(serde_json::from_value(status).unwrap());
        }
    }

    /// Returns the sizes of the sets after each step until nothing changes, while all Pods become available in between.
    fn settle(&mut self) -> Vec<String> {
        let mut steps = Vec::new();
        while self.step() {
            steps.push(self.sizes());
            self.observe(0);
            assert!(steps.len() < 100, "{steps:?}");
        }
        steps
    }

    /// Returns the sizes of the sets in order of creation.
    fn sizes(&self) -> String {
        self.sets.iter().map(|set| replicas(set).to_string()).collect::<Vec<_>>().join(" ")
    }

    /// Returns the numbers of Pods, of updated ones and of available ones, and whether enough are available.
    fn status(&self) -> ([Option<i32>; 3], &str) {
        let status = self.deployment.status.as_ref().unwrap();
        let condition = &status.conditions.as_ref().unwrap()[0];
        ([status.replicas, status.updated_replicas, status.available_replicas], &condition.status)
    }
}

#[test]
fn first_plan_creates_a_set_of_full_size() {
    let Plan { changes, status } = plan(&Cluster::new(3, 1, 1).deployment, &[]);
    let [Change::Create(set)] = changes.as_slice() else { panic!("{changes:?}") };
    let hash = &set.metadata.labels.as_ref().unwrap()[HASH_LABEL];
    assert_eq!((replicas(set), set.metadata.name.as_ref()), (3, Some(&format!("web-{hash}"))));
    let selector = set.spec.selector.match_labels.as_ref().unwrap();
    let labels = set.spec.template.metadata.labels.as_ref().unwrap();
    assert_eq!((&selector[HASH_LABEL], &labels[HASH_LABEL], &selector["app"]), (hash, hash, &"web".to_owned()));
    let owner = &set.metadata.owner_references.as_ref().unwrap()[0];
    assert_eq!((owner.kind.as_str(), owner.uid.as_str(), owner.controller), ("Deployment", "d", Some(true)));
    assert_eq!((status.observed_generation, status.replicas), (Some(1), Some(0)));
}

/// Sizes of the old and the new set after each step. The old one is deleted at the end.
#[rstest]
#[case::surge(4, 1, 0, &["4 1", "3 1", "3 2", "2 2", "2 3", "1 3", "1 4", "0 4", "4"])]
#[case::unavailable(4, 0, 1, &["3 0", "3 1", "2 1", "2 2", "1 2", "1 3", "0 3", "4"])]
#[case::both(4, 1, 1, &["4 1", "2 1", "2 3", "0 3", "4"])]
#[case::all_at_once(3, 3, 0, &["3 3", "0 3", "3"])]
#[case::one(1, 1, 0, &["1 1", "0 1", "1"])]
fn steps_of_a_rolling_update(
    #[case] replicas: i32,
    #[case] surge: i32,
    #[case] unavailable: i32,
    #[case] expect: &[&str],
) {
    let mut cluster = Cluster::settled(replicas, surge, unavailable);
    cluster.set_image("2");
    assert_eq!(cluster.settle(), expect);
    assert_eq!(cluster.status(), ([Some(replicas); 3], "True"));
}

/// New Pods that never become available: the limits hold, and the old ones keep serving.
#[rstest]
fn limits_hold_while_new_pods_are_pending(
    #[values(1, 3, 10)] wanted: i32,
    #[values(0, 1, 3)] surge: i32,
    #[values(0, 1, 2)] unavailable: i32,
    #[values(0, 1, 100)] pending: i32,
) {
    if surge + unavailable == 0 {
        return;
    }
    let mut cluster = Cluster::settled(wanted, surge, unavailable);
    cluster.set_image("2");
    for _ in 0..40 {
        cluster.step();
        let desired: i32 = cluster.sets.iter().map(|set| replicas(set)).sum();
        // Old Pods that are available stay so as long as their set asks for them.
        let serving: i32 = cluster.sets.iter().map(|set| available(set).min(replicas(set))).sum();
        assert!(desired <= wanted + surge, "{}", cluster.sizes());
        assert!(serving >= wanted - unavailable.min(wanted), "{} serve of {}", serving, cluster.sizes());
        cluster.observe(pending);
    }
    assert_eq!(cluster.status().0 == [Some(wanted); 3], pending == 0, "{:?} {}", cluster.status(), cluster.sizes());
}

#[test]
fn unavailable_old_pods_go_first() {
    let mut cluster = Cluster::settled(3, 1, 0);
    cluster.set_image("broken");
    cluster.step();
    cluster.observe(100);
    assert_eq!(cluster.sizes(), "3 1");
    cluster.set_image("3");
    // The broken Pod makes room for one of the third template, although 3 must be available.
    cluster.step();
    assert_eq!(cluster.sizes(), "3 0 0");
    cluster.observe(0);
    cluster.step();
    assert_eq!(cluster.sizes(), "3 1");
}

#[rstest]
#[case::up(3, 5)]
#[case::down(3, 1)]
#[case::to_zero(3, 0)]
#[case::from_zero(0, 2)]
fn scaling_without_a_rollout(#[case] from: i32, #[case] to: i32) {
    let mut cluster = Cluster::settled(from, 1, 1);
    cluster.set_replicas(to);
    assert_eq!(cluster.settle(), [to.to_string()]);
    assert_eq!(cluster.status(), ([Some(to); 3], "True"));
}

#[rstest]
#[case::up(20, "8 14")]
#[case::down(5, "3 4")]
#[case::to_zero(0, "0")]
fn scaling_during_a_rollout(#[case] to: i32, #[case] expect: &str) {
    let mut cluster = Cluster::settled(10, 2, 2);
    cluster.set_image("2");
    for _ in 0..3 {
        cluster.step();
        cluster.observe(100);
    }
    assert_eq!(cluster.sizes(), "8 4");
    cluster.set_replicas(to);
    while cluster.step() {
        cluster.observe(100);
    }
    assert_eq!(cluster.sizes(), expect);
}

/// The template changes back before the rollout has ended: the set that has it grows again.
#[test]
fn set_with_the_template_is_reused() {
    let mut cluster = Cluster::settled(2, 1, 0);
    cluster.set_image("2");
    cluster.step();
    cluster.observe(100);
    cluster.set_image("1");
    cluster.settle();
    assert_eq!((cluster.sizes().as_str(), cluster.created), ("2", 2));
}

#[test]
fn too_few_available_pods_are_in_the_status() {
    let mut cluster = Cluster::settled(2, 1, 0);
    cluster.observe(1);
    assert!(!cluster.step(), "a lost Pod is no rollout");
    assert_eq!(cluster.status(), ([Some(2), Some(2), Some(1)], "False"));
}

#[test]
fn deleted_deployment_only_reports_its_status() {
    let mut cluster = Cluster::settled(2, 1, 0);
    cluster.set_image("2");
    cluster.deployment.metadata.deletion_timestamp = Some(Time(Timestamp::UNIX_EPOCH));
    assert!(!cluster.step());
    assert_eq!(cluster.status(), ([Some(2), Some(0), Some(2)], "True"));
}

/// Maximum number of Pods, and minimum number of available ones.
#[rstest]
#[case::default(10, json!(null), (13, 8))]
#[case::numbers(10, json!({"maxSurge": 1, "maxUnavailable": 4}), (11, 6))]
#[case::percentages(3, json!({"maxSurge": "50%", "maxUnavailable": "50%"}), (5, 2))]
#[case::of_one(1, json!(null), (2, 1))]
#[case::both_zero(3, json!({"maxSurge": 0, "maxUnavailable": "10%"}), (3, 2))]
#[case::more_than_there_are(2, json!({"maxSurge": 0, "maxUnavailable": 5}), (2, 0))]
#[case::none(0, json!(null), (0, 0))]
fn limits_of_strategies(#[case] replicas: i32, #[case] rolling: Value, #[case] expect: (i32, i32)) {
    let strategy = json!({"rollingUpdate": rolling});
    let spec = json!({"replicas": replicas, "strategy": strategy, "selector": {}, "template": {}});
    let limits = Limits::of(&serde_json::from_value(spec).unwrap());
    assert_eq!((limits.most, limits.least_available), expect);
}

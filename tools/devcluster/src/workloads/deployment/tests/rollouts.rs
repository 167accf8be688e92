//! Steps of rollouts, scaling and history.

use super::*;

#[test]
fn first_plan_creates_a_set_of_full_size() {
    let cluster = Cluster::rolling(3, 1, 1);
    let Plan { changes, status, revision } = cluster.plan();
    let [Change::Create(set)] = changes.as_slice() else { panic!("{changes:?}") };
    assert_eq!((replicas(set), revision.as_deref()), (3, Some("1")));
    let hash = &set.metadata.labels.as_ref().unwrap()[HASH_LABEL];
    assert_eq!(name_of(set), format!("web-{hash}"));
    let spec = set.spec.as_ref().unwrap();
    let selector = spec.selector.match_labels.as_ref().unwrap();
    let labels = spec.template.as_ref().unwrap().metadata.as_ref().unwrap().labels.as_ref().unwrap();
    assert_eq!((&selector[HASH_LABEL], &labels[HASH_LABEL], &selector["app"]), (hash, hash, &"web".to_owned()));
    let owner = &set.metadata.owner_references.as_ref().unwrap()[0];
    assert_eq!((owner.kind.as_str(), owner.uid.as_str(), owner.controller), ("Deployment", "d", Some(true)));
    assert_eq!((status.unavailable_replicas, status.observed_generation), (Some(3), Some(1)));
}

/// Each step: sizes of the old and the new set, while all Pods become available between the steps.
#[rstest]
#[case::surge(4, 1, 0, &["4 1", "3 1", "3 2", "2 2", "2 3", "1 3", "1 4", "0 4"])]
#[case::unavailable(4, 0, 1, &["3 0", "3 1", "2 1", "2 2", "1 2", "1 3", "0 3", "0 4"])]
#[case::both(4, 1, 1, &["4 1", "2 1", "2 3", "0 3", "0 4"])]
#[case::all_at_once(3, 3, 0, &["3 3", "0 3"])]
#[case::one(1, 1, 0, &["1 1", "0 1"])]
fn steps_of_a_rolling_update(
    #[case] replicas: i32,
    #[case] surge: i32,
    #[case] unavailable: i32,
    #[case] expect: &[&str],
) {
    let mut cluster = Cluster::rolling(replicas, surge, unavailable);
    cluster.settle();
    cluster.set_image("2");
    let mut steps = Vec::new();
    while cluster.step() {
        steps.push(cluster.sizes());
        cluster.observe(0);
        assert!(steps.len() < 100, "{steps:?}");
    }
    assert_eq!(steps, expect);
    assert_eq!(cluster.progress(), "True NewReplicaSetAvailable");
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
    let mut cluster = Cluster::rolling(wanted, surge, unavailable);
    cluster.settle();
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
    let is_complete = cluster.progress() == "True NewReplicaSetAvailable";
    assert_eq!(is_complete, pending == 0, "{} {}", cluster.progress(), cluster.sizes());
}

#[test]
fn unavailable_old_pods_go_first() {
    let mut cluster = Cluster::rolling(3, 1, 0);
    cluster.settle();
    cluster.set_image("broken");
    cluster.step();
    cluster.observe(100);
    assert_eq!(cluster.sizes(), "3 1");
    cluster.set_image("3");
    cluster.step();
    // The broken Pod makes room for one of the third revision, although 3 must be available.
    assert_eq!(cluster.sizes(), "3 0 0");
    cluster.observe(0);
    cluster.step();
    assert_eq!(cluster.sizes(), "3 0 1");
}

#[rstest]
#[case::up(3, 5, "5")]
#[case::down(3, 1, "1")]
#[case::to_zero(3, 0, "0")]
#[case::from_zero(0, 2, "2")]
fn scaling_without_a_rollout(#[case] from: i32, #[case] to: i32, #[case] expect: &str) {
    let mut cluster = Cluster::rolling(from, 1, 1);
    cluster.settle();
    cluster.change(&json!({"replicas": to}));
    cluster.settle();
    assert_eq!(cluster.sizes(), expect);
    assert_eq!(cluster.deployment.status.as_ref().unwrap().replicas.unwrap_or_default(), to);
    assert_eq!(cluster.condition("Available"), "True MinimumReplicasAvailable");
}

#[rstest]
#[case::up(20, "8 14")]
#[case::down(5, "3 4")]
#[case::to_zero(0, "0 0")]
fn scaling_during_a_rollout(#[case] to: i32, #[case] expect: &str) {
    let mut cluster = Cluster::rolling(10, 2, 2);
    cluster.settle();
    cluster.set_image("2");
    for _ in 0..3 {
        cluster.step();
        cluster.observe(100);
    }
    assert_eq!(cluster.sizes(), "8 4");
    cluster.change(&json!({"replicas": to}));
    while cluster.step() {
        cluster.observe(100);
    }
    assert_eq!(cluster.sizes(), expect);
}

#[test]
fn recreate_waits_until_the_old_pods_are_gone() {
    let mut cluster = Cluster::new(2, &json!({"type": "Recreate"}));
    cluster.settle();
    assert_eq!(cluster.sizes(), "2");
    let owner = json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-1", "uid": "1", "controller": true});
    let meta = json!({"name": "p", "namespace": "shop", "ownerReferences": [owner]});
    let pod = |phase: &str| -> Arc<Pod> {
        Arc::new(serde_json::from_value(json!({"metadata": meta, "status": {"phase": phase}})).unwrap())
    };
    cluster.pods = vec![pod("Running")];
    cluster.set_image("2");
    cluster.step();
    assert_eq!(cluster.sizes(), "0");
    cluster.observe(0);
    assert!(!cluster.step(), "a Pod is still running: {}", cluster.sizes());
    cluster.pods = vec![pod("Succeeded")];
    cluster.step();
    assert_eq!(cluster.sizes(), "0 2");
    cluster.pods.clear();
    cluster.settle();
    assert_eq!((cluster.sizes().as_str(), cluster.progress().as_str()), ("0 2", "True NewReplicaSetAvailable"));
}

#[test]
fn paused_rollouts_are_scaled_and_not_continued() {
    let mut cluster = Cluster::rolling(2, 1, 0);
    cluster.settle();
    cluster.change(&json!({"paused": true}));
    cluster.set_image("2");
    cluster.settle();
    assert_eq!((cluster.sizes().as_str(), cluster.progress().as_str()), ("2", "Unknown DeploymentPaused"));
    cluster.change(&json!({"replicas": 4}));
    cluster.settle();
    assert_eq!(cluster.sizes(), "4");
    cluster.change(&json!({"paused": false}));
    cluster.step();
    assert_eq!(cluster.progress(), "True ReplicaSetUpdated");
    cluster.observe(0);
    cluster.settle();
    assert_eq!((cluster.sizes().as_str(), cluster.progress().as_str()), ("0 4", "True NewReplicaSetAvailable"));
}

#[test]
fn rollback_reuses_the_set_and_raises_its_revision() {
    let mut cluster = Cluster::rolling(1, 1, 0);
    cluster.settle();
    cluster.set_image("2");
    cluster.settle();
    cluster.set_image("1");
    cluster.settle();
    assert_eq!(cluster.sizes(), "1 0");
    assert_eq!(cluster.sets.iter().map(|set| revision_of(set)).collect::<Vec<_>>(), [3, 2]);
    let own = cluster.deployment.metadata.annotations.as_ref().unwrap();
    assert_eq!(own["deployment.kubernetes.io/revision"], "3");
}

#[test]
fn annotations_are_handed_down_except_those_of_the_deployment() {
    let mut cluster = Cluster::rolling(1, 1, 0);
    let annotations = cluster.deployment.metadata.annotations.get_or_insert_default();
    annotations.insert("kubernetes.io/change-cause".to_owned(), "first".to_owned());
    annotations.insert("kubectl.kubernetes.io/last-applied-configuration".to_owned(), "{}".to_owned());
    cluster.settle();
    let annotations = cluster.sets[0].metadata.annotations.as_ref().unwrap();
    assert_eq!(annotations["kubernetes.io/change-cause"], "first");
    assert!(!annotations.contains_key("kubectl.kubernetes.io/last-applied-configuration"), "{annotations:?}");
}

#[rstest]
#[case::none(0, 1)]
#[case::two(2, 3)]
#[case::all(10, 5)]
fn history_is_limited(#[case] limit: i32, #[case] expect: usize) {
    let mut cluster = Cluster::rolling(1, 1, 0);
    cluster.change(&json!({"revisionHistoryLimit": limit}));
    for image in ["1", "2", "3", "4", "5"] {
        cluster.set_image(image);
        cluster.settle();
    }
    assert_eq!(cluster.sets.len(), expect, "{}", cluster.sizes());
    let newest = cluster.sets.iter().map(|set| revision_of(set)).max();
    assert_eq!(newest, Some(5));
    assert_eq!(cluster.sets.iter().map(|set| actual(set)).sum::<i32>(), 1);
}

#[test]
fn conditions_follow_the_pods() {
    let mut cluster = Cluster::rolling(1, 1, 0);
    cluster.step();
    cluster.observe(100);
    cluster.step();
    assert_eq!(cluster.progress(), "True ReplicaSetUpdated");
    assert_eq!(cluster.condition("Available"), "False MinimumReplicasUnavailable");
    cluster.observe(0);
    cluster.step();
    assert_eq!(cluster.progress(), "True NewReplicaSetAvailable");
    cluster.observe(100);
    cluster.step();
    assert_eq!(cluster.progress(), "True NewReplicaSetAvailable", "a lost Pod is no rollout");
}

#[test]
fn deleted_deployment_only_reports_its_status() {
    let mut cluster = Cluster::rolling(2, 1, 0);
    cluster.settle();
    cluster.set_image("2");
    cluster.deployment.metadata.deletion_timestamp = Some(k8s_openapi::apimachinery::pkg::apis::meta::v1::Time(START));
    let Plan { changes, status, revision } = cluster.plan();
    assert_eq!((changes.len(), revision), (0, None));
    assert_eq!(status, DeploymentStatus { updated_replicas: None, ..status.clone() });
}

#[test]
fn complete_deployment_is_left_alone() {
    let mut cluster = Cluster::rolling(3, 1, 1);
    cluster.settle();
    let Plan { changes, status, revision } = cluster.plan();
    assert_eq!((changes, revision), (Vec::new(), None));
    assert_eq!(Some(status), cluster.deployment.status);
}

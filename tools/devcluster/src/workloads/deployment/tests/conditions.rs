//! Conditions, and Deployments that are left alone.

use super::*;

#[test]
fn rollout_without_progress_times_out() {
    let mut cluster = Cluster::rolling(1, 1, 0);
    cluster.step();
    cluster.observe(100);
    cluster.step();
    assert_eq!(cluster.progress(), "True ReplicaSetUpdated");
    cluster.now += SignedDuration::from_secs(599);
    cluster.step();
    assert_eq!(cluster.progress(), "True ReplicaSetUpdated");
    assert_eq!(cluster.plan().wake.unwrap().as_secs(), 1);
    cluster.now += SignedDuration::from_secs(1);
    cluster.step();
    assert_eq!(cluster.progress(), "False ProgressDeadlineExceeded");
    assert_eq!(cluster.plan().wake, None);
    assert_eq!(cluster.condition("Available"), "False MinimumReplicasUnavailable");
    cluster.observe(0);
    cluster.step();
    assert_eq!(cluster.progress(), "True NewReplicaSetAvailable");
}

#[test]
fn failures_of_sets_are_copied_and_removed() {
    let mut cluster = Cluster::rolling(1, 1, 0);
    cluster.step();
    let failure = json!([{"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": "no"}]);
    let failed = json!({"replicas": 0, "conditions": failure});
    Arc::make_mut(&mut cluster.sets[0]).status = Some(serde_json::from_value(failed).unwrap());
    cluster.step();
    assert_eq!(cluster.condition("ReplicaFailure"), "True FailedCreate");
    cluster.observe(0);
    cluster.step();
    assert_eq!(cluster.condition("ReplicaFailure"), "-");
}

#[test]
fn deleted_deployment_only_reports_its_status() {
    let mut cluster = Cluster::rolling(2, 1, 0);
    cluster.settle();
    cluster.set_image("2");
    cluster.deployment.metadata.deletion_timestamp = Some(k8s_openapi::apimachinery::pkg::apis::meta::v1::Time(START));
    let Plan { changes, status, revision, wake } = cluster.plan();
    assert_eq!((changes.len(), revision, wake), (0, None, None));
    assert_eq!(status, DeploymentStatus { updated_replicas: None, ..status.clone() });
}

#[test]
fn complete_deployment_is_left_alone() {
    let mut cluster = Cluster::rolling(3, 1, 1);
    cluster.settle();
    let Plan { changes, status, revision, wake } = cluster.plan();
    assert_eq!((changes, revision, wake), (Vec::new(), None, None));
    assert_eq!(Some(status), cluster.deployment.status);
}

//! Deletion: grace periods, finalizers, preconditions.

use rstest::rstest;

use super::*;

#[test]
fn scheduled_pod_is_deleted_after_its_grace_period() {
    let mut store = TestStore::new();
    let created = store.create("pods", pod_on("p", "n"));
    let deleted = store.delete("pods", "p", None);
    assert!(!deleted.removed);
    let meta = &store.get("pods", "p").unwrap()["metadata"];
    assert_eq!(meta["deletionTimestamp"], "2027-01-15T08:00:30Z");
    assert_eq!((&meta["deletionGracePeriodSeconds"], &meta["generation"]), (&json!(30), &json!(2)));

    // A longer grace period changes nothing, a shorter one counts from the start of the deletion.
    store.advance(3);
    store.delete("pods", "p", None);
    store.delete("pods", "p", Some(60));
    store.delete("pods", "p", Some(10));
    let meta = &store.get("pods", "p").unwrap()["metadata"];
    assert_eq!(meta["deletionTimestamp"], "2027-01-15T08:00:10Z");
    assert!(store.delete("pods", "p", Some(0)).removed);
    assert_eq!(store.get("pods", "p"), None);
    let start = revision(&created);
    let expect = ["Added p", "Modified p", "Modified p", "Modified p", "Deleted p"];
    let expect: Vec<String> = (start..).zip(expect).map(|(revision, change)| format!("{change} {revision}")).collect();
    assert_eq!(store.changes("pods", 0), expect);
}

#[rstest]
#[case::no_node(pod("p"), None, None)]
#[case::no_grace(pod_on("p", "n"), None, Some(0))]
#[case::ended(pod_on("p", "n"), Some("Succeeded"), None)]
#[case::failed(pod_on("p", "n"), Some("Failed"), Some(30))]
fn unscheduled_and_finished_pods_are_deleted_at_once(
    #[case] pod: Value,
    #[case] phase: Option<&str>,
    #[case] grace: Option<i64>,
) {
    let mut store = TestStore::new();
    store.create("pods", pod);
    if let Some(phase) = phase {
        store.merge_status("pods", "p", json!({"phase": phase}));
    }
    assert!(store.delete("pods", "p", grace).removed);
    assert_eq!(store.get("pods", "p"), None);
}

#[test]
fn finalizers_delay_the_removal() {
    let mut store = TestStore::new();
    store.create("configmaps", json!({"metadata": {"name": "a", "finalizers": ["example.com/wait"]}}));
    for _ in 0..2 {
        assert!(!store.delete("configmaps", "a", None).removed);
    }
    let error = store
        .try_merge(
            "configmaps",
            "a",
            json!({"metadata": {"finalizers": ["example.com/wait", "example.com/b"]}}),
            Part::Main,
        )
        .unwrap_err();
    assert!(error.to_string().contains("no new finalizers can be added"), "{error}");
    let answer = store.merge("configmaps", "a", json!({"metadata": {"finalizers": null}}));
    assert!(answer["metadata"].get("finalizers").is_none(), "the updated object: {answer}");
    assert_eq!(store.get("configmaps", "a"), None);
    let names: Vec<String> = store.changes("configmaps", 0).iter().map(|it| it[..7].to_owned()).collect();
    assert_eq!(names, ["Added a", "Modifie", "Deleted"]);
}

#[test]
fn finalizers_delay_the_removal_of_cluster_scoped_objects() {
    let mut store = TestStore::new();
    store.create("nodes", json!({"metadata": {"name": "n", "finalizers": ["example.com/wait"]}}));
    assert!(!store.delete("nodes", "n", None).removed);
    store.merge("nodes", "n", json!({"metadata": {"finalizers": []}}));
    assert_eq!(store.get("nodes", "n"), None);
}

#[test]
fn failed_preconditions_are_conflicts() {
    let mut store = TestStore::new();
    let object = store.create("configmaps", json!({"metadata": {"name": "a"}}));
    let uid = object["metadata"]["uid"].as_str().map(str::to_owned);
    for wrong in [
        DeleteOptions { uid: Some("other".to_owned()), ..DeleteOptions::default() },
        DeleteOptions { resource_version: Some("1".to_owned()), ..DeleteOptions::default() },
    ] {
        assert_eq!(store.try_delete("configmaps", "a", &wrong).unwrap_err().code, 409);
    }
    assert!(store.try_delete("configmaps", "a", &DeleteOptions { uid, ..DeleteOptions::default() }).unwrap().removed);
}

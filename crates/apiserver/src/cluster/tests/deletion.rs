//! Deletion: grace periods, finalizers, preconditions.

use rstest::rstest;

use super::*;

#[test]
fn a_pod_on_a_node_goes_with_grace() {
    let mut world = World::new();
    let created = world.create("pods", pod_on("p", "n"));
    let deleted = world.delete("pods", "p", None);
    assert!(!deleted.gone);
    let meta = &world.get("pods", "p").unwrap()["metadata"];
    assert_eq!(meta["deletionTimestamp"], "2027-01-15T08:00:30Z");
    assert_eq!((&meta["deletionGracePeriodSeconds"], &meta["generation"]), (&json!(30), &json!(2)));

    // A longer grace period changes nothing, a shorter one counts from the start of the deletion.
    world.advance(3);
    world.delete("pods", "p", Some(60));
    world.delete("pods", "p", Some(10));
    let meta = &world.get("pods", "p").unwrap()["metadata"];
    assert_eq!(meta["deletionTimestamp"], "2027-01-15T08:00:10Z");
    assert!(world.delete("pods", "p", Some(0)).gone);
    assert_eq!(world.get("pods", "p"), None);
    let start = revision(&created);
    let expect = ["Added p", "Modified p", "Modified p", "Modified p", "Deleted p"];
    let expect: Vec<String> = (start..).zip(expect).map(|(revision, change)| format!("{change} {revision}")).collect();
    assert_eq!(world.changes("pods", 0), expect);
}

#[rstest]
#[case::no_node(pod("p"), None, None)]
#[case::no_grace(pod_on("p", "n"), None, Some(0))]
#[case::ended(pod_on("p", "n"), Some("Succeeded"), None)]
#[case::failed(pod_on("p", "n"), Some("Failed"), Some(30))]
fn other_pods_go_at_once(#[case] pod: Value, #[case] phase: Option<&str>, #[case] grace: Option<i64>) {
    let mut world = World::new();
    world.create("pods", pod);
    if let Some(phase) = phase {
        world.merge_status("pods", "p", json!({"phase": phase}));
    }
    assert!(world.delete("pods", "p", grace).gone);
    assert_eq!(world.get("pods", "p"), None);
}

#[test]
fn finalizers_hold_an_object_back() {
    let mut world = World::new();
    world.create("configmaps", json!({"metadata": {"name": "a", "finalizers": ["example.com/wait"]}}));
    assert!(!world.delete("configmaps", "a", None).gone);
    let error = world
        .try_merge(
            "configmaps",
            "a",
            json!({"metadata": {"finalizers": ["example.com/wait", "example.com/b"]}}),
            Part::Main,
        )
        .unwrap_err();
    assert!(error.to_string().contains("no new finalizers can be added"), "{error}");
    world.merge("configmaps", "a", json!({"metadata": {"finalizers": null}}));
    assert_eq!(world.get("configmaps", "a"), None);
    let names: Vec<String> = world.changes("configmaps", 0).iter().map(|it| it[..7].to_owned()).collect();
    assert_eq!(names, ["Added a", "Modifie", "Deleted"]);
}

#[test]
fn a_cluster_scoped_object_waits_for_finalizers_too() {
    let mut world = World::new();
    world.create("nodes", json!({"metadata": {"name": "n", "finalizers": ["example.com/wait"]}}));
    assert!(!world.delete("nodes", "n", None).gone);
    world.merge("nodes", "n", json!({"metadata": {"finalizers": []}}));
    assert_eq!(world.get("nodes", "n"), None);
}

#[test]
fn preconditions() {
    let mut world = World::new();
    let object = world.create("configmaps", json!({"metadata": {"name": "a"}}));
    let uid = object["metadata"]["uid"].as_str().map(str::to_owned);
    for wrong in [
        DeleteOptions { uid: Some("other".to_owned()), ..DeleteOptions::default() },
        DeleteOptions { resource_version: Some("1".to_owned()), ..DeleteOptions::default() },
    ] {
        assert_eq!(world.try_delete("configmaps", "a", &wrong).unwrap_err().code, 409);
    }
    assert!(world.try_delete("configmaps", "a", &DeleteOptions { uid, ..DeleteOptions::default() }).unwrap().gone);
}

#[test]
fn the_event_of_a_deletion_has_a_version_of_its_own() {
    let mut world = World::new();
    let object = world.create("configmaps", json!({"metadata": {"name": "a"}}));
    let deleted = world.delete("configmaps", "a", None);
    assert_eq!(deleted.object.revision, revision(&object) + 1);
    assert_eq!(revision(&deleted.object.value().unwrap()), revision(&object) + 1);
}

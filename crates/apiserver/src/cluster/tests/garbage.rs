//! Garbage collection of dependents.

use super::super::Propagation;
use super::*;

fn store() -> TestStore {
    let mut store = TestStore::new();
    store.cluster.collects_garbage = true;
    store
}

/// Creates a `ConfigMap` with these owners.
fn owned(store: &mut TestStore, name: &str, owners: &[&Value]) -> Value {
    let references: Vec<Value> = owners
        .iter()
        .map(|owner| {
            json!({
                "apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": owner["metadata"]["name"],
                "uid": owner["metadata"]["uid"], "blockOwnerDeletion": true
            })
        })
        .collect();
    store.create("configmaps", json!({"metadata": {"name": name, "ownerReferences": references}}))
}

fn delete(store: &mut TestStore, plural: &str, name: &str, propagation: Propagation) {
    let options = DeleteOptions { propagation, ..DeleteOptions::default() };
    store.try_delete(plural, name, &options).unwrap();
    store.cluster.collect_garbage(store.options()).unwrap();
}

#[test]
fn dependents_are_deleted_transitively() {
    let mut store = store();
    let a = store.create("configmaps", json!({"metadata": {"name": "a"}}));
    let b = owned(&mut store, "b", &[&a]);
    owned(&mut store, "c", &[&b]);
    delete(&mut store, "configmaps", "a", Propagation::Background);
    assert_eq!((store.get("configmaps", "b"), store.get("configmaps", "c")), (None, None));
    let revision = store.cluster.revision();
    assert_eq!(
        store.changes("configmaps", revision - 3),
        [format!("Deleted a {}", revision - 2), format!("Deleted b {}", revision - 1), format!("Deleted c {revision}")]
    );
}

#[test]
fn dependent_with_another_owner_is_kept() {
    let mut store = store();
    let a = store.create("configmaps", json!({"metadata": {"name": "a"}}));
    let b = store.create("services", service("b", json!({})));
    owned(&mut store, "c", &[&a, &b]);
    delete(&mut store, "configmaps", "a", Propagation::Background);
    let left = store.get("configmaps", "c").unwrap();
    assert_eq!(left["metadata"]["ownerReferences"].as_array().unwrap().len(), 1);
    delete(&mut store, "services", "b", Propagation::Background);
    assert_eq!(store.get("configmaps", "c"), None);
}

#[test]
fn orphans_are_kept_without_the_owner_reference() {
    let mut store = store();
    let a = store.create("configmaps", json!({"metadata": {"name": "a"}}));
    owned(&mut store, "b", &[&a]);
    delete(&mut store, "configmaps", "a", Propagation::Orphan);
    assert_eq!(store.get("configmaps", "a"), None);
    assert_eq!(store.get("configmaps", "b").unwrap()["metadata"].get("ownerReferences"), None);
}

#[test]
fn foreground_deletion_removes_the_owner_last() {
    let mut store = store();
    let a = store.create("configmaps", json!({"metadata": {"name": "a"}}));
    owned(&mut store, "b", &[&a]);
    store.merge("configmaps", "b", json!({"metadata": {"finalizers": ["example.com/wait"]}}));
    delete(&mut store, "configmaps", "a", Propagation::Foreground);
    let waiting = store.get("configmaps", "a").unwrap();
    assert_eq!(waiting["metadata"]["finalizers"], json!(["foregroundDeletion"]));
    assert!(waiting["metadata"]["deletionTimestamp"].is_string());
    store.merge("configmaps", "b", json!({"metadata": {"finalizers": null}}));
    store.cluster.collect_garbage(store.options()).unwrap();
    assert_eq!((store.get("configmaps", "a"), store.get("configmaps", "b")), (None, None));
}

#[test]
fn foreground_deletion_marks_the_owner_in_one_write() {
    let mut store = store();
    let options = DeleteOptions { propagation: Propagation::Foreground, ..DeleteOptions::default() };
    let slice = store.create("endpointslices", slice("a", json!([])));
    let created = revision(&slice);
    owned(&mut store, "b", &[&slice]);
    store.merge("configmaps", "b", json!({"metadata": {"finalizers": ["example.com/wait"]}}));
    let before = store.cluster.revision();
    let deleted = store.try_delete("endpointslices", "a", &options).unwrap();
    assert!(!deleted.removed);
    assert_eq!(store.changes("endpointslices", created), [format!("Modified a {}", before + 1)]);
    let meta = &store.get("endpointslices", "a").unwrap()["metadata"];
    assert_eq!((&meta["generation"], &meta["deletionGracePeriodSeconds"]), (&json!(2), &json!(0)));
    assert_eq!(meta["finalizers"], json!(["foregroundDeletion"]));
}

#[test]
fn garbage_collection_is_off_by_default() {
    let mut store = TestStore::new();
    let a = store.create("configmaps", json!({"metadata": {"name": "a"}}));
    owned(&mut store, "b", &[&a]);
    delete(&mut store, "configmaps", "a", Propagation::Foreground);
    assert_eq!(store.get("configmaps", "a"), None);
    assert!(store.get("configmaps", "b").is_some());
}

// A controller with a stale cache creates dependents of a deleted owner. A real garbage collector looks the owner up.
#[test]
fn dependent_created_after_its_owner_was_deleted_is_deleted() {
    let mut store = store();
    let a = store.create("configmaps", json!({"metadata": {"name": "a"}}));
    delete(&mut store, "configmaps", "a", Propagation::Background);
    owned(&mut store, "late", &[&a]);
    store.cluster.collect_garbage(store.options()).unwrap();
    assert_eq!(store.get("configmaps", "late"), None);
    let never = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x", "uid": "none"}});
    owned(&mut store, "kept", &[&never]);
    store.cluster.collect_garbage(store.options()).unwrap();
    assert!(store.get("configmaps", "kept").is_some());
}

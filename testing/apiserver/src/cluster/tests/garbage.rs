//! Garbage collection of dependents.

use rstest::rstest;

use super::*;

fn store() -> TestStore {
    let mut store = TestStore::new();
    store.cluster.config.garbage_collection = true;
    store
}

fn owned(store: &mut TestStore, name: &str, owners: &[&Value]) -> Value {
    let references: Vec<Value> = owners.iter().map(|owner| reference_to(owner)).collect();
    store.create("configmaps", json!({"metadata": {"name": name, "ownerReferences": references}}))
}

fn delete(store: &mut TestStore, plural: &str, name: &str) {
    store.try_delete(plural, name, &DeleteOptions::default()).unwrap();
    collect(store);
}

fn collect(store: &mut TestStore) {
    let options = store.options();
    store.cluster.collect_garbage(options);
}

fn reference_to(owner: &Value) -> Value {
    json!({
        "apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"]
    })
}

#[test]
fn dependents_are_deleted_transitively() {
    let mut store = store();
    let a = store.create("configmaps", json!({"metadata": {"name": "a"}}));
    let b = owned(&mut store, "b", &[&a]);
    owned(&mut store, "c", &[&b]);
    collect(&mut store);
    assert!(store.get("configmaps", "c").is_some());
    delete(&mut store, "configmaps", "a");
    assert_eq!((store.get("configmaps", "b"), store.get("configmaps", "c")), (None, None));
}

#[test]
fn dependent_is_kept_until_its_last_owner_is_deleted() {
    let mut store = store();
    let a = store.create("configmaps", json!({"metadata": {"name": "a"}}));
    let b = store.create("services", service("b", json!({})));
    owned(&mut store, "c", &[&a, &b]);
    delete(&mut store, "configmaps", "a");
    assert!(store.get("configmaps", "c").is_some());
    delete(&mut store, "services", "b");
    assert_eq!(store.get("configmaps", "c"), None);
}

#[test]
fn foreground_deletion_removes_the_owner_last() {
    let mut store = store();
    let a = store.create("configmaps", json!({"metadata": {"name": "a"}}));
    owned(&mut store, "b", &[&a]);
    store.merge("configmaps", "b", json!({"metadata": {"finalizers": ["example.com/wait"]}}));
    let options = DeleteOptions { foreground: true, ..DeleteOptions::default() };
    store.try_delete("configmaps", "a", &options).unwrap();
    collect(&mut store);
    let waiting = store.get("configmaps", "a").unwrap();
    assert_eq!(waiting["metadata"]["finalizers"], json!(["foregroundDeletion"]));
    assert!(waiting["metadata"]["deletionTimestamp"].is_string());
    store.merge("configmaps", "b", json!({"metadata": {"finalizers": null}}));
    collect(&mut store);
    assert_eq!((store.get("configmaps", "a"), store.get("configmaps", "b")), (None, None));
}

#[test]
fn garbage_collection_is_off_by_default() {
    let mut store = TestStore::new();
    let a = store.create("configmaps", json!({"metadata": {"name": "a"}}));
    owned(&mut store, "b", &[&a]);
    delete(&mut store, "configmaps", "a");
    assert!(store.get("configmaps", "b").is_some());
}

/// A controller with a stale cache creates dependents of a deleted owner. A real garbage collector looks the owner up.
#[rstest]
#[case::never_existed(json!({"uid": "other"}), false)]
#[case::kind_is_not_served(json!({"kind": "Widget", "apiVersion": "example.com/v1"}), true)]
#[case::exists(json!({}), true)]
fn owners_of_new_objects_are_looked_up(#[case] change: Value, #[case] stays: bool) {
    let mut store = store();
    let a = store.create("configmaps", json!({"metadata": {"name": "a"}}));
    let mut reference = reference_to(&a);
    json_patch::merge(&mut reference, &change);
    store.create("configmaps", json!({"metadata": {"name": "b", "ownerReferences": [reference]}}));
    collect(&mut store);
    assert_eq!(store.get("configmaps", "b").is_some(), stays);
}

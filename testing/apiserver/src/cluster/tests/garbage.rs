//! Garbage collection of dependents.

use rstest::rstest;

use super::super::Propagation;
use super::*;

fn store() -> TestStore {
    let mut store = TestStore::new();
    store.cluster.collects_garbage = true;
    store
}

/// Creates a `ConfigMap` with these owners.
fn owned(store: &mut TestStore, name: &str, owners: &[&Value]) -> Value {
    let references: Vec<Value> = owners.iter().map(|owner| reference_to(owner)).collect();
    store.create("configmaps", json!({"metadata": {"name": name, "ownerReferences": references}}))
}

fn delete(store: &mut TestStore, plural: &str, name: &str, propagation: Propagation) {
    let options = DeleteOptions { propagation, ..DeleteOptions::default() };
    store.try_delete(plural, name, &options).unwrap();
    collect(store);
}

fn collect(store: &mut TestStore) {
    let options = store.options();
    store.cluster.collect_garbage(options);
}

/// Returns a reference to an object that blocks its deletion in foreground.
fn reference_to(owner: &Value) -> Value {
    json!({
        "apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"], "blockOwnerDeletion": true
    })
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
    collect(&mut store);
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
    collect(&mut store);
    assert_eq!(store.get("configmaps", "late"), None);
}

fn absent(kind: &str) -> Value {
    json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": "x", "uid": "none"}})
}

/// Creates a namespace and an object in it, which is the owner of objects in the namespace `default`.
fn elsewhere(store: &mut TestStore) -> Value {
    store.create("namespaces", json!({"metadata": {"name": "other"}}));
    let kind = store.kind("configmaps");
    let options = store.options();
    let body = json!({"metadata": {"name": "owner"}});
    store.cluster.create(&kind, "other", body, options).unwrap().object.value().unwrap()
}

/// Returns reason, object and message of each stored event.
fn events(store: &TestStore) -> Vec<String> {
    let events = store.cluster.list(&store.kind("events"), None);
    let show = |event: Value| {
        let involved = &event["involvedObject"];
        let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
        let namespace = text(&event["metadata"]["namespace"]);
        let about = format!("{} {}/{}", text(&involved["kind"]), text(&involved["namespace"]), text(&involved["name"]));
        format!("{namespace}: {} {about}: {}", text(&event["reason"]), text(&event["message"]))
    };
    events.iter().map(|event| show(event.value().unwrap())).collect()
}

// Each owner is what a reference of the dependent names. As upstream, a dependent is deleted if all its owners are known not
// to exist, and it loses the references to those that do not if another exists.
#[rstest]
#[case::never_existed(&["absent"], None)]
#[case::never_existed_beside_an_owner(&["absent", "here"], Some(1))]
#[case::other_uid(&["other uid"], None)]
#[case::in_another_namespace(&["elsewhere"], None)]
#[case::in_another_namespace_beside_an_owner(&["elsewhere", "here"], Some(1))]
#[case::absent_and_cluster_scoped(&["absent node"], None)]
#[case::cluster_scoped(&["node"], Some(1))]
#[case::unknown_kind(&["unknown kind"], Some(1))]
#[case::unknown_kind_beside_an_absent_owner(&["absent", "unknown kind"], Some(2))]
#[case::none(&[], Some(0))]
fn owners_are_looked_up(#[case] owners: &[&str], #[case] references: Option<usize>) {
    let mut store = store();
    let here = store.create("services", service("here", json!({})));
    let mut other_uid = here.clone();
    other_uid["metadata"]["uid"] = json!("none");
    let elsewhere = elsewhere(&mut store);
    let node = store.create("nodes", json!({"metadata": {"name": "n"}}));
    let owner = |name: &&str| match *name {
        "here" => here.clone(),
        "other uid" => other_uid.clone(),
        "elsewhere" => elsewhere.clone(),
        "node" => node.clone(),
        "absent node" => absent("Node"),
        "unknown kind" => absent("Unknown"),
        _ => absent("ConfigMap"),
    };
    let owners: Vec<Value> = owners.iter().map(owner).collect();
    owned(&mut store, "dependent", &owners.iter().collect::<Vec<_>>());
    collect(&mut store);
    let left = store.get("configmaps", "dependent");
    let count = left.map(|object| object["metadata"]["ownerReferences"].as_array().map_or(0, Vec::len));
    assert_eq!(count, references);
}

#[rstest]
#[case::added_by_an_update("configmaps", json!({}))]
#[case::finalizer("configmaps", json!({"finalizers": ["example.com/wait"]}))]
fn added_references_are_checked(#[case] plural: &str, #[case] meta: Value) {
    let mut store = store();
    let mut meta = meta;
    meta["name"] = json!("a");
    store.create(plural, json!({"metadata": meta}));
    store.merge(plural, "a", json!({"metadata": {"ownerReferences": [reference_to(&absent("ConfigMap"))]}}));
    collect(&mut store);
    let left = store.get(plural, "a");
    assert_eq!(left.is_some(), !meta["finalizers"].is_null());
    assert!(left.is_none_or(|object| object["metadata"]["deletionTimestamp"].is_string()));
}

#[test]
fn owner_in_another_namespace_is_reported() {
    let mut store = store();
    let owner = elsewhere(&mut store);
    owned(&mut store, "dependent", &[&owner, &absent("ConfigMap")]);
    collect(&mut store);
    let uid = owner["metadata"]["uid"].as_str().unwrap();
    let expect = format!(
        "default: OwnerRefInvalidNamespace ConfigMap default/dependent: ownerRef [v1/ConfigMap, namespace: default, \
         name: owner, uid: {uid}] does not exist in namespace \"default\""
    );
    assert_eq!(events(&store), [expect]);
}

#[test]
fn cluster_scoped_object_with_a_namespaced_owner_is_kept() {
    let mut store = store();
    let owner = store.create("configmaps", json!({"metadata": {"name": "owner"}}));
    let references = json!([reference_to(&owner), reference_to(&absent("Node"))]);
    store.create("nodes", json!({"metadata": {"name": "n", "ownerReferences": references}}));
    collect(&mut store);
    delete(&mut store, "configmaps", "owner", Propagation::Background);
    let node = store.get("nodes", "n").unwrap();
    assert_eq!(node["metadata"]["ownerReferences"].as_array().unwrap().len(), 2);
    let uid = owner["metadata"]["uid"].as_str().unwrap();
    let expect = format!(
        "default: OwnerRefInvalidNamespace Node -/n: ownerRef [v1/ConfigMap, namespace: , name: owner, uid: {uid}] \
         does not exist in namespace \"\""
    );
    assert_eq!(events(&store), [expect]);
}

#[test]
fn events_are_never_collected() {
    let mut store = store();
    let references = [reference_to(&absent("ConfigMap"))];
    let involved = json!({"kind": "Pod", "name": "p", "namespace": "default"});
    store.create(
        "events",
        json!({"metadata": {"name": "e", "ownerReferences": references}, "involvedObject": involved}),
    );
    collect(&mut store);
    assert!(store.get("events", "e").is_some());
}

/// Creates `a`, its dependent `b`, and the dependent `c` of `b`, which has a finalizer and these fields in its reference.
fn chain(store: &mut TestStore, reference: Value) -> Value {
    let a = store.create("configmaps", json!({"metadata": {"name": "a"}}));
    let b = owned(store, "b", &[&a]);
    let mut to_b = reference_to(&b);
    to_b["blockOwnerDeletion"] = reference;
    let meta = json!({"name": "c", "ownerReferences": [to_b], "finalizers": ["example.com/wait"]});
    store.create("configmaps", json!({"metadata": meta}))
}

fn is_marked(store: &TestStore, name: &str) -> Option<bool> {
    store.get("configmaps", name).map(|object| object["metadata"]["deletionTimestamp"].is_string())
}

// Columns: whether `c` blocks the deletion of `b`; whether `a`, `b` and `c` are marked, or `None` if they are gone.
#[rstest]
#[case::blocking(json!(true), [Some(true), Some(true), Some(true)])]
#[case::not_blocking(json!(false), [None, None, Some(true)])]
fn dependents_with_dependents_are_deleted_in_foreground(#[case] blocks: Value, #[case] expect: [Option<bool>; 3]) {
    let mut store = store();
    chain(&mut store, blocks);
    delete(&mut store, "configmaps", "a", Propagation::Foreground);
    assert_eq!(["a", "b", "c"].map(|name| is_marked(&store, name)), expect);
    if let Some(b) = store.get("configmaps", "b") {
        assert_eq!(b["metadata"]["finalizers"], json!(["foregroundDeletion"]));
    }
    store.merge("configmaps", "c", json!({"metadata": {"finalizers": null}}));
    collect(&mut store);
    assert_eq!(["a", "b", "c"].map(|name| is_marked(&store, name)), [None; 3]);
}

// Deleting it would break what the other owner needs; keeping the reference would block the deletion for ever.
#[test]
fn foreground_deletion_leaves_a_dependent_to_its_other_owner() {
    let mut store = store();
    let a = store.create("configmaps", json!({"metadata": {"name": "a"}}));
    let other = store.create("services", service("other", json!({})));
    owned(&mut store, "b", &[&a, &other]);
    delete(&mut store, "configmaps", "a", Propagation::Foreground);
    assert_eq!(store.get("configmaps", "a"), None);
    assert_eq!(store.get("configmaps", "b").unwrap()["metadata"]["ownerReferences"], json!([reference_to(&other)]));
}

#[test]
fn foreground_deletion_waits_only_for_blocking_references() {
    let mut store = store();
    let a = store.create("configmaps", json!({"metadata": {"name": "a"}}));
    owned(&mut store, "b", &[&a]);
    store.merge("configmaps", "b", json!({"metadata": {"finalizers": ["example.com/wait"]}}));
    delete(&mut store, "configmaps", "a", Propagation::Foreground);
    assert_eq!(is_marked(&store, "a"), Some(true));
    let mut reference = reference_to(&a);
    reference["blockOwnerDeletion"] = json!(false);
    store.merge("configmaps", "b", json!({"metadata": {"ownerReferences": [reference]}}));
    collect(&mut store);
    assert_eq!((is_marked(&store, "a"), is_marked(&store, "b")), (None, Some(true)));
}

#[test]
fn cycle_of_owners_is_deleted_in_foreground() {
    let mut store = store();
    let a = store.create("configmaps", json!({"metadata": {"name": "a"}}));
    let b = owned(&mut store, "b", &[&a]);
    let c = owned(&mut store, "c", &[&b]);
    store.merge("configmaps", "a", json!({"metadata": {"ownerReferences": [reference_to(&c)]}}));
    delete(&mut store, "configmaps", "a", Propagation::Foreground);
    assert_eq!(["a", "b", "c"].map(|name| is_marked(&store, name)), [None; 3]);
}

#[test]
fn finalizer_orphan_keeps_the_dependents() {
    let mut store = store();
    let a = store.create("configmaps", json!({"metadata": {"name": "a", "finalizers": ["orphan"]}}));
    owned(&mut store, "b", &[&a]);
    delete(&mut store, "configmaps", "a", Propagation::Background);
    assert_eq!(store.get("configmaps", "a"), None);
    assert_eq!(store.get("configmaps", "b").unwrap()["metadata"].get("ownerReferences"), None);
}

fn define_widgets(store: &mut TestStore) {
    let version =
        json!({"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}});
    let names = json!({"plural": "widgets", "kind": "Widget"});
    let spec = json!({"group": "example.com", "scope": "Namespaced", "names": names, "versions": [version]});
    store.create("customresourcedefinitions", json!({"metadata": {"name": "widgets.example.com"}, "spec": spec}));
}

#[test]
fn owner_of_an_unknown_kind_is_looked_up_once_the_kind_is_defined() {
    let mut store = store();
    let widget = json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "x", "uid": "none"}});
    owned(&mut store, "b", &[&widget]);
    collect(&mut store);
    assert!(store.get("configmaps", "b").is_some());
    define_widgets(&mut store);
    collect(&mut store);
    assert_eq!(store.get("configmaps", "b"), None);
}

#[test]
fn dependents_are_deleted_with_the_definition_of_their_owner() {
    let mut store = store();
    define_widgets(&mut store);
    let widget = store.create("widgets", json!({"metadata": {"name": "x"}}));
    owned(&mut store, "b", &[&widget]);
    collect(&mut store);
    assert!(store.get("configmaps", "b").is_some());
    delete(&mut store, "customresourcedefinitions", "widgets.example.com", Propagation::Background);
    assert_eq!(store.get("configmaps", "b"), None);
}

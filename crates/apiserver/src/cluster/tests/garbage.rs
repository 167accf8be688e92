//! Garbage collection of dependents.

use super::super::garbage::Propagation;
use super::*;

fn world() -> World {
    let mut world = World::new();
    world.cluster.collects_garbage = true;
    world
}

/// Creates a `ConfigMap` with these owners.
fn owned(world: &mut World, name: &str, owners: &[&Value]) -> Value {
    let references: Vec<Value> = owners
        .iter()
        .map(|owner| {
            json!({
                "apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": owner["metadata"]["name"],
                "uid": owner["metadata"]["uid"], "blockOwnerDeletion": true
            })
        })
        .collect();
    world.create("configmaps", json!({"metadata": {"name": name, "ownerReferences": references}}))
}

fn delete(world: &mut World, plural: &str, name: &str, propagation: Propagation) {
    let options = DeleteOptions { propagation, ..DeleteOptions::default() };
    world.try_delete(plural, name, &options).unwrap();
    world.cluster.collect_garbage(world.options()).unwrap();
}

#[test]
fn dependents_go_with_their_owner_however_deep() {
    let mut world = world();
    let a = world.create("configmaps", json!({"metadata": {"name": "a"}}));
    let b = owned(&mut world, "b", &[&a]);
    owned(&mut world, "c", &[&b]);
    delete(&mut world, "configmaps", "a", Propagation::Background);
    assert_eq!((world.get("configmaps", "b"), world.get("configmaps", "c")), (None, None));
    let revision = world.cluster.revision();
    assert_eq!(
        world.changes("configmaps", revision - 3),
        [format!("Deleted a {}", revision - 2), format!("Deleted b {}", revision - 1), format!("Deleted c {revision}")]
    );
}

#[test]
fn another_owner_keeps_an_object() {
    let mut world = world();
    let a = world.create("configmaps", json!({"metadata": {"name": "a"}}));
    let b = world.create("services", service("b", json!({})));
    owned(&mut world, "c", &[&a, &b]);
    delete(&mut world, "configmaps", "a", Propagation::Background);
    let left = world.get("configmaps", "c").unwrap();
    assert_eq!(left["metadata"]["ownerReferences"].as_array().unwrap().len(), 1);
    delete(&mut world, "services", "b", Propagation::Background);
    assert_eq!(world.get("configmaps", "c"), None);
}

#[test]
fn orphans_stay_without_the_reference() {
    let mut world = world();
    let a = world.create("configmaps", json!({"metadata": {"name": "a"}}));
    owned(&mut world, "b", &[&a]);
    delete(&mut world, "configmaps", "a", Propagation::Orphan);
    assert_eq!(world.get("configmaps", "a"), None);
    assert_eq!(world.get("configmaps", "b").unwrap()["metadata"].get("ownerReferences"), None);
}

#[test]
fn in_the_foreground_the_owner_goes_last() {
    let mut world = world();
    let a = world.create("configmaps", json!({"metadata": {"name": "a"}}));
    owned(&mut world, "b", &[&a]);
    world.merge("configmaps", "b", json!({"metadata": {"finalizers": ["example.com/wait"]}}));
    delete(&mut world, "configmaps", "a", Propagation::Foreground);
    let waiting = world.get("configmaps", "a").unwrap();
    assert_eq!(waiting["metadata"]["finalizers"], json!(["foregroundDeletion"]));
    assert!(waiting["metadata"]["deletionTimestamp"].is_string());
    world.merge("configmaps", "b", json!({"metadata": {"finalizers": null}}));
    world.cluster.collect_garbage(world.options()).unwrap();
    assert_eq!((world.get("configmaps", "a"), world.get("configmaps", "b")), (None, None));
}

#[test]
fn in_the_foreground_one_write_marks_and_holds_the_owner() {
    let mut world = world();
    let options = DeleteOptions { propagation: Propagation::Foreground, ..DeleteOptions::default() };
    let slice = world.create("endpointslices", slice("a", json!([])));
    let created = revision(&slice);
    owned(&mut world, "b", &[&slice]);
    world.merge("configmaps", "b", json!({"metadata": {"finalizers": ["example.com/wait"]}}));
    let before = world.cluster.revision();
    let deleted = world.try_delete("endpointslices", "a", &options).unwrap();
    assert!(!deleted.gone);
    assert_eq!(world.changes("endpointslices", created), [format!("Modified a {}", before + 1)]);
    let meta = &world.get("endpointslices", "a").unwrap()["metadata"];
    assert_eq!((&meta["generation"], &meta["deletionGracePeriodSeconds"]), (&json!(2), &json!(0)));
    assert_eq!(meta["finalizers"], json!(["foregroundDeletion"]));
}

#[test]
fn without_being_asked_nothing_is_collected() {
    let mut world = World::new();
    let a = world.create("configmaps", json!({"metadata": {"name": "a"}}));
    owned(&mut world, "b", &[&a]);
    delete(&mut world, "configmaps", "a", Propagation::Foreground);
    assert_eq!(world.get("configmaps", "a"), None);
    assert!(world.get("configmaps", "b").is_some());
}

// A controller with a stale cache creates dependents of a deleted owner. A real garbage collector looks the owner up.
#[test]
fn a_dependent_that_comes_after_its_owner_has_gone_goes_too() {
    let mut world = world();
    let a = world.create("configmaps", json!({"metadata": {"name": "a"}}));
    delete(&mut world, "configmaps", "a", Propagation::Background);
    owned(&mut world, "late", &[&a]);
    world.cluster.collect_garbage(world.options()).unwrap();
    assert_eq!(world.get("configmaps", "late"), None);
    let never = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x", "uid": "none"}});
    owned(&mut world, "kept", &[&never]);
    world.cluster.collect_garbage(world.options()).unwrap();
    assert!(world.get("configmaps", "kept").is_some());
}

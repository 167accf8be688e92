//! Namespaces: initial ones, creates in them, deletion with their content.

use super::*;

fn create_in(world: &mut World, namespace: &str, object: Value) -> Result<Value, StatusError> {
    let kind = world.kind("configmaps");
    let options = world.options();
    world.cluster.create(&kind, namespace, object, options)?.object.value()
}

#[test]
fn the_first_ones_are_there_and_stay() {
    let mut world = World::new();
    for name in ["default", "kube-system", "kube-public", "kube-node-lease"] {
        let namespace = world.get("namespaces", name).unwrap();
        assert_eq!(namespace["metadata"]["labels"]["kubernetes.io/metadata.name"], name);
        assert_eq!(namespace["status"]["phase"], "Active");
        assert_eq!(namespace["spec"]["finalizers"], json!(["kubernetes"]));
    }
    assert_eq!(world.try_delete("namespaces", "default", &DeleteOptions::default()).unwrap_err().code, 403);
}

#[test]
fn one_that_is_missing_takes_nothing() {
    let mut world = World::new();
    let error = create_in(&mut world, "nope", json!({"metadata": {"name": "a"}})).unwrap_err();
    assert_eq!((error.code, error.to_string().as_str()), (404, "namespaces \"nope\" not found"));
}

#[test]
fn one_that_ends_takes_nothing_and_goes_with_its_last_object() {
    let mut world = World::new();
    world.create("namespaces", json!({"metadata": {"name": "shop"}}));
    create_in(&mut world, "shop", json!({"metadata": {"name": "plain"}})).unwrap();
    create_in(&mut world, "shop", json!({"metadata": {"name": "held", "finalizers": ["example.com/wait"]}})).unwrap();
    let deleted = world.delete("namespaces", "shop", None);
    assert!(!deleted.gone);

    let namespace = world.get("namespaces", "shop").unwrap();
    assert_eq!(deleted.object.value().unwrap(), namespace);
    assert_eq!(namespace["status"]["phase"], "Terminating");
    assert_eq!(namespace["metadata"]["deletionTimestamp"], "2027-01-15T08:00:00Z");
    let error = create_in(&mut world, "shop", json!({"metadata": {"name": "new"}})).unwrap_err();
    assert_eq!((error.code, error.reason), (403, "Forbidden"));
    let body: Value = serde_json::from_slice(&error.encode()).unwrap();
    assert_eq!(body["details"]["causes"][0]["reason"], "NamespaceTerminating");

    let kind = world.kind("configmaps");
    assert_eq!(world.cluster.list(&kind, Some("shop")).len(), 2);
    world.empty_namespaces();
    let left = world.cluster.list(&kind, Some("shop"));
    assert_eq!(left.iter().map(|it| &*it.name).collect::<Vec<_>>(), ["held"]);
    let patch = Patch::Merge(json!({"metadata": {"finalizers": []}}));
    world.cluster.patch(&kind, "shop", "held", &patch, Part::Main, world.options()).unwrap();
    assert_eq!(world.get("namespaces", "shop"), None);
}

#[test]
fn its_pods_go_first_and_without_grace() {
    let mut world = World::new();
    world.create("namespaces", json!({"metadata": {"name": "shop"}}));
    let kind = world.kind("pods");
    create_in(&mut world, "shop", json!({"metadata": {"name": "plain"}})).unwrap();
    world.cluster.create(&kind, "shop", pod_on("p", "n"), world.options()).unwrap();
    let before = world.cluster.revision();
    world.delete("namespaces", "shop", None);
    world.empty_namespaces();
    assert_eq!(
        world.changes("namespaces", before),
        [format!("Modified shop {}", before + 1), format!("Deleted shop {}", before + 4)]
    );
    assert_eq!(world.changes("pods", before), [format!("Deleted p {}", before + 2)]);
    assert_eq!(world.changes("configmaps", before), [format!("Deleted plain {}", before + 3)]);
}

#[test]
fn one_that_others_have_emptied_waits_for_its_turn() {
    let mut world = World::new();
    world.create("namespaces", json!({"metadata": {"name": "shop"}}));
    create_in(&mut world, "shop", json!({"metadata": {"name": "a"}})).unwrap();
    world.delete("namespaces", "shop", None);
    let kind = world.kind("configmaps");
    world.cluster.delete(&kind, "shop", "a", &DeleteOptions::default(), world.options()).unwrap();
    assert!(world.get("namespaces", "shop").is_some());
    // A second delete changes nothing.
    let revision = world.cluster.revision();
    assert!(!world.delete("namespaces", "shop", None).gone);
    assert_eq!(world.cluster.revision(), revision);
    world.empty_namespaces();
    assert_eq!(world.get("namespaces", "shop"), None);
}

#[test]
fn one_of_the_same_name_is_another_one() {
    let mut world = World::new();
    let create = |world: &mut World| world.create("namespaces", json!({"metadata": {"name": "shop"}}));
    create(&mut world);
    world.delete("namespaces", "shop", None);
    let first = world.cluster.namespaces_to_empty().remove(0);
    world.empty_namespaces();
    create(&mut world);
    world.delete("namespaces", "shop", None);
    world.cluster.empty_namespace(&first, world.options()).unwrap();
    assert!(world.get("namespaces", "shop").is_some());
}

#[test]
fn a_finalizer_of_its_own_holds_a_namespace() {
    let mut world = World::new();
    world.create("namespaces", json!({"metadata": {"name": "shop", "finalizers": ["example.com/wait"]}}));
    world.delete("namespaces", "shop", None);
    world.empty_namespaces();
    assert!(world.get("namespaces", "shop").is_some());
    world.merge("namespaces", "shop", json!({"metadata": {"finalizers": []}}));
    assert_eq!(world.get("namespaces", "shop"), None);
}

#[test]
fn a_name_in_its_spec_holds_a_namespace_for_ever() {
    let mut world = World::new();
    let spec = json!({"finalizers": ["example.com/wait"]});
    world.create("namespaces", json!({"metadata": {"name": "shop"}, "spec": spec}));
    create_in(&mut world, "shop", json!({"metadata": {"name": "a"}})).unwrap();
    world.delete("namespaces", "shop", None);
    world.empty_namespaces();
    assert_eq!(world.get("namespaces", "shop").unwrap()["status"]["phase"], "Terminating");
    let error = create_in(&mut world, "shop", json!({"metadata": {"name": "b"}})).unwrap_err();
    assert!(error.to_string().contains("because it is being terminated"), "{error}");
}

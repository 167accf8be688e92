//! Namespaces and their content.

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
    world.delete("namespaces", "shop", None);

    let namespace = world.get("namespaces", "shop").unwrap();
    assert_eq!(namespace["status"]["phase"], "Terminating");
    let error = create_in(&mut world, "shop", json!({"metadata": {"name": "new"}})).unwrap_err();
    assert_eq!((error.code, error.reason), (403, "Forbidden"));
    let body: Value = serde_json::from_slice(&error.encode()).unwrap();
    assert_eq!(body["details"]["causes"][0]["reason"], "NamespaceTerminating");

    let kind = world.kind("configmaps");
    let left = world.cluster.list(&kind, Some("shop"));
    assert_eq!(left.iter().map(|it| &*it.name).collect::<Vec<_>>(), ["held"]);
    let patch = Patch::Merge(json!({"metadata": {"finalizers": []}}));
    world.cluster.patch(&kind, "shop", "held", &patch, Part::Main, world.options()).unwrap();
    assert_eq!(world.get("namespaces", "shop"), None);
}

#[test]
fn an_empty_one_goes_at_once_and_its_pods_go_without_grace() {
    let mut world = World::new();
    world.create("namespaces", json!({"metadata": {"name": "shop"}}));
    let kind = world.kind("pods");
    world.cluster.create(&kind, "shop", pod_on("p", "n"), world.options()).unwrap();
    let deleted = world.delete("namespaces", "shop", None);
    assert_eq!(deleted.object.value().unwrap()["status"]["phase"], "Terminating");
    assert_eq!(world.get("namespaces", "shop"), None);
    assert!(world.cluster.list(&kind, None).is_empty());
}

#[test]
fn a_finalizer_of_its_own_holds_a_namespace() {
    let mut world = World::new();
    world.create("namespaces", json!({"metadata": {"name": "shop", "finalizers": ["example.com/wait"]}}));
    world.delete("namespaces", "shop", None);
    assert!(world.get("namespaces", "shop").is_some());
    world.merge("namespaces", "shop", json!({"metadata": {"finalizers": []}}));
    assert_eq!(world.get("namespaces", "shop"), None);
}

//! Namespaces: initial ones, creates in them, deletion with their content.

use super::*;

fn create_in(store: &mut TestStore, namespace: &str, object: Value) -> Result<Value, StatusError> {
    let kind = store.kind("configmaps");
    let options = store.options();
    Ok(store.cluster.create(&kind, namespace, object, options)?.object.value())
}

#[test]
fn initial_namespaces_exist_and_are_kept() {
    let mut store = TestStore::new();
    for name in ["default", "kube-system", "kube-public", "kube-node-lease"] {
        let namespace = store.get("namespaces", name).unwrap();
        assert_eq!(namespace["metadata"]["labels"]["kubernetes.io/metadata.name"], name);
        assert_eq!(namespace["status"]["phase"], "Active");
        assert_eq!(namespace["spec"]["finalizers"], json!(["kubernetes"]));
    }
    assert_eq!(store.try_delete("namespaces", "default", &DeleteOptions::default()).unwrap_err().code, 403);
}

#[test]
fn create_in_a_missing_namespace_is_not_found() {
    let mut store = TestStore::new();
    let error = create_in(&mut store, "nope", json!({"metadata": {"name": "a"}})).unwrap_err();
    assert_eq!((error.code, error.to_string().as_str()), (404, "namespaces \"nope\" not found"));
}

#[test]
fn terminating_namespace_rejects_creates_and_is_removed_with_its_last_object() {
    let mut store = TestStore::new();
    store.create("namespaces", json!({"metadata": {"name": "shop"}}));
    create_in(&mut store, "shop", json!({"metadata": {"name": "plain"}})).unwrap();
    create_in(&mut store, "shop", json!({"metadata": {"name": "held", "finalizers": ["example.com/wait"]}})).unwrap();
    let deleted = store.delete("namespaces", "shop", None);
    assert!(!deleted.removed);

    let namespace = store.get("namespaces", "shop").unwrap();
    assert_eq!(deleted.object.value(), namespace);
    assert_eq!(namespace["status"]["phase"], "Terminating");
    assert_eq!(namespace["metadata"]["deletionTimestamp"], "2027-01-15T08:00:00Z");
    let error = create_in(&mut store, "shop", json!({"metadata": {"name": "new"}})).unwrap_err();
    assert_eq!((error.code, error.reason), (403, "Forbidden"));
    let body: Value = serde_json::from_slice(&error.encode()).unwrap();
    assert_eq!(body["details"]["causes"][0]["reason"], "NamespaceTerminating");

    let kind = store.kind("configmaps");
    assert_eq!(store.cluster.list(&kind, Some("shop")).len(), 2);
    store.empty_namespaces();
    let left = store.cluster.list(&kind, Some("shop"));
    assert_eq!(left.iter().map(|it| &*it.name).collect::<Vec<_>>(), ["held"]);
    let patch = Patch::Merge(json!({"metadata": {"finalizers": []}}));
    store.cluster.patch(WriteTarget::object(&kind, "shop", "held"), &patch, store.options()).unwrap();
    assert_eq!(store.get("namespaces", "shop"), None);
}

#[test]
fn pods_of_a_namespace_are_deleted_first_without_grace() {
    let mut store = TestStore::new();
    store.create("namespaces", json!({"metadata": {"name": "shop"}}));
    let kind = store.kind("pods");
    create_in(&mut store, "shop", json!({"metadata": {"name": "plain"}})).unwrap();
    store.cluster.create(&kind, "shop", pod_on("p", "n"), store.options()).unwrap();
    let before = store.cluster.revision();
    store.delete("namespaces", "shop", None);
    store.empty_namespaces();
    assert_eq!(
        store.changes("namespaces", before),
        [format!("Modified shop {}", before + 1), format!("Deleted shop {}", before + 4)]
    );
    assert_eq!(store.changes("pods", before), [format!("Deleted p {}", before + 2)]);
    assert_eq!(store.changes("configmaps", before), [format!("Deleted plain {}", before + 3)]);
}

#[test]
fn empty_namespace_is_removed_by_the_cleanup_only() {
    let mut store = TestStore::new();
    store.create("namespaces", json!({"metadata": {"name": "shop"}}));
    create_in(&mut store, "shop", json!({"metadata": {"name": "a"}})).unwrap();
    store.delete("namespaces", "shop", None);
    let kind = store.kind("configmaps");
    store.cluster.delete(&kind, "shop", "a", &DeleteOptions::default(), store.options()).unwrap();
    assert!(store.get("namespaces", "shop").is_some());
    // A second delete changes nothing.
    let revision = store.cluster.revision();
    assert!(!store.delete("namespaces", "shop", None).removed);
    assert_eq!(store.cluster.revision(), revision);
    store.empty_namespaces();
    assert_eq!(store.get("namespaces", "shop"), None);
}

#[test]
fn cleanup_ignores_a_recreated_namespace() {
    let mut store = TestStore::new();
    let create = |store: &mut TestStore| store.create("namespaces", json!({"metadata": {"name": "shop"}}));
    create(&mut store);
    store.delete("namespaces", "shop", None);
    let first = store.cluster.namespaces_to_empty().remove(0);
    store.empty_namespaces();
    create(&mut store);
    store.delete("namespaces", "shop", None);
    store.cluster.empty_namespace(&first, store.options()).unwrap();
    assert!(store.get("namespaces", "shop").is_some());
}

#[test]
fn metadata_finalizer_keeps_a_namespace() {
    let mut store = TestStore::new();
    store.create("namespaces", json!({"metadata": {"name": "shop", "finalizers": ["example.com/wait"]}}));
    store.delete("namespaces", "shop", None);
    store.empty_namespaces();
    assert!(store.get("namespaces", "shop").is_some());
    store.merge("namespaces", "shop", json!({"metadata": {"finalizers": []}}));
    assert_eq!(store.get("namespaces", "shop"), None);
}

#[test]
fn spec_finalizer_keeps_a_namespace() {
    let mut store = TestStore::new();
    let spec = json!({"finalizers": ["example.com/wait"]});
    store.create("namespaces", json!({"metadata": {"name": "shop"}, "spec": spec}));
    create_in(&mut store, "shop", json!({"metadata": {"name": "a"}})).unwrap();
    store.delete("namespaces", "shop", None);
    store.empty_namespaces();
    assert_eq!(store.get("namespaces", "shop").unwrap()["status"]["phase"], "Terminating");
    let error = create_in(&mut store, "shop", json!({"metadata": {"name": "b"}})).unwrap_err();
    assert!(error.to_string().contains("because it is being terminated"), "{error}");
}

//! Resource versions and the history of changes.

use super::*;

#[test]
fn all_kinds_share_one_revision_counter() {
    let mut store = TestStore::new();
    let a = store.create("configmaps", json!({"metadata": {"name": "a"}}));
    let b = store.create("nodes", json!({"metadata": {"name": "n"}}));
    let c = store.merge("configmaps", "a", json!({"data": {"x": "1"}}));
    assert_eq!([revision(&a), revision(&b), revision(&c)], [5, 6, 7]);
    assert_eq!(store.changes("configmaps", 0), ["Added a 5", "Modified a 7"]);
    assert_eq!(store.changes("configmaps", 5), ["Modified a 7"]);
    assert_eq!(store.changes("configmaps", 99), [""; 0]);
}

#[test]
fn revisions_before_the_history_are_expired() {
    let mut store = TestStore::with_history(2);
    for name in ["a", "b", "c"] {
        store.create("configmaps", json!({"metadata": {"name": name}}));
    }
    // Change 5 was dropped: a watch from 5 continues, an earlier one gets 410.
    assert_eq!(store.changes("configmaps", 5), ["Added b 6", "Added c 7"]);
    let kind = store.kind("configmaps");
    let error = store.cluster.changes_after(&kind, 1, 10).map(|_| ()).unwrap_err();
    let event = format!(r#"{{"type":"ERROR","object":{}}}"#, String::from_utf8(error.encode()).unwrap());
    let recorded = include_str!("../../../fixtures/expired.watch.json");
    assert_eq!(event, recorded.trim().replace("67847", "5"));
}

#[test]
fn lists_are_ordered_by_namespace_and_name() {
    let mut store = TestStore::new();
    let kind = store.kind("configmaps");
    for (namespace, name) in [("kube-system", "a"), ("default", "b"), ("default", "a.b"), ("default", "a")] {
        let object = json!({"metadata": {"name": name}});
        store.cluster.create(&kind, namespace, object, store.options()).unwrap();
    }
    let names = |namespace: Option<&str>| -> Vec<String> {
        store.cluster.list(&kind, namespace).iter().map(|it| format!("{}/{}", it.namespace, it.name)).collect()
    };
    assert_eq!(names(None), ["default/a", "default/a.b", "default/b", "kube-system/a"]);
    assert_eq!(names(Some("default")), ["default/a", "default/a.b", "default/b"]);
}

//! Object metadata, set and checked by the server.

use rstest::rstest;

use super::*;

#[test]
fn create_sets_server_side_metadata() {
    let mut store = TestStore::new();
    let object = store.create(
        "configmaps",
        json!({"metadata": {"name": "a", "selfLink": "/x", "generation": 7,
        "uid": "mine", "creationTimestamp": "2001-01-01T00:00:00Z", "deletionTimestamp": "2001-01-01T00:00:00Z",
        "managedFields": [{"manager": "me"}]}}),
    );
    let meta = object["metadata"].as_object().unwrap();
    let fields: Vec<&str> = meta.keys().map(String::as_str).collect();
    assert_eq!(fields, ["creationTimestamp", "name", "namespace", "resourceVersion", "uid"]);
    assert_eq!(meta["creationTimestamp"], "2027-01-15T08:00:00Z");
    assert_ne!(meta["uid"], "mine");
    assert_eq!(revision(&object), 5, "the initial namespaces have versions 1 to 4");
}

#[test]
fn empty_and_unknown_fields_are_not_stored() {
    let mut store = TestStore::new();
    let object = store.create(
        "services",
        json!({
            "metadata": {"name": "a", "labels": {}, "annotations": {}, "ownerReferences": [], "finalizers": null},
            "spec": {"ports": [{"port": 80}], "selector": {}, "externalIPs": [], "publishNotReadyAddresses": false},
            "unknown": 1
        }),
    );
    assert_eq!(object["metadata"].as_object().unwrap().len(), 5);
    for field in ["selector", "externalIPs", "publishNotReadyAddresses"] {
        assert!(object["spec"].get(field).is_none(), "{field}");
    }
    assert!(object.get("unknown").is_none());
}

#[test]
fn generate_name_is_the_prefix_of_the_name() {
    let mut store = TestStore::new();
    let object = store.create("configmaps", json!({"metadata": {"generateName": "web-"}}));
    let name = object["metadata"]["name"].as_str().unwrap();
    assert!(name.starts_with("web-") && name.len() == 9, "{name}");
    assert_eq!(object["metadata"]["generateName"], "web-");
    let error = store.try_create("configmaps", json!({"metadata": {}})).unwrap_err();
    assert!(error.to_string().contains("metadata.name: Required value: name or generateName is required"), "{error}");
}

#[test]
fn update_without_change_writes_nothing() {
    let mut store = TestStore::new();
    let object = store.create("services", service("web", json!({"selector": {"app": "web"}})));
    let mut sparse = service("web", json!({"selector": {"app": "web"}, "externalIPs": []}));
    sparse["metadata"]["labels"] = json!({});
    assert_eq!(store.try_update("services", sparse, Part::Main).unwrap(), object);
    assert_eq!(store.merge("services", "web", json!({"spec": {"type": "ClusterIP"}})), object);
    assert_eq!(store.changes("services", 0).len(), 1);
    assert_eq!(store.cluster.revision(), revision(&object));
}

#[rstest]
#[case::stale(json!({"resourceVersion": "1"}), 409, "Conflict")]
#[case::other_uid(json!({"uid": "other"}), 409, "Conflict")]
#[case::other_creation(json!({"creationTimestamp": "2001-01-01T00:00:00Z"}), 422, "Invalid")]
#[case::bad_version(json!({"resourceVersion": "x"}), 422, "Invalid")]
#[case::bad_label(json!({"labels": {"-": ""}}), 422, "Invalid")]
#[case::bad_annotation(json!({"annotations": {"a/b/c": ""}}), 422, "Invalid")]
#[case::owner_without_uid(json!({"ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "p"}]}), 422, "Invalid")]
#[case::other_namespace(json!({"namespace": "kube-system"}), 400, "BadRequest")]
fn invalid_updates_are_rejected(#[case] meta: Value, #[case] code: u16, #[case] reason: &str) {
    let mut store = TestStore::new();
    store.create("configmaps", json!({"metadata": {"name": "a"}}));
    let mut object = json!({"metadata": meta});
    object["metadata"]["name"] = json!("a");
    let error = store.try_update("configmaps", object, Part::Main).unwrap_err();
    assert_eq!((error.code, error.reason), (code, reason), "{error}");
}

#[test]
fn put_creates_only_kinds_that_allow_it() {
    let mut store = TestStore::new();
    let lease = json!({"metadata": {"name": "a"}, "spec": {}});
    store.try_update("leases", lease.clone(), Part::Main).unwrap();
    assert_eq!(store.try_update("configmaps", lease.clone(), Part::Main).unwrap_err().code, 404);
    // A PUT with the uid of a deleted object creates nothing.
    let gone = json!({"metadata": {"name": "gone", "uid": "1"}});
    assert_eq!(store.try_update("endpoints", gone, Part::Main).unwrap_err().code, 409);
    // Of these kinds, only a Lease requires a resource version on update.
    let error = store.try_update("leases", lease, Part::Main).unwrap_err();
    assert!(error.to_string().contains("must be specified for an update"), "{error}");
}

#[test]
fn json_patch() {
    let mut store = TestStore::new();
    store.create("configmaps", json!({"metadata": {"name": "a"}, "data": {"x": "1"}}));
    let kind = store.kind("configmaps");
    let mut apply = |operations: Value| {
        let patch = Patch::Json(serde_json::from_value(operations).unwrap());
        store.cluster.patch(WriteTarget::object(&kind, "default", "a"), &patch, WriteOptions::at(START))
    };
    let written = apply(json!([
        {"op": "test", "path": "/data/x", "value": "1"}, {"op": "add", "path": "/data/y", "value": "2"}
    ]));
    assert_eq!(written.unwrap().object.value()["data"], json!({"x": "1", "y": "2"}));
    // How `kube::runtime::finalizer` adds the first finalizer.
    apply(json!([{"op": "test", "path": "/metadata/finalizers", "value": null}])).unwrap();
    apply(json!([{"op": "test", "path": "/absent/member", "value": null}])).unwrap_err();
    for operation in [
        json!({"op": "test", "path": "/data/x", "value": "2"}),
        json!({"op": "replace", "path": "/absent/member", "value": "2"}),
    ] {
        assert_eq!(apply(json!([operation])).unwrap_err().code, 422, "{operation}");
    }
    // As upstream, and unlike in RFC 6902.
    let replaced = apply(json!([{"op": "replace", "path": "/data/z", "value": "3"}])).unwrap();
    assert_eq!(replaced.object.value()["data"], json!({"x": "1", "y": "2", "z": "3"}));
    // A patch cannot rename an object.
    assert_eq!(apply(json!([{"op": "replace", "path": "/metadata/name", "value": "b"}])).unwrap_err().code, 400);
}

#[test]
fn dry_run_stores_nothing() {
    let mut store = TestStore::new();
    let kind = store.kind("services");
    let rehearsal = WriteOptions { dry_run: true, ..WriteOptions::at(START) };
    let before = store.cluster.revision();
    let written = store.cluster.create(&kind, "default", service("web", json!({})), rehearsal).unwrap();
    assert!(written.object.value()["spec"]["clusterIP"].is_string());
    assert_eq!(written.object.value()["metadata"].get("resourceVersion"), None);
    assert_eq!((store.get("services", "web"), store.cluster.revision()), (None, before));

    let stored = store.cluster.create(&kind, "default", service("web", json!({})), WriteOptions::at(START)).unwrap();
    let mut changed = stored.object.value();
    let version = changed["metadata"]["resourceVersion"].clone();
    changed["metadata"]["labels"] = json!({"a": "1"});
    let written = store.cluster.update(WriteTarget::object(&kind, "default", "web"), changed, rehearsal).unwrap();
    assert_eq!(written.object.value()["metadata"]["resourceVersion"], version);
}

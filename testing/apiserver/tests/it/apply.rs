//! Server-side apply and managed fields.

use http::Method;
use kube_dev_apiserver::{Config, CustomKind, FieldTracking};
use rstest::rstest;
use serde_json::{Value, json};

use super::client::{CONFIG_MAPS, Events, SERVICES, TestApi, answer};

async fn apply(api: &TestApi, path: &str, manager: &str, config: &Value) -> (u16, Value) {
    let path = format!("{path}{}fieldManager={manager}", if path.contains('?') { '&' } else { '?' });
    answer(api.send(Method::PATCH, &path, "application/apply-patch+yaml", config.to_string()).await).await
}

fn config_map(data: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": data})
}

/// Returns manager, operation and subresource of each entry. The server sorts by operation, then by time: entries of one
/// operation are sorted by manager here, so that the clock has no influence.
fn managers(object: &Value) -> Vec<String> {
    let text = |entry: &Value, field: &str| entry[field].as_str().unwrap_or_default().to_owned();
    let mut entries: Vec<&Value> = object["metadata"]["managedFields"].as_array().into_iter().flatten().collect();
    for of_one_operation in entries.chunk_by_mut(|a, b| a["operation"] == b["operation"]) {
        of_one_operation.sort_by_key(|it| text(it, "manager"));
    }
    entries
        .into_iter()
        .map(|it| format!("{} {} {}", text(it, "manager"), text(it, "operation"), text(it, "subresource")))
        .collect()
}

async fn always() -> TestApi {
    TestApi::start(Config { field_tracking: FieldTracking::Always, ..Config::default() }).await
}

#[tokio::test]
async fn omitted_fields_are_removed_and_equal_applies_change_nothing() {
    let api = TestApi::start(Config::default()).await;
    let path = format!("{SERVICES}/web");
    let service = |labels: Value| json!({"apiVersion": "v1", "kind": "Service", "metadata": {"labels": labels}, "spec": {"ports": [{"port": 80}]}});
    let (code, created) = apply(&api, &path, "me", &service(json!({"a": "b"}))).await;
    assert_eq!((code, &created["metadata"]["name"]), (201, &json!("web")));
    assert_eq!(managers(&created), ["me Apply "]);
    let (code, merged) = apply(&api, &path, "me", &service(json!({"c": "d"}))).await;
    assert_eq!((code, &merged["metadata"]["labels"]), (200, &json!({"c": "d"})));
    assert_eq!(merged["spec"]["ports"].as_array().unwrap().len(), 1);
    assert_eq!(merged["spec"]["clusterIP"], created["spec"]["clusterIP"], "defaults stay");
    let (code, again) = apply(&api, &path, "me", &service(json!({"c": "d"}))).await;
    assert_eq!((code, again), (200, merged));
}

#[tokio::test]
async fn conflicts_name_the_managers() {
    let api = TestApi::start(Config::default()).await;
    let path = format!("{CONFIG_MAPS}/a");
    apply(&api, &path, "one", &config_map(&json!({"x": "1", "y": "1"}))).await;
    let (code, status) = apply(&api, &path, "two", &config_map(&json!({"x": "2"}))).await;
    assert_eq!((code, &status["reason"]), (409, &json!("Conflict")));
    assert_eq!(status["message"], "Apply failed with 1 conflict: conflict with \"one\": .data.x");
    let cause = json!({"reason": "FieldManagerConflict", "message": "conflict with \"one\"", "field": ".data.x"});
    assert_eq!(status["details"]["causes"], json!([cause]));
    let (_, status) = apply(&api, &path, "two", &config_map(&json!({"x": "2", "y": "2"}))).await;
    let expect = "Apply failed with 2 conflicts: conflicts with \"one\":\n- .data.x\n- .data.y";
    assert_eq!(status["message"], expect);
    let (code, forced) = apply(&api, &format!("{path}?force=true"), "two", &config_map(&json!({"x": "2"}))).await;
    assert_eq!((code, &forced["data"]), (200, &json!({"x": "2", "y": "1"})));
    let (_, status) = apply(&api, &path, "one", &config_map(&json!({"x": "1"}))).await;
    assert_eq!(status["code"], 409, "the other owns it now");
}

#[rstest]
#[case::created(Method::POST, CONFIG_MAPS, "?fieldManager=kubectl-create", "\"kubectl-create\" using v1")]
#[case::patched(Method::PATCH, "/api/v1/namespaces/default/configmaps/a", "", "\"it\" using v1")]
#[tokio::test]
async fn updates_are_tracked_on_request(
    #[case] method: Method,
    #[case] path: &str,
    #[case] query: &str,
    #[case] manager: &str,
) {
    let api = always().await;
    if method == Method::PATCH {
        api.create(&format!("{CONFIG_MAPS}?fieldManager=first"), config_map(&json!({"y": "1"}))).await;
    }
    let path = format!("{path}{query}");
    let (_, written) = api.json(method, &path, &config_map(&json!({"x": "1"}))).await;
    let (code, status) = apply(&api, &format!("{CONFIG_MAPS}/a"), "me", &config_map(&json!({"x": "2"}))).await;
    assert_eq!(code, 409, "{status}");
    let message = status["message"].as_str().unwrap();
    assert!(message.contains(manager), "{message}: {written}");
}

#[tokio::test]
async fn first_apply_finds_what_was_there_before() {
    let api = TestApi::start(Config::default()).await;
    let created = api.create(CONFIG_MAPS, config_map(&json!({"x": "1"}))).await;
    assert!(managers(&created).is_empty(), "not tracked before an apply");
    let path = format!("{CONFIG_MAPS}/a");
    let (code, status) = apply(&api, &path, "me", &config_map(&json!({"x": "2"}))).await;
    assert_eq!(code, 409);
    assert!(status["message"].as_str().unwrap().contains("\"before-first-apply\" using v1: .data.x"), "{status}");
    let (_, applied) = apply(&api, &path, "me", &config_map(&json!({"y": "2"}))).await;
    assert_eq!(managers(&applied), ["me Apply ", "before-first-apply Update "]);
    let (_, patched) =
        api.json(Method::PATCH, &format!("{path}?fieldManager=edit"), &json!({"data": {"y": "3"}})).await;
    assert!(managers(&patched).contains(&"edit Update ".to_owned()), "tracked from then on: {patched}");
}

#[tokio::test]
async fn status_of_a_custom_resource_is_written_alone() {
    let kind = CustomKind::new("example.com", "v1", "Zone").with_status();
    let api = TestApi::start(Config { kinds: vec![kind], ..Config::default() }).await;
    let path = "/apis/example.com/v1/namespaces/default/zones/z";
    let zone = |labels: Value, spec: Value, status: Value| {
        json!({"apiVersion": "example.com/v1", "kind": "Zone",
            "metadata": {"name": "z", "labels": labels}, "spec": spec, "status": status})
    };
    let (_, created) = apply(&api, path, "me", &zone(json!({"a": "1"}), json!({"x": 1}), json!({"y": 1}))).await;
    assert_eq!((created.get("status"), managers(&created)), (None, vec!["me Apply ".to_owned()]));
    let (code, object) =
        apply(&api, &format!("{path}/status"), "it", &zone(json!({"a": "2"}), json!({"x": 2}), json!({"y": 2}))).await;
    assert_eq!(code, 200, "the fields that are not written cause no conflict: {object}");
    assert_eq!((&object["metadata"]["labels"]["a"], &object["spec"]["x"]), (&json!("1"), &json!(1)));
    assert_eq!(object["status"]["y"], 2);
    assert_eq!(managers(&object), ["it Apply status", "me Apply "]);
    let mut entries = object["metadata"]["managedFields"].as_array().unwrap().iter();
    let of_status = entries.find(|it| it["manager"] == "it").unwrap();
    // The field of a type without a schema is itself a member, as upstream.
    assert_eq!(of_status["fieldsV1"], json!({"f:status": {".": {}, "f:y": {}}}));
}

#[tokio::test]
async fn lists_of_custom_resources_have_keys_by_their_schema() {
    let schema = json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
        "rules": {
            "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
            "items": {"type": "object", "required": ["name"],
                "properties": {"name": {"type": "string"}, "port": {"type": "integer"}}}
        },
        "hosts": {"type": "array", "items": {"type": "string"}}
    }}}});
    let kinds = vec![CustomKind::new("example.com", "v1", "Route").schema(schema)];
    let api = TestApi::start(Config { kinds, ..Config::default() }).await;
    let path = "/apis/example.com/v1/namespaces/default/routes/r";
    let route =
        |spec: Value| json!({"apiVersion": "example.com/v1", "kind": "Route", "metadata": {"name": "r"}, "spec": spec});
    apply(&api, path, "one", &route(json!({"rules": [{"name": "a", "port": 1}], "hosts": ["x"]}))).await;
    let (code, both) = apply(&api, path, "two", &route(json!({"rules": [{"name": "b", "port": 2}]}))).await;
    assert_eq!((code, both["spec"]["rules"].as_array().unwrap().len()), (200, 2), "{both}");
    let (code, status) = apply(&api, path, "two", &route(json!({"hosts": ["y"]}))).await;
    assert_eq!(code, 409, "a list without keys is one value: {status}");
    let (_, rest) = apply(&api, path, "one", &route(json!({"hosts": ["x"]}))).await;
    assert_eq!(rest["spec"]["rules"], json!([{"name": "b", "port": 2}]));
}

#[tokio::test]
async fn dry_run_stores_nothing() {
    let api = TestApi::start(Config::default()).await;
    let path = format!("{CONFIG_MAPS}/a");
    let (_, stored) = apply(&api, &path, "me", &config_map(&json!({"x": "1"}))).await;
    let (code, _) = apply(&api, &format!("{path}?dryRun=All"), "me", &config_map(&json!({"x": "2"}))).await;
    assert_eq!((code, api.get(&path).await.1), (200, stored));
}

const RECORDED: [(&str, &str, &str); 5] = [
    ("pods", "/api/v1/namespaces/default/pods", include_str!("../../fixtures/pod.list.json")),
    ("services", SERVICES, include_str!("../../fixtures/service.list.json")),
    ("nodes", "/api/v1/nodes", include_str!("../../fixtures/node.list.json")),
    ("endpoints", "/api/v1/namespaces/default/endpoints", include_str!("../../fixtures/endpoints.list.json")),
    (
        "endpointslices",
        "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
        include_str!("../../fixtures/endpointslice.list.json"),
    ),
];

/// Returns an object as its creator, who owns `fields`, sent it: without what a server or its admission plugins set.
fn as_sent(object: &Value, fields: &Value) -> Value {
    let mut object = object.clone();
    let meta = object["metadata"].as_object_mut().unwrap();
    for field in ["managedFields", "creationTimestamp", "generation", "namespace", "resourceVersion", "uid"] {
        meta.remove(field);
    }
    for field in ["deletionTimestamp", "deletionGracePeriodSeconds", "finalizers"] {
        meta.remove(field);
    }
    object.as_object_mut().unwrap().remove("status");
    if let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut) {
        for field in ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "taints"] {
            if fields["f:spec"].get(format!("f:{field}")).is_none() {
                spec.remove(field);
            }
        }
        if spec.contains_key("containers") {
            for field in ["tolerations", "priority", "preemptionPolicy", "ephemeralContainers"] {
                spec.remove(field);
            }
            // From the Node.
            if let Some(labels) = object["metadata"].get_mut("labels").and_then(Value::as_object_mut) {
                labels.remove("topology.kubernetes.io/zone");
            }
        }
    }
    object
}

fn paths(fields: &Value, path: &str) -> Vec<String> {
    let Some(fields) = fields.as_object().filter(|fields| !fields.is_empty()) else { return vec![path.to_owned()] };
    fields.iter().flat_map(|(name, inside)| paths(inside, &format!("{path} {name}"))).collect()
}

/// The creator of a recorded object owns the same fields after a create of that object here.
#[tokio::test]
async fn creators_own_the_fields_of_recorded_objects() {
    let api = always().await;
    let mut compared = 0;
    for (plural, path, list) in RECORDED {
        let list: Value = serde_json::from_str(list).unwrap();
        for object in list["items"].as_array().unwrap() {
            // Objects that one client has created, and that nothing but their status has changed since.
            let entries = object["metadata"]["managedFields"].as_array().cloned().unwrap_or_default();
            let main: Vec<&Value> = entries.iter().filter(|it| it.get("subresource").is_none()).collect();
            let [creator] = main.as_slice() else { continue };
            if creator["operation"] != "Update" || object["metadata"]["generation"].as_i64().unwrap_or(1) > 1 {
                continue;
            }
            let (code, created) = api.json(Method::POST, path, &as_sent(object, &creator["fieldsV1"])).await;
            assert_eq!(code, 201, "{created}");
            let name = &object["metadata"]["name"];
            let fields = created["metadata"]["managedFields"].as_array().cloned().unwrap_or_default();
            assert_eq!(fields.len(), 1, "{plural} {name}: {fields:?}");
            assert_eq!(paths(&fields[0]["fieldsV1"], ""), paths(&creator["fieldsV1"], ""), "{plural} {name}");
            compared += 1;
        }
    }
    assert!(compared > 100, "{compared}");
}

#[rstest]
#[case::dropped(true, "application/json;drop=metadata.managedFields", false)]
#[case::asked_for(true, "application/json", true)]
#[case::unknown_to_the_server(false, "application/json;drop=metadata.managedFields", true)]
#[tokio::test]
async fn clients_can_do_without_managers(#[case] opt_out: bool, #[case] accept: &str, #[case] expect: bool) {
    let config = Config { field_tracking: FieldTracking::Always, managed_fields_opt_out: opt_out, ..Config::default() };
    let api = TestApi::start(config).await;
    let created = api.create(CONFIG_MAPS, config_map(&json!({"a": "1"}))).await;
    assert!(!managers(&created).is_empty(), "{created}");
    let (_, _, object) = api.get_as(&format!("{CONFIG_MAPS}/a"), accept).await;
    let (_, _, list) = api.get_as(CONFIG_MAPS, accept).await;
    let watch = format!(
        "{CONFIG_MAPS}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
    );
    let event = Events::of(api.send_as(Method::GET, &watch, "", accept, "").await).next().await.unwrap();
    for found in [&object, &list["items"][0], &event["object"]] {
        assert_eq!(found["data"], json!({"a": "1"}), "{found}");
        assert_eq!(!managers(found).is_empty(), expect, "{found}");
    }
}

//! Server-side apply and managed fields.

use http::Method;
use http_body_util::BodyExt as _;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, Patch, PatchParams, PostParams};
use kube_dev_apiserver::{Config, CustomKind, FieldTracking};
use rstest::rstest;
use serde_json::{Value, json};

use super::client::{CONFIG_MAPS, Events, TestApi};

const SERVICES: &str = "/api/v1/namespaces/default/services";
const PODS: &str = "/api/v1/namespaces/default/pods";

async fn apply(api: &TestApi, path: &str, manager: &str, config: &Value) -> (u16, Value) {
    let path = format!("{path}{}fieldManager={manager}", if path.contains('?') { '&' } else { '?' });
    let response = api.send(Method::PATCH, &path, "application/apply-patch+yaml", config.to_string()).await;
    let code = response.status().as_u16();
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    (code, serde_json::from_slice(&bytes).unwrap())
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

// An entry contains neither the name nor the uid: removing its last field under `metadata` must not remove these.
#[rstest]
#[case::labels(json!({"labels": {"a": "b"}}))]
#[case::finalizers(json!({"finalizers": ["example.com/x"]}))]
#[case::owner_references(json!({"ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "u"}]}))]
#[case::several(json!({"labels": {"a": "b"}, "annotations": {"c": "d"}}))]
#[tokio::test]
async fn all_metadata_can_be_given_up(#[case] metadata: Value) {
    let api = TestApi::start(Config::default()).await;
    let path = format!("{CONFIG_MAPS}/a");
    let mut config = config_map(&json!({"x": "1"}));
    let without = config.clone();
    config["metadata"].as_object_mut().unwrap().extend(metadata.as_object().unwrap().clone());
    let (code, with) = apply(&api, &path, "me", &config).await;
    assert_eq!(code, 201);
    let (code, object) = apply(&api, &path, "me", &without).await;
    assert_eq!((code, &object["metadata"]["uid"]), (200, &with["metadata"]["uid"]));
    for field in metadata.as_object().unwrap().keys() {
        assert!(object["metadata"].get(field).is_none(), "{object}");
    }
    assert_eq!(object["data"], json!({"x": "1"}));
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
async fn status_is_tracked_apart() {
    let api = always().await;
    let spec = json!({"containers": [{"name": "c", "image": "c"}]});
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec});
    apply(&api, &format!("{PODS}/p"), "me", &pod).await;
    let status = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "status": {"podIP": "10.0.0.1"}});
    let (code, object) = apply(&api, &format!("{PODS}/p/status"), "kubelet", &status).await;
    assert_eq!(code, 200, "{object}");
    assert_eq!(object["status"]["podIP"], "10.0.0.1");
    assert_eq!(managers(&object), ["kubelet Apply status", "me Apply "]);
}

#[tokio::test]
async fn requests_for_the_status_cannot_set_managers() {
    let api = always().await;
    let spec = json!({"containers": [{"name": "c", "image": "c"}]});
    api.create(&format!("{PODS}?fieldManager=creator"), json!({"metadata": {"name": "p"}, "spec": spec})).await;
    let path = format!("{PODS}/p/status?fieldManager=kubelet");
    let patch = json!({"metadata": {"managedFields": []}, "status": {"phase": "Running"}});
    let (code, object) = api.json(Method::PATCH, &path, &patch).await;
    assert_eq!(
        (code, managers(&object)),
        (200, vec!["creator Update ".to_owned(), "kubelet Update status".to_owned()])
    );
}

#[tokio::test]
async fn invalid_configurations_are_refused() {
    let api = TestApi::start(Config::default()).await;
    let path = format!("{SERVICES}/web");
    let service =
        |spec: Value| json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}, "spec": spec});
    let prefix = "failed to create typed patch object (/web; /v1, Kind=Service): ";
    for (spec, expect) in [
        (json!({"port": 80}), ".spec.port: field not declared in schema"),
        (
            json!({"ports": [{"port": 80}, {"port": 80}]}),
            ".spec.ports: duplicate entries for key [port=80,protocol=\"TCP\"]",
        ),
    ] {
        let (code, status) = apply(&api, &path, "me", &service(spec)).await;
        assert_eq!((code, status["message"].as_str().unwrap()), (500, format!("{prefix}{expect}").as_str()));
    }
    let mut other = service(json!({}));
    other["apiVersion"] = json!("v2");
    let (code, status) = apply(&api, &path, "me", &other).await;
    let expect = "invalid object type: /v2, Kind=Service";
    assert_eq!((code, status["message"].as_str()), (400, Some(expect)));
    let (code, status) = apply(&api, &path, &"m".repeat(129), &service(json!({}))).await;
    assert_eq!((code, status["details"]["causes"][0]["field"].as_str()), (422, Some("fieldManager")));
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

/// kubectl sends this patch to migrate an object from client-side to server-side apply.
#[tokio::test]
async fn managed_fields_can_be_migrated_and_reset() {
    let api = always().await;
    let path = format!("{CONFIG_MAPS}/a");
    let manager = "kubectl-client-side-apply";
    let created = api
        .json(Method::POST, &format!("{CONFIG_MAPS}?fieldManager={manager}"), &config_map(&json!({"x": "1"})))
        .await
        .1;
    let mut entries = created["metadata"]["managedFields"].clone();
    entries[0]["manager"] = json!("kubectl");
    entries[0]["operation"] = json!("Apply");
    let patch = json!([
        {"op": "replace", "path": "/metadata/managedFields", "value": entries},
        {"op": "replace", "path": "/metadata/resourceVersion", "value": created["metadata"]["resourceVersion"]}
    ]);
    let send = async |body: &Value| {
        let response = api.send(Method::PATCH, &path, "application/json-patch+json", body.to_string()).await;
        let code = response.status().as_u16();
        let bytes = response.into_body().collect().await.unwrap().to_bytes();
        (code, serde_json::from_slice::<Value>(&bytes).unwrap())
    };
    let (code, migrated) = send(&patch).await;
    assert_eq!((code, managers(&migrated)), (200, vec!["kubectl Apply ".to_owned()]));
    assert_eq!(send(&patch).await.0, 409, "the version is stale now");
    let (_, applied) = apply(&api, &path, "kubectl", &config_map(&json!({}))).await;
    assert_eq!(applied["data"].get("x"), None, "owned since the migration");
    let reset = json!([{"op": "replace", "path": "/metadata/managedFields", "value": [{}]}]);
    assert_eq!(managers(&send(&reset).await.1), [""; 0]);
}

#[tokio::test]
async fn dry_run_stores_nothing() {
    let api = TestApi::start(Config::default()).await;
    let path = format!("{CONFIG_MAPS}/a");
    let (_, stored) = apply(&api, &path, "me", &config_map(&json!({"x": "1"}))).await;
    let (code, _) = apply(&api, &format!("{path}?dryRun=All"), "me", &config_map(&json!({"x": "2"}))).await;
    assert_eq!((code, api.get(&path).await.1), (200, stored));
}

#[tokio::test]
async fn kube_applies_with_conflicts() {
    let api = TestApi::start(Config::default()).await;
    let client = kube::Client::try_from(kube::Config::new(api.server.url().parse().unwrap())).unwrap();
    let config_maps: Api<ConfigMap> = Api::namespaced(client, "default");
    config_maps
        .create(&PostParams::default(), &serde_json::from_value(config_map(&json!({"x": "1"}))).unwrap())
        .await
        .unwrap();
    let config = config_map(&json!({"x": "2"}));
    let refused = config_maps.patch("a", &PatchParams::apply("operator"), &Patch::Apply(&config)).await.unwrap_err();
    assert!(matches!(&refused, kube::Error::Api(status) if status.code == 409), "{refused}");
    let forced = config_maps.patch("a", &PatchParams::apply("operator").force(), &Patch::Apply(&config)).await.unwrap();
    assert_eq!(forced.data.unwrap()["x"], "2");
    let managers = forced.metadata.managed_fields.unwrap();
    assert!(managers.iter().any(|it| it.manager.as_deref() == Some("operator")));
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

/// Returns the paths in `FieldsV1`.
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

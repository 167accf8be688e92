//! Bindings of Pods to Nodes.

use std::sync::Arc;

use http::Method;
use kube_dev_apiserver::{Config, Denial, On, Operation};
use serde_json::{Value, json};

use super::client::{PODS, TestApi};

async fn create_pod(api: &TestApi, name: &str) {
    let spec = json!({"containers": [{"name": "main", "image": "app:1"}]});
    api.create(PODS, json!({"metadata": {"name": name}, "spec": spec})).await;
}

/// Binds a Pod to Node `n`. Returns the status code and the response.
async fn bind(api: &TestApi, pod: &str, query: &str) -> (u16, Value) {
    let binding = json!({"metadata": {"name": pod}, "target": {"kind": "Node", "name": "n"}});
    api.json(Method::POST, &format!("{PODS}/{pod}/binding{query}"), &binding).await
}

async fn node_of(api: &TestApi, pod: &str) -> Value {
    api.get(&format!("{PODS}/{pod}")).await.1["spec"]["nodeName"].clone()
}

#[tokio::test]
async fn a_dry_run_binds_no_pod() {
    let api = TestApi::start(Config::default()).await;
    create_pod(&api, "a").await;
    for (query, node, is_applied) in [("?dryRun=All", Value::Null, false), ("", json!("n"), true)] {
        api.server.requests().clear();
        let (code, status) = bind(&api, "a", query).await;
        assert_eq!((code, &status["kind"], &status["status"]), (201, &json!("Status"), &json!("Success")));
        let [write] = api.server.requests().matching(&On::writes()).try_into().unwrap();
        assert_eq!((write.object_name.as_str(), write.dry_run, write.applied), ("a", !is_applied, is_applied));
        assert_eq!(node_of(&api, "a").await, node);
    }
    assert_eq!((bind(&api, "a", "").await.0, bind(&api, "a", "?dryRun=All").await.0), (409, 409));
    assert_eq!(bind(&api, "b", "?dryRun=Some").await.0, 400);
}

/// As upstream: admission gets the Binding, as a create of the subresource.
#[tokio::test]
async fn admission_rules_apply_to_bindings() {
    let api = TestApi::start(Config::default()).await;
    for pod in ["a", "b"] {
        create_pod(&api, pod).await;
    }
    api.server.admission().mutate(|request, object| {
        if request.subresource == "binding" {
            object["target"]["name"] = json!("m");
        }
        Ok(())
    });
    api.server.admission().validate(|request, object| {
        let is_binding = (request.operation, request.resource, request.kind) == (Operation::Create, "pods", "Binding");
        let target = object.map(|it| (it["kind"].clone(), it["target"]["name"].clone()));
        if is_binding && request.name == "b" && target == Some((json!("Binding"), json!("m"))) {
            return Err(Denial::forbidden("not this one"));
        }
        Ok(())
    });
    assert_eq!((bind(&api, "a", "").await.0, node_of(&api, "a").await), (201, json!("m")));
    let (code, status) = bind(&api, "b", "").await;
    assert_eq!((code, &status["message"]), (403, &json!("pods \"b\" is forbidden: not this one")));
    assert_eq!(node_of(&api, "b").await, Value::Null);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn binding_that_is_seen_is_in_the_log() {
    let api = Arc::new(TestApi::start(Config::default()).await);
    for pod in 0..200 {
        let name = format!("pod-{pod}");
        create_pod(&api, &name).await;
        let before = api.server.revision();
        let reader = tokio::task::spawn_blocking({
            let api = Arc::clone(&api);
            move || {
                while api.server.revision() == before {
                    std::hint::spin_loop();
                }
                api.server.requests().count(&On::any().subresource("binding"))
            }
        });
        assert_eq!((bind(&api, &name, "").await.0, reader.await.unwrap()), (201, pod + 1));
    }
}

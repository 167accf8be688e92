//! Deletes that are dry runs.

use http::Method;
use jiff::Timestamp;
use kube_dev_apiserver::{Clock, Config, On};
use rstest::rstest;
use serde_json::{Value, json};

use super::client::{CONFIG_MAPS, PODS, TestApi};

/// kubectl and kube send the options of a delete in its body.
#[rstest]
#[case::in_the_query("?dryRun=All", Value::Null)]
#[case::in_the_body("", json!({"kind": "DeleteOptions", "apiVersion": "v1", "dryRun": ["All"]}))]
#[tokio::test]
async fn dry_run_of_a_delete_is_not_logged_as_applied(
    #[case] query: &str,
    #[case] options: Value,
    #[values("/a", "")] name: &str,
) {
    let api = TestApi::start(Config::default()).await;
    api.create(CONFIG_MAPS, json!({"metadata": {"name": "a"}})).await;
    for (query, options, is_dry_run) in [(query, options, true), ("", Value::Null, false)] {
        api.server.requests().clear();
        let (code, _) = api.json(Method::DELETE, &format!("{CONFIG_MAPS}{name}{query}"), &options).await;
        let [delete] = api.server.requests().matching(&On::writes()).try_into().unwrap();
        assert_eq!((code, delete.dry_run, delete.applied), (200, is_dry_run, !is_dry_run));
        assert_eq!(api.get(&format!("{CONFIG_MAPS}/a")).await.0, if is_dry_run { 200 } else { 404 });
    }
}

/// As `Store.Delete` in Go: an object that stays is answered with its deletion timestamp.
#[rstest]
#[case::at_once(CONFIG_MAPS, json!({}), Value::Null)]
#[case::object_at_once(PODS, json!({}), Value::Null)]
#[case::finalizer(CONFIG_MAPS, json!({"metadata": {"finalizers": ["example.com/wait"]}}), Value::Null)]
#[case::grace_period(PODS, json!({"spec": {"nodeName": "n", "terminationGracePeriodSeconds": 20}}), Value::Null)]
#[case::without_the_grace_period(PODS, json!({"spec": {"nodeName": "n"}}), json!({"gracePeriodSeconds": 0}))]
#[case::after_its_dependents(CONFIG_MAPS, json!({}), json!({"propagationPolicy": "Foreground"}))]
#[case::namespace("/api/v1/namespaces", json!({}), Value::Null)]
#[tokio::test]
async fn dry_run_of_a_delete_is_answered_like_the_delete(
    #[case] collection: &str,
    #[case] rest: Value,
    #[case] options: Value,
) {
    let clock = Clock::new(|| Timestamp::constant(1_800_000_000, 0));
    let api = TestApi::start(Config { garbage_collection: true, clock, ..Config::default() }).await;
    let mut object = json!({"metadata": {"name": "a"}});
    if collection == PODS {
        object["spec"] = json!({"containers": [{"name": "main", "image": "app:1"}]});
    }
    json_patch::merge(&mut object, &rest);
    let created = api.create(collection, object).await;
    let owner = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "a", "uid": created["metadata"]["uid"]});
    api.create(CONFIG_MAPS, json!({"metadata": {"name": "b", "ownerReferences": [owner]}})).await;
    let (path, revision) = (format!("{collection}/a"), api.server.revision());

    let (_, mut tried) = api.json(Method::DELETE, &format!("{path}?dryRun=All"), &options).await;
    assert_eq!((api.server.revision(), api.get(&path).await), (revision, (200, created)));
    let (_, mut deleted) = api.json(Method::DELETE, &path, &options).await;
    for answer in [&mut tried, &mut deleted] {
        answer["metadata"].as_object_mut().unwrap().remove("resourceVersion");
    }
    assert_eq!(tried, deleted);
}

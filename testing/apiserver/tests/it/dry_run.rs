//! Deletes that are dry runs.

use http::Method;
use kube_dev_apiserver::{Config, On};
use rstest::rstest;
use serde_json::{Value, json};

use super::client::{CONFIG_MAPS, TestApi};

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

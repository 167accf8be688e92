//! Paginated lists, and lists at a version.

use http::Method;
use kube_dev_apiserver::Config;
use rstest::rstest;
use serde_json::{Value, json};

use super::client::{CONFIG_MAPS, TestApi};

const ALL: &str = "/api/v1/configmaps";

fn names(list: &Value) -> String {
    let items = list["items"].as_array().unwrap();
    items.iter().map(|item| item["metadata"]["name"].as_str().unwrap()).collect::<Vec<_>>().join(" ")
}

async fn five(api: &TestApi) {
    for name in ["a", "b", "c", "d", "e"] {
        api.create(CONFIG_MAPS, json!({"metadata": {"name": name, "labels": {"odd": "no"}}})).await;
    }
}

#[tokio::test]
async fn pages_are_consistent_at_one_version() {
    let api = TestApi::start(Config::default()).await;
    five(&api).await;
    let (_, first) = api.get(&format!("{ALL}?limit=2")).await;
    assert_eq!((names(&first).as_str(), first["metadata"]["remainingItemCount"].as_u64()), ("a b", Some(3)));

    // Changes between pages are not visible in them.
    api.json(Method::DELETE, &format!("{CONFIG_MAPS}/c"), &Value::Null).await;
    api.json(Method::PATCH, &format!("{CONFIG_MAPS}/d"), &json!({"data": {"new": "1"}})).await;
    api.create(CONFIG_MAPS, json!({"metadata": {"name": "bb"}})).await;
    let token = first["metadata"]["continue"].as_str().unwrap();
    let (_, second) = api.get(&format!("{ALL}?limit=2&continue={token}")).await;
    assert_eq!(names(&second), "c d");
    assert_eq!(second["items"][1].get("data"), None);
    assert_eq!(second["metadata"]["resourceVersion"], first["metadata"]["resourceVersion"]);
    let token = second["metadata"]["continue"].as_str().unwrap();
    let (_, third) = api.get(&format!("{ALL}?limit=2&continue={token}")).await;
    assert_eq!((names(&third).as_str(), third["metadata"].get("continue")), ("e", None));

    let (_, first) = api.get("/api/v1/namespaces?limit=3").await;
    let token = first["metadata"]["continue"].as_str().unwrap();
    let (_, second) = api.get(&format!("/api/v1/namespaces?limit=3&continue={token}")).await;
    assert_eq!(
        (names(&first).as_str(), names(&second).as_str()),
        ("default kube-node-lease kube-public", "kube-system")
    );
}

#[tokio::test]
async fn expired_continue_token_comes_with_a_new_one() {
    let api = TestApi::start(Config { watch_history: 1, ..Config::default() }).await;
    five(&api).await;
    let (_, first) = api.get(&format!("{CONFIG_MAPS}?limit=2")).await;
    for name in ["c", "d"] {
        api.json(Method::DELETE, &format!("{CONFIG_MAPS}/{name}"), &Value::Null).await;
    }
    let token = first["metadata"]["continue"].as_str().unwrap();
    let (code, expired) = api.get(&format!("{CONFIG_MAPS}?limit=2&continue={token}")).await;
    assert_eq!((code, expired["reason"].as_str()), (410, Some("Expired")));
    let token = expired["metadata"]["continue"].as_str().unwrap();
    let (code, rest) = api.get(&format!("{CONFIG_MAPS}?limit=2&continue={token}")).await;
    assert_eq!((code, names(&rest).as_str()), (200, "e"));
}

/// Versions: 4 after the start, 5 to 9 for the creates, 10 for the delete of `a`.
#[rstest]
#[case("", 200, "b c d e")]
#[case("resourceVersion=6", 200, "b c d e")]
#[case("resourceVersion=6&resourceVersionMatch=NotOlderThan", 200, "b c d e")]
#[case("resourceVersion=6&resourceVersionMatch=Exact", 200, "a b")]
#[case("resourceVersion=9&limit=3", 200, "a b c")]
#[case("resourceVersion=0&limit=3", 200, "b c d e")]
#[case("resourceVersion=6&resourceVersionMatch=Exact&labelSelector=odd", 200, "a b")]
#[case("limit=2&labelSelector=odd", 200, "b c")]
#[case("limit=4", 200, "b c d e")]
#[case("resourceVersion=11", 504, "")]
#[case("continue=x", 400, "")]
#[case("continue=!", 400, "")]
#[case("continue=e30", 400, "")]
#[case("continue=eyJ2IjoieCIsInJ2IjoxLCJzdGFydCI6Ii9hIn0", 400, "")]
// The token of a real server, of a version that this one has not reached.
#[case(
    "continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MzQ4Mywic3RhcnQiOiIvdDkyOGI5LXNwcmVhZC0yMC93ZWItNVx1MDAwMCJ9",
    504,
    ""
)]
#[case("limit=x", 400, "")]
#[case("resourceVersion=x", 400, "")]
#[case("labelSelector=a%20in%20b", 400, "")]
#[case("resourceVersionMatch=Exact", 422, "")]
#[case("watch=1&sendInitialEvents=true", 422, "")]
#[case("watch=1&resourceVersionMatch=NotOlderThan", 422, "")]
#[tokio::test]
async fn resource_version_match_of_lists(#[case] query: &str, #[case] code: u16, #[case] expect: &str) {
    let api = TestApi::start(Config::default()).await;
    five(&api).await;
    api.json(Method::DELETE, &format!("{CONFIG_MAPS}/a"), &Value::Null).await;
    let (found, list) = api.get(&format!("{ALL}?{query}")).await;
    assert_eq!(found, code, "{list}");
    if code == 200 {
        assert_eq!(names(&list), expect);
    }
    if query.contains("labelSelector") {
        assert_eq!(list["metadata"].get("remainingItemCount"), None, "no remainingItemCount with a selector");
    }
}

#[tokio::test]
async fn exact_version_before_the_history_is_expired() {
    let api = TestApi::start(Config { watch_history: 1, ..Config::default() }).await;
    five(&api).await;
    let (code, status) = api.get(&format!("{ALL}?resourceVersion=5&resourceVersionMatch=Exact")).await;
    assert_eq!((code, status["reason"].as_str()), (410, Some("Expired")));
}

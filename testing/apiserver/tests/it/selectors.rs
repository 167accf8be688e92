//! Selectors that can match no request, and the messages about faults without effect.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use http::Method;
use kube_dev_apiserver::{Config, CustomKind, Fault, On, Server};
use rstest::rstest;
use serde_json::{Value, json};

use super::client::TestApi;

fn panic_of<T>(run: impl FnOnce() -> T) -> String {
    let panic = catch_unwind(AssertUnwindSafe(run)).map(drop).expect_err("no panic");
    match panic.downcast::<String>() {
        Ok(message) => *message,
        Err(panic) => (*panic.downcast::<&str>().expect("a panic with a message")).to_owned(),
    }
}

#[rstest]
#[case::other_word("read")]
#[case::method("post")]
#[case::case("List")]
#[case::empty("")]
fn unknown_verb_panics_and_names_the_known_ones(#[case] verb: &str) {
    assert_eq!(
        panic_of(|| On::any().verb(verb)),
        format!(
            "there is no verb {verb:?}; the verbs are create, delete, deletecollection, get, list, patch, update, watch"
        )
    );
}

#[rstest]
#[case::singular(On::any().resource("configmap"))]
#[case::with_subresource(On::any().resource("pods/status"))]
#[case::other_group(On::any().group("apps").resource("jobs"))]
#[case::group(On::any().group("example.org"))]
#[tokio::test]
async fn resource_that_is_not_served_panics(#[case] on: On) {
    let server = Server::in_process(Config::default()).unwrap();
    let (faults, requests) = (server.faults(), server.requests());
    let expect = format!("the server does not serve {on}; it serves configmaps (core), ");
    assert!(panic_of(|| faults.inject(Fault::unavailable().on(on.clone()))).starts_with(&expect));
    assert_eq!(faults.states(), []);
    assert!(panic_of(|| requests.count(&on)).starts_with(&expect));
    assert!(panic_of(|| faults.cut_watches(&on)).starts_with(&expect));
}

#[rstest]
#[case::core(On::any().group("").resource("pods"))]
#[case::virtual_resource(On::any().resource("tokenreviews"))]
#[case::virtual_group(On::any().group("authorization.k8s.io"))]
#[case::subresource(On::any().verb("create").resource("pods").subresource("binding"))]
#[case::custom(On::any().group("example.com").resource("banners"))]
#[case::no_resource(On::any().verb("get").resource(""))]
#[case::nothing(On::any())]
#[tokio::test]
async fn what_is_served_can_be_selected(#[case] on: On) {
    let kinds = vec![CustomKind::new("example.com", "v1", "Banner")];
    let server = Server::in_process(Config { kinds, ..Config::default() }).unwrap();
    assert_eq!((server.requests().count(&on), server.faults().open_watches(&on)), (0, 0));
    server.faults().inject(Fault::unavailable().on(on));
}

/// A client can request a resource that the server does not serve. Such requests are logged, and counted if there are any.
#[tokio::test]
async fn requests_for_a_resource_that_is_not_served_are_counted() {
    let api = TestApi::start(Config::default()).await;
    let on = On::any().resource("statefulsets");
    assert_eq!(api.get("/apis/apps/v1/statefulsets").await.0, 404);
    assert_eq!((api.server.requests().count(&on), api.server.requests().matching(&on).len()), (1, 1));
    api.server.requests().clear();
    assert!(panic_of(|| api.server.requests().count(&on)).contains("statefulsets"));
}

#[tokio::test]
async fn resource_can_be_selected_once_its_definition_is_loaded() {
    let server = Server::in_process(Config::default()).unwrap();
    let on = || On::any().resource("banners");
    assert!(panic_of(|| server.requests().count(&on())).contains("banners"));
    let version = json!({
        "name": "v1", "served": true, "storage": true,
        "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
    });
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "banners.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced", "versions": [version],
            "names": {"kind": "Banner", "plural": "banners"},
        },
    });
    server.load([definition]).unwrap();
    assert_eq!(server.requests().count(&on()), 0);
}

#[rstest]
#[case::verb(Method::POST, "/debug/faults", json!({"effect": "reset", "on": {"verbs": ["read"]}}), "there is no verb")]
#[case::resource(Method::POST, "/debug/faults", json!({"effect": "reset", "on": {"resource": "pod"}}), "does not serve")]
#[case::verb_filter(Method::GET, "/debug/requests?verb=read", Value::Null, "there is no verb")]
#[case::resource_filter(Method::GET, "/debug/requests?resource=pod", Value::Null, "does not serve")]
#[case::group_filter(Method::GET, "/debug/requests?group=app", Value::Null, "does not serve")]
#[case::watches(Method::DELETE, "/debug/watches?resource=pod", Value::Null, "does not serve")]
#[tokio::test]
async fn debug_endpoints_reject_what_no_request_matches(
    #[case] method: Method,
    #[case] path: &str,
    #[case] body: Value,
    #[case] expect: &str,
) {
    let api = TestApi::start(Config { debug_endpoints: true, ..Config::default() }).await;
    let (code, answer) = api.json(method, path, &body).await;
    let message = answer["message"].as_str().unwrap_or_default();
    assert!(code == 400 && message.contains(expect), "{code} {answer}");
    assert_eq!(api.server.faults().states(), []);
}

#[tokio::test]
async fn faults_without_effect_are_shown_in_one_line() {
    let server = Server::in_process(Config::default()).unwrap();
    let faults = server.faults();
    faults.inject(Fault::unavailable().on(On::any().verb("patch").resource("configmaps").subresource("")).times(2));
    faults.inject(Fault::reset().times(0));
    faults.inject(Fault::delay_request(Duration::ZERO, Duration::from_secs(1)).after(3));
    let lines: Vec<String> = faults.unspent().iter().map(ToString::to_string).collect();
    assert_eq!(
        lines,
        [
            "1: Reject { code: 503, retry_after_seconds: None } on verb=patch resource=configmaps subresource=: \
             0 of 2 hits, matching requests: 0",
            "3: DelayRequest { min_millis: 0, max_millis: 1000 } on any request, after 3: 0 of 1 hits, matching requests: 0"
        ]
    );
}

//! Injected faults as seen by a client, and the request log.

use std::time::Duration;

use http::Method;
use kube_dev_apiserver::{Config, End, Fault, History, LoggedRequest, On};
use rstest::rstest;
use serde_json::{Value, json};

use super::client::{CONFIG_MAPS, TestApi, answer, named};

#[rstest]
#[case(Fault::expired(), 410, "Expired", None)]
#[case(Fault::too_many_requests(Duration::from_secs(3)), 429, "TooManyRequests", Some("3"))]
#[case(Fault::internal_error(), 500, "InternalError", None)]
#[case(Fault::unavailable(), 503, "ServiceUnavailable", None)]
#[tokio::test]
async fn refuse_faults_return_status_and_retry_after(
    #[case] fault: Fault,
    #[case] code: u16,
    #[case] reason: &str,
    #[case] retry_after: Option<&str>,
) {
    let api = TestApi::start(Config::default()).await;
    api.server.faults().inject(fault.on(On::any().verb("list")).times(1));
    api.create(CONFIG_MAPS, named("a")).await;
    let response = api.send(Method::GET, CONFIG_MAPS, "", String::new()).await;
    let header = response.headers().get("retry-after").map(|value| value.to_str().unwrap().to_owned());
    assert_eq!(header.as_deref(), retry_after);
    let (found, status) = answer(response).await;
    assert_eq!((found, &status["kind"], &status["reason"]), (code, &json!("Status"), &json!(reason)));
    assert_eq!(api.get(CONFIG_MAPS).await.0, 200, "the fault applies once");
    assert_eq!(api.server.faults().states()[0].hits, 1);
}

#[rstest]
#[case::cleanly(End::Cleanly)]
#[case::expired(End::Expired)]
#[case::reset(End::Reset)]
#[tokio::test]
async fn end_watch_faults_end_watches(#[case] how: End) {
    let api = TestApi::start(Config::default()).await;
    api.create(CONFIG_MAPS, named("a")).await;
    api.server.faults().inject(Fault::end_watch(Duration::from_secs(1), how));
    let mut events = api.watch(&format!("{CONFIG_MAPS}?watch=true")).await;
    assert_eq!(events.next_short().await, "ADDED a");
    match how {
        End::Cleanly => assert_eq!(events.next().await, None),
        End::Expired => {
            assert_eq!(events.next().await.unwrap()["object"]["code"], 410);
            assert_eq!(events.next().await, None);
        }
        End::Reset => assert!(events.try_next().await.is_err()),
    }
}

#[tokio::test]
async fn watch_with_410_gets_an_error_event() {
    let api = TestApi::start(Config::default()).await;
    api.server.faults().inject(Fault::expired().on(On::any().verb("watch")));
    let mut events = api.watch(&format!("{CONFIG_MAPS}?watch=true&resourceVersion=3")).await;
    let event = events.next().await.unwrap();
    assert_eq!((&event["type"], &event["object"]["reason"]), (&json!("ERROR"), &json!("Expired")));
}

#[tokio::test]
async fn trickled_and_delayed_responses_are_complete() {
    let api = TestApi::start(Config { seed: Some(3), ..Config::default() }).await;
    api.create(CONFIG_MAPS, named("a")).await;
    api.server.faults().inject(Fault::trickle(7, Duration::ZERO));
    api.server.faults().inject(Fault::delay_events(Duration::from_millis(1), Duration::from_millis(3)));
    api.server.faults().inject(Fault::delay_request(Duration::from_millis(1), Duration::from_millis(2)));
    assert_eq!(api.get(CONFIG_MAPS).await.1["items"][0]["metadata"]["name"], "a");
    let mut events = api.watch(&format!("{CONFIG_MAPS}?watch=true")).await;
    assert_eq!(events.next_short().await, "ADDED a");
    api.create(CONFIG_MAPS, named("b")).await;
    assert_eq!(events.next_short().await, "ADDED b");
}

#[tokio::test]
async fn repeated_events_are_sent_twice() {
    let api = TestApi::start(Config::default()).await;
    api.create(CONFIG_MAPS, named("a")).await;
    api.create(CONFIG_MAPS, named("b")).await;
    api.server.faults().inject(Fault::repeat_events());
    let mut events = api.watch(&format!("{CONFIG_MAPS}?watch=true")).await;
    for expect in ["ADDED a", "ADDED a", "ADDED b", "ADDED b"] {
        assert_eq!(events.next_short().await, expect);
    }
    let list = api.get(CONFIG_MAPS).await.1;
    assert_eq!(list["items"].as_array().map(Vec::len), Some(2), "only watch events are repeated");
}

#[tokio::test]
async fn omitted_objects_exist_and_change() {
    let api = TestApi::start(Config::default()).await;
    for name in ["a", "b"] {
        api.create(CONFIG_MAPS, named(name)).await;
    }
    let on = On::any().verb("list").verb("watch").resource("configmaps");
    let id = api.server.faults().inject(Fault::omit_objects().on(on));
    let list = api.get(CONFIG_MAPS).await.1;
    let version = api.server.revision().to_string();
    assert_eq!((&list["items"], &list["metadata"]["resourceVersion"]), (&json!([]), &json!(version)));
    assert_eq!(api.get(&format!("{CONFIG_MAPS}/a")).await.0, 200);
    let mut events = api.watch(&format!("{CONFIG_MAPS}?watch=true")).await;
    api.create(CONFIG_MAPS, named("c")).await;
    assert_eq!(events.next_short().await, "ADDED c");
    api.json(Method::PATCH, &format!("{CONFIG_MAPS}/a"), &json!({"data": {"x": "y"}})).await;
    assert_eq!(events.next_short().await, "MODIFIED a");
    api.server.faults().remove(id);
    assert_eq!(api.get(CONFIG_MAPS).await.1["items"].as_array().map(Vec::len), Some(3));
}

#[tokio::test]
async fn cut_watches_ends_matching_watches() {
    let api = TestApi::start(Config::default()).await;
    let mut cut = api.watch("/api/v1/configmaps?watch=true").await;
    let mut kept = api.watch("/api/v1/nodes?watch=true").await;
    let config_maps = On::any().resource("configmaps");
    assert_eq!(api.server.faults().open_watches(&On::any()), 2);
    assert_eq!(api.server.faults().cut_watches(&config_maps), 1);
    assert_eq!(cut.next().await, None);
    assert_eq!(api.server.faults().open_watches(&config_maps), 0);
    api.create("/api/v1/nodes", named("n")).await;
    assert_eq!(kept.next_short().await, "ADDED n");
}

#[rstest]
#[case::kept(History::Kept)]
#[case::lost(History::Lost)]
#[tokio::test]
async fn restart_resets_connections_and_keeps_or_drops_the_history(#[case] history: History) {
    let api = TestApi::start(Config::default()).await;
    let a = api.create(CONFIG_MAPS, named("a")).await;
    let mut before = api.watch(&format!("{CONFIG_MAPS}?watch=true")).await;
    assert_eq!(before.next_short().await, "ADDED a");
    api.create(CONFIG_MAPS, named("b")).await;
    assert_eq!(before.next_short().await, "ADDED b");
    api.server.restart(history);
    assert!(before.try_next().await.is_err(), "the restart resets the stream");
    api.reconnect().await;

    let version = a["metadata"]["resourceVersion"].as_str().unwrap();
    let mut events = api.watch(&format!("{CONFIG_MAPS}?watch=true&resourceVersion={version}")).await;
    let expect = match history {
        History::Kept => "ADDED b",
        History::Lost => "ERROR ",
    };
    assert_eq!(events.next_short().await, expect);
    // A watch from the current version can resume in both cases.
    let version = api.get(CONFIG_MAPS).await.1["metadata"]["resourceVersion"].as_str().unwrap().to_owned();
    let mut events = api.watch(&format!("{CONFIG_MAPS}?watch=true&resourceVersion={version}")).await;
    api.create(CONFIG_MAPS, named("c")).await;
    assert_eq!(events.next_short().await, "ADDED c");
}

#[tokio::test]
async fn requests_are_logged() {
    let api = TestApi::start(Config { request_log: 3, ..Config::default() }).await;
    api.create(CONFIG_MAPS, named("gone")).await;
    let path = format!("{CONFIG_MAPS}/a");
    assert_eq!(api.get(&path).await.0, 404);
    api.server.faults().inject(Fault::reset().on(On::any().verb("delete")));
    assert!(api.try_send(Method::DELETE, &path, "", String::new()).await.is_err());
    drop(api.watch("/api/v1/pods?watch=true&resourceVersion=2&dryRun=All").await);

    let all = api.server.requests().all();
    let show = |it: &LoggedRequest| {
        let LoggedRequest { verb, resource, namespace, name, user, status, resource_version, .. } = it;
        format!("{verb} {resource} {namespace}/{name} {user} {status:?} {resource_version} {}", it.dry_run)
    };
    assert_eq!(
        all.iter().map(show).collect::<Vec<_>>(),
        [
            "get configmaps default/a system:anonymous Some(404)  false",
            "delete configmaps default/a system:anonymous None  false",
            "watch pods / system:anonymous Some(200) 2 true",
        ]
    );
    assert_eq!((all[0].path.as_str(), all[0].user_agent.as_str()), (path.as_str(), "it/1 (test)"));
    assert_eq!(api.server.requests().count(&On::any().user_agent("it/")), 3);
    assert_eq!(api.server.requests().matching(&On::writes()), all[1..2]);
}

#[tokio::test]
async fn debug_endpoints_inject_and_remove_faults() {
    let api = TestApi::start(Config { debug_endpoints: true, ..Config::default() }).await;
    let fault = json!({"effect": {"reject": {"code": 503}}, "on": {"resource": "configmaps"}, "times": 1});
    let (code, injected) = api.json(Method::POST, "/debug/faults", &fault).await;
    assert_eq!((code, &injected), (200, &json!({"id": 1})));
    assert_eq!(api.get(CONFIG_MAPS).await.0, 503);
    let (_, states) = api.get("/debug/faults").await;
    assert_eq!((&states[0]["hits"], &states[0]["fault"]["times"]), (&json!(1), &json!(1)));
    let (_, requests) = api.get("/debug/requests?verb=list&resource=configmaps").await;
    assert_eq!((requests.as_array().unwrap().len(), &requests[0]["status"]), (1, &json!(503)));

    assert_eq!(api.json(Method::DELETE, "/debug/faults?id=1", &Value::Null).await.0, 200);
    assert_eq!(api.get("/debug/faults").await.1, json!([]));
    for (method, path, code) in [
        (Method::DELETE, "/debug/faults?id=1", 400),
        (Method::PUT, "/debug/faults", 405),
        (Method::GET, "/debug/nothing", 404),
        (Method::GET, "/debug/requests?colour=red", 400),
        (Method::POST, "/debug/faults", 400),
    ] {
        assert_eq!(api.json(method, path, &Value::Null).await.0, code, "{path}");
    }
    let closed = TestApi::start(Config::default()).await;
    assert_eq!(closed.get("/debug/faults").await.0, 404);
}

#[tokio::test]
async fn debug_endpoints_cut_watches_and_restart_the_server() {
    let api = TestApi::start(Config { debug_endpoints: true, ..Config::default() }).await;
    let mut config_maps = api.watch("/api/v1/configmaps?watch=true").await;
    let mut nodes = api.watch("/api/v1/nodes?watch=true").await;
    let cut = api.json(Method::DELETE, "/debug/watches?resource=configmaps", &Value::Null).await;
    assert_eq!((cut, config_maps.next().await), ((200, json!({"cut": 1})), None));
    let version = api.create("/api/v1/nodes", named("n")).await["metadata"]["resourceVersion"].clone();
    assert_eq!(nodes.next_short().await, "ADDED n");
    assert_eq!(api.json(Method::POST, "/debug/restart?history=maybe", &Value::Null).await.0, 400);

    api.create("/api/v1/nodes", named("o")).await;
    assert_eq!(nodes.next_short().await, "ADDED o");
    // The restart may drop the response of its own request.
    let _ = api.try_send(Method::POST, "/debug/restart?history=lost", "", String::new()).await;
    assert!(nodes.try_next().await.is_err(), "the restart resets the stream");
    api.reconnect().await;
    let path = format!("/api/v1/nodes?watch=true&resourceVersion={}", version.as_str().unwrap());
    assert_eq!(api.watch(&path).await.next_short().await, "ERROR ");
}

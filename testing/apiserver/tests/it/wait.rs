//! Waiting for a state of the server.

use std::cell::Cell;
use std::time::Duration;

use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube::api::{DeleteParams, ListParams, Patch, PatchParams};
use kube::{Api, Client};
use kube_dev_apiserver::{Config, Fault, On, Server};
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

const LIMIT: Duration = Duration::from_secs(10);

fn server() -> Server {
    let server = Server::in_process(Config::default()).unwrap();
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "default"}});
    server.load([map]).unwrap();
    server
}

#[tokio::test(start_paused = true)]
async fn condition_is_evaluated_after_each_change_and_no_more_often() {
    let server = server();
    let (maps, checks, start) = (server.typed::<ConfigMap>(), Cell::new(0), Instant::now());
    let writes = async {
        for colour in ["red", "green", "blue"] {
            sleep(Duration::from_secs(2)).await;
            maps.patch("a", &json!({"data": {"colour": colour}})).unwrap();
        }
    };
    let blue = || {
        checks.set(checks.get() + 1);
        maps.get("a").ok().filter(|it| it.data.as_ref().is_some_and(|it| it["colour"] == "blue"))
    };
    let (found, ()) = tokio::join!(server.wait_until(LIMIT, blue), writes);
    assert_eq!(found.unwrap().metadata.resource_version, Some(server.revision().to_string()));
    assert_eq!((checks.get(), start.elapsed()), (4, Duration::from_secs(6)));
    assert_eq!(server.wait_until(Duration::ZERO, || Some(1)).await, Ok(1), "a condition that holds already");
}

#[tokio::test(start_paused = true)]
async fn requests_and_faults_are_seen() {
    let server = server();
    server.faults().inject(Fault::unavailable().on(On::any().verb("get")).times(1));
    let client = Client::new(server.service(), "default");
    let request = async {
        sleep(Duration::from_secs(1)).await;
        Api::<ConfigMap>::default_namespaced(client).get("a").await
    };
    let spent = || server.faults().states()[0].is_spent().then_some(());
    let logged = || server.requests().matching(&On::any().verb("get")).pop();
    let (spent, logged, _) = tokio::join!(server.wait_until(LIMIT, spent), server.wait_until(LIMIT, logged), request);
    spent.unwrap();
    assert_eq!(logged.unwrap().status, Some(503));
}

/// The request is in the log only when it is answered.
#[tokio::test(start_paused = true)]
async fn delayed_request_is_seen_before_it_is_executed() {
    let (server, start) = (server(), Instant::now());
    server.faults().inject(Fault::delay_request(LIMIT, LIMIT).on(On::any().verb("delete")).times(1));
    let maps: Api<ConfigMap> = Api::default_namespaced(Client::new(server.service(), "default"));
    let parameters = DeleteParams::default();
    let hit = async {
        server.wait_until(2 * LIMIT, || server.faults().states()[0].is_spent().then_some(())).await.unwrap();
        assert_eq!((start.elapsed(), server.requests().all()), (Duration::ZERO, vec![]));
        assert!(server.typed::<ConfigMap>().get("a").is_ok());
    };
    let (deleted, ()) = tokio::join!(maps.delete("a", &parameters), hit);
    deleted.unwrap();
    assert_eq!(start.elapsed(), LIMIT);
}

#[tokio::test(start_paused = true)]
async fn timeout_names_limit_and_version() {
    let (server, start) = (server(), Instant::now());
    let error = server.wait_until(LIMIT, || None::<()>).await.unwrap_err();
    assert_eq!(start.elapsed(), LIMIT);
    let version = server.revision();
    let expected = format!("the awaited state was not reached within 10s: 1 checks, resource version {version}");
    assert_eq!(error.to_string(), expected);
}

#[tokio::test(start_paused = true)]
async fn timeout_lists_the_last_failed_requests_of_the_wait() {
    let server = server();
    let client = Client::new(server.service(), "default");
    let maps: Api<ConfigMap> = Api::default_namespaced(client.clone());
    maps.get("before").await.unwrap_err();
    server.faults().inject(Fault::unavailable().on(On::any().verb("list")));
    server.faults().inject(Fault::reset().on(On::any().verb("delete")));
    let requests = async {
        for name in ["1", "2", "3", "4"] {
            maps.get(name).await.unwrap_err();
        }
        maps.get("a").await.unwrap();
        client.request_text(http::Request::get("/missing").body(Vec::new()).unwrap()).await.unwrap_err();
        maps.delete("a", &DeleteParams::default()).await.unwrap_err();
        let pods: Api<Pod> = Api::all(client);
        pods.list(&ListParams::default()).await.unwrap_err();
    };
    let (waited, ()) = tokio::join!(server.wait_until(LIMIT, || None::<()>), requests);
    let error = waited.unwrap_err();
    let expected = "\nlast failed requests:\n  \
        get configmaps default/3: 404, configmaps \"3\" not found\n  \
        get configmaps default/4: 404, configmaps \"4\" not found\n  \
        get /missing: 404, 404 page not found\n  \
        delete configmaps default/a: connection reset\n  \
        list pods: 503, the server is currently unable to handle the request";
    assert!(error.to_string().ends_with(expected), "{error}");
    // `unwrap`, and a test that returns the error, print the same.
    assert_eq!(format!("{error:?}"), error.to_string());
}

#[tokio::test(start_paused = true)]
async fn timeout_lists_the_faults_without_effect() {
    let server = server();
    let patches = || On::any().verb("patch").resource("configmaps");
    server.faults().inject(Fault::unavailable().on(On::any().verb("get")).times(1));
    server.faults().inject(Fault::expired().on(patches()).times(2));
    let client = Client::new(server.service(), "default");
    Api::<ConfigMap>::default_namespaced(client).get("a").await.unwrap_err();
    let error = server.wait_until(LIMIT, || server.faults().unspent().is_empty().then_some(())).await.unwrap_err();
    assert_eq!(error.unspent, server.faults().states()[1..]);
    let line = format!("\nfaults without effect:\n  {}", error.unspent[0]);
    assert!(error.to_string().ends_with(&line), "{error}");
}

/// A sleep or a timeout would never end: paused time advances only while the runtime is idle.
#[tokio::test(start_paused = true)]
async fn wait_ends_at_a_write_of_a_hot_loop() {
    let server = server();
    let maps: Api<ConfigMap> = Api::default_namespaced(Client::new(server.service(), "default"));
    let mut hot_loop = JoinSet::new();
    hot_loop.spawn(async move {
        for n in 0_u64.. {
            let patch = Patch::Merge(json!({"data": {"n": n.to_string()}}));
            maps.patch("a", &PatchParams::default(), &patch).await.unwrap();
        }
    });
    let written = server.wait_until(LIMIT, || server.requests().matching(&On::writes()).pop()).await;
    assert_eq!(written.unwrap().verb, "patch");
}

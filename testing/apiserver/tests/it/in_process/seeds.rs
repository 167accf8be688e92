//! Determinism: the same seed, clock and requests yield the same bytes.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::Method;
use http_body_util::BodyExt as _;
use jiff::{SignedDuration, Timestamp};
use kube_dev_apiserver::{Clock, Config, End, Fault, History, On, Server};
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tower::ServiceExt as _;

use super::{CONFIG_MAPS, InProcess, PODS, request, send};
use crate::client::SERVICES;

const NAMESPACES: &str = "/api/v1/namespaces";

/// Lines of all responses, in order of arrival.
type Record = Arc<Mutex<Vec<String>>>;

/// Returns a clock that follows tokio's paused clock.
fn clock() -> Clock {
    let base = Instant::now();
    Clock::new(move || {
        let elapsed = SignedDuration::try_from(base.elapsed()).unwrap();
        Timestamp::UNIX_EPOCH + elapsed + SignedDuration::from_hours(1)
    })
}

/// Sends a request and records its response until it ends.
async fn follow(service: InProcess, id: usize, method: Method, path: String, body: Value, record: Record) {
    let put = |line: String| record.lock().unwrap().push(format!("{id}: {line}"));
    match service.oneshot(request(method, &path, &body)).await {
        Err(error) => put(format!("{path} {error}")),
        Ok(response) => {
            let (parts, mut body) = response.into_parts();
            put(format!("{path} {} {:?}", parts.status, parts.headers));
            while let Some(frame) = body.frame().await {
                put(frame.map_or_else(|error| error.to_string(), |frame| format!("{:?}", frame.into_data())));
            }
        }
    }
}

async fn run(seed: u64) -> Vec<String> {
    let config = Config {
        seed: Some(seed),
        clock: clock(),
        garbage_collection: true,
        bookmark_interval: Duration::from_secs(1),
        ..Config::default()
    };
    let server = Server::in_process(config).unwrap();
    let service = server.service();
    let record = Record::default();
    let faults = server.faults();
    faults.inject(Fault::unavailable().on(On::writes()).probability(0.2));
    faults.inject(Fault::apply_then_reset().on(On::writes()).probability(0.1));
    let (min, max) = (Duration::from_millis(1), Duration::from_millis(30));
    faults.inject(Fault::delay_request(min, max).on(On::any().resource("services")).probability(0.5));
    faults.inject(Fault::delay_events(min, max).on(On::any().resource("pods")).probability(0.5));
    faults.inject(Fault::end_watch(Duration::from_millis(700), End::Reset).probability(0.3));

    let mut tasks = JoinSet::new();
    let mut id = 0;
    let mut send_request = |tasks: &mut JoinSet<()>, method, path: String, body| {
        id += 1;
        tasks.spawn(follow(service.clone(), id, method, path, body, Arc::clone(&record)));
    };
    for collection in [CONFIG_MAPS, PODS, SERVICES, NAMESPACES] {
        for _ in 0..10 {
            let path = format!("{collection}?watch=true&allowWatchBookmarks=true&timeoutSeconds=5");
            send_request(&mut tasks, Method::GET, path, Value::Null);
        }
    }
    let pod = json!({"metadata": {"generateName": "web-"}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    let port = json!({"spec": {"type": "NodePort", "ports": [{"port": 80}]}, "metadata": {"generateName": "s-"}});
    for round in 0..10 {
        send_request(
            &mut tasks,
            Method::POST,
            CONFIG_MAPS.to_owned(),
            json!({"metadata": {"name": format!("m-{round}")}}),
        );
        send_request(&mut tasks, Method::POST, PODS.to_owned(), pod.clone());
        send_request(&mut tasks, Method::POST, SERVICES.to_owned(), port.clone());
        send_request(
            &mut tasks,
            Method::POST,
            NAMESPACES.to_owned(),
            json!({"metadata": {"name": format!("n-{round}")}}),
        );
        tokio::time::sleep(Duration::from_millis(20)).await;
        send_request(&mut tasks, Method::DELETE, format!("{NAMESPACES}/n-{round}"), Value::Null);
        send_request(&mut tasks, Method::GET, "/api/v1/pods".to_owned(), Value::Null);
    }
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    server.restart(History::Lost);
    for path in ["/apis", "/api/v1", "/openapi/v3", CONFIG_MAPS] {
        send_request(&mut tasks, Method::GET, path.to_owned(), Value::Null);
    }
    while let Some(ended) = tasks.join_next().await {
        ended.unwrap();
    }
    send(&service, Method::DELETE, CONFIG_MAPS, &Value::Null).await.ok();
    let mut lines = std::mem::take(&mut *record.lock().unwrap());
    lines.push(format!("{:?}", server.requests().all()));
    lines.push(format!("{:?}", server.encoded_objects("", "services")));
    lines
}

fn in_own_runtime(seed: u64) -> Vec<String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(run(seed))
}

#[test]
fn same_seed_gives_the_same_bytes() {
    let (one, two) = (in_own_runtime(7), in_own_runtime(7));
    assert!(one.len() > 500, "{} frames", one.len());
    for (at, (one, two)) in one.iter().zip(&two).enumerate() {
        assert_eq!(one, two, "frame {at}");
    }
    assert_eq!(one.len(), two.len());
    assert_ne!(one, in_own_runtime(8));
}

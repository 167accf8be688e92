//! Clients with an adaptive limit, in paused time.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, StatusCode, header::RETRY_AFTER};
use http_body_util::Full;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube_controller_client::{Client, ClientOptions, Config};
use tokio::time::{Instant, sleep};
use tower::service_fn;

use crate::cluster::config_map;

const SECOND: Duration = Duration::from_secs(1);

/// A server that rejects the first requests with 429 and accepts the others after 5 ms. Records the time of each.
fn server(rejected: usize, retry_after: &'static str) -> (Config, Arc<Mutex<Vec<Instant>>>) {
    let requests = Arc::new(Mutex::new(Vec::new()));
    let service = service_fn({
        let requests = Arc::clone(&requests);
        move |request: Request<Full<Bytes>>| {
            let is_lease = request.uri().path().contains("/leases");
            let is_rejected = {
                let mut requests = requests.lock().expect("not poisoned");
                if !is_lease {
                    requests.push(Instant::now());
                }
                !is_lease && requests.len() <= rejected
            };
            async move {
                if is_rejected {
                    let response = Response::builder().status(StatusCode::TOO_MANY_REQUESTS);
                    let response =
                        response.header(RETRY_AFTER, retry_after).body(Full::from("busy")).expect("a response");
                    return Ok::<_, Infallible>(response);
                }
                sleep(Duration::from_millis(5)).await;
                Ok(Response::new(Full::from(r#"{"metadata":{"name":"web","resourceVersion":"7"}}"#)))
            }
        }
    });
    (Config::from_service(service), requests)
}

fn client(config: &Config) -> Client {
    Client::new(config, ClientOptions { adaptive: true, ..ClientOptions::default() }).expect("create client")
}

fn lease() -> Lease {
    let (name, namespace) = (Some("controller".to_owned()), Some("kube-system".to_owned()));
    Lease { metadata: ObjectMeta { name, namespace, ..ObjectMeta::default() }, ..Lease::default() }
}

#[tokio::test(start_paused = true)]
async fn requests_are_written_after_429_and_leases_do_not_wait() {
    let (config, requests) = server(1, "30");
    let client = client(&config);
    let start = Instant::now();
    let (first, second) = (config_map("first"), config_map("second"));
    let waiting = async {
        sleep(SECOND / 2).await;
        client.create(&second).await.expect("accepted after the pause");
    };
    let renewal = async {
        sleep(SECOND / 2).await;
        client.create(&lease()).await.expect("accepted");
        assert_eq!(start.elapsed(), SECOND / 2 + Duration::from_millis(5));
    };
    let (first, (), ()) = tokio::join!(client.create(&first), waiting, renewal);
    first.expect("accepted at the second attempt");
    // The pause is 1 s at most; then one request at a time.
    let times: Vec<Duration> = requests.lock().unwrap().iter().map(|at| *at - start).collect();
    assert_eq!(times, [Duration::ZERO, SECOND, SECOND + Duration::from_millis(5)]);
}

/// A burst of 200 requests is sent faster than by the default token bucket, which needs 8.5 s.
#[tokio::test(start_paused = true)]
async fn a_burst_is_limited_by_requests_in_flight() {
    let (config, requests) = server(0, "1");
    let client = client(&config);
    let start = Instant::now();
    let objects: Vec<_> = (0..200).map(|at| config_map(&format!("web-{at}"))).collect();
    let all = futures::future::join_all(objects.iter().map(|object| client.create(object))).await;
    assert!(all.iter().all(Result::is_ok));
    assert!(start.elapsed() < SECOND / 2, "{:?}", start.elapsed());
    let first = requests.lock().unwrap().iter().filter(|at| **at == start).count();
    assert_eq!(first, 4, "requests in flight at first");
}

//! Whether the server answers, as all clients of a configuration see it.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicU16, AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use bytes::Bytes;
use futures::FutureExt as _;
use http::{Request, Response, header::RETRY_AFTER};
use http_body_util::Full;
use kube_controller_client::{Config, Timeouts};
use rstest::rstest;
use tokio::time::{Instant, sleep};
use tower::service_fn;

use crate::cluster::{client_of, config_map};

/// A server whose answers have this status; 0 refuses connections. Counts the requests.
#[derive(Clone, Default)]
struct Server {
    status: Arc<AtomicU16>,
    requests: Arc<AtomicUsize>,
}

impl Server {
    fn config(&self) -> Config {
        let server = self.clone();
        Config::from_service(service_fn(move |_: Request<Full<Bytes>>| {
            server.requests.fetch_add(1, Relaxed);
            let status = server.status.load(Relaxed);
            async move {
                if status == 0 {
                    return Err(io::Error::from(io::ErrorKind::ConnectionRefused));
                }
                let response = Response::builder().status(status).header(RETRY_AFTER, "20");
                Ok(response.body(Full::from("{}")).expect("a response"))
            }
        }))
    }
}

#[rstest]
#[case::refused(0, false)]
#[case::unavailable(503, false)]
#[case::internal_error(500, false)]
#[case::busy(429, true)]
#[case::unauthorized(401, true)]
#[case::forbidden(403, true)]
#[tokio::test(start_paused = true)]
async fn three_failures_of_any_client_make_the_server_unavailable(#[case] status: u16, #[case] available: bool) {
    let server = Server::default();
    server.status.store(status, Relaxed);
    let client = client_of(&server.config()).without_retries();
    let separate = client.separate(Timeouts::default()).expect("create client").without_retries();
    client.get_json("/version").await.unwrap_err();
    separate.get_json("/version").await.unwrap_err();
    assert!(client.availability().is_available());
    client.create(&config_map("web")).await.unwrap_err();
    assert_eq!(separate.availability().is_available(), available);
    let recovery = client.availability().recovery();
    server.status.store(404, Relaxed);
    separate.get_json("/version").await.unwrap_err();
    assert!(client.availability().is_available());
    assert_eq!(recovery.now_or_never().is_some(), !available);
    assert_eq!(server.requests.load(Relaxed), 4, "each request is sent once");
}

/// A write that the server refused with `Retry-After: 20` is repeated as soon as another request shows that the outage
/// is over; after a 429, the delay is kept.
#[rstest]
#[case::unavailable(503, 3)]
#[case::busy(429, 20)]
#[tokio::test(start_paused = true)]
async fn recovery_ends_the_wait_of_a_write(#[case] status: u16, #[case] seconds: u64) {
    let server = Server::default();
    server.status.store(status, Relaxed);
    let config = server.config();
    let (reader, writer) = (client_of(&config).without_retries(), client_of(&config));
    let start = Instant::now();
    let outage = async {
        for _ in 0..3 {
            reader.get_json("/version").await.unwrap_err();
        }
        sleep(Duration::from_secs(3)).await;
        server.status.store(200, Relaxed);
        reader.get_json("/version").await.unwrap();
    };
    // The answer of the server is not the object, so the result is an error.
    let object = config_map("web");
    let (_, ()) = tokio::join!(writer.create(&object), outage);
    assert_eq!(start.elapsed().as_secs(), seconds);
}

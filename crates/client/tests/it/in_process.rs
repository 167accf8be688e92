//! Requests to an in-process service.

use std::convert::Infallible;
use std::io::{self, ErrorKind};
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures::{StreamExt as _, stream};
use http::{
    Method, Request, Response,
    header::{AUTHORIZATION, RETRY_AFTER},
};
use http_body::Frame;
use http_body_util::{Full, StreamBody};
use k8s_openapi::api::core::v1::Pod;
use kube_controller_client::{Config, Error, TransportKind, WatchParams};
use kube_wire::Decode as _;
use rstest::rstest;
use serde_json::json;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;
use tower::service_fn;

use crate::cluster::{client_of, config_map};

/// Runs a future on a single-threaded runtime with paused time and without an I/O driver.
fn run<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("build runtime")
        .block_on(work)
}

fn response(body: &'static str) -> Response<Full<Bytes>> {
    Response::new(Full::from(body))
}

#[test]
fn service_receives_reads_writes_and_watches() {
    let requests = Arc::new(Mutex::new(Vec::new()));
    let service = service_fn({
        let requests = Arc::clone(&requests);
        move |request: Request<Full<Bytes>>| {
            let authorized = request.headers().contains_key(AUTHORIZATION);
            requests.lock().unwrap().push((request.method().clone(), request.uri().to_string(), authorized));
            let chunks = ["{\"metadata\":", "{\"resourceVersion\":\"7\"}}"]
                .map(|chunk| Ok::<_, io::Error>(Frame::data(Bytes::from(chunk))));
            async { Ok::<_, Infallible>(Response::new(StreamBody::new(stream::iter(chunks)))) }
        }
    });
    let config = Config::from_service(service);
    assert_eq!(config.server(), "http://in-process/");
    run(async {
        let client = client_of(&config);
        client.create(&config_map("web")).await.unwrap();
        client.get_json("/version?verbose=true").await.unwrap();
        let watch = client.watch(&Pod::RESOURCE, None, &WatchParams::default()).await.unwrap();
        let chunks: Vec<Bytes> = watch.map(Result::unwrap).collect().await;
        assert_eq!(chunks.concat(), br#"{"metadata":{"resourceVersion":"7"}}"#);
    });
    let requests = requests.lock().unwrap();
    assert_eq!(requests[0], (Method::POST, "/api/v1/namespaces/default/configmaps".to_owned(), false));
    assert_eq!(requests[1], (Method::GET, "/version?verbose=true".to_owned(), false));
    assert!(requests[2].1.starts_with("/api/v1/pods?watch="), "{requests:?}");
}

#[rstest]
#[case(ErrorKind::ConnectionReset, TransportKind::Reset)]
#[case(ErrorKind::BrokenPipe, TransportKind::Reset)]
#[case(ErrorKind::UnexpectedEof, TransportKind::Reset)]
#[case(ErrorKind::ConnectionRefused, TransportKind::Connect)]
#[case(ErrorKind::TimedOut, TransportKind::Timeout)]
#[case(ErrorKind::Other, TransportKind::Other)]
fn errors_of_the_service_and_of_a_body_are_classified(#[case] error: ErrorKind, #[case] expect: TransportKind) {
    let failing = service_fn(move |_| async move { Err::<Response<Full<Bytes>>, _>(io::Error::from(error)) });
    let broken = service_fn(move |_| async move {
        let frames = [Ok(Frame::data(Bytes::from("{"))), Err(io::Error::from(error))];
        Ok::<_, Infallible>(Response::new(StreamBody::new(stream::iter(frames))))
    });
    for config in [Config::from_service(failing), Config::from_service(broken)] {
        let error = run(client_of(&config).create(&config_map("web"))).unwrap_err();
        assert!(matches!(error, Error::Transport { kind, .. } if kind == expect), "{error:?}");
    }
}

#[test]
fn service_without_response_times_out() {
    let silent = service_fn(|_| std::future::pending::<Result<Response<Full<Bytes>>, Infallible>>());
    run(async {
        let start = Instant::now();
        let error = client_of(&Config::from_service(silent)).get_json("/version").await.unwrap_err();
        assert!(matches!(error, Error::Transport { kind: TransportKind::Timeout, .. }), "{error:?}");
        assert_eq!(start.elapsed().as_secs(), 90);
    });
}

/// The API server has applied the patch, whatever its answer contains.
#[test]
fn answer_to_a_patch_is_not_decoded() {
    let service = service_fn(async |_| Ok::<_, Infallible>(response(r#"{"kind": "Status", "status": "Success"}"#)));
    let client = client_of(&Config::from_service(service));
    run(client.merge_patch::<Pod>("default", "web", None, &json!({}))).expect("applied");
}

#[test]
fn in_process_config_is_not_reloaded() {
    let config = Config::from_service(service_fn(async |_| Ok::<_, Infallible>(response("{}"))));
    run(async {
        let following = pin!(config.follow_files());
        assert!(timeout(Duration::from_secs(3_600), following).await.is_err());
    });
}

/// What a service does with the second attempt of a create.
#[derive(Clone, Copy)]
enum Second {
    Exists,
    Refuses,
    IsNotSent,
}

/// A proxy answers the first attempt with a status that is retried. With 503, the server may have applied it.
#[rstest]
#[case::exists(503, Second::Exists, true)]
#[case::refused(503, Second::Refuses, true)]
#[case::shutdown(503, Second::IsNotSent, true)]
#[case::exists_after_429(429, Second::Exists, false)]
#[case::refused_after_429(429, Second::Refuses, false)]
#[case::shutdown_after_429(429, Second::IsNotSent, false)]
fn an_earlier_attempt_may_have_been_applied(#[case] code: u16, #[case] second: Second, #[case] expect: bool) {
    let (shutdown, attempts) = (CancellationToken::new(), Arc::new(AtomicUsize::new(0)));
    let service = service_fn({
        let (shutdown, attempts) = (shutdown.clone(), Arc::clone(&attempts));
        move |_: Request<Full<Bytes>>| {
            let exists = r#"{"kind":"Status","code":409,"reason":"AlreadyExists"}"#;
            let answer = match (attempts.fetch_add(1, Relaxed), second) {
                (0, second) => {
                    if matches!(second, Second::IsNotSent) {
                        shutdown.cancel();
                    }
                    Ok(Response::builder().status(code).header(RETRY_AFTER, "0").body(Full::from("busy")).unwrap())
                }
                (_, Second::Refuses) => Err(io::Error::from(ErrorKind::ConnectionRefused)),
                _ => Ok(Response::builder().status(409).body(Full::from(exists)).unwrap()),
            };
            async { answer }
        }
    });
    let client = client_of(&Config::from_service(service)).with_shutdown(shutdown);
    let error = run(client.create(&config_map("web"))).unwrap_err();
    let is_expected = match second {
        Second::Exists => error.is_already_exists(),
        Second::Refuses => error.is_unreachable(),
        Second::IsNotSent => matches!(error, Error::ShuttingDown { .. }),
    };
    assert!(is_expected, "{error:?}");
    assert_eq!(error.may_have_been_applied(), expect, "{error:?}");
}

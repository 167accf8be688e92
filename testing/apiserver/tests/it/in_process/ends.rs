//! Early ends of calls and responses: faults, restarts, shutdown, and dropped futures.

use std::future::Future;
use std::io::ErrorKind;
use std::time::Duration;

use bytes::Bytes;
use futures::FutureExt as _;
use http::{Method, Request};
use http_body::Frame;
use http_body_util::{BodyExt as _, StreamBody};
use kube_dev_apiserver::{Config, End, Fault, History, InProcess, On, ResponseBody, Server};
use rstest::rstest;
use serde_json::Value;
use tokio::time::timeout;
use tower::ServiceExt as _;

use super::{CONFIG_MAPS, json, named, send, start};

const WATCH: &str = "/api/v1/namespaces/default/configmaps?watch=true";
const TIMEOUT: Duration = Duration::from_secs(60);

async fn create(service: &InProcess, name: &str) -> Result<u16, ErrorKind> {
    let answer = send(service, Method::POST, CONFIG_MAPS, &named(name)).await;
    answer.map(|answer| answer.status().as_u16()).map_err(|error| error.kind())
}

/// Opens a watch and reads its first event.
async fn watch(service: &InProcess) -> ResponseBody {
    assert_eq!(create(service, "first").await, Ok(201));
    let mut body = send(service, Method::GET, WATCH, &Value::Null).await.unwrap().into_body();
    let event = body.frame().await.unwrap().unwrap().into_data().unwrap();
    assert!(event.starts_with(br#"{"type":"ADDED""#), "{event:?}");
    body
}

async fn end(body: &mut ResponseBody) -> Option<ErrorKind> {
    let frame = timeout(TIMEOUT, body.frame()).await.expect("the body has not ended");
    let error = frame.map(|frame| frame.expect_err("a frame"));
    assert!(body.frame().now_or_never().expect("the body yields nothing after its end").is_none());
    error.map(|error| error.kind())
}

#[rstest]
#[case::not_executed(Fault::reset(), Err(ErrorKind::ConnectionReset), 0)]
#[case::cut_off(Fault::apply_then_reset(), Err(ErrorKind::ConnectionReset), 1)]
#[case::not_confirmed(Fault::apply_then_timeout(), Ok(504), 1)]
#[tokio::test(start_paused = true)]
async fn write_faults_in_process(#[case] fault: Fault, #[case] answer: Result<u16, ErrorKind>, #[case] stored: usize) {
    let server = start();
    server.faults().inject(fault.on(On::any().verb("create")));
    assert_eq!(create(&server.service(), "a").await, answer);
    assert_eq!(server.objects("", "configmaps").len(), stored);
    assert_eq!(server.requests().all()[0].applied, stored > 0);
}

#[rstest]
#[case::cleanly(End::Cleanly, None)]
#[case::reset(End::Reset, Some(ErrorKind::ConnectionReset))]
#[tokio::test(start_paused = true)]
async fn watch_faults_in_process(#[case] how: End, #[case] expect: Option<ErrorKind>) {
    let server = start();
    server.faults().inject(Fault::end_watch(Duration::from_millis(50), how));
    assert_eq!(end(&mut watch(&server.service()).await).await, expect);
}

#[derive(Debug, Clone, Copy)]
enum How {
    Restart,
    Restore,
    Shutdown,
    Drop,
}

impl How {
    /// Applies the action, and returns the server unless it has ended.
    fn to(self, server: Server) -> Option<Server> {
        match self {
            Self::Restart => server.restart(History::Kept),
            Self::Restore => server.restore(&server.snapshot()),
            Self::Shutdown => {
                server.shutdown().now_or_never();
                return None;
            }
            Self::Drop => return None,
        }
        Some(server)
    }
}

#[rstest]
#[case(How::Restart, Some(ErrorKind::ConnectionReset))]
#[case(How::Restore, Some(ErrorKind::ConnectionReset))]
#[case(How::Shutdown, None)]
#[case(How::Drop, Some(ErrorKind::ConnectionReset))]
#[tokio::test(start_paused = true)]
async fn server_end_fails_calls_and_ends_watches(#[case] how: How, #[case] watches: Option<ErrorKind>) {
    let server = start();
    let service = server.service();
    let mut waiting = watch(&service).await;
    let mut not_read = send(&service, Method::GET, WATCH, &Value::Null).await;
    server.faults().inject(Fault::delay_request(TIMEOUT, TIMEOUT).on(On::writes()));
    let mut call = Box::pin(create(&service, "held"));
    let not_polled = service.clone().oneshot(super::request(Method::POST, CONFIG_MAPS, &named("late")));
    let called = tower::Service::call(&mut service.clone(), super::request(Method::POST, CONFIG_MAPS, &named("c")));
    assert!((&mut call).now_or_never().is_none());
    assert!(waiting.frame().now_or_never().is_none());

    let server = how.to(server);
    assert_eq!(call.await, Err(ErrorKind::ConnectionReset));
    assert_eq!(called.await.unwrap_err().kind(), ErrorKind::ConnectionReset);
    assert_eq!(end(&mut waiting).await, watches);
    if let Some(server) = server {
        assert_eq!(end(not_read.as_mut().unwrap().body_mut()).await, watches);
        server.faults().clear();
        assert_eq!(not_polled.await.unwrap().status(), 201, "the call starts when it is first polled");
        assert_eq!(server.objects("", "configmaps").len(), 2);
    } else {
        assert_eq!(not_polled.await.unwrap_err().kind(), ErrorKind::ConnectionRefused);
    }
}

#[tokio::test(start_paused = true)]
async fn list_body_completes_after_shutdown() {
    let server = start();
    let service = server.service();
    assert_eq!(create(&service, "a").await, Ok(201));
    server.faults().inject(Fault::trickle(100, Duration::from_millis(10)));
    let body = send(&service, Method::GET, CONFIG_MAPS, &Value::Null).await.unwrap().into_body();
    server.shutdown().await;
    let list: Value = serde_json::from_slice(&body.collect().await.unwrap().to_bytes()).unwrap();
    assert_eq!(list["items"][0]["metadata"]["name"], "a");
}

#[tokio::test(start_paused = true)]
async fn dropped_call_stores_nothing() {
    let server = start();
    let service = server.service();
    server.faults().inject(Fault::delay_request(TIMEOUT, TIMEOUT).on(On::writes()).times(1));
    assert!(timeout(TIMEOUT / 2, create(&service, "delayed")).await.is_err());

    let unfinished = futures::stream::once(async { Ok::<_, std::io::Error>(Frame::data(Bytes::from("{\"meta"))) });
    let body = StreamBody::new(futures::StreamExt::chain(unfinished, futures::stream::pending()));
    let request = Request::builder().method(Method::POST).uri(CONFIG_MAPS).body(body).unwrap();
    assert!(timeout(TIMEOUT, service.clone().oneshot(request)).await.is_err());

    tokio::time::sleep(2 * TIMEOUT).await;
    assert_eq!(server.objects("", "configmaps").len(), 0);
    assert_eq!(server.requests().all(), []);
}

#[tokio::test(start_paused = true)]
async fn dropped_watch_is_closed() {
    let server = start();
    let body = watch(&server.service()).await;
    assert_eq!(server.faults().open_watches(&On::any()), 1);
    drop(body);
    assert_eq!(server.faults().open_watches(&On::any()), 0);
}

#[tokio::test(start_paused = true)]
async fn failing_request_body_is_rejected() {
    let server = start();
    let broken = futures::stream::once(async { Err::<Frame<Bytes>, _>(std::io::Error::other("torn")) });
    let request = Request::builder().method(Method::POST).uri(CONFIG_MAPS).body(StreamBody::new(broken)).unwrap();
    let answer = server.service().oneshot(request).await.unwrap();
    assert_eq!(answer.status(), 400);
    let status = answer.into_body().collect().await.unwrap().to_bytes();
    assert!(String::from_utf8_lossy(&status).contains("torn"), "{status:?}");
}

#[tokio::test(start_paused = true)]
async fn deleted_namespace_is_emptied() {
    let server = Server::in_process(Config { namespace_grace: TIMEOUT, ..Config::default() }).unwrap();
    let service = server.service();
    let spaces = "/api/v1/namespaces";
    assert_eq!(json(&service, Method::POST, spaces, &named("a")).await.0, 201);
    assert_eq!(json(&service, Method::DELETE, &format!("{spaces}/a"), &Value::Null).await.0, 200);
    assert_eq!(json(&service, Method::GET, &format!("{spaces}/a"), &Value::Null).await.0, 200);
    tokio::time::sleep(2 * TIMEOUT).await;
    assert_eq!(json(&service, Method::GET, &format!("{spaces}/a"), &Value::Null).await.0, 404);
}

fn is_send<T: Future + Send>(_: &T) {}

#[tokio::test(start_paused = true)]
async fn calls_are_send() {
    is_send(&send(&start().service(), Method::GET, CONFIG_MAPS, &Value::Null));
}

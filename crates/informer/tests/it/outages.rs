//! Outages of 20 s or 50 s, in virtual time: how soon the stores are right after the end, and the number of requests in
//! between.

use std::{
    io,
    sync::{Arc, Mutex},
    time::Duration,
};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full, combinators::UnsyncBoxBody};
use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use kube_controller_client::{Client, Config};
use kube_dev_apiserver::{History, On, Server};
use kube_endpoints_testing::until;
use kube_informer::{Informer, wait_for_sync};
use rstest::rstest;
use tokio::{
    task::JoinSet,
    time::{Instant, sleep, sleep_until},
};
use tokio_util::sync::CancellationToken;
use tower::{BoxError, ServiceExt as _, service_fn};

use crate::{server::client_of, thing::Thing};

/// What the server does instead of its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outage {
    /// Watches are answered with this status; `retry-after: 1` with a 429.
    Watches(u16),
    /// Watches end at once with an `ERROR` event that has this `Status`.
    ErrorEvent(&'static str),
    /// Watches that are not streaming lists end at once with an `ERROR` event that has this `Status`.
    PlainErrorEvent(&'static str),
    /// Watches end at once.
    Short,
    /// All requests are answered with this status.
    All(u16),
    Refused,
    /// The connection is lost before the response.
    Reset,
}

type Body = UnsyncBoxBody<Bytes, BoxError>;

fn body(text: &str) -> Body {
    Full::from(text.to_owned()).map_err(Into::into).boxed_unsync()
}

fn response(code: u16, text: &str) -> Response<Body> {
    let response = Response::builder().status(code).header("content-type", "application/json");
    let response = if code == 429 { response.header("retry-after", "1") } else { response };
    response.body(body(text)).expect("a response")
}

impl Outage {
    /// Returns the result of a request in place of the server's; `None` for that of the server.
    fn result(self, uri: &str) -> Option<Result<Response<Body>, BoxError>> {
        let (is_watch, is_stream) = (uri.contains("watch=true"), uri.contains("sendInitialEvents"));
        let event = |status: &str| {
            let text = format!("{{\"type\":\"ERROR\",\"object\":{status}}}\n");
            Some(Ok(response(200, &text)))
        };
        match self {
            Self::Watches(code) => is_watch.then(|| Ok(response(code, "{}"))),
            Self::ErrorEvent(status) if is_watch => event(status),
            Self::PlainErrorEvent(status) if is_watch && !is_stream => event(status),
            Self::Short if is_watch => Some(Ok(response(200, ""))),
            Self::ErrorEvent(_) | Self::PlainErrorEvent(_) | Self::Short => None,
            Self::All(code) => Some(Ok(response(code, "{}"))),
            Self::Refused => Some(Err(io::Error::from(io::ErrorKind::ConnectionRefused).into())),
            Self::Reset => Some(Err(io::Error::from(io::ErrorKind::ConnectionReset).into())),
        }
    }
}

#[derive(Debug, Default)]
struct Current {
    outage: Option<Outage>,
    /// Namespace that it affects; empty for all.
    namespace: String,
    /// Times of the requests since it began.
    requests: Vec<Instant>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Outages(Arc<Mutex<Current>>);

impl Outages {
    pub(crate) fn config(&self, server: &Server) -> Config {
        let (outages, server) = (self.clone(), server.service());
        Config::from_service(service_fn(move |request: Request<Full<Bytes>>| {
            let (outages, server) = (outages.clone(), server.clone());
            async move {
                let uri = request.uri().to_string();
                let result = {
                    let mut state = outages.0.lock().expect("not poisoned");
                    state.requests.push(Instant::now());
                    let is_affected = uri.contains(&state.namespace);
                    state.outage.filter(|_| is_affected).and_then(|outage| outage.result(&uri))
                };
                match result {
                    Some(result) => result,
                    None => match server.oneshot(request).await {
                        Ok(response) => Ok(response.map(|body| body.map_err(Into::into).boxed_unsync())),
                        Err(error) => Err(BoxError::from(error)),
                    },
                }
            }
        }))
    }

    pub(crate) fn begin(&self, outage: Outage, namespace: &str) {
        let current = Current { outage: Some(outage), namespace: namespace.to_owned(), requests: Vec::new() };
        *self.0.lock().expect("not poisoned") = current;
    }

    pub(crate) fn end(&self) -> Vec<Instant> {
        std::mem::take(&mut *self.0.lock().expect("not poisoned")).requests
    }
}

pub(crate) fn namespace(informer: usize) -> String {
    format!("shop-{informer}")
}

pub(crate) async fn create(client: &Client, informer: usize, name: &str) {
    let metadata =
        ObjectMeta { namespace: Some(namespace(informer)), name: Some(name.into()), ..ObjectMeta::default() };
    client.create(&ConfigMap { metadata, ..ConfigMap::default() }).await.expect("created");
}

/// Creates the namespaces of the informers, runs these, and waits until they have synced.
pub(crate) async fn start(server: &Server, informers: &[Informer<Thing>]) -> JoinSet<()> {
    let mut tasks = JoinSet::new();
    for (it, informer) in informers.iter().enumerate() {
        let metadata = serde_json::json!({"name": namespace(it)});
        let object = serde_json::json!({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata});
        server.load([object]).expect("loads");
        tasks.spawn(informer.run(CancellationToken::new()));
    }
    let handles: Vec<_> = informers.iter().map(Informer::store_synced).collect();
    wait_for_sync(&handles, Duration::from_secs(30)).await.expect("synced");
    tasks
}

const INTERNAL: &str = r#"{"kind":"Status","code":500,"reason":"InternalError","message":"m"}"#;
const EXPIRED: &str = r#"{"kind":"Status","reason":"Expired"}"#;

/// Five informers that share a client. The outage affects all of them, or the first one alone. An object is created
/// 2 s before its end.
#[rstest]
#[case::watches_busy(Outage::Watches(429), 20, History::Kept, 3)]
#[case::watches_end_with_an_error_event(Outage::ErrorEvent(INTERNAL), 20, History::Kept, 3)]
#[case::watches_answered_500(Outage::Watches(500), 20, History::Kept, 3)]
#[case::watches_end_at_once(Outage::Short, 20, History::Kept, 3)]
#[case::all_503(Outage::All(503), 20, History::Kept, 3)]
#[case::all_500(Outage::All(500), 20, History::Kept, 3)]
#[case::killed_for_5_s(Outage::Refused, 5, History::Lost, 3)]
#[case::killed_for_50_s(Outage::Refused, 50, History::Lost, 10)]
#[case::connections_lost(Outage::Reset, 20, History::Lost, 3)]
#[case::watches_expire_by_reason_alone(Outage::PlainErrorEvent(EXPIRED), 20, History::Kept, 3)]
#[tokio::test(start_paused = true)]
async fn stores_are_right_soon_after_an_outage(
    #[case] outage: Outage,
    #[case] seconds: u64,
    #[case] history: History,
    #[case] within: u64,
    #[values(false, true)] alone: bool,
) {
    let server = Server::in_process(kube_dev_apiserver::Config::default()).expect("a server");
    let outages = Outages::default();
    let (reader, writer) = (client_of(&outages.config(&server)), client_of(&Config::from_service(server.service())));
    let informers: Vec<_> =
        (0..5).map(|it| Informer::<Thing>::builder(reader.clone()).namespace(&namespace(it)).build()).collect();
    let _tasks = start(&server, &informers).await;
    sleep(Duration::from_secs(60)).await;

    outages.begin(outage, if alone { "shop-0" } else { "" });
    server.faults().cut_watches(&On::any().verb("watch"));
    let (begun, end) = (Instant::now(), Instant::now() + Duration::from_secs(seconds));
    sleep_until(end - Duration::from_secs(2)).await;
    for it in 0..informers.len() {
        create(&writer, it, "late").await;
    }
    sleep_until(end).await;
    let requests = outages.end();
    if history == History::Lost {
        server.restart(history);
    }
    for informer in &informers {
        until("the object", async || informer.lister().len(), |count| *count == 1).await;
    }
    let took = end.elapsed();
    assert!(took <= Duration::from_secs(within), "right after {took:?}");
    // The first requests are no retries: a resumed watch, the version before it, and the first list.
    let first = requests.iter().filter(|at| **at < begun + Duration::from_secs(1)).count();
    let later = requests.len() - first;
    assert!(later as u64 <= 2 * seconds, "{later} requests in {seconds} s");
    assert!(first <= 17, "{first} requests in the first second");
}

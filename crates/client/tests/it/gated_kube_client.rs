//! Clients of `kube` behind a gate.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, header::UPGRADE};
use http_body_util::Full;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use kube::api::{DeleteParams, PostParams};
use kube::client::Body;
use kube_controller_client::{NotLeading, WriteGate, gated_kube_client};
use kube_dev_apiserver::{Fault, On, Server};
use rstest::rstest;
use tokio::time::{Instant, sleep_until};
use tower::service_fn;

use crate::cluster::config_map;

const SECOND: Duration = Duration::from_secs(1);

/// A gate that is open until an adjustable instant.
#[derive(Default)]
struct Until(Mutex<Option<Instant>>);

impl Until {
    fn set(&self, until: Option<Instant>) {
        *self.0.lock().expect("not poisoned") = until;
    }
}

impl WriteGate for Until {
    fn open_until(&self) -> Option<Instant> {
        self.0.lock().expect("not poisoned").filter(|until| Instant::now() < *until)
    }
}

/// Methods and paths of the requests that a service received.
type Received = Arc<Mutex<Vec<String>>>;

/// Returns a client of a service that answers all requests, with the requests that the service has received.
fn client() -> (kube::Client, Received) {
    let received = Received::default();
    let service = service_fn({
        let received = Arc::clone(&received);
        move |request: Request<Body>| {
            received.lock().expect("not poisoned").push(format!("{} {}", request.method(), request.uri().path()));
            async { Ok::<_, Infallible>(Response::new(Full::new(Bytes::from_static(b"{}")))) }
        }
    });
    (kube::Client::new(service, "shop"), received)
}

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

#[rstest]
#[case::get("GET", "/api/v1/namespaces/default/configmaps/web", false, true)]
#[case::head("HEAD", "/api/v1/namespaces/default/configmaps/web", false, true)]
#[case::list("GET", MAPS, false, true)]
#[case::watch("GET", "/api/v1/namespaces/default/configmaps?watch=true", false, true)]
#[case::create("POST", MAPS, false, false)]
#[case::create_dry_run("POST", "/api/v1/namespaces/default/configmaps?dryRun=All", false, false)]
#[case::update("PUT", "/api/v1/namespaces/default/configmaps/web", false, false)]
#[case::patch("PATCH", "/api/v1/namespaces/default/configmaps/web", false, false)]
#[case::patch_status("PATCH", "/api/v1/namespaces/default/pods/web/status", false, false)]
#[case::delete("DELETE", "/api/v1/namespaces/default/configmaps/web", false, false)]
#[case::delete_collection("DELETE", MAPS, false, false)]
#[case::evict("POST", "/api/v1/namespaces/default/pods/web/eviction", false, false)]
#[case::access_review("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", false, false)]
#[case::token_review("POST", "/apis/authentication.k8s.io/v1/tokenreviews", false, false)]
#[case::log("GET", "/api/v1/namespaces/default/pods/web/log", false, true)]
#[case::exec("GET", "/api/v1/namespaces/default/pods/web/exec?command=rm", true, false)]
#[tokio::test(start_paused = true)]
async fn only_reads_pass_a_closed_gate(
    #[case] method: &str,
    #[case] path: &str,
    #[case] upgrade: bool,
    #[case] is_read: bool,
) {
    let ((client, received), gate) = (client(), Arc::new(Until::default()));
    let gated = gated_kube_client(client, gate.clone());
    let send = async || {
        let mut request = Request::builder().method(method).uri(path);
        if upgrade {
            request = request.header(UPGRADE, "websocket");
        }
        gated.send(request.body(Body::empty()).unwrap()).await
    };
    let path = path.split('?').next().unwrap_or_default();
    let sent = || std::mem::take(&mut *received.lock().unwrap());

    let closed = send().await;
    assert_eq!((closed.is_ok(), sent().len()), (is_read, usize::from(is_read)));
    if let Err(error) = closed {
        let kube::Error::Service(source) = &error else { panic!("{error:?}") };
        let error = source.downcast_ref::<NotLeading>().expect("another error");
        assert_eq!((error.method.as_str(), error.path.as_str()), (method, path));
    }
    gate.set(Some(Instant::now() + SECOND));
    send().await.expect("sent");
    assert_eq!(sent(), [format!("{method} {path}")]);
}

#[tokio::test(start_paused = true)]
async fn error_names_the_request_and_the_reason() {
    let gated = gated_kube_client(client().0, Arc::new(Until::default()));
    let error = Api::<ConfigMap>::default_namespaced(gated).delete("web", &DeleteParams::default()).await.unwrap_err();
    let expect = "ServiceError: DELETE /api/v1/namespaces/shop/configmaps/web: not sent, or no answer waited for: this \
        process does not lead";
    assert_eq!(error.to_string(), expect);
}

#[tokio::test(start_paused = true)]
async fn gate_that_opens_again_passes_writes() {
    let server = Server::in_process(kube_dev_apiserver::Config::default()).expect("a server");
    let gate = Arc::new(Until::default());
    let client = kube::Client::new(server.service(), "default");
    let maps: Api<ConfigMap> = Api::default_namespaced(gated_kube_client(client, gate.clone()));
    for (name, open) in [("a", false), ("b", true), ("c", false), ("d", true)] {
        gate.set(open.then(|| Instant::now() + SECOND));
        let created = maps.create(&PostParams::default(), &config_map(name)).await;
        assert_eq!(created.is_ok(), open, "{name}");
        assert_eq!(maps.get_opt(name).await.expect("a read").is_some(), open, "{name}");
    }
    assert_eq!(server.requests().count(&On::writes()), 2);
}

/// A write in flight fails when the gate closes, and not if the gate is extended before.
#[tokio::test(start_paused = true)]
async fn pending_write_is_dropped_when_the_gate_closes() {
    let server = Server::in_process(kube_dev_apiserver::Config::default()).expect("a server");
    server.faults().inject(Fault::delay_request(3 * SECOND, 3 * SECOND).on(On::writes()));
    let (gate, start) = (Arc::new(Until::default()), Instant::now());
    let client = kube::Client::new(server.service(), "default");
    let maps: Api<ConfigMap> = Api::default_namespaced(gated_kube_client(client, gate.clone()));
    let create = async |name: &str| maps.create(&PostParams::default(), &config_map(name)).await;
    gate.set(Some(start + 2 * SECOND));
    let extend = async {
        sleep_until(start + SECOND).await;
        gate.set(Some(start + 5 * SECOND));
    };
    let (created, ()) = tokio::join!(create("a"), extend);
    created.expect("extended");
    assert_eq!(start.elapsed(), 3 * SECOND);

    let error = create("b").await.expect_err("succeeded");
    assert!(matches!(&error, kube::Error::Service(source) if source.is::<NotLeading>()), "{error:?}");
    assert_eq!(start.elapsed(), 5 * SECOND);
    assert!(maps.get_opt("b").await.expect("a read").is_none());
}

#[tokio::test(start_paused = true)]
async fn namespace_expiry_and_errors_of_the_client_are_kept() {
    let server = Server::in_process(kube_dev_apiserver::Config::default()).expect("a server");
    let expiry = Some(Timestamp::UNIX_EPOCH);
    let client = kube::Client::new(server.service(), "shop").with_valid_until(expiry);
    let gate = Arc::new(Until(Mutex::new(Some(Instant::now() + SECOND))));
    let gated = gated_kube_client(client, gate);
    assert_eq!((gated.default_namespace(), *gated.valid_until()), ("shop", expiry));
    let maps: Api<ConfigMap> = Api::namespaced(gated, "default");
    let missing = maps.delete("web", &DeleteParams::default()).await.expect_err("succeeded");
    assert!(matches!(&missing, kube::Error::Api(status) if status.code == 404), "{missing:?}");
}

//! An operator that keeps `kube::Api` and `kube::runtime::Controller`, over HTTP: only its leader writes.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt as _;
use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Patch, PatchParams};
use kube::runtime::controller::{Action, Controller};
use kube::runtime::watcher;
use kube::{Api, Client, ResourceExt as _};
use kube_dev_apiserver::{Clock, Fault, LoggedRequest, On, Server, Transport, User};
use kube_endpoints_testing::{virtual_clocks, wait_for_bytes};
use kube_lease_election::{Config, Election, ElectionOptions, End, Fence, LeaseName, NotLeading, gated_kube_client};
use rstest::rstest;
use serde_json::json;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, advance, timeout};
use tokio_util::sync::CancellationToken;

use crate::kube_clients::kube_client;
use crate::proxy::Proxy;

const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_secs(3_600);
/// Limit of a wait. Time is paused, so that it costs nothing.
const LIMIT: Duration = Duration::from_secs(300);

/// Starts a server on which the tokio clock is the wall clock, with three objects of the operator.
async fn start(transport: Transport) -> Server {
    let start = Instant::now();
    let clock = Clock::new(move || Timestamp::UNIX_EPOCH + start.elapsed());
    let config = kube_dev_apiserver::Config { transport, clock, ..kube_dev_apiserver::Config::default() };
    let server = Server::start(config).await.expect("start server");
    let site = |name| {
        let metadata = json!({ "name": name, "namespace": "default", "labels": { "role": "site" } });
        json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata })
    };
    server.load(["a", "b", "c"].map(site)).expect("load");
    server
}

fn lease() -> LeaseName {
    LeaseName::new("kube-system", "sites")
}

/// One process of the operator. Its controller runs from the start to the end, whether it leads or not, so that the fence
/// alone stops its writes.
struct Instance {
    fence: Fence,
    election: JoinSet<End>,
    /// Number of writes that the controller has tried.
    tried: watch::Receiver<usize>,
    _operator: JoinSet<()>,
}

struct Context {
    client: Client,
    identity: &'static str,
    tried: watch::Sender<usize>,
}

/// Writes into the object once a second. Each process writes a key of its own, so that none repairs the writes of another.
async fn reconcile(site: Arc<ConfigMap>, context: Arc<Context>) -> Result<Action, kube::Error> {
    let sites: Api<ConfigMap> = Api::default_namespaced(context.client.clone());
    context.tried.send_modify(|count| *count += 1);
    let patch = Patch::Merge(json!({ "data": { context.identity: "reconciled" } }));
    sites.patch(&site.name_any(), &PatchParams::default(), &patch).await?;
    Ok(Action::requeue(SECOND))
}

fn retry(_: Arc<ConfigMap>, _: &kube::Error, _: Arc<Context>) -> Action {
    Action::requeue(SECOND)
}

impl Instance {
    async fn start(server: &Server, identity: &'static str) -> Instance {
        let client = kube_client(&server.kubeconfig_for(User::new(identity))).await;
        let options = ElectionOptions { identity: identity.to_owned(), ..ElectionOptions::new(lease()) };
        let config = Config::from_kube_client(client.clone());
        let (election, fence) = Election::from_config(&config, options).expect("create election");
        let mut elections = JoinSet::new();
        elections.spawn(election.run(CancellationToken::new()));
        let client = gated_kube_client(client, Arc::new(fence.clone()));
        let sites = Api::<ConfigMap>::default_namespaced(client.clone());
        let (sender, tried) = watch::channel(0);
        let context = Arc::new(Context { client, identity, tried: sender });
        let controller = Controller::new(sites, watcher::Config::default().labels("role=site"));
        let mut operator = JoinSet::new();
        operator.spawn(controller.run(reconcile, retry, context).for_each(async |_| {}));
        Instance { fence, election: elections, tried, _operator: operator }
    }

    async fn wait_until_leading(&mut self) {
        assert_eq!(timeout(LIMIT, self.fence.wait_until_leading()).await, Ok(true), "not the leader");
    }

    /// Waits until this process leads no longer. Returns the end of its last term.
    async fn end_of_term(&mut self) -> Instant {
        let mut until = None;
        while let Some(end) = self.fence.term_end() {
            until = Some(end);
            assert_eq!(timeout(LIMIT, self.fence.changed()).await, Ok(true), "still the leader");
        }
        until.expect("not the leader").min(Instant::now())
    }

    /// Waits until the controller has tried `count` more writes.
    async fn wait_for_tries(&mut self, count: usize) {
        let enough = *self.tried.borrow() + count;
        let tried = timeout(LIMIT, self.tried.wait_for(|count| *count >= enough)).await;
        tried.expect("the controller writes no longer").expect("the controller has ended");
    }
}

fn writes(server: &Server, user: &str) -> Vec<LoggedRequest> {
    server.requests().matching(&On::writes().resource("configmaps").user(user))
}

async fn wait_for_writes(server: &Server, user: &str, count: usize) {
    let enough = || (writes(server, user).len() >= count).then_some(());
    server.wait_until(LIMIT, enough).await.expect("the controller does not write");
}

/// How a leader loses the lease.
#[derive(Clone, Copy, Debug)]
enum Loss {
    /// All requests for the Lease fail. The client of `kube` retries them.
    Unavailable,
    /// No request for the Lease is answered.
    NoAnswer,
    /// Another client has written another holder.
    OtherHolder,
    /// The process does not run for longer than the lease duration (SIGSTOP).
    Stopped,
}

#[rstest]
#[case::unavailable(Loss::Unavailable)]
#[case::no_answer(Loss::NoAnswer)]
#[case::other_holder(Loss::OtherHolder)]
#[case::stopped(Loss::Stopped)]
#[tokio::test(start_paused = true)]
async fn no_write_is_received_after_the_term_of_its_writer(#[case] loss: Loss) {
    let (_clocks, _bytes) = (virtual_clocks(1), wait_for_bytes());
    let started = Instant::now();
    let server = start(Transport::Plain).await;
    let mut one = Instance::start(&server, "one").await;
    one.wait_until_leading().await;
    let mut other = Instance::start(&server, "other").await;
    other.wait_for_tries(3).await;
    wait_for_writes(&server, "one", 9).await;

    let leases = On::any().resource("leases").user("one");
    let until = match loss {
        Loss::Stopped => {
            let until = one.fence.term_end().expect("not the leader");
            advance(30 * SECOND).await;
            until
        }
        Loss::Unavailable => {
            server.faults().inject(Fault::unavailable().on(leases));
            one.end_of_term().await
        }
        Loss::NoAnswer => {
            server.faults().inject(Fault::delay_request(HOUR, HOUR).on(leases));
            one.end_of_term().await
        }
        Loss::OtherHolder => {
            let patch = json!({ "spec": { "holderIdentity": "somebody" } });
            server.typed::<Lease>().namespace(&lease().namespace).patch(&lease().name, &patch).expect("patch");
            one.end_of_term().await
        }
    };
    let until = Timestamp::UNIX_EPOCH + until.duration_since(started);
    assert_eq!(one.election.join_next().await.expect("a task").expect("no panic"), End::Lost);
    one.wait_for_tries(9).await;
    other.wait_until_leading().await;
    let since = Timestamp::UNIX_EPOCH + started.elapsed();
    wait_for_writes(&server, "other", 9).await;
    one.wait_for_tries(9).await;

    let late: Vec<_> = writes(&server, "one").into_iter().filter(|it| it.started > until).collect();
    assert!(late.is_empty(), "{} writes after the end of the term, the first: {}", late.len(), late[0]);
    let early: Vec<_> = writes(&server, "other").into_iter().filter(|it| it.started < since).collect();
    assert!(early.is_empty(), "{} writes before the term, the first: {}", early.len(), early[0]);
    server.shutdown().await;
}

/// The connection is established after the term: the write that waits for it is not sent.
#[tokio::test(start_paused = true)]
async fn write_that_waits_for_a_connection_is_not_sent_after_the_term() {
    let (_clocks, _bytes) = (virtual_clocks(1), wait_for_bytes());
    let server = start(Transport::Tls).await;
    let mut proxy = Proxy::start(&server).await;
    let config = Config::from_kubeconfig_text(&server.kubeconfig()).expect("load kubeconfig");
    let (election, mut fence) = Election::from_config(&config, ElectionOptions::new(lease())).expect("create election");
    let mut elections = JoinSet::new();
    elections.spawn(election.run(CancellationToken::new()));
    assert!(fence.wait_until_leading().await);

    let client = kube_client(&proxy.kubeconfig(&server)).await;
    let gated = gated_kube_client(client.clone(), Arc::new(fence));
    proxy.hold();
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        let patch = Patch::Merge(json!({ "data": { "writer": "one" } }));
        Api::<ConfigMap>::default_namespaced(gated).patch("a", &PatchParams::default(), &patch).await
    });
    proxy.accepted().await;
    server.faults().inject(Fault::unavailable().on(On::any().resource("leases")));
    assert_eq!(elections.join_next().await.expect("a task").expect("no panic"), End::Lost);
    proxy.release();

    let error = tasks.join_next().await.expect("a task").expect("no panic").expect_err("the write was sent");
    assert!(matches!(&error, kube::Error::Service(source) if source.is::<NotLeading>()), "{error:?}");
    Api::<ConfigMap>::default_namespaced(client).get("a").await.expect("read on the connection");
    assert_eq!(server.requests().count(&On::writes().resource("configmaps")), 0);
    server.shutdown().await;
}

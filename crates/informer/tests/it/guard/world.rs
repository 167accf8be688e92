//! An API server whose lists may lack objects, and an informer with a guard.

use k8s_openapi::api::core::v1::ConfigMap;
use kube_controller_client::{Client, Config};
use kube_dev_apiserver::{Effect, Fault, History, On, Server};
use kube_endpoints_testing::until;
use kube_informer::{Guard, HeldList, Informer, wait_for_sync};
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::{NAMESPACE, THINGS, seconds};
use crate::{
    log::{Log, record},
    metrics::Recorder,
    server::client_of,
    thing::Thing,
};

/// An API server with things, and an informer with a guard.
pub(super) struct World {
    pub(super) server: Server,
    pub(super) client: Client,
    pub(super) informer: Informer<Thing>,
    pub(super) metrics: Recorder,
    /// Changes other than the initial list.
    pub(super) events: Log,
    _tasks: JoinSet<()>,
}

pub(super) fn name(thing: usize) -> String {
    format!("thing-{thing:03}")
}

pub(super) fn object(thing: usize, ready: bool) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap", "data": {"ready": ready.to_string()},
        "metadata": {"name": name(thing), "namespace": NAMESPACE},
    })
}

pub(super) fn config_map(thing: usize, ready: bool) -> ConfigMap {
    serde_json::from_value(object(thing, ready)).expect("a ConfigMap")
}

pub(super) fn watches() -> On {
    On::any().verb("watch").resource("configmaps")
}

/// Returns a server with this number of things.
pub(super) fn server(things: usize) -> Server {
    let server = Server::in_process(kube_dev_apiserver::Config::default()).expect("a server");
    server.load((0..things).map(|thing| object(thing, true))).expect("things");
    server
}

/// Hides all things but the first `keep` from lists and streaming lists. Returns the id of the fault.
pub(super) fn hide(server: &Server, keep: usize) -> u64 {
    let fault = Fault::from(Effect::OmitObjects { namespace: None, keep });
    server.faults().inject(fault.on(watches().verb("list")))
}

impl World {
    pub(super) async fn start() -> Self {
        Self::start_on(server(THINGS)).await
    }

    /// Starts an informer, which has synced.
    pub(super) async fn start_on(server: Server) -> Self {
        let service = Config::from_service(server.service());
        Self::start_with(server, &service).await
    }

    /// As [`start_on`](Self::start_on), for an informer that reaches the server by `service`.
    pub(super) async fn start_with(server: Server, service: &Config) -> Self {
        let client = client_of(&Config::from_service(server.service()));
        let metrics = Recorder::default();
        let builder = Informer::<Thing>::builder(client_of(service)).namespace(NAMESPACE);
        let informer = builder.guard(Guard::default()).metrics(metrics.clone()).build();
        let (events, handler) = record(&informer);
        let mut tasks = JoinSet::new();
        tasks.spawn(informer.run(CancellationToken::new()));
        wait_for_sync([&handler], seconds(30)).await.expect("the informer syncs");
        events.take();
        Self { server, client, informer, metrics, events, _tasks: tasks }
    }

    pub(super) fn stored(&self) -> usize {
        self.informer.lister().len()
    }

    pub(super) fn held(&self) -> Option<HeldList> {
        self.informer.held_list().borrow().clone()
    }

    /// Ends the watch so that the informer relists.
    pub(super) fn relist(&self) {
        self.server.faults().inject(Fault::expired().on(watches()).times(1));
        self.server.faults().cut_watches(&watches());
    }

    pub(super) async fn until_held(&self) -> HeldList {
        until("held list", async || self.held(), Option::is_some).await.expect("held")
    }

    /// Runs `change` while the informer has no watch, and makes it relist afterwards.
    pub(super) async fn while_away(&self, change: impl AsyncFnOnce()) {
        let away = self.server.faults().inject(Fault::unavailable().on(watches().verb("list")));
        self.server.faults().cut_watches(&watches());
        change().await;
        self.server.faults().remove(away);
        self.server.restart(History::Lost);
    }

    pub(super) async fn delete(&self, things: std::ops::Range<usize>) {
        for thing in things {
            self.client.delete::<ConfigMap>(NAMESPACE, &name(thing), None).await.expect("deleted");
        }
    }

    pub(super) fn reads(&self) -> usize {
        self.server.requests().count(&On::any().verb("get").resource("configmaps"))
    }

    /// Returns the number of deletions that the handler got since the last call.
    pub(super) fn deletions(&self) -> usize {
        self.events.take().matches("Deleted").count()
    }
}

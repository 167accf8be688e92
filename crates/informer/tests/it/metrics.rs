//! Metrics of an informer about its requests.

use std::{sync::Arc, time::Duration};

use kube_endpoints_testing::LIMIT;
use kube_endpoints_testing::scripted::{Response, Script, frames, ok};
use kube_informer::{GuardOutcome, HandlerMetrics, Informer, InformerMetrics, InformerMetricsProvider, RelistCause};
use kube_wire::{Encoding, Resource, ResourceVersion};
use rstest::rstest;
use tokio::{sync::watch, task::JoinSet, time::timeout};
use tokio_util::sync::CancellationToken;

use crate::{
    exchange::{bookmark, error, event, list, status},
    server::client,
    thing::Thing,
};

/// Records the calls, but not those about the queue of a handler.
#[derive(Clone, Default)]
pub(crate) struct Recorder(watch::Sender<Vec<String>>);

impl Recorder {
    /// Returns the decisions on guarded lists.
    pub(crate) fn guarded(&self) -> Vec<String> {
        self.0.borrow().iter().filter_map(|line| line.strip_prefix("guarded: ")).map(str::to_owned).collect()
    }

    fn line(&self, line: impl Into<String>) {
        self.0.send_modify(|lines| lines.push(line.into()));
    }
}

impl InformerMetricsProvider for Recorder {
    fn informer(&self, resource: &Resource) -> Arc<dyn InformerMetrics> {
        assert_eq!(resource.to_string(), "configmaps");
        Arc::new(self.clone())
    }
}

impl InformerMetrics for Recorder {
    fn listed(&self, items: usize, _: Duration) {
        self.line(format!("listed {items}"));
    }

    fn list_failed(&self) {
        self.line("list failed");
    }

    fn watch_opened(&self) {
        self.line("watching");
    }

    fn relist(&self, cause: RelistCause) {
        self.line(format!("relisting: {}", cause.as_str()));
    }

    fn undecodable(&self) {
        self.line("undecodable");
    }

    fn undecodable_objects(&self, objects: usize) {
        self.line(format!("{objects} undecodable"));
    }

    fn processed(&self, _: Duration) {
        self.line("processed");
    }

    fn stored(&self, version: &ResourceVersion, objects: usize) {
        self.line(format!("{objects} at {version}"));
    }

    fn guarded(&self, outcome: GuardOutcome) {
        self.line(format!("guarded: {}", outcome.as_str()));
    }

    fn handler(&self, name: &str) -> Arc<dyn HandlerMetrics> {
        self.line(format!("handler {name}"));
        Arc::new(self.clone())
    }
}

impl HandlerMetrics for Recorder {
    fn queued(&self, _: usize) {}
    fn delivered(&self, _: usize) {}
    fn lag(&self, _: Duration) {}
}

#[rstest]
#[case::lists(
    false,
    vec![
        status(500, "InternalError", ""),
        ok(list(5, &[("a", 3), ("b", 4)])),
        frames([event("ADDED", "c", 6), bookmark(7, false), error(410, "Expired")], true),
        ok(list(9, &[("a", 3)])),
        frames([error(400, "BadRequest")], true),
        ok(list(9, &[("a", 3)])),
        frames([], true),
    ],
    &[
        "list failed", "listed 2", "processed", "2 at 5", "watching", "processed", "3 at 6", "3 at 7", "relisting: expired",
        "listed 1", "processed", "1 at 9", "watching", "relisting: failed", "listed 1", "processed", "1 at 9", "watching",
    ]
)]
#[case::streams(
    true,
    vec![
        frames([event("ADDED", "a", 3), event("ADDED", "b", 4), bookmark(5, true), event("DELETED", "a", 6)], false),
        ok(list(6, &[("b", 4)])),
        frames([error(410, "Expired")], true),
        frames([event("ADDED", "b", 4), bookmark(9, true)], true),
    ],
    &[
        "watching", "listed 2", "processed", "2 at 5", "processed", "1 at 6", "watching", "relisting: expired", "watching",
        "listed 1", "processed", "1 at 9",
    ]
)]
#[case::undecodable(
    false,
    vec![
        ok(list(5, &[("a", 3), ("b", 4)]).replacen(r#""metadata":{"name":"b""#, r#""data":7,"metadata":{"name":"b""#, 1)),
        frames([event("MODIFIED", "a", 6).replacen(r#""metadata""#, r#""data":7,"metadata""#, 1), event("MODIFIED", "b", 7)], true),
    ],
    &[
        "undecodable", "1 undecodable", "listed 1", "processed", "1 at 5", "watching", "undecodable", "2 undecodable", "1 at 6",
        "1 undecodable", "processed", "2 at 7",
    ]
)]
#[tokio::test]
async fn reports_lists_watches_and_relist_causes(
    #[case] streams: bool,
    #[case] responses: Vec<Response>,
    #[case] expect: &[&str],
) {
    let script = if streams { Script::serve(responses).await } else { Script::serve_without_streams(responses).await };
    let (recorder, second) = (Recorder::default(), Recorder::default());
    let providers = (recorder.clone(), second.clone());
    let informer = Informer::<Thing>::builder(client(&script.url())).metrics(providers).build();
    let (stop, mut tasks) = (CancellationToken::new(), JoinSet::new());
    tasks.spawn(informer.run(stop.clone()));
    let mut lines = recorder.0.subscribe();
    // Compared even after a timeout, so that a failure shows the calls so far.
    let _ = timeout(LIMIT, lines.wait_for(|lines| lines.len() >= expect.len())).await;
    assert_eq!(*lines.borrow(), expect);
    stop.cancel();
    tasks.join_all().await;
    assert_eq!(second.0.borrow()[..expect.len()], *expect, "of the second provider");
}

#[tokio::test]
async fn an_observer_gets_the_objects_of_a_watch_but_not_of_a_list() {
    let events = [event("ADDED", "a", 3), bookmark(5, true), event("MODIFIED", "a", 6), event("DELETED", "a", 7)];
    let script = Script::serve(vec![frames(events, true)]).await;
    let observed = Recorder::default();
    let lines = observed.clone();
    let observe = move |encoding: Encoding, object: &[u8]| {
        let object: serde_json::Value = serde_json::from_slice(object).expect("JSON");
        lines.line(format!("{encoding:?} {}", object["metadata"]["resourceVersion"].as_str().expect("a version")));
    };
    let informer = Informer::<Thing>::builder(client(&script.url())).observe(observe).build();
    let (stop, mut tasks) = (CancellationToken::new(), JoinSet::new());
    tasks.spawn(informer.run(stop.clone()));
    let mut lines = observed.0.subscribe();
    let _ = timeout(LIMIT, lines.wait_for(|lines| lines.len() >= 2)).await;
    assert_eq!(*lines.borrow(), ["Json 6", "Json 7"]);
    stop.cancel();
    tasks.join_all().await;
}

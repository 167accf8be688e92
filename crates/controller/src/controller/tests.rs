//! Tests of the controller.

use std::sync::Mutex;
use std::time::Duration;

use kube_informer::ManualSource;
use kube_wire::{Object as _, ObjectHead};
use kube_workqueue::Queue;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::*;
use crate::{Latency, locked};

struct Item {
    metadata: ObjectHead,
}

kube_wire::object!(Item);

fn item(name: &str, version: u64) -> Item {
    let metadata = ObjectHead { name: name.into(), resource_version: version.into(), ..ObjectHead::default() };
    Item { metadata }
}

#[derive(Default)]
struct Sources(Mutex<Vec<String>>);

impl ControllerMetrics for Sources {
    fn propagated(&self, source: &str, _: Latency) {
        locked(&self.0).push(source.to_owned());
    }
}

/// A controller with two informers. The keys that it syncs are sent to `synced`.
struct Rig {
    informers: [Informer<Item>; 2],
    sources: [ManualSource<Item>; 2],
    controller: Controller<String>,
    synced: mpsc::UnboundedReceiver<String>,
    metrics: Arc<Sources>,
}

fn rig() -> Rig {
    let (first, second) = (ManualSource::new(), ManualSource::new());
    let metrics = Arc::new(Sources::default());
    let receivers = Metrics { queue: None, controller: Some(metrics.clone()) };
    let mut builder = Controller::builder("test", Queue::builder(), receivers);
    for (informer, name) in [(&first.0, "first"), (&second.0, "second")] {
        builder.watch(informer, name, |event: &Event<Item>, keys| keys.add(event.object().name().to_owned()));
    }
    let keys = builder.enqueuer(None);
    let (record, synced) = mpsc::unbounded_channel();
    let recorded = record.clone();
    let builder = builder.background(async move {
        record.send("background".to_owned()).unwrap();
        keys.add("extra".to_owned());
    });
    let controller = builder.build(move |key| {
        let recorded = recorded.send(key);
        async move { recorded }
    });
    Rig { informers: [first.0, second.0], sources: [first.1, second.1], controller, synced, metrics }
}

async fn drained(synced: &mut mpsc::UnboundedReceiver<String>) -> Vec<String> {
    sleep(Duration::from_secs(60)).await;
    std::iter::from_fn(|| synced.try_recv().ok()).collect()
}

#[tokio::test(start_paused = true)]
async fn a_sync_starts_after_the_wait_before_it() {
    let Rig { sources, controller, mut synced, .. } = rig();
    let (open, opened) = tokio::sync::watch::channel(false);
    let controller = controller.before_sync(move || {
        let mut opened = opened.clone();
        async move { drop(opened.wait_for(|open| *open).await) }
    });
    let mut tasks = JoinSet::new();
    tasks.spawn(async { controller.run(CancellationToken::new()).await.unwrap() });
    for source in &sources {
        source.replace([item("a", 1)], "1");
        source.deliver();
    }
    assert_eq!(drained(&mut synced).await, ["background"]);
    open.send_replace(true);
    assert_eq!(drained(&mut synced).await, ["a", "extra"]);
}

#[tokio::test(start_paused = true)]
async fn a_wait_before_a_sync_does_not_delay_the_end() {
    let Rig { sources, controller, mut synced, .. } = rig();
    let (stop, mut tasks) = (CancellationToken::new(), JoinSet::new());
    let running = controller.before_sync(std::future::pending).run(stop.clone());
    tasks.spawn(async { running.await.unwrap() });
    for source in &sources {
        source.replace([item("a", 1)], "1");
        source.deliver();
    }
    assert_eq!(drained(&mut synced).await, ["background"]);
    stop.cancel();
    tasks.join_all().await;
    assert_eq!(drained(&mut synced).await, [""; 0], "a wait that is cut short does not count");
}

// upstream: TestWaitsForAllInformersToBeSynced2
#[tokio::test(start_paused = true)]
async fn nothing_is_synced_before_all_caches_are_filled() {
    let Rig { sources: [first, second], controller, mut synced, metrics, .. } = rig();
    let mut tasks = JoinSet::new();
    tasks.spawn(async { controller.run(CancellationToken::new()).await.unwrap() });
    first.replace([item("a", 1)], "1");
    first.deliver();
    assert_eq!(drained(&mut synced).await, [""; 0]);
    second.replace([], "1");
    second.deliver();
    assert_eq!(drained(&mut synced).await, ["background", "a", "extra"]);
    second.apply(item("b", 2));
    second.deliver();
    assert_eq!(drained(&mut synced).await, ["b"]);
    assert_eq!(*locked(&metrics.0), ["second"], "neither the initial list nor the background future is measured");
}

#[tokio::test(start_paused = true)]
async fn nothing_is_synced_before_the_future_to_wait_for_ends() {
    let Rig { informers: _informers, sources, controller, mut synced, .. } = rig();
    let (ready, wait) = tokio::sync::oneshot::channel();
    let controller = controller.wait_for(async { wait.await.unwrap() });
    let mut tasks = JoinSet::new();
    tasks.spawn(async { controller.run(CancellationToken::new()).await.unwrap() });
    for source in sources {
        source.replace([item("a", 1)], "1");
        source.deliver();
    }
    assert_eq!(drained(&mut synced).await, [""; 0]);
    ready.send(()).unwrap();
    assert_eq!(drained(&mut synced).await, ["background", "a", "extra"]);
}

#[tokio::test(start_paused = true)]
async fn contained_panics_are_reported_and_the_key_is_retried() {
    let mut builder = Controller::<String>::builder("test", Queue::builder(), Metrics::default());
    let (informer, source) = ManualSource::<Item>::new();
    builder.watch(&informer, "items", |event, keys| keys.add(event.object().name().to_owned()));
    let (record, mut synced) = mpsc::unbounded_channel();
    let (attempts, reports) = (record.clone(), record);
    let counted = Arc::new(Mutex::new(0));
    let controller = builder.build(move |key| {
        *locked(&counted) += 1;
        let attempt = *locked(&counted);
        let attempts = attempts.clone();
        async move {
            tokio::task::yield_now().await;
            assert!(attempt > 2, "attempt {attempt}");
            attempts.send(format!("{key} succeeded"))
        }
    });
    let controller = controller.contain_panics(move |message| reports.send(message.to_owned()).unwrap());
    let mut tasks = JoinSet::new();
    tasks.spawn(async { controller.run(CancellationToken::new()).await.unwrap() });
    source.replace([item("a", 1)], "1");
    source.deliver();
    assert_eq!(drained(&mut synced).await, ["attempt 1", "attempt 2", "a succeeded"]);
}

#[tokio::test(start_paused = true)]
async fn a_cache_that_stops_before_it_synced_is_an_error() {
    let Rig { informers: [_, second], sources: [first, _], controller, mut synced, .. } = rig();
    first.replace([item("a", 1)], "1");
    first.deliver();
    let stopped = CancellationToken::new();
    stopped.cancel();
    second.run(stopped).await;
    let error = controller.run(CancellationToken::new()).await.unwrap_err();
    assert_eq!(error.to_string(), "the cache of manual source (second) stopped before it synced");
    assert_eq!(drained(&mut synced).await, [""; 0]);
}

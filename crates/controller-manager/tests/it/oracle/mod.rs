//! Endpoints and mirrored slices after 1,000 random histories, with controllers that are restarted meanwhile, are what
//! an oracle computes from the final objects alone.

mod expected;
pub(crate) mod history;
mod observed;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use endpoint_controller_manager::{ClientSettings, Controllers, RunError, Settings, run};
use kube_controller::SupervisorError;
use kube_controller_client::Config;
use kube_endpoints_testing::{LIMIT, within};
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use rand::seq::SliceRandom as _;
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::cluster::{Cluster, text};
use history::History;

const HISTORIES: u64 = 1_000;
/// Concurrent histories on one server, each in its own namespace.
const CONCURRENT_HISTORIES: u64 = 250;
/// Changes in one history.
const CHANGES: usize = 12;
/// Number of times that the controllers of a server are stopped and started again.
const RESTARTS: usize = 5;

/// Counter of the changes of all histories. Restarts happen at counts, not at times.
#[derive(Default)]
struct Progress {
    changes: AtomicUsize,
    changed: Notify,
}

impl Progress {
    fn record_change(&self) {
        self.changes.fetch_add(1, Ordering::SeqCst);
        self.changed.notify_one();
    }

    async fn wait_for(&self, changes: usize) {
        while self.changes.load(Ordering::SeqCst) < changes {
            self.changed.notified().await;
        }
    }
}

/// Running Endpoints and mirroring controllers.
struct RunningControllers {
    stop: CancellationToken,
    tasks: JoinSet<()>,
}

impl RunningControllers {
    fn start(cluster: &Cluster) -> RunningControllers {
        let controllers = Controllers::parse(&["*".to_owned(), "-endpointslice-controller".to_owned()]).expect("names");
        let client = ClientSettings { qps: 0.0, ..ClientSettings::default() };
        let settings = Settings { controllers, client, ..Settings::default() };
        let config = Config::from_url(&cluster.server.url()).expect("a configuration");
        let stop = CancellationToken::new();
        let mut tasks = JoinSet::new();
        let until = stop.clone();
        tasks.spawn(async move {
            match run(config, settings, until).await {
                // On a busy machine syncs may be cut off at shutdown; the next run must write what is missing.
                Ok(()) | Err(RunError::Task(SupervisorError::Stuck { .. })) => {}
                Err(error) => panic!("{error}"),
            }
        });
        RunningControllers { stop, tasks }
    }

    async fn stop(mut self) {
        self.stop.cancel();
        while let Some(ended) = self.tasks.join_next().await {
            ended.expect("no panic");
        }
    }
}

/// Stops and starts the controllers at random counts of changes; returns the last instance, which is running.
async fn restarts(cluster: &Cluster, progress: &Progress, seed: u64) -> RunningControllers {
    let mut points: Vec<usize> = (1..usize::try_from(CONCURRENT_HISTORIES).expect("small") * CHANGES).collect();
    points.shuffle(&mut StdRng::seed_from_u64(seed));
    points.truncate(2 * RESTARTS);
    points.sort_unstable();
    let mut running = RunningControllers::start(cluster);
    for point in points.chunks(2) {
        progress.wait_for(point[0]).await;
        running.stop().await;
        progress.wait_for(point[1]).await;
        running = RunningControllers::start(cluster);
    }
    running
}

/// Objects by namespace and kind.
async fn objects(cluster: &Cluster) -> BTreeMap<String, BTreeMap<&'static str, Vec<Value>>> {
    let mut by_namespace: BTreeMap<String, BTreeMap<&'static str, Vec<Value>>> = BTreeMap::new();
    for (kind, path) in [
        ("services", "/api/v1/services"),
        ("pods", "/api/v1/pods"),
        ("endpoints", "/api/v1/endpoints"),
        ("slices", "/apis/discovery.k8s.io/v1/endpointslices"),
    ] {
        for object in cluster.list(path).await {
            let namespace = text(&object["metadata"]["namespace"]);
            by_namespace.entry(namespace).or_default().entry(kind).or_default().push(object);
        }
    }
    by_namespace
}

/// Descriptions of the histories whose objects differ from the oracle's.
async fn differences(cluster: &Cluster, histories: &[History]) -> Vec<String> {
    let all = objects(cluster).await;
    let none = BTreeMap::new();
    let mut differences = Vec::new();
    for history in histories {
        let objects = all.get(&history.namespace).unwrap_or(&none);
        let list = |kind| objects.get(kind).map(Vec::as_slice).unwrap_or_default();
        let (services, pods, endpoints) = (list("services"), list("pods"), list("endpoints"));
        let expected = (expected::endpoints(services, pods, endpoints), expected::slices(services, endpoints));
        let observed = (observed::endpoints(services, endpoints), observed::slices(list("slices")));
        if observed != expected {
            let changes = history.changes.join("\n    ");
            let seed = history.seed;
            differences
                .push(format!("seed {seed}:\n    {changes}\n  expected {expected:#?}\n  instead of {observed:#?}"));
        }
    }
    differences
}

async fn run_histories(seeds: std::ops::Range<u64>) {
    let cluster = Arc::new(Cluster::start().await);
    let progress = Arc::new(Progress::default());
    let mut walks = JoinSet::new();
    for seed in seeds.clone() {
        let (cluster, progress) = (Arc::clone(&cluster), Arc::clone(&progress));
        walks.spawn(async move {
            let mut history = History::new(seed);
            cluster.create("/api/v1/namespaces", &json!({"metadata": {"name": history.namespace}})).await;
            for _ in 0..CHANGES {
                history.change(&cluster).await;
                progress.record_change();
            }
            history
        });
    }
    let (running, histories) = tokio::join!(restarts(&cluster, &progress, seeds.start), walks.join_all());
    if let Err(wrong) = within(LIMIT, || differences(&cluster, &histories), Vec::is_empty).await {
        panic!("{LIMIT:?} passed, {} histories differ, first {}", wrong.len(), wrong[0]);
    }
    running.stop().await;
    let wrong = differences(&cluster, &histories).await;
    assert!(wrong.is_empty(), "differs again after shutdown: {}", wrong[0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn random_histories_converge_to_the_oracle() {
    // To replay one history: SEED=17 cargo test -p endpoint-controller-manager oracle
    if let Some(seed) = std::env::var("SEED").ok().and_then(|seed| seed.parse().ok()) {
        return run_histories(seed..seed + 1).await;
    }
    for start in (0..HISTORIES).step_by(usize::try_from(CONCURRENT_HISTORIES).expect("small")) {
        run_histories(start..start + CONCURRENT_HISTORIES).await;
    }
}

//! Scenarios `rollout` and `rollouts`, rolling updates of one Service, and `recreation` of all its Pods.

use std::time::Duration;

use anyhow::ensure;
use http::Method;
use kube_dev_apiserver::Population;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::{
    fill::fill_at,
    flip::{BATCH_PERIOD, per_second},
    storm::paces,
};
use crate::bench::{
    environment::Environment,
    flips::{Flip, now, paced, patch, send, shuffled},
    latencies::{Latencies, between},
    observer::{Observer, endpoints},
    outcome::Outcome,
    pace::Pace,
    server::template,
    upstream::{Work, upstream},
};

const CLUSTER: Population = Population { pods: 5_000, services: 1, nodes: 500, services_of_a_namespace: 1 };
/// Time from the deletion of a Pod to its removal.
const GRACE: Duration = Duration::from_secs(1);

const PATCH: &str = "application/strategic-merge-patch+json";
const RECREATED: Population = Population { pods: 600, nodes: 60, ..CLUSTER };

/// How the Pods of a Service are replaced.
#[derive(Clone, Copy)]
struct Replacement {
    /// Whether a Pod is created when the old one is gone, not when it is deleted. It is ready after [`GRACE`].
    after: bool,
    /// Number of Pods per second.
    rate: usize,
    /// Whether latencies are measured: the observer takes CPU time from the other processes.
    observe: bool,
}

const ROLLOUT: Replacement = Replacement { after: false, rate: 100, observe: true };
/// A Pod that becomes ready twice has no single latency, and one that is gone before it is written has none.
const RECREATION: Replacement = Replacement { after: true, rate: 20, observe: false };

/// Sizes of the Services of the scenario `rollouts`.
const SIZES: [usize; 2] = [60, 5_000];

pub(super) async fn run(environment: &mut Environment) -> anyhow::Result<Vec<Outcome>> {
    let population = Population { services: 1, ..environment.settings.sizes.or(CLUSTER) };
    let pace = environment.settings.pace(BATCH_PERIOD);
    Ok(roll(environment, population, pace, "rollout", Replacement { observe: false, ..ROLLOUT }).await?.into())
}

/// Measures the recreation of the Pods of a Service without a batch period, without and with adaptive batching.
pub(super) async fn recreation(environment: &mut Environment) -> anyhow::Result<Vec<Outcome>> {
    let mut outcomes = Vec::new();
    for (suffix, pace) in paces(environment) {
        let population = Population { services: 1, ..environment.settings.sizes.or(RECREATED) };
        let [_, outcome] = roll(environment, population, pace, &format!("recreation{suffix}"), RECREATION).await?;
        outcomes.push(outcome);
    }
    Ok(outcomes)
}

/// Measures rolling updates without a batch period, without and with adaptive batching.
pub(super) async fn without_batch_period(environment: &mut Environment) -> anyhow::Result<Vec<Outcome>> {
    let sizes = environment.settings.sizes;
    let mut all = Vec::new();
    for pods in sizes.pods.map_or_else(|| SIZES.to_vec(), |pods| vec![pods]) {
        for (suffix, pace) in paces(environment) {
            let nodes = sizes.nodes.unwrap_or(pods.div_ceil(10));
            let population = Population { pods, nodes, ..CLUSTER };
            let name = format!("rollout-{pods}{suffix}");
            let [_, outcome] = roll(environment, population, pace, &name, ROLLOUT).await?;
            all.push(outcome);
        }
    }
    Ok(all)
}

/// Measures the initial sync, then the replacement of all Pods.
async fn roll(
    environment: &mut Environment,
    population: Population,
    pace: Pace,
    name: &str,
    Replacement { after, rate, observe }: Replacement,
) -> anyhow::Result<[Outcome; 2]> {
    let (filled, mut run, mut server) = fill_at(environment, population, pace, &format!("{name}-fill")).await?;
    let observer = if observe { Some(Observer::start(&run.client).await?) } else { None };
    if let Some(observer) = &observer {
        observer.take_added();
    }
    let rate = per_second(environment.settings.rate.unwrap_or(rate));
    let template = template()?;
    environment.progress.step(&format!("replacing {} Pods, {rate} per second", population.pods));
    // Random order, like a ReplicaSet's choice of Pods; replacing them slice by slice would need fewer writes.
    let order = shuffled(population.pods, environment.settings.seed);
    let replaced = paced(population.pods, rate, |at| {
        let at = order[at];
        let client = run.client.clone();
        let pods = format!("/api/v1/namespaces/{}/pods", population.namespace(0));
        let old = format!("{pods}/{}", population.pod_name(at));
        let (name, new) = successor(population, &template, at);
        async move {
            let status = json!({"status": new["status"]}).to_string().into_bytes();
            let path = format!("{pods}/{name}/status");
            let create = async || {
                send(&client, Method::POST, &pods, "application/json", new.to_string().into_bytes()).await?;
                send(&client, Method::PATCH, &path, PATCH, status.clone()).await
            };
            let end = |seconds: u64| format!("{old}?gracePeriodSeconds={seconds}");
            let added = if after { None } else { Some(create().await.map(|()| Instant::now())?) };
            send(&client, Method::DELETE, &end(30), "application/json", Vec::new()).await?;
            let removed = (Flip { pod: at, ready: false }, Instant::now());
            sleep(GRACE).await;
            send(&client, Method::DELETE, &end(0), "application/json", Vec::new()).await?;
            let added = if let Some(added) = added {
                added
            } else {
                create().await?;
                send(&client, Method::PATCH, &path, PATCH, patch(false, now()).into_bytes()).await?;
                sleep(GRACE).await;
                send(&client, Method::PATCH, &path, PATCH, patch(true, now()).into_bytes()).await?;
                Instant::now()
            };
            Ok(((name, added), removed))
        }
    })
    .await?;
    run.settle(&mut server, &environment.progress, "after the update", |_| true).await?;
    let (mut latencies, mut additions) = (None, None);
    if let Some(observer) = observer {
        let (added, removed): (Vec<_>, Vec<_>) = replaced.into_iter().unzip();
        // A terminating Pod that is gone before it is written is not observed as not ready.
        latencies = Latencies::of(between(removed, observer.changes(population, 0..population.pods)));
        additions = Latencies::of(between(added, observer.take_added()));
    }
    let (_, bytes) = filled.counts.writes_of("endpointslices");
    let work = if after { Work::recreation } else { Work::rollout };
    let work = work(population.pods, rate, GRACE);
    let length = bytes / population.pods.max(1) as u64;
    let upstream = upstream(&work, pace.batch_period(), environment.settings.seed, length);
    let outcome = run.outcome(&mut server, name).await?;
    let (all, ready) = endpoints(&run.client).await?;
    ensure!(all == population.pods && ready == all, "{all} endpoints after the update, {ready} ready");
    run.stop().await?;
    let changes = population.pods;
    Ok([filled, Outcome { changes, upstream: Some(upstream), latencies, additions, ..outcome }])
}

/// Returns name and object of the Pod that replaces Pod `at`.
fn successor(population: Population, template: &Value, at: usize) -> (String, Value) {
    let mut pod = population.pod(template, at);
    let name = format!("{}-2", population.pod_name(at));
    let ip = format!("10.{}.{}.{}", 128 + (at >> 16), (at >> 8) & 255, at & 255);
    pod["metadata"]["name"] = json!(name);
    (pod["status"]["podIP"], pod["status"]["podIPs"]) = (json!(ip), json!([{"ip": ip}]));
    (name, pod)
}

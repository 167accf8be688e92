//! Scenario `rollout`: rolling update of a large Service.

use std::time::Duration;

use anyhow::ensure;
use http::Method;
use kube_dev_apiserver::Population;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::{
    fill::fill,
    flip::{BATCH_PERIOD, per_second},
};
use crate::bench::{
    environment::Environment,
    flips::{paced, send, shuffled},
    observer::endpoints,
    outcome::Outcome,
    rollout::{Rollout, upstream},
    server::template,
};

const CLUSTER: Population = Population { pods: 5_000, services: 1, nodes: 500, services_of_a_namespace: 1 };
/// Time from the deletion of a Pod to its removal.
const GRACE: Duration = Duration::from_secs(1);

pub(super) async fn run(environment: &mut Environment) -> anyhow::Result<Vec<Outcome>> {
    let population = Population { services: 1, ..environment.settings.sizes.or(CLUSTER) };
    let (filled, mut run, mut server) = fill(environment, population, "rollout-fill").await?;
    let rate = per_second(environment.settings.rate.unwrap_or(100));
    let template = template()?;
    environment.progress.step(&format!("replacing {} Pods, {rate} per second", population.pods));
    // Random order, like a ReplicaSet's choice of Pods; replacing them slice by slice would need fewer writes.
    let order = shuffled(population.pods, environment.settings.seed);
    paced(population.pods, rate, |at| {
        let at = order[at];
        let client = run.client.clone();
        let pods = format!("/api/v1/namespaces/{}/pods", population.namespace(0));
        let old = format!("{pods}/{}", population.pod_name(at));
        let (name, new) = successor(population, &template, at);
        async move {
            let status = json!({"status": new["status"]}).to_string().into_bytes();
            send(&client, Method::POST, &pods, "application/json", new.to_string().into_bytes()).await?;
            let path = format!("{pods}/{name}/status");
            send(&client, Method::PATCH, &path, "application/strategic-merge-patch+json", status).await?;
            let end = |seconds: u64| format!("{old}?gracePeriodSeconds={seconds}");
            send(&client, Method::DELETE, &end(30), "application/json", Vec::new()).await?;
            sleep(GRACE).await;
            send(&client, Method::DELETE, &end(0), "application/json", Vec::new()).await
        }
    })
    .await?;
    run.settle(&mut server, &environment.progress, "after the update", |_| true).await?;
    let (_, bytes) = filled.counts.writes_of("endpointslices");
    let rollout = Rollout {
        pods: population.pods,
        rate,
        grace: GRACE,
        batch_period: environment.settings.pace(BATCH_PERIOD).batch_period(),
        seed: environment.settings.seed,
    };
    let upstream = upstream(&rollout, bytes / population.pods.max(1) as u64);
    let outcome = run.outcome(&mut server, "rollout").await?;
    let (all, ready) = endpoints(&run.client).await?;
    ensure!(all == population.pods && ready == all, "{all} endpoints after the update, {ready} ready");
    run.stop().await?;
    Ok(vec![filled, Outcome { changes: population.pods, upstream: Some(upstream), ..outcome }])
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

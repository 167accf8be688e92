//! Scenario `growth`: cost by size of the cluster.
//!
//! The batch period is 0, so that every change is written in clusters of any size. With a batch period, the changes in
//! a small cluster would affect the same few Services and be combined into fewer writes.

use std::time::Duration;

use kube_dev_apiserver::Population;

use super::{
    fill::fill_at,
    flip::{flip, flips_of},
};
use crate::bench::{environment::Environment, outcome::Outcome};

/// Total numbers of Pods, with 20 per Service.
const PODS: [usize; 3] = [1_000, 10_000, 100_000];
/// Numbers of Services in one namespace, with 4 Pods each.
const SERVICES: [usize; 3] = [10, 1_000, 5_000];

pub(super) async fn run(environment: &mut Environment) -> anyhow::Result<Vec<Outcome>> {
    let tiny = Population { pods: 4, services: 1, nodes: 1, services_of_a_namespace: 1 };
    let (outcome, run, _) =
        fill_at(environment, tiny, environment.settings.pace(Duration::ZERO), "growth-tiny").await?;
    run.stop().await?;
    let mut outcomes = vec![outcome];
    let sizes = environment.settings.sizes;
    for pods in sizes.pods.map_or_else(|| PODS.to_vec(), |pods| vec![pods]) {
        let nodes = sizes.nodes.unwrap_or(pods.div_ceil(40));
        let population = Population { pods, services: pods.div_ceil(20), nodes, services_of_a_namespace: 40 };
        outcomes.extend(measure(environment, population, &format!("growth-pods-{pods}")).await?);
    }
    for services in sizes.services.map_or_else(|| SERVICES.to_vec(), |services| vec![services]) {
        let nodes = sizes.nodes.unwrap_or(100);
        let population = Population { pods: services * 4, services, nodes, services_of_a_namespace: usize::MAX };
        outcomes.extend(measure(environment, population, &format!("growth-services-{services}")).await?);
    }
    Ok(outcomes)
}

/// Measures the initial sync, then readiness changes.
async fn measure(environment: &mut Environment, population: Population, name: &str) -> anyhow::Result<[Outcome; 2]> {
    let pace = environment.settings.pace(Duration::ZERO);
    let (filled, mut run, mut server) = fill_at(environment, population, pace, name).await?;
    let flips = flips_of(&environment.settings, 2_000, 200);
    let churn = flip(&mut run, &mut server, environment, flips, &format!("{name}-churn")).await?;
    run.stop().await?;
    Ok([filled, churn])
}

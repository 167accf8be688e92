//! Scenarios `start`, `resume`, `namespace` and `big`.

use anyhow::ensure;
use kube_dev_apiserver::Population;

use super::flip::{BATCH_PERIOD, DEFAULT_POPULATION, flip};
use crate::bench::{
    environment::{Environment, Run},
    observer::endpoints,
    outcome::Outcome,
    server::BenchServer,
};

const NAMESPACE: Population =
    Population { pods: 3_000, services: 3_000, nodes: 100, services_of_a_namespace: usize::MAX };
const BIG: Population = Population { pods: 150_000, services: 10_000, nodes: 5_000, services_of_a_namespace: 40 };

pub(super) async fn start(environment: &mut Environment) -> anyhow::Result<Vec<Outcome>> {
    let (outcome, run, server) = fill(environment, DEFAULT_POPULATION, "start").await?;
    run.stop().await?;
    environment.cache(server);
    Ok(vec![outcome])
}

pub(super) async fn resume(environment: &mut Environment) -> anyhow::Result<Vec<Outcome>> {
    let (mut run, mut server) = environment.resumed(DEFAULT_POPULATION, BATCH_PERIOD).await?;
    let outcome = run.outcome(&mut server, "resume")?;
    run.stop().await?;
    environment.cache(server);
    Ok(vec![outcome])
}

pub(super) async fn namespace(environment: &mut Environment) -> anyhow::Result<Vec<Outcome>> {
    let (filled, mut run, mut server) = fill(environment, NAMESPACE, "namespace").await?;
    let churn = flip(&mut run, &mut server, environment, "namespace-churn").await?;
    run.stop().await?;
    Ok(vec![filled, churn])
}

pub(super) async fn big(environment: &mut Environment) -> anyhow::Result<Vec<Outcome>> {
    let (filled, run, _) = fill(environment, BIG, "big").await?;
    run.stop().await?;
    Ok(vec![filled])
}

/// Measures the initial sync of a new cluster, and checks that all Pods are in slices and ready.
async fn fill(
    environment: &mut Environment,
    default: Population,
    name: &str,
) -> anyhow::Result<(Outcome, Run, BenchServer)> {
    let population = environment.args.population(default);
    let mut server = environment.empty(population).await?;
    let run = environment.run(&mut server, BATCH_PERIOD).await?;
    let mut run = run.fill(&mut server, &environment.progress).await?;
    let outcome = run.outcome(&mut server, name)?;
    let (all, ready) = endpoints(&run.client).await?;
    let pods = population.pods;
    ensure!(all == pods && ready == pods, "of {pods} Pods, {all} are in slices, {ready} of them ready");
    Ok((outcome, run, server))
}

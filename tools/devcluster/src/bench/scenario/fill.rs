//! Scenarios `start`, `resume`, `churn`, `namespace` and `big`.

use anyhow::ensure;
use kube_dev_apiserver::Population;

use super::flip::{BATCH_PERIOD, CHURN_RATE, DEFAULT_POPULATION, flip, flips_of};
use crate::bench::{
    environment::{Environment, Run},
    observer::endpoints,
    outcome::Outcome,
    pace::Pace,
    server_process::ServerProcess,
};

const NAMESPACE: Population =
    Population { pods: 3_000, services: 3_000, nodes: 100, services_of_a_namespace: usize::MAX };
const BIG: Population = Population { pods: 150_000, services: 10_000, nodes: 5_000, services_of_a_namespace: 40 };

pub(super) async fn start(environment: &mut Environment) -> anyhow::Result<Vec<Outcome>> {
    let population = environment.settings.sizes.or(DEFAULT_POPULATION);
    let (outcome, run, server) = fill(environment, population, "start").await?;
    run.stop().await?;
    environment.cache(server);
    Ok(vec![outcome])
}

pub(super) async fn resume(environment: &mut Environment) -> anyhow::Result<Vec<Outcome>> {
    let population = environment.settings.sizes.or(DEFAULT_POPULATION);
    let outcome = resume_of(environment, population, "resume").await?;
    Ok(vec![outcome])
}

pub(super) async fn churn(environment: &mut Environment) -> anyhow::Result<Vec<Outcome>> {
    let population = environment.settings.sizes.or(DEFAULT_POPULATION);
    let mut server = environment.filled(population).await?;
    let mut run = environment
        .run(&mut server, environment.settings.pace(BATCH_PERIOD))
        .await?
        .resume(&mut server, &environment.progress)
        .await?;
    run.outcome(&mut server, "").await?;
    let outcome =
        flip(&mut run, &mut server, environment, flips_of(&environment.settings, 3_000, CHURN_RATE), "churn").await?;
    run.stop().await?;
    environment.cache(server);
    Ok(vec![outcome])
}

pub(super) async fn namespace(environment: &mut Environment) -> anyhow::Result<Vec<Outcome>> {
    let population = environment.settings.sizes.or(NAMESPACE);
    let (filled, mut run, mut server) = fill(environment, population, "namespace").await?;
    let flips = flips_of(&environment.settings, 3_000, CHURN_RATE);
    let churn = flip(&mut run, &mut server, environment, flips, "namespace-churn").await?;
    run.stop().await?;
    environment.cache(server);
    Ok(vec![filled, churn])
}

pub(super) async fn big(environment: &mut Environment) -> anyhow::Result<Vec<Outcome>> {
    let population = environment.settings.sizes.or(BIG);
    let (filled, run, server) = fill(environment, population, "big").await?;
    run.stop().await?;
    environment.cache(server);
    let resumed = resume_of(environment, population, "big-resume").await?;
    Ok(vec![filled, resumed])
}

pub(super) async fn fill(
    environment: &mut Environment,
    population: Population,
    name: &str,
) -> anyhow::Result<(Outcome, Run, ServerProcess)> {
    fill_at(environment, population, environment.settings.pace(BATCH_PERIOD), name).await
}

/// Measures the initial sync of a new cluster, and checks that all Pods are in slices and ready.
pub(super) async fn fill_at(
    environment: &mut Environment,
    population: Population,
    pace: Pace,
    name: &str,
) -> anyhow::Result<(Outcome, Run, ServerProcess)> {
    let mut server = environment.empty(population).await?;
    let run = environment.run(&mut server, pace).await?;
    let mut run = run.fill(&mut server, &environment.progress).await?;
    let outcome = run.outcome(&mut server, name).await?;
    let (all, ready) = endpoints(&run.client).await?;
    let pods = population.pods;
    ensure!(all == pods && ready == pods, "of {pods} Pods, {all} are in slices, {ready} of them ready");
    Ok((outcome, run, server))
}

async fn resume_of(environment: &mut Environment, population: Population, name: &str) -> anyhow::Result<Outcome> {
    let mut server = environment.filled(population).await?;
    let run = environment.run(&mut server, environment.settings.pace(BATCH_PERIOD)).await?;
    let mut run = run.resume(&mut server, &environment.progress).await?;
    let outcome = run.outcome(&mut server, name).await?;
    run.stop().await?;
    environment.cache(server);
    Ok(outcome)
}

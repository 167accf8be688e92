//! Scenarios `start`, `resume`, `churn`, `namespace` and `big`.

use std::time::Duration;

use anyhow::ensure;
use kube_dev_apiserver::Population;

use super::{BATCH_PERIOD, USUAL, flip, flips_of};
use crate::bench::{
    lab::{Lab, Run},
    observer::endpoints,
    outcome::Outcome,
    world::World,
};

const NAMESPACE: Population =
    Population { pods: 3_000, services: 3_000, nodes: 100, services_of_a_namespace: usize::MAX };
const BIG: Population = Population { pods: 150_000, services: 10_000, nodes: 5_000, services_of_a_namespace: 40 };

pub(super) async fn start(lab: &mut Lab) -> anyhow::Result<Vec<Outcome>> {
    let population = lab.settings.sizes.or(USUAL);
    let (outcome, run, world) = fill(lab, population, "start").await?;
    run.end().await?;
    lab.keep(world);
    Ok(vec![outcome])
}

pub(super) async fn resume(lab: &mut Lab) -> anyhow::Result<Vec<Outcome>> {
    let population = lab.settings.sizes.or(USUAL);
    let outcome = resume_of(lab, population, "resume").await?;
    Ok(vec![outcome])
}

pub(super) async fn churn(lab: &mut Lab) -> anyhow::Result<Vec<Outcome>> {
    let population = lab.settings.sizes.or(USUAL);
    let mut world = lab.filled(population).await?;
    let mut run = lab.run(&mut world, lab.settings.pace(BATCH_PERIOD)).await?.resume(&mut world, &lab.progress).await?;
    run.outcome(&mut world, "").await?;
    let outcome = flip(&mut run, &mut world, lab, flips_of(&lab.settings, 3_000, 100), "churn").await?;
    run.end().await?;
    lab.keep(world);
    Ok(vec![outcome])
}

pub(super) async fn namespace(lab: &mut Lab) -> anyhow::Result<Vec<Outcome>> {
    let population = lab.settings.sizes.or(NAMESPACE);
    let (filled, mut run, mut world) = fill(lab, population, "namespace").await?;
    let flips = flips_of(&lab.settings, 3_000, 100);
    let churn = flip(&mut run, &mut world, lab, flips, "namespace-churn").await?;
    run.end().await?;
    lab.keep(world);
    Ok(vec![filled, churn])
}

pub(super) async fn big(lab: &mut Lab) -> anyhow::Result<Vec<Outcome>> {
    let population = lab.settings.sizes.or(BIG);
    let (filled, run, world) = fill(lab, population, "big").await?;
    run.end().await?;
    lab.keep(world);
    let resumed = resume_of(lab, population, "big-resume").await?;
    Ok(vec![filled, resumed])
}

pub(super) async fn fill(lab: &mut Lab, population: Population, name: &str) -> anyhow::Result<(Outcome, Run, World)> {
    fill_at(lab, population, BATCH_PERIOD, name).await
}

/// Measures the initial sync of a new cluster, and checks that all Pods are in slices and ready.
pub(super) async fn fill_at(
    lab: &mut Lab,
    population: Population,
    batch_period: Duration,
    name: &str,
) -> anyhow::Result<(Outcome, Run, World)> {
    let mut world = lab.empty(population).await?;
    let run = lab.run(&mut world, lab.settings.pace(batch_period)).await?;
    let mut run = run.fill(&mut world, &lab.progress).await?;
    let outcome = run.outcome(&mut world, name).await?;
    let (all, ready) = endpoints(&run.client).await?;
    let pods = population.pods;
    ensure!(all == pods && ready == pods, "of {pods} Pods, {all} are in slices, {ready} of them ready");
    Ok((outcome, run, world))
}

async fn resume_of(lab: &mut Lab, population: Population, name: &str) -> anyhow::Result<Outcome> {
    let mut world = lab.filled(population).await?;
    let run = lab.run(&mut world, lab.settings.pace(BATCH_PERIOD)).await?;
    let mut run = run.resume(&mut world, &lab.progress).await?;
    let outcome = run.outcome(&mut world, name).await?;
    run.end().await?;
    lab.keep(world);
    Ok(outcome)
}

//! Scenario `churn`, the step that flips Pods, and defaults of the scenarios.

use std::{num::NonZeroU32, time::Duration};

use kube_dev_apiserver::Population;

use crate::bench::{
    environment::{Environment, Run},
    flips::{drive, flips},
    outcome::Outcome,
    server::BenchServer,
};

/// Batch period with which the Go controllers were measured.
pub(super) const BATCH_PERIOD: Duration = Duration::from_millis(500);
/// Cluster size of most scenarios.
pub(super) const DEFAULT_POPULATION: Population =
    Population { pods: 20_000, services: 1_000, nodes: 500, services_of_a_namespace: 40 };
/// Number and rate (per second) of readiness changes, as in the measurement of the Go controllers.
const FLIPS: (usize, usize) = (3_000, 160);

pub(super) async fn churn(environment: &mut Environment) -> anyhow::Result<Vec<Outcome>> {
    let (mut run, mut server) = environment.resumed(DEFAULT_POPULATION, BATCH_PERIOD).await?;
    run.outcome(&mut server, "")?;
    let outcome = flip(&mut run, &mut server, environment, "churn").await?;
    run.stop().await?;
    environment.cache(server);
    Ok(vec![outcome])
}

/// Changes the readiness of Pods and waits until the controllers are idle.
pub(super) async fn flip(
    run: &mut Run,
    server: &mut BenchServer,
    environment: &Environment,
    name: &str,
) -> anyhow::Result<Outcome> {
    let (count, rate) =
        (environment.args.flips.unwrap_or(FLIPS.0), per_second(environment.args.rate.unwrap_or(FLIPS.1)));
    environment.progress.set_message(format!("{count} flips, {rate} per second"));
    let flips = flips(run.population.pods, count);
    drive(&run.client, run.population, &flips, rate).await?;
    run.settle(server, &environment.progress, "after the flips", |_| true).await?;
    Ok(Outcome { changes: flips.len(), ..run.outcome(server, name)? })
}

pub(super) fn per_second(rate: usize) -> NonZeroU32 {
    u32::try_from(rate).ok().and_then(NonZeroU32::new).unwrap_or(NonZeroU32::MAX)
}

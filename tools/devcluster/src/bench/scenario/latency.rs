//! Scenario `latency`: time from the change of a Pod's readiness to the change of its slice.

use std::time::Duration;

use super::flip::{DEFAULT_POPULATION, observed, per_second};
use crate::bench::{
    environment::{Environment, Run},
    flips::{Flip, drive, flips},
    latencies::{Latencies, between, frequency},
    observer::Observer,
    outcome::Outcome,
    server_process::ServerProcess,
};

/// Duration of the measurement at each rate, in seconds.
pub(super) const SECONDS: usize = 20;

pub(super) async fn run(environment: &mut Environment) -> anyhow::Result<Vec<Outcome>> {
    let population = environment.settings.sizes.or(DEFAULT_POPULATION);
    let mut server = environment.filled(population).await?;
    let mut run = environment
        .run(&mut server, environment.settings.pace(Duration::ZERO))
        .await?
        .resume(&mut server, &environment.progress)
        .await?;
    let mut outcomes = Vec::new();
    for rate in environment.settings.rate.map_or_else(|| vec![20, 100], |rate| vec![rate]) {
        let count = environment.settings.flips.unwrap_or(rate * SECONDS);
        // Each Pod changes at most once in each direction, so that every slice change can be attributed to one cause.
        let flips = flips(population.pods, count.min(population.pods * 2), environment.settings.seed);
        let name = format!("latency-{rate}");
        outcomes.push(measure(environment, &mut run, &mut server, (&flips, rate), &name).await?);
    }
    run.stop().await?;
    environment.cache(server);
    Ok(outcomes)
}

/// Changes the readiness of Pods, `rate` per second, and measures the time until each change is observed in a slice.
pub(super) async fn measure(
    environment: &Environment,
    run: &mut Run,
    server: &mut ServerProcess,
    (all, rate): (&[Flip], usize),
    name: &str,
) -> anyhow::Result<Outcome> {
    let observer = Observer::start(&run.client).await?;
    run.settle(server, &environment.progress, "before the flips", |_| true).await?;
    run.outcome(server, "").await?;
    environment.progress.step(&format!("{} flips, {rate} per second", all.len()));
    let causes = drive(&run.client, run.population, all, per_second(rate)).await?;
    let changes_per_second = frequency(causes.iter().map(|(_, at)| *at));
    let changes = observed(run, (&mut *server, &environment.progress), &observer, all).await?;
    let latencies = Latencies::of(between(causes, changes));
    let outcome = run.outcome(server, name).await?;
    Ok(Outcome { changes: all.len(), changes_per_second, latencies, ..outcome })
}

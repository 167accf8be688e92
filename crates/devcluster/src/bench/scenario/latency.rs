//! Scenario `latency`: time from the change of a Pod's readiness to the change of its slice.

use std::time::Duration;

use super::flip::{DEFAULT_POPULATION, observed, per_second};
use crate::bench::{
    environment::Environment,
    flips::{drive, flips},
    observer::Observer,
    outcome::Outcome,
};

/// Duration of the measurement at each rate, in seconds.
const SECONDS: usize = 20;

pub(super) async fn run(environment: &mut Environment) -> anyhow::Result<Vec<Outcome>> {
    let population = environment.settings.sizes.or(DEFAULT_POPULATION);
    let mut server = environment.filled(population).await?;
    let mut run = environment
        .run(&mut server, environment.settings.pace(Duration::ZERO))
        .await?
        .resume(&mut server, &environment.progress)
        .await?;
    let observer = Observer::start(&run.client).await?;
    let mut outcomes = Vec::new();
    for rate in environment.settings.rate.map_or_else(|| vec![20, 100], |rate| vec![rate]) {
        run.settle(&mut server, &environment.progress, "before the flips", |_| true).await?;
        run.outcome(&mut server, "").await?;
        let count = environment.settings.flips.unwrap_or(rate * SECONDS);
        // Each Pod changes at most once in each direction, so that every slice change can be attributed to one cause.
        let all = flips(population.pods, count.min(population.pods * 2), environment.settings.seed);
        environment.progress.step(&format!("{} flips, {rate} per second", all.len()));
        let causes = drive(&run.client, population, &all, per_second(rate)).await?;
        let latencies = observed(&observer, population, &all, causes).await?;
        run.settle(&mut server, &environment.progress, "after the flips", |_| true).await?;
        let outcome = run.outcome(&mut server, &format!("latency-{rate}")).await?;
        outcomes.push(Outcome { changes: all.len(), latencies, ..outcome });
    }
    run.stop().await?;
    environment.cache(server);
    Ok(outcomes)
}

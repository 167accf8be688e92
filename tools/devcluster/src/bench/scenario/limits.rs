//! Scenario `limits`: latency of readiness changes with a limited rate of requests, and with an adaptive limit.

use std::time::Duration;

use super::flip::{DEFAULT_POPULATION, flips_of};
use super::latency::measure;
use crate::bench::{environment::Environment, flips::flips, outcome::Outcome, pace::Pace};

/// Changes per second: three times as many as the default rate of requests.
const RATE: usize = 60;
/// Changes of each measurement: 10 s.
const FLIPS: usize = 10 * RATE;

pub(super) async fn run(environment: &mut Environment) -> anyhow::Result<Vec<Outcome>> {
    let population = environment.settings.sizes.or(DEFAULT_POPULATION);
    let mut server = environment.filled(population).await?;
    let pace = environment.settings.pace(Duration::ZERO);
    let (count, rate) = flips_of(&environment.settings, FLIPS, RATE);
    let count = count.min(population.pods);
    // The Pods become unready in the first measurement and ready in the second: if a Pod changed back while its Service
    // waits for the limit, neither change would be observed.
    let all = flips(population.pods, 2 * count, environment.settings.seed);
    let mut outcomes = Vec::new();
    for (name, pace, flips) in [
        ("limits-default", Pace { qps: 20, burst: 30, adaptive: false, ..pace }, &all[..count]),
        ("limits-auto", Pace { adaptive: true, ..pace }, &all[count..]),
    ] {
        let mut run = environment.run(&mut server, pace).await?.resume(&mut server, &environment.progress).await?;
        outcomes.push(measure(environment, &mut run, &mut server, (flips, rate), name).await?);
        run.stop().await?;
    }
    environment.cache(server);
    Ok(outcomes)
}

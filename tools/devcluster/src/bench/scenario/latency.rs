//! Scenario `latency`: time from the change of a Pod's readiness to the change of its slice.

use std::time::Duration;

use anyhow::ensure;
use tokio::time::{Instant, sleep};

use super::flip::{DEFAULT_POPULATION, per_second};
use crate::bench::{
    environment::{Environment, Run},
    flips::{Flip, drive, flips, unobserved},
    latencies::{Latencies, between},
    observer::Observer,
    outcome::Outcome,
    server::BenchServer,
};

/// Readiness changes per second.
const RATES: [usize; 2] = [20, 100];
/// Duration of the measurement at each rate, in seconds.
const SECONDS: usize = 20;
/// Maximum time to wait for the last slice change.
const TIMEOUT: Duration = Duration::from_secs(60);

pub(super) async fn run(environment: &mut Environment) -> anyhow::Result<Vec<Outcome>> {
    let (mut run, mut server) = environment.resumed(DEFAULT_POPULATION, Duration::ZERO).await?;
    let mut outcomes = Vec::new();
    for rate in environment.args.rate.map_or_else(|| RATES.to_vec(), |rate| vec![rate]) {
        outcomes.push(measure(environment, &mut run, &mut server, rate).await?);
    }
    run.stop().await?;
    environment.cache(server);
    Ok(outcomes)
}

/// Changes the readiness of Pods, `rate` per second, and measures the time until each change is observed in a slice.
async fn measure(
    environment: &Environment,
    run: &mut Run,
    server: &mut BenchServer,
    rate: usize,
) -> anyhow::Result<Outcome> {
    let pods = run.population.pods;
    // Each Pod changes at most once in each direction, so that every slice change can be attributed to one cause.
    let all = flips(pods, environment.args.flips.unwrap_or(rate * SECONDS).min(pods * 2));
    let observer = Observer::start(&run.client).await?;
    run.settle(server, &environment.progress, "before the flips", |_| true).await?;
    run.outcome(server, "")?;
    environment.progress.set_message(format!("{} flips, {rate} per second", all.len()));
    let causes = drive(&run.client, run.population, &all, per_second(rate)).await?;
    run.settle(server, &environment.progress, "after the flips", |_| true).await?;
    let changes = observed(run, &observer, &all).await?;
    let latencies = Latencies::of(between(causes, changes));
    Ok(Outcome { changes: all.len(), latencies, ..run.outcome(server, &format!("latency-{rate}"))? })
}

/// Waits until slices show the last flip of each Pod, at most 60 s. Returns the observed changes.
async fn observed(run: &Run, observer: &Observer, flips: &[Flip]) -> anyhow::Result<Vec<(Flip, Instant)>> {
    let begin = Instant::now();
    loop {
        let changes = observer.changes(run.population, flips.iter().map(|it| it.pod));
        let missing = unobserved(flips, changes.iter().map(|(flip, _)| *flip));
        if missing == 0 {
            return Ok(changes);
        }
        ensure!(begin.elapsed() < TIMEOUT, "the last change of {missing} Pods was not observed in a slice");
        sleep(Duration::from_millis(20)).await;
    }
}

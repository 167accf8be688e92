//! The step that flips Pods, and defaults of the scenarios.

use std::{num::NonZeroU32, time::Duration};

use anyhow::ensure;
use kube_dev_apiserver::Population;
use tokio::time::{Instant, sleep};

use crate::bench::{
    environment::{Environment, Run},
    flips::{Flip, drive, flips, unobserved},
    observer::Observer,
    outcome::Outcome,
    progress::Progress,
    server_process::ServerProcess,
    settings::Settings,
};

/// Batch period with which the Go controllers were measured.
pub(super) const BATCH_PERIOD: Duration = Duration::from_millis(500);
/// Cluster size of most scenarios.
pub(super) const DEFAULT_POPULATION: Population =
    Population { pods: 20_000, services: 1_000, nodes: 500, services_of_a_namespace: 40 };

/// Readiness changes per second, as in the measurement of the Go controllers.
pub(super) const CHURN_RATE: usize = 160;

/// Maximum time to wait for the last slice change.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Changes the readiness of Pods and waits until the controllers are idle.
pub(super) async fn flip(
    run: &mut Run,
    server: &mut ServerProcess,
    environment: &Environment,
    (count, rate): (usize, usize),
    name: &str,
) -> anyhow::Result<Outcome> {
    environment.progress.step(&format!("{count} flips, {rate} per second"));
    let flips = flips(run.population.pods, count, environment.settings.seed);
    drive(&run.client, run.population, &flips, per_second(rate)).await?;
    run.settle(server, &environment.progress, "after the flips", |_| true).await?;
    Ok(Outcome { changes: flips.len(), ..run.outcome(server, name).await? })
}

/// Waits until the controllers are idle, and then until slices show the last flip of each Pod, at most 60 s. Returns the
/// observed changes.
pub(super) async fn observed(
    run: &mut Run,
    (server, progress): (&mut ServerProcess, &Progress),
    observer: &Observer,
    flips: &[Flip],
) -> anyhow::Result<Vec<(Flip, Instant)>> {
    run.settle(server, progress, "after the flips", |_| true).await?;
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

/// Returns number and rate (per second) of the flips, from the settings or else the given defaults.
pub(super) fn flips_of(settings: &Settings, count: usize, rate: usize) -> (usize, usize) {
    (settings.flips.unwrap_or(count), settings.rate.unwrap_or(rate))
}

pub(super) fn per_second(rate: usize) -> NonZeroU32 {
    u32::try_from(rate).ok().and_then(NonZeroU32::new).unwrap_or(NonZeroU32::MAX)
}

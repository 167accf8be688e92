//! The step that flips Pods, and defaults of the scenarios.

use std::{num::NonZeroU32, time::Duration};

use anyhow::ensure;
use kube_dev_apiserver::Population;
use tokio::time::{Instant, sleep, timeout};

use crate::bench::{
    environment::{Environment, Run},
    flips::{Flip, drive, flips},
    latencies::{Latencies, between},
    observer::Observer,
    outcome::Outcome,
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

/// Waits until slices show all flips, at most 60 s, and returns the latencies from the acknowledgements in `causes`.
pub(super) async fn observed(
    observer: &Observer,
    population: Population,
    flips: &[Flip],
    causes: Vec<(Flip, Instant)>,
) -> anyhow::Result<Option<Latencies>> {
    let all_observed = async {
        while observer.count() < flips.len() {
            sleep(Duration::from_millis(20)).await;
        }
    };
    // After a timeout, missing changes are counted below.
    let _ = timeout(TIMEOUT, all_observed).await;
    let (durations, missing) = between(causes, observer.take(population, flips.iter().map(|it| it.pod)));
    ensure!(missing == 0, "{missing} of {} readiness changes were not observed in a slice", flips.len());
    Ok(Latencies::of(durations))
}

/// Returns number and rate (per second) of the flips, from the settings or else the given defaults.
pub(super) fn flips_of(settings: &Settings, count: usize, rate: usize) -> (usize, usize) {
    (settings.flips.unwrap_or(count), settings.rate.unwrap_or(rate))
}

pub(super) fn per_second(rate: usize) -> NonZeroU32 {
    u32::try_from(rate).ok().and_then(NonZeroU32::new).unwrap_or(NonZeroU32::MAX)
}

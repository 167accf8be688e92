//! Scenario `million`: one process for one million Pods.

use std::time::Duration;

use anyhow::ensure;
use kube_dev_apiserver::Population;
use procfs::{Current as _, Meminfo};

use super::{
    fill::fill_at,
    latency::{SECONDS, measure},
};
use crate::bench::{environment::Environment, flips::flips, observer::endpoints, outcome::Outcome};

const MILLION: Population = Population { pods: 1_000_000, services: 50_000, nodes: 5_000, services_of_a_namespace: 40 };
/// Readiness changes per second.
const RATE: usize = 1_000;
/// Memory per Pod of all three processes: the API server keeps each Pod as 8 kB of JSON, with its labels and selectable
/// fields.
const BYTES_PER_POD: u64 = 14 * 1_024;

/// Measures the initial sync, then the latencies of readiness changes, without a batch period. The peak memory of the
/// second measurement includes the initial sync.
pub(super) async fn run(environment: &mut Environment) -> anyhow::Result<Vec<Outcome>> {
    let population = environment.settings.sizes.or(MILLION);
    ensure_memory(population.pods as u64 * BYTES_PER_POD)?;
    let (filled, mut run, mut server) =
        fill_at(environment, population, environment.settings.pace(Duration::ZERO), "million-start").await?;
    let rate = environment.settings.rate.unwrap_or(RATE);
    let count = environment.settings.flips.unwrap_or(rate * SECONDS);
    // Each Pod changes at most once in each direction, so that every slice change can be attributed to one cause.
    let flips = flips(population.pods, count.min(population.pods * 2), environment.settings.seed);
    let flipped = measure(environment, &mut run, &mut server, (&flips, rate), "million").await?;
    let (all, ready) = endpoints(&run.client).await?;
    // Half of the flips, rounded up, make a Pod unready; the others make the same Pods ready again.
    let expected = (population.pods, population.pods - flipped.changes % 2);
    ensure!((all, ready) == expected, "{all} endpoints after the flips, {ready} ready; expected {expected:?}");
    run.stop().await?;
    Ok(vec![filled, flipped])
}

/// Fails unless this many bytes are available, rather than being killed after minutes.
fn ensure_memory(bytes: u64) -> anyhow::Result<()> {
    let available = Meminfo::current()?.mem_available.unwrap_or(u64::MAX);
    let mib = |bytes: u64| bytes >> 20;
    ensure!(available >= bytes, "{} MiB of memory needed, {} MiB available", mib(bytes), mib(available));
    Ok(())
}

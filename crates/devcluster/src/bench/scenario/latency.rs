//! Scenario `latency`: time from the change of a Pod's readiness to the change of its slice.

use std::time::Duration;

use anyhow::ensure;
use tokio::time::{sleep, timeout};

use super::{USUAL, per_second};
use crate::bench::{
    flips::{drive, flips},
    lab::Lab,
    latencies::{Latencies, between},
    observer::Observer,
    outcome::Outcome,
};

/// Maximum time to wait for the last slice change.
const PATIENCE: Duration = Duration::from_secs(30);
/// Duration of the measurement at each rate, in seconds.
const SECONDS: usize = 20;

pub(super) async fn run(lab: &mut Lab) -> anyhow::Result<Vec<Outcome>> {
    let population = lab.settings.sizes.or(USUAL);
    let mut world = lab.filled(population).await?;
    let mut run =
        lab.run(&mut world, lab.settings.pace(Duration::ZERO)).await?.resume(&mut world, &lab.progress).await?;
    let observer = Observer::start(&run.client).await?;
    let mut outcomes = Vec::new();
    for rate in lab.settings.rate.map_or_else(|| vec![20, 100], |rate| vec![rate]) {
        run.settle(&mut world, &lab.progress, "before the flips", |_| true).await?;
        run.outcome(&mut world, "").await?;
        let count = lab.settings.flips.unwrap_or(rate * SECONDS);
        // Each Pod changes at most once in each direction, so that every slice change can be attributed to one cause.
        let all = flips(population.pods, count.min(population.pods * 2), lab.settings.seed);
        lab.progress.step(&format!("{} flips, {rate} per second", all.len()));
        let causes = drive(&run.client, population, &all, per_second(rate)).await?;
        let seen = async {
            while observer.count() < all.len() {
                sleep(Duration::from_millis(20)).await;
            }
        };
        // After a timeout, missing changes are counted below.
        let _ = timeout(PATIENCE, seen).await;
        let effects = observer.take(population, all.iter().map(|it| it.pod));
        let (took, missing) = between(causes, effects);
        ensure!(missing == 0, "{missing} of {} readiness changes were not observed in a slice", all.len());
        run.settle(&mut world, &lab.progress, "after the flips", |_| true).await?;
        let outcome = run.outcome(&mut world, &format!("latency-{rate}")).await?;
        outcomes.push(Outcome { changes: all.len(), latencies: Latencies::of(took), ..outcome });
    }
    run.end().await?;
    lab.keep(world);
    Ok(outcomes)
}

//! Scenarios `shadow` and `switch`: shadow mode beside the controllers, and switching from one instance to another.

use std::time::Duration;

use tokio::{time::sleep, try_join};

use super::flip::{BATCH_PERIOD, CHURN_RATE, DEFAULT_POPULATION, flip, flips_of, observed, per_second};
use crate::bench::{
    environment::{Environment, Run},
    flips::{drive, flips},
    latencies::{Latencies, between},
    observer::Observer,
    outcome::Outcome,
    server_process::ServerProcess,
};

/// Flips per second during a switch, and seconds of flips before and after the first instance is stopped.
const RATE: usize = 50;
const SECONDS: usize = 5;

/// Measures the instance in shadow mode. The other one writes.
pub(super) async fn shadow(environment: &mut Environment) -> anyhow::Result<Vec<Outcome>> {
    let population = environment.settings.sizes.or(DEFAULT_POPULATION);
    let mut server = environment.filled(population).await?;
    let writer = instance(environment, &mut server, BATCH_PERIOD, &[]).await?;
    let mut run = instance(environment, &mut server, BATCH_PERIOD, &["--mode=shadow"]).await?;
    let started = run.outcome(&mut server, "shadow").await?;
    let flips = flips_of(&environment.settings, 3_000, CHURN_RATE);
    let churn = flip(&mut run, &mut server, environment, flips, "shadow-churn").await?;
    run.stop().await?;
    writer.stop().await?;
    environment.cache(server);
    Ok(vec![started, churn])
}

/// Measures the standby that takes over: once while nothing changes, and once while Pods change.
pub(super) async fn switch(environment: &mut Environment) -> anyhow::Result<Vec<Outcome>> {
    let population = environment.settings.sizes.or(DEFAULT_POPULATION);
    let mut server = environment.filled(population).await?;
    let elects = ["--leader-elect=true"];
    let first = instance(environment, &mut server, Duration::ZERO, &elects).await?;
    let mut second = instance(environment, &mut server, Duration::ZERO, &elects).await?;
    second.outcome(&mut server, "").await?;
    first.stop().await?;
    second.settle(&mut server, &environment.progress, "switching", |_| true).await?;
    let quiet = second.outcome(&mut server, "switch").await?;

    let mut third = instance(environment, &mut server, Duration::ZERO, &elects).await?;
    let observer = Observer::start(&third.client).await?;
    third.outcome(&mut server, "").await?;
    let all = flips(population.pods, (2 * SECONDS * RATE).min(population.pods * 2), environment.settings.seed);
    environment.progress.step(&format!("{} flips, {RATE} per second, during a switch", all.len()));
    let stop = async {
        sleep(Duration::from_secs(SECONDS as u64)).await;
        second.stop().await
    };
    let (causes, ()) = try_join!(drive(&third.client, population, &all, per_second(RATE)), stop)?;
    let changes = observed(&mut third, (&mut server, &environment.progress), &observer, &all).await?;
    let latencies = Latencies::of(between(causes, changes));
    let outcome = third.outcome(&mut server, "switch-churn").await?;
    third.stop().await?;
    environment.cache(server);
    Ok(vec![quiet, Outcome { changes: all.len(), latencies, ..outcome }])
}

/// Starts an instance of the controllers with these flags, and waits until it is idle.
async fn instance(
    environment: &Environment,
    server: &mut ServerProcess,
    batch_period: Duration,
    flags: &[&str],
) -> anyhow::Result<Run> {
    let run = environment.run_with(server, environment.settings.pace(batch_period), flags).await?;
    run.resume(server, &environment.progress).await
}

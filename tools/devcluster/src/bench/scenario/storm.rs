//! Scenario `storm`: all Pods of a Service change their readiness again and again.

use std::time::Duration;

use endpoint_controller_manager::Batching;
use kube_dev_apiserver::Population;
use tokio::time::sleep;

use super::{
    fill::fill_at,
    flip::{flips_of, observed, per_second},
};
use crate::bench::{
    environment::Environment,
    flips::{Flip, drive, shuffled},
    latencies::{Latencies, between_repeated},
    observer::Observer,
    outcome::Outcome,
    pace::Pace,
    upstream::{Work, upstream},
};

const CLUSTER: Population = Population { pods: 60, services: 1, nodes: 10, services_of_a_namespace: 1 };
/// Number and rate (per second) of the changes. Each Pod is not ready for 0.6 s, then ready for 0.6 s, and so on.
const FLIPS: (usize, usize) = (1_000, 100);
/// Longest time by which a change is observed before it is acknowledged: less than the time between two changes of a
/// Pod.
const EARLY: Duration = Duration::from_millis(100);
/// Time after which the Service is quiet, and after which the last change has been observed.
const QUIET: Duration = Duration::from_secs(3);

pub(super) async fn run(environment: &mut Environment) -> anyhow::Result<Vec<Outcome>> {
    let mut outcomes = Vec::new();
    for (name, pace) in paces(environment) {
        outcomes.push(storm(environment, pace, &format!("storm{name}")).await?);
    }
    Ok(outcomes)
}

/// Returns the paces to compare, without a batch period, with the suffixes of their names: without and with adaptive
/// batching. One without a suffix if the command line of the controllers has no `{batching}`.
pub(super) fn paces(environment: &Environment) -> Vec<(String, Pace)> {
    let pace = environment.settings.pace(Duration::ZERO);
    if !environment.has_placeholder("{batching}") {
        return vec![(String::new(), pace)];
    }
    let both = [Batching::None, Batching::Adaptive];
    both.map(|batching| (format!("-{batching}"), Pace { batching, ..pace })).to_vec()
}

/// Returns `count` flips. In each round, half of the Pods become unready and the other half, of which the Pods were
/// unready before, become ready. `seed` selects the order of the Pods.
fn mixed_flips(pods: usize, count: usize, seed: u64) -> Vec<Flip> {
    let order = shuffled(pods, seed);
    let round = |round: usize| {
        let flips = order.iter().enumerate().filter(move |(at, _)| round > 0 || at % 2 == 0);
        flips.map(move |(at, pod)| Flip { pod: *pod, ready: (round + at) % 2 == 1 })
    };
    (0..).flat_map(round).take(count).collect()
}

async fn storm(environment: &mut Environment, pace: Pace, name: &str) -> anyhow::Result<Outcome> {
    let population = Population { services: 1, ..environment.settings.sizes.or(CLUSTER) };
    let (_, mut run, mut server) = fill_at(environment, population, pace, name).await?;
    let observer = Observer::start(&run.client).await?;
    sleep(QUIET).await;
    run.settle(&mut server, &environment.progress, "before the flips", |_| true).await?;
    run.outcome(&mut server, "").await?;
    let (count, rate) = flips_of(&environment.settings, FLIPS.0, FLIPS.1);
    environment.progress.step(&format!("{count} flips, {rate} per second"));
    let all = mixed_flips(population.pods, count, environment.settings.seed);
    let causes = drive(&run.client, population, &all, per_second(rate)).await?;
    sleep(QUIET).await;
    let effects = observed(&mut run, (&mut server, &environment.progress), &observer, &all).await?;
    let latencies = |ready: bool| {
        let causes = causes.iter().filter(|(flip, _)| flip.ready == ready).copied().collect();
        let effects = effects.iter().filter(|(flip, _)| flip.ready == ready).copied().collect();
        between_repeated(causes, effects, EARLY)
    };
    let (removals, additions) = (latencies(false), latencies(true));
    let outcome = run.outcome(&mut server, name).await?;
    run.stop().await?;
    let work = Work::flips(population.pods, &all, per_second(rate));
    let upstream = Some(upstream(&work, pace.batch_period(), environment.settings.seed, 0));
    let (removals, additions) = (Latencies::of(removals), Latencies::of(additions));
    Ok(Outcome { changes: all.len(), latencies: removals, additions, upstream, ..outcome })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_flip_changes_a_pod_and_half_of_them_are_removals() {
        let flips = mixed_flips(6, 300, 1);
        let mut ready = [true; 6];
        for (at, flip) in flips.iter().enumerate() {
            assert_ne!(ready[flip.pod], flip.ready, "flip {at}");
            ready[flip.pod] = flip.ready;
        }
        let removals = flips.iter().filter(|it| !it.ready).count();
        assert!((145..=155).contains(&removals), "{removals}");
    }
}

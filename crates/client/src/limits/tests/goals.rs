//! The goals of adaptive limits, checked in the [`model`](super::model).
//!
//! The server has ten seats of 5 ms, so it serves 2,000 requests per second; the neighbour sends 1,000.

use std::time::{Duration, Instant};

use kube_workqueue::TokenBucket;
use proptest::prelude::*;
use rstest::rstest;

use super::model::{Demand, Model, Served, quantile};

const fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// 60 changes per second: one write of each controller per change.
const CHANGES: Demand = Demand::Rate(60.0);
/// Everything at once, as after a start or an outage.
const BACKLOG: Demand = Demand::Backlog(Duration::ZERO);
/// Workers of one controller (`--concurrent-service-endpoint-syncs`).
const WORKERS: usize = 5;

fn model(seed: u64, instances: Vec<(Demand, usize)>) -> Model {
    Model {
        seats: 10,
        queue: 50,
        service: millis(5),
        seats_at: Vec::new(),
        instances,
        neighbour: 1_000.0,
        duration: seconds(60),
        seed,
    }
}

/// Returns the results of the instances, and of the neighbour.
fn run(model: &Model) -> (Vec<Served>, Served) {
    let mut served = model.run();
    let neighbour = served.pop().expect("the neighbour");
    (served, neighbour)
}

fn rejected_percent(served: &Served) -> usize {
    served.rejections * 100 / (served.rejections + served.requests.len())
}

/// Returns the largest difference of one of `numbers` from their mean, in percent of the mean.
fn unfairness(numbers: &[usize]) -> usize {
    let mean = numbers.iter().sum::<usize>() / numbers.len();
    numbers.iter().map(|number| number.abs_diff(mean) * 100 / mean).max().unwrap_or_default()
}

/// The limit of the defaults of kube-controller-manager, 20 qps with a burst of 30: changes wait for tens of seconds.
#[test]
fn the_default_rate_limit_delays_60_changes_per_second_by_more_than_12_seconds() {
    let start = tokio::time::Instant::now().into_std();
    let mut bucket = TokenBucket::new(20.0, 30);
    let changes: Vec<Instant> = (0..20 * 60).map(|at| start + seconds(1) * at / 60).collect();
    let waits = changes.into_iter().map(|at| bucket.reserve(at)).collect();
    assert!(quantile(waits, 0.99) > seconds(12));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    /// Two controllers write each change. Measured over 10 seeds: p99 16 ms, no rejection, and 0.5 % more for the
    /// neighbour.
    #[test]
    fn sixty_changes_per_second_are_written_at_once_and_do_not_slow_the_neighbour(seed in 0..1_000_u64) {
        let (_, alone) = run(&model(seed, Vec::new()));
        let (instances, neighbour) = run(&model(seed, vec![(CHANGES, WORKERS); 2]));
        for instance in instances {
            prop_assert!(instance.quantile(0.99) < millis(50), "{:?}", instance.quantile(0.99));
            prop_assert!(rejected_percent(&instance) < 1);
        }
        let (alone, beside) = (alone.quantile(0.99), neighbour.quantile(0.99));
        prop_assert!(beside <= alone.mul_f64(1.05), "{beside:?} instead of {alone:?}");
    }

    /// A backlog takes the seats that are free. One controller alone costs the neighbour about 7 % of its p99, more than
    /// the 5 % of the goal, and two together up to 40 %: they fill the only queue of the model.
    #[test]
    fn a_backlog_of_two_controllers_slows_the_neighbour_by_less_than_half(seed in 0..1_000_u64) {
        let (_, alone) = run(&model(seed, Vec::new()));
        for (instances, factor) in [(1, 1.1), (2, 1.5)] {
            let (instances, neighbour) = run(&model(seed, vec![(BACKLOG, WORKERS); instances]));
            prop_assert!(neighbour.quantile(0.99) <= alone.quantile(0.99).mul_f64(factor));
            prop_assert!(instances.iter().all(|instance| rejected_percent(instance) < 1));
        }
    }

    /// For 10 s the server has one seat instead of ten. From 2 s after that on, nothing is left of the backlog: the p99 of
    /// eight runs, since a single one has too few requests for it.
    #[test]
    fn latency_recovers_within_2_seconds_after_an_overload(seed in 0..1_000_u64, queue in prop_oneof![Just(0_usize), Just(50)]) {
        // A server without queue rejects the instance whenever the neighbour occupies all seats.
        let neighbour = if queue == 0 { 0.0 } else { 1_000.0 };
        let overload = vec![(seconds(20), 1), (seconds(30), 10)];
        let mut latencies = Vec::new();
        for run_number in 0..8 {
            let model = model(seed + 1_000 * run_number, vec![(CHANGES, WORKERS)]);
            let (instances, _) = run(&Model { seats_at: overload.clone(), queue, neighbour, ..model });
            let late = instances[0].requests.iter().filter(|(arrived, _)| *arrived > seconds(32));
            latencies.extend(late.map(|(arrived, done)| done.saturating_sub(*arrived)));
            prop_assert!(rejected_percent(&instances[0]) < 1);
        }
        let p99 = quantile(latencies, 0.99);
        prop_assert!(p99 < millis(50), "{p99:?}");
    }

    /// The same with a client that always has requests to send: the sum of eight runs.
    #[test]
    fn throughput_recovers_within_2_seconds_after_an_overload(seed in 0..1_000_u64, workers in prop_oneof![Just(WORKERS), Just(50)]) {
        let overload = vec![(seconds(20), 1), (seconds(30), 10)];
        let (mut before, mut after) = (0, 0);
        for run_number in 0..8 {
            let model = model(seed + 1_000 * run_number, vec![(BACKLOG, workers)]);
            let (instances, _) = run(&Model { seats_at: overload.clone(), ..model });
            before += instances[0].between(seconds(10), seconds(18));
            after += instances[0].between(seconds(32), seconds(40));
            prop_assert!(rejected_percent(&instances[0]) < 1);
        }
        prop_assert!(after * 100 >= before * 90, "{after} instead of {before}");
    }

    /// Rejections show the capacity of a server without a queue, which does not get slower. The limit finds it and stays
    /// below.
    #[test]
    fn a_server_that_does_not_queue_rejects_few_requests(seed in 0..1_000_u64) {
        let model = model(seed, vec![(BACKLOG, 50); 3]);
        let (instances, _) = run(&Model { queue: 0, seats: 30, neighbour: 0.0, ..model });
        for instance in instances {
            prop_assert!(rejected_percent(&instance) < 1);
        }
    }
}

/// Instances that start one after the other get equal shares, although the later ones measure their first baseline
/// while the others are at work.
///
/// Not covered, because shares differ by up to half for minutes: servers with fewer than about five seats for each
/// instance that has more workers than that, and servers without queue.
#[rstest]
#[case::workers_of_a_controller(10, WORKERS, 5)]
#[case::many_workers(60, 200, 20)]
fn three_instances_get_equal_shares(
    #[case] seats: usize,
    #[case] workers: usize,
    #[case] percent: usize,
    #[values(1, 2, 3)] seed: u64,
) {
    let instances = (0..3).map(|at| (Demand::Backlog(seconds(at * 2)), workers)).collect();
    let (instances, _) = run(&Model { seats, queue: 500, neighbour: 200.0, ..model(seed, instances) });
    let served: Vec<usize> = instances.iter().map(|it| it.between(seconds(20), seconds(60))).collect();
    assert!(unfairness(&served) <= percent, "{served:?}");
}

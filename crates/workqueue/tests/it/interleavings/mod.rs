//! Exhaustive schedules of small programs with producers, workers and a shutdown.
//!
//! One lock protects the queue's state, so threads can interleave only between whole operations, such as a poll of
//! `get`. The schedules of a few tasks can therefore be enumerated: the explorer runs a program once per schedule, with the real queue and its real futures. As
//! in loom and CHESS, the number of preemptions per schedule is bounded; switches where a task waits or ends are not
//! counted.
//!
//! A shutdown wakes every task and would hide a lost wake-up. Programs without a shutdown therefore run until all tasks
//! wait; then no key may be queued. Only after this check does the explorer shut the queue down.
//!
//! The clock is paused. It passes all deadlines when all tasks wait, and wherever the task [`clock`](tasks::clock) is scheduled.

mod explorer;
mod tasks;
mod world;

use self::explorer::check;
use self::tasks::{
    clock, delaying_producer, fickle_worker, leaving_worker, producer, retrying_worker, shut_down, timer, worker,
};

#[test]
fn two_workers_two_keys_and_a_shutdown() {
    check(|world| vec![producer(world, &[1, 2, 1]), worker(world), worker(world), shut_down(world)], 1_000);
}

#[test]
fn two_producers_one_worker() {
    check(|world| vec![producer(world, &[1, 2]), producer(world, &[2, 1]), worker(world), shut_down(world)], 1_000);
}

#[test]
fn every_key_wakes_a_worker() {
    check(|world| vec![producer(world, &[1, 2, 1]), worker(world), worker(world)], 1_000);
    check(|world| vec![producer(world, &[1, 2]), producer(world, &[2, 1]), worker(world), worker(world)], 1_000);
}

#[test]
fn a_key_added_while_processing_wakes_a_worker() {
    check(|world| vec![producer(world, &[1, 1]), leaving_worker(world), worker(world)], 100);
}

#[test]
fn a_worker_that_gives_up_takes_no_wake_up_with_it() {
    // The other worker must be woken for the key that this worker did not take.
    check(|world| vec![producer(world, &[1, 2]), fickle_worker(world), worker(world)], 100);
    check(|world| vec![producer(world, &[1, 2]), fickle_worker(world), fickle_worker(world), worker(world)], 1_000);
}

#[test]
fn a_retry_is_processed() {
    check(|world| vec![producer(world, &[1, 2]), retrying_worker(world), timer(world)], 10);
}

#[test]
fn a_timer_queues_delayed_keys() {
    check(|world| vec![delaying_producer(world, &[1, 2]), timer(world), worker(world), clock(world)], 1_000);
    check(|world| vec![delaying_producer(world, &[1, 1]), timer(world), producer(world, &[1]), worker(world)], 1_000);
}

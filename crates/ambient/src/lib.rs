//! Wall clock, boot-time clock and random numbers of the current thread, from the system or from a simulation.
//!
//! It is for programs whose runs have to be repeatable from a seed. Such programs use it to
//!
//! - read the wall clock, for time stamps ([`now`]);
//! - read a clock that includes the time in suspend, for leases ([`since_boot`]);
//! - draw random numbers, for names and jitter ([`random`], [`random_range`]);
//! - replace all three on one thread by given clocks and a seeded generator ([`simulate`]).
//!
//! In Go, its counterpart is `k8s.io/utils/clock` with a seeded `math/rand`, but no clock has to be passed to
//! constructors.
//!
//! ```text
//!          now  since_boot  random  random_range
//!                         |
//!        does the thread have a simulation?
//!           | no                    | yes
//!           v                       v
//!    system: wall clock,     innermost simulation: Clock,
//!    CLOCK_BOOTTIME,         generator with the seed
//!    thread-local generator
//! ```
//!
//! # Example
//!
//! ```
//! use std::time::Duration;
//! use kube_ambient::{Clock, now, random, simulate};
//!
//! let start = "2026-01-01T00:00:00Z".parse()?;
//! let run = || {
//!     let clock = Clock { now: Box::new(move || start), since_boot: Box::new(|| Duration::from_secs(60)) };
//!     let _simulated = simulate(42, clock);
//!     (now(), random::<u64>())
//! };
//! assert_eq!(run(), run());
//! assert_ne!(now(), start);
//! # Ok::<(), jiff::Error>(())
//! ```
//!
//! A simulation replaces these functions only. For a repeatable run, the program also has to avoid:
//!
//! - timers on real time: use a current-thread tokio runtime whose time is paused;
//! - `Instant::now` and other clocks of `std`, random numbers of other crates, and the iteration order of `HashMap`,
//!   whose hasher has a random seed;
//! - several threads.
//!
//! # When not to use it
//!
//! - For timeouts, intervals and latencies: use `tokio::time`, whose monotonic clock tests can pause.
//! - For keys and tokens: under a simulation, random numbers are predictable.
//! - For programs with several threads that have to be simulated as one: a simulation applies to a single thread.

mod simulation;
mod system;

use std::time::Duration;

use jiff::Timestamp;
use rand::RngExt as _;
use rand::distr::uniform::{SampleRange, SampleUniform};
use rand::distr::{Distribution, StandardUniform};

pub use simulation::{Clock, Simulated, simulate};

/// Returns the wall-clock time, from the system or from the simulation of this thread.
pub fn now() -> Timestamp {
    simulation::clock().map_or_else(system::now, |clock| (clock.now)())
}

/// Returns the time since boot, including time in suspend (`CLOCK_BOOTTIME`).
///
/// `None` on systems other than Linux, unless the thread is simulated. Callers then have only a monotonic clock such as
/// [`std::time::Instant`], which may stop in suspend.
pub fn since_boot() -> Option<Duration> {
    simulation::clock().map_or_else(system::since_boot, |clock| Some((clock.since_boot)()))
}

/// Returns a random value, from the system or from the simulation of this thread; replaces [`rand::random`].
pub fn random<T>() -> T
where
    StandardUniform: Distribution<T>,
{
    match simulation::generator() {
        Some(generator) => generator.borrow_mut().random(),
        None => system::generator().random(),
    }
}

/// Returns a random value in `range`, from the system or from the simulation of this thread; replaces
/// [`rand::random_range`].
///
/// # Panics
///
/// If the range is empty.
pub fn random_range<T: SampleUniform>(range: impl SampleRange<T>) -> T {
    match simulation::generator() {
        Some(generator) => generator.borrow_mut().random_range(range),
        None => system::generator().random_range(range),
    }
}

#![doc = include_str!("../README.md")]

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
/// `None` on systems other than Linux and without the feature `boot-time`, unless the thread is simulated. Callers then
/// have only a monotonic clock such as [`std::time::Instant`], which may stop in suspend.
pub fn since_boot() -> Option<Duration> {
    simulation::clock().map_or_else(system::since_boot, |clock| Some((clock.since_boot)()))
}

/// Returns a random value, from the system or from the simulation of this thread; replaces `rand::random`.
pub fn random<T>() -> T
where
    StandardUniform: Distribution<T>,
{
    match simulation::generator() {
        Some(generator) => generator.borrow_mut().random(),
        None => system::draw(rand::RngExt::random),
    }
}

/// Returns a random value in `range`, from the system or from the simulation of this thread; replaces
/// `rand::random_range`.
///
/// # Panics
///
/// If the range is empty.
pub fn random_range<T: SampleUniform>(range: impl SampleRange<T>) -> T {
    match simulation::generator() {
        Some(generator) => generator.borrow_mut().random_range(range),
        None => system::draw(|generator| generator.random_range(range)),
    }
}

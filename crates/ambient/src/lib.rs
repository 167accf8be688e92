//! The wall clock and the random numbers of the current thread, real or simulated.
//!
//! Controllers read a few values that differ from run to run: the wall clock for time stamps, a clock that counts suspend, and
//! random numbers for names and jitter. All of them are read through this crate, so that a simulation can replace them for the
//! thread it runs on. Monotonic time is not among them: it is `tokio::time`, which a test pauses. Programs also register
//! counts of [pending work](count_pending), which a simulation reads at its end.
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

mod defects;
mod pending;
mod simulation;
mod system;

use std::time::Duration;

use jiff::Timestamp;
use rand::RngExt as _;
use rand::distr::uniform::{SampleRange, SampleUniform};
use rand::distr::{Distribution, StandardUniform};

pub use defects::{Defect, has};
#[cfg(feature = "defects")]
pub use defects::{Enabled, enable};
pub use pending::{CountedWork, count_pending, pending};
pub use simulation::{Clock, Simulated, is_simulated, simulate};

/// Returns the time of the wall clock.
pub fn now() -> Timestamp {
    simulation::clock().map_or_else(system::now, |clock| (clock.now)())
}

/// Returns the time since the machine started, including the time for which it was suspended.
///
/// `None` where the system has no such clock, which is everywhere but on Linux. On macOS the monotonic clock counts suspend.
pub fn since_boot() -> Option<Duration> {
    simulation::clock().map_or_else(system::since_boot, |clock| Some((clock.since_boot)()))
}

/// Returns a random value, as [`rand::random`] does.
pub fn random<T>() -> T
where
    StandardUniform: Distribution<T>,
{
    match simulation::generator() {
        Some(generator) => generator.borrow_mut().random(),
        None => system::generator().random(),
    }
}

/// Returns a random value of a range, as [`rand::random_range`] does.
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

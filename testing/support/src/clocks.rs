//! Clocks of tests that pause the time of tokio.

use std::{cell::Cell, time::Duration};

use kube_ambient::{Clock, Simulated, now, simulate};
use tokio::time::Instant;

/// Makes the wall clock and the boot-time clock of this thread advance with the clock of tokio until the guard is dropped, and takes the
/// random numbers from `seed`.
///
/// A test that pauses time needs it wherever a clock decides: while the machine is busy, real time passes and paused time does
/// not, so that a fence would close.
pub fn virtual_clocks(seed: u64) -> Simulated {
    let (wall, start, calls) = (now(), Instant::now(), Cell::new(0));
    let clock = Clock {
        now: Box::new(move || {
            // No two times of a real clock are equal, and names of events are made of them.
            calls.set(calls.get() + 1);
            wall + start.elapsed() + Duration::from_nanos(calls.get())
        }),
        since_boot: Box::new(move || Duration::from_secs(1_000) + start.elapsed()),
    };
    simulate(seed, clock)
}

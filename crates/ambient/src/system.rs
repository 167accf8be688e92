//! Clocks and random numbers of the system.

use std::cell::RefCell;
use std::time::Duration;

use jiff::Timestamp;
use rand::rngs::Xoshiro256PlusPlus;

thread_local! {
    static GENERATOR: RefCell<Xoshiro256PlusPlus> = RefCell::new(rand::make_rng());
}

#[expect(clippy::disallowed_methods, reason = "the only read of the system's wall clock")]
pub(crate) fn now() -> Timestamp {
    Timestamp::now()
}

/// Returns `CLOCK_BOOTTIME`; `None` on systems other than Linux and without the feature `boot-time`.
pub(crate) fn since_boot() -> Option<Duration> {
    #[cfg(all(target_os = "linux", feature = "boot-time"))]
    {
        use rustix::time::{ClockId, clock_gettime};
        let now = clock_gettime(ClockId::Boottime);
        Some(Duration::new(u64::try_from(now.tv_sec).ok()?, u32::try_from(now.tv_nsec).ok()?))
    }
    #[cfg(not(all(target_os = "linux", feature = "boot-time")))]
    None
}

/// Draws from the generator of this thread, which the system has seeded.
pub(crate) fn draw<T>(draw: impl FnOnce(&mut Xoshiro256PlusPlus) -> T) -> T {
    GENERATOR.with_borrow_mut(draw)
}

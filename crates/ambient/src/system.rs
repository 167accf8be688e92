//! Clocks and random numbers of the system.

use std::time::Duration;

use jiff::Timestamp;
use rand::rngs::ThreadRng;

#[expect(clippy::disallowed_methods, reason = "the only read of the system's wall clock")]
pub(crate) fn now() -> Timestamp {
    Timestamp::now()
}

/// Returns `CLOCK_BOOTTIME`; `None` on systems other than Linux.
pub(crate) fn since_boot() -> Option<Duration> {
    #[cfg(target_os = "linux")]
    {
        use rustix::time::{ClockId, clock_gettime};
        let now = clock_gettime(ClockId::Boottime);
        Some(Duration::new(u64::try_from(now.tv_sec).ok()?, u32::try_from(now.tv_nsec).ok()?))
    }
    #[cfg(not(target_os = "linux"))]
    None
}

#[expect(clippy::disallowed_methods, reason = "the only use of the system's random numbers")]
pub(crate) fn generator() -> ThreadRng {
    rand::rng()
}

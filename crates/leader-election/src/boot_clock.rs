//! The clock that also runs while the machine sleeps.

use std::time::Duration;

/// Time since the machine started, sleep included, where the system has such a clock.
///
/// Elsewhere the monotonic clock, which callers compare as well, has to do; on macOS it counts sleep itself.
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

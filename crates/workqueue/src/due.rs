//! Instants at which delayed keys are due.

use std::time::{Duration, Instant as StdInstant};

use tokio::time::Instant;

/// Returns `now + delay`, or an instant that is never reached if the clock cannot represent it.
pub(crate) fn after(now: Instant, delay: Duration) -> StdInstant {
    now.checked_add(delay).unwrap_or_else(|| now + NEVER).into_std()
}

/// Replaces a delay that the clock cannot represent: 30 years.
const NEVER: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);

/// Rounds `due` up to a multiple of `grid` after `start`.
pub(crate) fn next_of_grid(due: StdInstant, start: StdInstant, grid: Duration) -> StdInstant {
    let past = due.saturating_duration_since(start).as_nanos().checked_rem(grid.as_nanos()).unwrap_or_default();
    match u64::try_from(past) {
        // Already on the grid, or `grid` is zero.
        Ok(0) | Err(_) => due,
        Ok(past) => due.checked_add(grid.saturating_sub(Duration::from_nanos(past))).unwrap_or(due),
    }
}

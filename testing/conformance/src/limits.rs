//! Time limits of scenarios.

use std::time::Duration;

use crate::QUIET;

/// Time limits of scenarios.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Maximum time from the start of the controllers until they write; 60 s by default.
    pub start: Duration,
    /// Maximum time for a namespace to settle after an operation of a recording; 60 s by default.
    pub settle: Duration,
    /// Time without changes after which a namespace is settled in a recording; [`QUIET`] by default.
    pub settled_after: Duration,
    /// Maximum time until the controllers reach an expected state of a hostile scenario; 30 s by default, since the
    /// longest delay is a retry.
    pub state: Duration,
    /// Time without writes after which the controllers are settled in a hostile scenario, also at its end; 3 s by
    /// default, longer than the second after which the slice controller acts on events of slices.
    pub calm: Duration,
    /// Maximum time from SIGTERM until the controllers exit; 5 s by default.
    pub stop: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self {
            start: seconds(60),
            settle: seconds(60),
            settled_after: QUIET,
            state: seconds(30),
            calm: seconds(3),
            stop: seconds(5),
        }
    }
}

//! The number of requests in flight at which the server rejected a request.

use std::time::{Duration, Instant};

use super::adaptive::{MAX_LIMIT, MIN_LIMIT};

/// Time until a ceiling is raised, if the last one was somewhere else.
const SHORTEST_PLATEAU: Duration = Duration::from_millis(100);
/// Time until a ceiling is raised that was found repeatedly.
const LONGEST_PLATEAU: Duration = Duration::from_secs(16);

/// Upper bound of a limit after a 429.
///
/// It is raised by one after a plateau, and then by twice as much each [`SHORTEST_PLATEAU`] until a request is rejected
/// again. If that happens near the same number, the next plateau is twice as long: a server with a constant capacity
/// rejects less and less, and one whose overload has ended is used again within a second.
#[derive(Debug, Clone)]
pub(crate) struct Ceiling {
    limit: f64,
    /// The ceiling before it was raised.
    found: f64,
    plateau: Duration,
    raise_at: Instant,
    step: f64,
}

impl Ceiling {
    /// Returns the ceiling after a rejection with this number of requests in flight, the rejected one included.
    /// Requests are sent again at `resumed`. The previous ceiling stays if the new one would not be above
    /// [`MIN_LIMIT`]: then others overload the server.
    pub(crate) fn found(previous: Option<&Ceiling>, in_flight: u16, resumed: Instant) -> Option<Ceiling> {
        // A tenth less, and not only one less: instances with more requests in flight yield more.
        let limit = (f64::from(in_flight) * 0.9).min(f64::from(in_flight) - 1.0);
        if limit <= f64::from(MIN_LIMIT) {
            return previous.map(|it| Ceiling { raise_at: resumed + it.plateau, step: 1.0, ..it.clone() });
        }
        let is_near = |previous: &&Ceiling| (limit - previous.found).abs() <= (previous.found / 4.0).max(1.0);
        let plateau = previous.filter(is_near).map_or(SHORTEST_PLATEAU, |it| (it.plateau * 2).min(LONGEST_PLATEAU));
        Some(Ceiling { limit, found: limit, plateau, raise_at: resumed + plateau, step: 1.0 })
    }

    /// Returns the ceiling at `now`, raised if `limit` has reached it for long enough.
    pub(crate) fn at(&mut self, now: Instant, limit: f64) -> f64 {
        if now >= self.raise_at && limit + 1.0 > self.limit {
            self.limit = (self.limit + self.step).min(f64::from(MAX_LIMIT));
            self.step *= 2.0;
            self.raise_at = now + SHORTEST_PLATEAU;
        }
        self.limit
    }
}

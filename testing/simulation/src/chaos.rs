//! Random faults and latencies, drawn from a seed.

use std::time::Duration;

use fnv::FnvHasher;
use rand::rngs::SmallRng;
use rand::seq::IndexedRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use std::hash::{Hash as _, Hasher as _};

use crate::fault::Fault;
use crate::point::{Point, Verb};

/// Probabilities of drawn faults at a [`Point`](crate::Point), from `0.0` to `1.0`. A run panics if one of them is out
/// of this range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chaos {
    /// Probability that a request is rejected, lost or delayed.
    pub requests: f64,
    /// Probability that an event is lost or delayed, or that its watch breaks.
    pub events: f64,
    /// Probability that the process crashes after a request or an event.
    pub crashes: f64,
}

/// A `Retry-After` of one day, as sent by a broken proxy.
const LONG: Fault = Fault::Throttle(86_400);

impl Chaos {
    /// Probabilities of zero: no faults.
    pub const NONE: Chaos = Chaos { requests: 0.0, events: 0.0, crashes: 0.0 };

    /// Returns the fault at a point, if any. It depends only on `seed` and `point`, not on other faults of the run.
    pub(crate) fn draw(&self, seed: u64, point: &Point) -> Option<Fault> {
        let mut rng = generator(seed, point, 1);
        let likelihood = if point.verb == Verb::Event { self.events } else { self.requests };
        if rng.random_bool(self.crashes) {
            let choice = [Fault::Crash(10), Fault::Crash(1_000), Fault::Crash(20_000), Fault::CrashToPast(50)];
            return choice.choose(&mut rng).copied();
        }
        if !rng.random_bool(likelihood) {
            return None;
        }
        let late = [Fault::Delay(5), Fault::Delay(100), Fault::Delay(1_500), Fault::Delay(12_000)];
        let choice: &[Fault] = match point.verb {
            Verb::Event => &[Fault::LoseRequest, Fault::Reject(410), Fault::Skip],
            Verb::Watch | Verb::List => &[
                Fault::LoseRequest,
                Fault::LoseAnswer,
                Fault::Reject(410),
                Fault::Reject(429),
                Fault::Reject(500),
                LONG,
            ],
            Verb::Get => &[Fault::LoseRequest, Fault::LoseAnswer, Fault::Reject(429), Fault::Reject(503)],
            Verb::Create | Verb::Update | Verb::Patch | Verb::Delete => &[
                Fault::LoseRequest,
                Fault::LoseAnswer,
                Fault::LoseAnswer,
                Fault::Reject(409),
                Fault::Reject(429),
                Fault::Reject(500),
                Fault::Reject(503),
            ],
        };
        let choice = if rng.random_bool(0.3) { &late } else { choice };
        choice.choose(&mut rng).copied()
    }
}

/// Returns the latency of an exchange in one direction, without faults: 0 ms in half of the cases, else 1 to 39 ms.
pub(crate) fn latency(seed: u64, point: &Point, direction: u8) -> Duration {
    let mut rng = generator(seed, point, direction);
    match rng.random_range(0..8_u8) {
        0..4 => Duration::ZERO,
        4..7 => Duration::from_millis(rng.random_range(1..4)),
        _ => Duration::from_millis(rng.random_range(4..40)),
    }
}

fn generator(seed: u64, point: &Point, stream: u8) -> SmallRng {
    let mut hasher = FnvHasher::default();
    (seed, stream).hash(&mut hasher);
    point.hash(&mut hasher);
    SmallRng::seed_from_u64(hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_depend_on_seed_and_point_alone() {
        let point: Point = "a/update/endpoints/4".parse().unwrap();
        let chaos = Chaos { requests: 0.5, events: 0.5, crashes: 0.1 };
        let draws = |seed: u64| (0..100).map(|n| chaos.draw(seed + n, &point)).collect::<Vec<_>>();
        assert_eq!(draws(7), draws(7));
        assert_ne!(draws(7), draws(1_007));
        let hit = draws(0).iter().flatten().count();
        assert!((35..75).contains(&hit), "{hit}");
        assert!((0..100).all(|seed| Chaos::NONE.draw(seed, &point).is_none()));
    }
}

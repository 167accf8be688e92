//! The limit of the requests in flight at one priority level: a state machine without clock and I/O.
//!
//! - **Growth.** The limit grows only while it is reached and latency is near its baseline: by one for each request
//!   below [`AdaptiveLimit::threshold`] (slow start), above it by one for each round trip.
//! - **Rising latency.** If the median of a window exceeds its tolerance (see [`super::latency`]), the limit is
//!   multiplied by tolerance / median, within [`DECREASE`].
//! - **429.** The limit is halved and the level pauses for `Retry-After`, at most [`MAX_PAUSE`]. Then one request at a
//!   time is sent until one is accepted, and the limit returns by slow start. The number of requests in flight at
//!   which the server rejected is remembered as a [`Ceiling`], so that a server that rejects without getting slower
//!   rejects few requests.
//! - **Once per round trip.** Requests sent before a decrease cause no other decrease.
//!
//! A server that is busy with this client's requests cannot show its latency without them. The limit is therefore
//! [`MIN_LIMIT`] for 0.2 s every 15 s, in which the baseline is measured again, as in
//! BBR's `ProbeRTT`.

use std::time::{Duration, Instant};

use super::ceiling::Ceiling;
use super::latency::{Latencies, Pressure, RequestKind};

/// Limit of a new priority level.
pub(crate) const INITIAL_LIMIT: u16 = 4;
/// Smallest limit, except after a 429: then one request at a time is sent until one is accepted.
pub(crate) const MIN_LIMIT: u16 = 2;
/// Largest limit.
pub(crate) const MAX_LIMIT: u16 = 256;
/// Longest pause after a 429. The API server asks for 1 s, and for up to 32 s under a long overload. One request per
/// level and second shows its end early and adds no load.
pub(crate) const MAX_PAUSE: Duration = Duration::from_secs(1);
/// Range of the factor of a decrease because of latency.
const DECREASE: (f64, f64) = (0.5, 0.9);
/// Time after which the baseline of the latency is measured again, if the limit was reached in the meantime: at first,
/// doubled after each measurement, and at most. The first baseline may include the queue of other clients.
const REMEASURE_AFTER: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(15));

/// Duration of that measurement: until a window is complete, at least and at most.
const REMEASURE_FOR: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(2));

/// Result of a request that was in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// A response other than 429 and 5xx.
    Served,
    /// 429, with the delay of `Retry-After`.
    Rejected(Option<Duration>),
    /// An error of the server or no response. The limit stays.
    Failed,
}

/// Limit of the requests in flight at one priority level.
#[derive(Debug, Clone)]
pub(crate) struct AdaptiveLimit {
    /// At least [`MIN_LIMIT`], at most [`MAX_LIMIT`]; the fraction is growth that does not yet admit a request.
    limit: f64,
    /// Limit up to which growth is exponential.
    threshold: f64,
    ceiling: Option<Ceiling>,
    in_flight: u16,
    /// Last time at which the limit was reached.
    reached: Option<Instant>,
    latencies: Latencies,
    /// Time of the last decrease.
    decreased: Option<Instant>,
    paused_until: Option<Instant>,
    /// Whether one request at a time is sent, until one is accepted after a 429.
    probing: bool,
    /// Requests in flight that were sent before the last 429, and do not count while probing.
    sent_before: u16,
    remeasure: Remeasure,
    remeasure_after: Duration,
}

/// State of the periodic measurement of the baseline.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Remeasure {
    /// The limit has not been reached since the last measurement.
    Idle,
    /// The next measurement begins at this time.
    At(Instant),
    /// The limit is [`MIN_LIMIT`] since this time.
    Since { start: Instant, has_window: bool },
}

impl AdaptiveLimit {
    pub(crate) fn new() -> Self {
        Self {
            limit: f64::from(INITIAL_LIMIT),
            threshold: f64::from(MAX_LIMIT),
            ceiling: None,
            in_flight: 0,
            reached: None,
            latencies: Latencies::default(),
            decreased: None,
            paused_until: None,
            probing: false,
            sent_before: 0,
            remeasure: Remeasure::Idle,
            remeasure_after: REMEASURE_AFTER.0,
        }
    }

    /// Returns a limit with the same state and no requests in flight, for a priority level that was part of this one.
    pub(crate) fn split(&self) -> Self {
        Self { in_flight: 0, sent_before: 0, ..self.clone() }
    }

    /// Returns the number of requests that may be in flight, regardless of a pause.
    pub(crate) fn limit(&self) -> u16 {
        if self.probing {
            return 1;
        }
        let limit = match self.remeasure {
            Remeasure::Since { .. } => f64::from(MIN_LIMIT),
            Remeasure::Idle | Remeasure::At(_) => self.limit,
        };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most MAX_LIMIT")]
        let limit = limit as u16;
        limit
    }

    /// Returns the number of requests in flight.
    pub(crate) fn in_flight(&self) -> u16 {
        self.in_flight
    }

    /// Returns the end of the pause after a 429, if it is after `now`.
    pub(crate) fn paused_until(&self, now: Instant) -> Option<Instant> {
        self.paused_until.filter(|until| *until > now)
    }

    /// Returns whether a request may be sent.
    pub(crate) fn admits(&self, now: Instant) -> bool {
        let in_flight = if self.probing { self.in_flight.saturating_sub(self.sent_before) } else { self.in_flight };
        self.paused_until(now).is_none() && in_flight < self.limit()
    }

    /// Counts a request that is sent.
    pub(crate) fn sent(&mut self, now: Instant) {
        self.in_flight = self.in_flight.saturating_add(1);
        self.latencies.sent(self.in_flight);
        if self.in_flight >= self.limit() {
            self.reached = Some(now);
        }
    }

    /// Counts a request in flight, sent at `sent`, that ended without a result, because its future was dropped.
    pub(crate) fn cancelled(&mut self, sent: Instant) {
        self.in_flight = self.in_flight.saturating_sub(1);
        if !self.is_after_decrease(sent) {
            self.sent_before = self.sent_before.saturating_sub(1);
        }
    }

    /// Counts the answer to a request in flight that was sent at `sent`. Its latency is compared with that of other
    /// requests of its kind; `None` if it is not measured.
    pub(crate) fn answered(&mut self, sent: Instant, now: Instant, kind: Option<RequestKind>, answer: Answer) {
        let in_flight = self.in_flight;
        self.cancelled(sent);
        match answer {
            Answer::Failed => {}
            Answer::Rejected(retry_after) => self.rejected(sent, now, in_flight, retry_after),
            Answer::Served => {
                // While the request was in flight.
                let reached = self.reached.is_some_and(|reached| reached >= sent);
                if self.probing && self.is_after_decrease(sent) {
                    self.probing = false;
                }
                if let Some(kind) = kind
                    && self.is_after_decrease(sent)
                {
                    self.measure(kind, now.saturating_duration_since(sent), now);
                }
                self.schedule_measurement(reached, now);
                if reached {
                    self.grow(now);
                }
            }
        }
    }

    fn is_after_decrease(&self, sent: Instant) -> bool {
        self.decreased.is_none_or(|decreased| sent >= decreased)
    }

    fn rejected(&mut self, sent: Instant, now: Instant, in_flight: u16, retry_after: Option<Duration>) {
        let pause = now + retry_after.unwrap_or_default().min(MAX_PAUSE);
        if self.is_after_decrease(sent) {
            if !self.probing {
                let resumed = pause.max(now);
                self.ceiling = Ceiling::found(self.ceiling.as_ref(), in_flight, resumed);
                self.threshold = (self.limit / 2.0).max(f64::from(MIN_LIMIT));
                self.limit = f64::from(MIN_LIMIT);
                self.probing = true;
            }
            // Later than requests that are in flight now.
            self.decreased = Some(pause);
            self.sent_before = self.in_flight;
            self.latencies.clear();
            self.remeasure = Remeasure::Idle;
        }
        self.paused_until = self.paused_until.max(Some(pause));
    }

    fn measure(&mut self, kind: RequestKind, latency: Duration, now: Instant) {
        let Some(window) = self.latencies.add(kind, latency, self.limit, now) else { return };
        if let Remeasure::Since { has_window, .. } = &mut self.remeasure {
            *has_window = true;
            return;
        }
        if window.is_below_baseline && matches!(self.remeasure, Remeasure::At(_)) {
            // All clients of the server see a lower latency at the same time, and then measure at the same time, too.
            self.remeasure = Remeasure::At(now + self.remeasure_after);
        }
        if let Pressure::High { tolerance } = window.pressure {
            self.limit = (self.limit * tolerance.clamp(DECREASE.0, DECREASE.1)).max(f64::from(MIN_LIMIT));
            self.threshold = self.limit;
            self.decreased = Some(now);
            self.latencies.clear();
        }
    }

    /// Begins or ends the periodic measurement of the baseline.
    fn schedule_measurement(&mut self, reached: bool, now: Instant) {
        match self.remeasure {
            Remeasure::Idle if reached && self.limit > f64::from(MIN_LIMIT) => {
                self.remeasure = Remeasure::At(now + self.remeasure_after);
            }
            Remeasure::At(at) if now >= at => {
                self.latencies.clear();
                // Requests in flight beyond the minimum would be measured, too.
                self.decreased = Some(now);
                self.remeasure = Remeasure::Since { start: now, has_window: false };
                self.remeasure_after = (self.remeasure_after * 2).min(REMEASURE_AFTER.1);
            }
            Remeasure::Since { start, has_window } => {
                let shortest = if has_window { REMEASURE_FOR.0 } else { REMEASURE_FOR.1 };
                if now >= start + shortest {
                    self.latencies.end_measurement(self.limit, now);
                    self.remeasure = Remeasure::Idle;
                }
            }
            Remeasure::Idle | Remeasure::At(_) => {}
        }
    }

    fn grow(&mut self, now: Instant) {
        if self.probing || matches!(self.remeasure, Remeasure::Since { .. }) || !self.latencies.allow_growth() {
            return;
        }
        let step = if self.limit < self.threshold { 1.0 } else { self.limit.recip() };
        let ceiling = match &mut self.ceiling {
            Some(ceiling) => ceiling.at(now, self.limit),
            None => f64::from(MAX_LIMIT),
        };
        self.limit = (self.limit + step).min(ceiling.min(f64::from(MAX_LIMIT))).max(self.limit);
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::super::latency::WINDOW;
    use super::*;

    /// A limit whose requests are all in flight at once, in simulated time.
    struct Load {
        limit: AdaptiveLimit,
        now: Instant,
    }

    impl Load {
        fn new() -> Self {
            Self { limit: AdaptiveLimit::new(), now: tokio::time::Instant::now().into_std() }
        }

        /// Sends as many requests as the limit admits, but at most `demand`, and answers them after `millis`.
        fn round(&mut self, demand: u16, millis: u64, answer: Answer) -> u16 {
            let sent = self.now;
            let mut count = 0;
            while count < demand && self.limit.admits(sent) {
                self.limit.sent(sent);
                count += 1;
            }
            self.now += Duration::from_millis(millis);
            for _ in 0..count {
                self.limit.answered(sent, self.now, Some(0), answer);
            }
            count
        }

        fn rounds(&mut self, rounds: usize, demand: u16, millis: u64) -> u16 {
            for _ in 0..rounds {
                self.round(demand, millis, Answer::Served);
            }
            self.limit.limit()
        }
    }

    #[test]
    fn grows_only_while_it_is_reached() {
        let mut load = Load::new();
        assert_eq!(load.rounds(100, INITIAL_LIMIT - 1, 5), INITIAL_LIMIT);
        assert!(load.rounds(10, u16::MAX, 5) > 50);
        assert_eq!(load.rounds(100, u16::MAX, 5), MAX_LIMIT, "bounded");
    }

    #[test]
    fn does_not_grow_before_the_baseline_is_known() {
        let mut load = Load::new();
        let rounds = WINDOW / usize::from(INITIAL_LIMIT);
        assert_eq!(load.rounds(rounds - 1, u16::MAX, 5), INITIAL_LIMIT);
        assert!(load.rounds(2, u16::MAX, 5) > INITIAL_LIMIT);
    }

    #[test]
    fn decreases_once_per_round_trip_while_latency_is_high() {
        let mut load = Load::new();
        let before = load.rounds(12, u16::MAX, 5);
        assert!(before > 100);
        let after = load.rounds(1, u16::MAX, 50);
        assert!(after >= before / 2 - 1 && after < before, "{before} {after}");
        assert_eq!(load.rounds(100, u16::MAX, 50), MIN_LIMIT);
    }

    /// An overload by others becomes the baseline only slowly.
    #[test]
    fn baseline_follows_a_server_that_stays_slow() {
        let mut load = Load::new();
        load.rounds(12, u16::MAX, 5);
        assert_eq!(load.rounds(100, u16::MAX, 50), MIN_LIMIT, "after 5 s");
        assert!(load.rounds(4_000, u16::MAX, 50) > 50, "after 3 min");
    }

    #[rstest]
    #[case::absent(None, 0)]
    #[case::now(Some(0), 0)]
    #[case::one_second(Some(1), 1)]
    #[case::capped(Some(30), 1)]
    fn pauses_after_429(#[case] retry_after: Option<u64>, #[case] seconds: u64) {
        let mut load = Load::new();
        load.rounds(8, u16::MAX, 5);
        let before = load.limit.limit;
        load.round(u16::MAX, 5, Answer::Rejected(retry_after.map(Duration::from_secs)));
        let paused = load.limit.paused_until(load.now).map(|until| until - load.now);
        assert_eq!(paused, (seconds > 0).then(|| Duration::from_secs(seconds)));
        assert!((load.limit.threshold - before / 2.0).abs() < 1e-9, "halved once for all rejections of a round trip");
        load.now += Duration::from_secs(seconds);
        assert_eq!(load.round(u16::MAX, 5, Answer::Served), 1, "one at a time");
        assert_eq!(load.limit.limit(), MIN_LIMIT + 1, "slow start");
    }

    /// The server does not answer requests from before the 429.
    #[test]
    fn requests_that_hang_do_not_prevent_the_probe() {
        let mut load = Load::new();
        let sent = load.now;
        for _ in 0..INITIAL_LIMIT {
            load.limit.sent(sent);
        }
        load.limit.answered(sent, load.now, Some(0), Answer::Rejected(None));
        assert_eq!(load.limit.in_flight(), INITIAL_LIMIT - 1);
        load.now += Duration::from_millis(1);
        assert!(load.limit.admits(load.now));
        load.limit.sent(load.now);
        assert!(!load.limit.admits(load.now));
    }

    #[test]
    fn failures_do_not_change_the_limit() {
        let mut load = Load::new();
        let before = load.rounds(8, u16::MAX, 5);
        load.round(u16::MAX, 60_000, Answer::Failed);
        assert_eq!((load.limit.limit(), load.limit.in_flight()), (before, 0));
    }

    /// With a limit that is reached, requests in flight drop to the minimum from time to time.
    #[test]
    fn baseline_is_measured_again() {
        let mut load = Load::new();
        let limits: Vec<u16> = (0..6_000).map(|_| load.rounds(1, u16::MAX, 5)).collect();
        let measured = limits.windows(2).filter(|pair| pair[0] > MIN_LIMIT && pair[1] == MIN_LIMIT).count();
        // After 1, 2, 4, 8 and 15 s.
        assert_eq!(measured, 4, "in 30 s");
    }
}

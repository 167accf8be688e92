//! The limit of the requests in flight: a state machine without clock and I/O.
//!
//! - **Growth.** While the limit is reached, each accepted request raises it by one, up to [`MAX_LIMIT`].
//! - **429.** Requests pause for `Retry-After`, at most [`MAX_PAUSE`]. Then one request at a time is sent until one is
//!   accepted, and another one after [`PROBE_INTERVAL`] without an answer. The limit returns to three quarters of the
//!   requests that were in flight, and from there grows by one each second, so that a server of constant capacity rejects
//!   few requests.
//!
//! Requests that were sent before a 429 do not change the limit.

use std::time::{Duration, Instant};

/// Limit at first.
pub(crate) const INITIAL_LIMIT: u16 = 4;
/// Limit from which it grows after a 429.
pub(crate) const MIN_LIMIT: u16 = 2;
/// Largest limit. A larger one fills the queue of a small server, which then rejects requests of others; and a
/// controller has five workers by default.
pub(crate) const MAX_LIMIT: u16 = 16;
/// Longest pause after a 429. The API server asks for 1 s, and for up to 32 s under a long overload. One request per
/// second shows its end early and adds no load.
const MAX_PAUSE: Duration = Duration::from_secs(1);
/// Time after which a limit is raised by one that the server has rejected before.
const RAISE_AFTER: Duration = Duration::from_secs(1);
/// Time after which another request is sent while those after a 429 are not answered: a webhook may delay one for 30 s.
const PROBE_INTERVAL: Duration = Duration::from_secs(2);

/// Result of a request that was in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// A response other than 429 and 5xx.
    Served,
    /// 429, with the delay of `Retry-After`.
    Rejected(Option<Duration>),
    /// A response 5xx: the server did not reject the request for its load. The limit stays.
    Failed,
    /// No response. The limit stays.
    Unanswered,
}

/// A request in flight.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sent {
    at: Instant,
    /// Value of [`AdaptiveLimit::epoch`] when it was sent.
    epoch: u32,
}

/// Limit of the requests in flight.
#[derive(Debug, Default)]
pub(crate) struct AdaptiveLimit {
    limit: u16,
    /// Limit up to which each accepted request raises it.
    threshold: u16,
    in_flight: u16,
    /// Last time at which the limit was reached.
    reached: Option<Instant>,
    /// End of the last pause.
    resumed: Option<Instant>,
    /// Time from which a limit at the threshold may be raised.
    raise_at: Option<Instant>,
    /// Whether one request at a time is sent, until one is accepted after a 429.
    probing: bool,
    /// Time at which the last request was sent while probing.
    probed: Option<Instant>,
    /// Number of rejections so far, without those of requests that were sent before another rejection.
    epoch: u32,
    /// Requests in flight of earlier epochs, which do not count while probing.
    sent_before: u16,
}

impl AdaptiveLimit {
    pub(crate) fn new() -> Self {
        Self { limit: INITIAL_LIMIT, threshold: MAX_LIMIT, ..Self::default() }
    }

    /// Returns the number of requests that may be in flight, regardless of a pause.
    pub(crate) fn limit(&self) -> u16 {
        if self.probing { 1 } else { self.limit }
    }

    pub(crate) fn in_flight(&self) -> u16 {
        self.in_flight
    }

    /// Returns the end of the pause after a 429, if it is after `now`.
    fn paused_until(&self, now: Instant) -> Option<Instant> {
        self.resumed.filter(|until| *until > now)
    }

    /// Returns the time at which one more request is sent while probing, although the others are not answered.
    fn next_probe(&self) -> Option<Instant> {
        self.probed.filter(|_| self.probing && self.counted() < MAX_LIMIT).map(|at| at + PROBE_INTERVAL)
    }

    /// Returns the time after `now` from which a request is admitted even if none ends before.
    pub(crate) fn waits_until(&self, now: Instant) -> Option<Instant> {
        self.paused_until(now).or_else(|| self.next_probe().filter(|at| *at > now))
    }

    /// Returns the number of requests in flight that the limit bounds.
    fn counted(&self) -> u16 {
        if self.probing { self.in_flight.saturating_sub(self.sent_before) } else { self.in_flight }
    }

    pub(crate) fn admits(&self, now: Instant) -> bool {
        let is_due = |at: Instant| at <= now;
        self.paused_until(now).is_none() && (self.counted() < self.limit() || self.next_probe().is_some_and(is_due))
    }

    pub(crate) fn sent(&mut self, now: Instant) -> Sent {
        self.in_flight = self.in_flight.saturating_add(1);
        if self.in_flight >= self.limit() {
            self.reached = Some(now);
        }
        self.probed = self.probing.then_some(now);
        Sent { at: now, epoch: self.epoch }
    }

    /// Counts a request in flight that ended without a result, because its future was dropped.
    pub(crate) fn cancelled(&mut self, sent: Sent) {
        self.in_flight = self.in_flight.saturating_sub(1);
        if !self.is_current(sent) {
            self.sent_before = self.sent_before.saturating_sub(1);
        }
    }

    pub(crate) fn answered(&mut self, sent: Sent, now: Instant, answer: Answer) {
        let in_flight = self.in_flight;
        self.cancelled(sent);
        match answer {
            Answer::Unanswered => {}
            Answer::Failed => self.probing &= !self.is_current(sent),
            Answer::Rejected(retry_after) => {
                self.rejected(sent, now + retry_after.unwrap_or_default().min(MAX_PAUSE), in_flight);
            }
            Answer::Served => {
                if self.is_current(sent) {
                    self.probing = false;
                    let was_reached = self.reached.is_some_and(|reached| reached >= sent.at);
                    if was_reached {
                        self.grow(now);
                    }
                }
            }
        }
    }

    fn is_current(&self, sent: Sent) -> bool {
        sent.epoch == self.epoch
    }

    fn rejected(&mut self, sent: Sent, pause: Instant, in_flight: u16) {
        if self.is_current(sent) {
            // A server that rejects with fewer requests in flight is overloaded by others.
            if !self.probing && in_flight > INITIAL_LIMIT {
                self.threshold = in_flight - in_flight.div_ceil(4);
            }
            (self.limit, self.probing, self.sent_before) = (MIN_LIMIT, true, self.in_flight);
            self.raise_at = Some(pause + RAISE_AFTER);
            self.epoch = self.epoch.wrapping_add(1);
        }
        self.resumed = self.resumed.max(Some(pause));
    }

    fn grow(&mut self, now: Instant) {
        if self.limit >= MAX_LIMIT {
            return;
        }
        if self.limit >= self.threshold {
            if self.raise_at.is_some_and(|at| now < at) {
                return;
            }
            self.raise_at = Some(now + RAISE_AFTER);
        }
        self.limit += 1;
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

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
        fn round(&mut self, demand: u16, millis: u64, answer: Answer) -> usize {
            let mut requests = Vec::new();
            while requests.len() < usize::from(demand) && self.limit.admits(self.now) {
                requests.push(self.limit.sent(self.now));
            }
            self.now += Duration::from_millis(millis);
            for sent in &requests {
                self.limit.answered(*sent, self.now, answer);
            }
            requests.len()
        }

        fn rounds(&mut self, rounds: usize, demand: u16) -> u16 {
            for _ in 0..rounds {
                self.round(demand, 5, Answer::Served);
            }
            self.limit.limit()
        }
    }

    #[test]
    fn grows_only_while_it_is_reached() {
        let mut load = Load::new();
        assert_eq!(load.rounds(100, INITIAL_LIMIT - 1), INITIAL_LIMIT);
        assert_eq!(load.rounds(1, u16::MAX), 2 * INITIAL_LIMIT);
        assert_eq!(load.rounds(100, u16::MAX), MAX_LIMIT, "bounded");
    }

    #[rstest]
    #[case::absent(None, 0)]
    #[case::now(Some(0), 0)]
    #[case::one_second(Some(1), 1)]
    #[case::capped(Some(30), 1)]
    fn pauses_after_429(#[case] retry_after: Option<u64>, #[case] seconds: u64) {
        let mut load = Load::new();
        assert_eq!(load.rounds(2, u16::MAX), MAX_LIMIT);
        load.round(u16::MAX, 5, Answer::Rejected(retry_after.map(Duration::from_secs)));
        let paused = load.limit.paused_until(load.now).map(|until| until - load.now);
        assert_eq!(paused, (seconds > 0).then(|| Duration::from_secs(seconds)));
        load.now += Duration::from_secs(seconds);
        assert_eq!(load.round(u16::MAX, 5, Answer::Served), 1, "one at a time");
        assert_eq!(load.limit.limit(), MIN_LIMIT + 1);
        assert_eq!(load.rounds(100, u16::MAX), 12, "three quarters for a second");
        assert_eq!(load.rounds(200, u16::MAX), 13, "and one more each second");
    }

    #[test]
    fn rejections_of_few_requests_do_not_lower_the_threshold() {
        let mut load = Load::new();
        for _ in 0..10 {
            load.round(u16::MAX, 5, Answer::Rejected(None));
        }
        assert_eq!(load.rounds(10, u16::MAX), MAX_LIMIT);
    }

    /// The server does not answer requests from before the 429.
    #[test]
    fn requests_that_hang_do_not_prevent_the_probe() {
        let mut load = Load::new();
        let requests: Vec<_> = (0..INITIAL_LIMIT).map(|_| load.limit.sent(load.now)).collect();
        load.limit.answered(requests[0], load.now, Answer::Rejected(None));
        assert_eq!(load.limit.in_flight(), INITIAL_LIMIT - 1);
        load.now += Duration::from_millis(1);
        assert!(load.limit.admits(load.now));
        load.limit.sent(load.now);
        assert!(!load.limit.admits(load.now));
    }

    /// The server does not answer the probe, for example because it waits for a webhook.
    #[test]
    fn a_probe_that_hangs_does_not_prevent_others() {
        let mut load = Load::new();
        load.round(1, 5, Answer::Rejected(None));
        let mut probes = 0;
        for _ in 0..100 {
            while load.limit.admits(load.now) {
                load.limit.sent(load.now);
                probes += 1;
                assert!(!load.limit.admits(load.now), "one at a time");
                assert_eq!(load.limit.waits_until(load.now), (probes < MAX_LIMIT).then(|| load.now + PROBE_INTERVAL));
            }
            load.now += Duration::from_secs(1);
        }
        assert_eq!(probes, MAX_LIMIT);
    }

    #[test]
    fn an_error_of_the_server_ends_the_probes() {
        let mut load = Load::new();
        load.round(1, 5, Answer::Rejected(None));
        assert_eq!(load.round(u16::MAX, 5, Answer::Unanswered), 1);
        assert_eq!(load.round(u16::MAX, 5, Answer::Failed), 1);
        assert_eq!((load.limit.limit(), load.limit.in_flight()), (MIN_LIMIT, 0));
    }

    #[test]
    fn failures_do_not_change_the_limit() {
        let mut load = Load::new();
        let before = load.rounds(2, u16::MAX);
        for answer in [Answer::Failed, Answer::Unanswered] {
            load.round(u16::MAX, 60_000, answer);
            assert_eq!((load.limit.limit(), load.limit.in_flight()), (before, 0));
        }
    }
}

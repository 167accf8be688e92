//! The gate as a state machine: when writes wait for the server, and when one of them is tried.

use std::collections::HashSet;
use std::time::Duration;

use tokio::time::Instant;

use crate::FailureCause;

/// Number of keys that the server must fail, without a successful write in between, before the gate closes.
const MIN_FAILING_KEYS: usize = 3;
/// Limit of that number, which doubles each time that the gate closes again soon.
const MAX_FAILING_KEYS: usize = 48;
/// Time after an opening for which closing again counts as soon.
const SOON: Duration = Duration::from_secs(60);
const FIRST_PROBE_DELAY: Duration = Duration::from_millis(100);
/// Shortest time between two probes.
const MIN_PROBE_DELAY: Duration = Duration::from_millis(500);
/// Longest time between two probes of keys that failed before.
const MAX_PROBE_DELAY: Duration = Duration::from_secs(5);
/// Time after which another key is probed while a probe has not ended: a webhook may delay one for 30 s.
const PROBE_INTERVAL: Duration = Duration::from_secs(2);
/// Time without a failed probe after which a key is tried again although others were not tried. Each probe without a write
/// is followed by another at once, so keys with nothing to write could otherwise keep the gate closed.
const TRY_AGAIN: Duration = Duration::from_secs(10);
/// Number of a controller at the gate.
pub(super) type Member = usize;

/// State of the gate.
///
/// It closes when the server fails several keys and no write succeeds in between, or cannot be reached. While it is
/// closed, one key is synced from time to time, the probe. The first successful write opens the gate.
#[derive(Debug)]
pub(super) struct State {
    closed: Option<Closed>,
    /// Keys that the server failed since the last successful write.
    failing: HashSet<u64>,
    /// Number of failing keys that closes the gate.
    limit: usize,
    last_success: Option<Instant>,
    last_opened: Option<Instant>,
}

#[derive(Debug)]
struct Closed {
    cause: FailureCause,
    since: Instant,
    /// Number of failed probes.
    probes: u32,
    /// Start of the delay of the next probe.
    last: Instant,
    /// When the last probe was started; `None` once a probe has ended.
    running: Option<Instant>,
    prober: Option<Member>,
    /// Whether the server answered another request since the last probe.
    answered: bool,
}

/// End of a closed gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Opened {
    /// Time for which the gate was closed.
    pub(super) after: Duration,
}

impl Default for State {
    fn default() -> Self {
        let (closed, failing, limit) = (None, HashSet::new(), MIN_FAILING_KEYS);
        State { closed, failing, limit, last_success: None, last_opened: None }
    }
}

impl State {
    pub(super) fn is_closed(&self) -> bool {
        self.closed.is_some()
    }

    pub(super) fn last_success(&self) -> Option<Instant> {
        self.last_success
    }

    /// Records that the server failed a key. Returns whether the gate closes because of it.
    ///
    /// `suspect` keys, which failed while others succeeded, are no evidence against the server.
    pub(super) fn failed(&mut self, key: u64, cause: FailureCause, suspect: bool, now: Instant) -> bool {
        if self.closed.is_some() || suspect {
            return false;
        }
        self.failing.insert(key);
        if cause != FailureCause::Unreachable && self.failing.len() < self.limit {
            return false;
        }
        self.failing = HashSet::new();
        let soon = self.last_opened.is_some_and(|opened| now < opened + SOON);
        self.limit = if soon { (self.limit * 2).min(MAX_FAILING_KEYS) } else { MIN_FAILING_KEYS };
        let (running, prober, answered) = (None, None, false);
        self.closed = Some(Closed { cause, since: now, probes: 0, last: now, running, prober, answered });
        true
    }

    /// Records a successful write, which opens the gate.
    pub(super) fn succeeded(&mut self, now: Instant) -> Option<Opened> {
        self.last_success = Some(now);
        self.failing.clear();
        self.open(now)
    }

    fn open(&mut self, now: Instant) -> Option<Opened> {
        let closed = self.closed.take()?;
        self.last_opened = Some(now);
        Some(Opened { after: now - closed.since })
    }

    /// Records that the server answered another request after it had not. It opens a gate that closed because the server
    /// could not be reached; otherwise the next probe is due at once.
    pub(super) fn answered(&mut self, now: Instant) -> Option<Opened> {
        let closed = self.closed.as_mut()?;
        closed.answered = true;
        if closed.cause == FailureCause::Unreachable { self.open(now) } else { None }
    }

    pub(super) fn was_prober(&self, member: Member) -> bool {
        self.closed.as_ref().is_some_and(|closed| closed.prober == Some(member))
    }

    /// Returns when the next probe is due; `None` if the gate is open. `fresh`: a key waits that was not tried since
    /// the gate closed.
    pub(super) fn next_probe(&self, fresh: bool) -> Option<Instant> {
        let closed = self.closed.as_ref()?;
        if let Some(started) = closed.running {
            return Some(started + PROBE_INTERVAL);
        }
        let delay = match closed.probes {
            _ if closed.answered => Duration::ZERO,
            0 => FIRST_PROBE_DELAY,
            _ if fresh && closed.cause != FailureCause::Unreachable => MIN_PROBE_DELAY,
            probes => MIN_PROBE_DELAY.saturating_mul(1 << (probes - 1).min(8)).min(MAX_PROBE_DELAY),
        };
        Some(closed.last + delay)
    }

    /// Returns whether the next probe is a key that was tried since the gate closed.
    pub(super) fn tries_again(&self, now: Instant) -> bool {
        self.closed.as_ref().is_some_and(|closed| closed.running.is_none() && now >= closed.last + TRY_AGAIN)
    }

    pub(super) fn start_probe(&mut self, member: Member, now: Instant) {
        if let Some(closed) = &mut self.closed {
            (closed.running, closed.prober, closed.answered) = (Some(now), Some(member), false);
        }
    }

    /// Records the end of a probe that did not succeed. `cause` is that of its failure; `None` if it wrote nothing, and
    /// `waiting` whether other keys wait.
    pub(super) fn probed(&mut self, cause: Option<FailureCause>, waiting: bool, now: Instant) -> Option<Opened> {
        let closed = self.closed.as_mut()?;
        closed.running = None;
        match cause {
            Some(cause @ (FailureCause::Server | FailureCause::Unreachable)) => {
                (closed.cause, closed.last, closed.probes) = (cause, now, closed.probes.saturating_add(1));
                None
            }
            // The server answered.
            Some(FailureCause::Key) if closed.cause == FailureCause::Unreachable => self.open(now),
            // Nothing is known about writes; the next key is tried at once.
            Some(FailureCause::Key) | None if waiting => {
                closed.answered = true;
                None
            }
            Some(FailureCause::Key) | None => self.open(now),
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use FailureCause::{Key, Server, Unreachable};

    const fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn closed(cause: FailureCause, now: Instant) -> State {
        let mut state = State::default();
        for key in 0..MIN_FAILING_KEYS as u64 {
            state.failed(key, cause, false, now);
        }
        assert!(state.is_closed());
        state
    }

    /// Starts a probe if one is due, otherwise returns when the next one is.
    fn probe(state: &mut State, fresh: bool, now: Instant) -> Option<Instant> {
        let due = state.next_probe(fresh).filter(|due| now < *due);
        if due.is_none() {
            state.start_probe(0, now);
        }
        due
    }

    #[rstest]
    #[case::one_key(&[(1, Server), (1, Server), (1, Server), (1, Server)], false)]
    #[case::two_keys(&[(1, Server), (2, Server), (1, Server)], false)]
    #[case::three_keys(&[(1, Server), (2, Server), (3, Server)], true)]
    #[case::unreachable(&[(1, Unreachable)], true)]
    fn it_closes_when_the_server_as_a_whole_fails(#[case] failures: &[(u64, FailureCause)], #[case] expected: bool) {
        let (mut state, now) = (State::default(), Instant::now());
        for (key, cause) in failures {
            state.failed(*key, *cause, false, now);
        }
        assert_eq!(state.is_closed(), expected);
    }

    #[test]
    fn a_success_in_between_and_suspect_keys_do_not_count() {
        let (mut state, now) = (State::default(), Instant::now());
        for key in 0..100 {
            state.failed(key, Server, false, now);
            state.succeeded(now);
            state.failed(1_000 + key, Server, true, now);
        }
        assert!(!state.is_closed());
    }

    #[test]
    fn probes_back_off_to_five_seconds_and_the_first_success_opens() {
        let start = Instant::now();
        let (mut state, mut now, mut probes) = (closed(Server, start), start, Vec::new());
        while now < start + Duration::from_secs(40) {
            if let Some(due) = probe(&mut state, false, now) {
                now = due;
                continue;
            }
            assert_eq!(state.next_probe(true), Some(now + PROBE_INTERVAL), "one at a time");
            probes.push((now - start).as_secs());
            assert_eq!(state.probed(Some(Server), true, now), None);
        }
        assert_eq!(probes, [0, 0, 1, 3, 7, 12, 17, 22, 27, 32, 37]);
        assert_eq!(state.succeeded(now), Some(Opened { after: now - start }));
        assert_eq!(state.next_probe(false), None);
    }

    #[test]
    fn a_key_that_was_not_tried_is_probed_within_half_a_second() {
        let start = Instant::now();
        let mut state = closed(Server, start);
        state.closed.as_mut().unwrap().probes = 10;
        assert_eq!(state.next_probe(false), Some(start + MAX_PROBE_DELAY));
        assert_eq!(state.next_probe(true), Some(start + MIN_PROBE_DELAY));
        state.closed.as_mut().unwrap().cause = Unreachable;
        assert_eq!(state.next_probe(true), Some(start + MAX_PROBE_DELAY), "no key can be written");
        assert!(state.answered(start).is_some() && !state.is_closed(), "the server is back");
        let mut state = closed(Server, start);
        assert_eq!(state.answered(start), None, "writes may still fail");
        assert_eq!(state.next_probe(false), Some(start));
    }

    #[rstest]
    #[case::refused(Server, Some(Key), true, None)]
    #[case::refused_and_nothing_waits(Server, Some(Key), false, Some(true))]
    #[case::nothing_to_write(Server, None, true, None)]
    #[case::refused_after_no_connection(Unreachable, Some(Key), true, Some(true))]
    #[case::failed(Server, Some(Unreachable), false, Some(false))]
    fn a_probe_that_tells_nothing_is_followed_by_another(
        #[case] of: FailureCause,
        #[case] cause: Option<FailureCause>,
        #[case] waiting: bool,
        // `None`: closed, and the next probe is due at once.
        #[case] expected: Option<bool>,
    ) {
        let start = Instant::now();
        let mut state = closed(of, start);
        let now = start + millis(500);
        assert_eq!(probe(&mut state, false, now), None);
        state.probed(cause, waiting, now);
        assert_eq!(!state.is_closed(), expected.unwrap_or(false));
        assert_eq!(state.next_probe(false).is_some_and(|due| due <= now), expected.is_none());
    }

    /// A webhook of one namespace that is down, beside other writes that succeed.
    #[test]
    fn a_gate_that_closes_again_and_again_needs_more_evidence() {
        let (mut state, mut now, mut closings) = (State::default(), Instant::now(), 0);
        for key in 0..300 {
            closings += u32::from(state.failed(key, Server, false, now));
            if key % 3 == 2 {
                now += millis(10);
                state.succeeded(now);
            }
        }
        assert_eq!(closings, 2, "after three keys, and after three others; then it takes six");
        assert!(state.limit <= MAX_FAILING_KEYS);
    }
}

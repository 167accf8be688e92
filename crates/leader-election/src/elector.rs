//! The state machine of an election: which request to send next, and the effect of its response. Without I/O; time is
//! an argument.

mod answers;

use std::time::Instant;

use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::Lease;
use rand::SeedableRng as _;
use rand::rngs::StdRng;

use crate::{LeaseName, Timing, spec};

/// Current time of the monotonic clock and the wall clock.
#[derive(Debug, Clone, Copy)]
pub struct Now {
    /// Monotonic time; all decisions use it.
    pub at: Instant,
    /// Wall clock time, for `acquireTime` and `renewTime` of the Lease only.
    pub wall: Timestamp,
}

/// A term of leadership.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lead {
    /// Time at which the request that acquired the lease was sent.
    pub since: Instant,
    /// Time at which the last successful acquisition or renewal was sent.
    pub renewed: Instant,
    /// End of the term, one renew deadline after `renewed`. No write may be started from then on.
    pub until: Instant,
}

/// Next action of an election.
#[expect(clippy::large_enum_variant, reason = "only one value exists at a time, and it is moved once")]
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// Call [`Elector::next`] again at this time, or after an [observation](Elector::observe).
    Wait(Instant),
    /// Send this request and pass its result to [`Elector::answer`].
    Send {
        /// The request to send.
        request: Request,
        /// Deadline of the response, after which the result is [unknown](Answer::Unknown).
        give_up: Instant,
    },
    /// The election is over.
    Ended(End),
}

/// A request for the Lease.
#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    /// Read the Lease.
    Get,
    /// Create the Lease.
    Create(Lease),
    /// Update the Lease, with the resource version of the state that the decision was based on.
    Update(Lease),
}

/// Result of a request.
#[expect(clippy::large_enum_variant, reason = "only one value exists at a time, and it is moved once")]
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// The Lease was read.
    Found(Lease),
    /// The Lease does not exist.
    Missing,
    /// The write succeeded.
    Written {
        /// UID of the Lease.
        uid: String,
        /// Resource version of the Lease after the write.
        resource_version: String,
    },
    /// The server rejected the request with a 4xx status other than 404; it was not applied.
    Refused,
    /// There was no response, or a 5xx: the request may have been applied, or may still be.
    Unknown,
}

/// Reason for the end of an election.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Stopped on request; the lease was held and has been released.
    Released,
    /// Stopped on request; the lease was not held, or could not be released and will expire.
    Stopped,
    /// The lease could not be renewed before the deadline, or has another holder.
    Lost,
}

/// State machine of one candidate.
///
/// Call [`next`](Self::next), carry out its action, and pass the result of a request to [`answer`](Self::answer). The
/// times of successive calls must not decrease.
#[derive(Debug)]
pub struct Elector {
    lease: LeaseName,
    identity: String,
    timing: Timing,
    draws: StdRng,
    state: State,
    /// The Lease as last read, observed or written, and the time at which its spec was first seen.
    seen: Option<(Lease, Instant)>,
    /// The Lease written by the request in flight.
    writing: Option<Lease>,
    lead: Option<Lead>,
    stopping: bool,
    /// Whether a write that makes this candidate the holder may have been applied without a response.
    unsure: bool,
    slow_paths: u64,
}

#[derive(Debug)]
enum State {
    /// No action until the given time; `None` starts an attempt at once.
    Idle(Option<Instant>),
    /// A request is to be sent, as part of the attempt that started at `attempt`.
    Ready {
        step: Step,
        attempt: Instant,
    },
    /// A request is in flight.
    Sent {
        step: Step,
        attempt: Instant,
        sent: Instant,
    },
    Ended(End),
}

/// One request of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// Renew without a read, assuming that the Lease has not changed since this candidate wrote it (client-go: fast
    /// path).
    Optimistic,
    Get,
    Create,
    /// Acquire or renew the Lease just read.
    Update,
    /// Release without a read, assuming that the Lease has not changed since this candidate wrote it.
    Release,
    ReleaseGet,
    ReleaseUpdate,
}

/// Maximum random delay that candidates add to the retry period, as a multiple of it (client-go: `JitterFactor`).
const JITTER: f64 = 1.2;

impl Elector {
    /// Creates a candidate that has not read the Lease yet. `seed` initializes the jitter of its retries.
    pub fn new(lease: LeaseName, identity: String, timing: Timing, seed: u64) -> Elector {
        Elector {
            lease,
            identity,
            timing,
            draws: StdRng::seed_from_u64(seed),
            state: State::Idle(None),
            seen: None,
            writing: None,
            lead: None,
            stopping: false,
            unsure: false,
            slow_paths: 0,
        }
    }

    /// Returns the next action. A request in flight without an [`answer`](Self::answer) counts as
    /// [unknown](Answer::Unknown).
    pub fn next(&mut self, now: Now) -> Next {
        if matches!(self.state, State::Sent { .. }) {
            self.answer(now, Answer::Unknown);
        }
        if self.lead.is_some_and(|lead| lead.until <= now.at) {
            self.lead = None;
            self.state = State::Ended(if self.stopping { End::Stopped } else { End::Lost });
        }
        if self.stopping {
            self.begin_release(now.at);
        }
        let (step, attempt) = match &self.state {
            State::Ended(end) => return Next::Ended(*end),
            State::Idle(Some(until)) if now.at < *until => {
                return Next::Wait(self.lead.map_or(*until, |lead| lead.until.min(*until)));
            }
            State::Idle(_) if self.lead.is_some() => (Step::Optimistic, now.at),
            State::Idle(_) | State::Sent { .. } => (Step::Get, now.at),
            State::Ready { step, attempt } => (*step, *attempt),
        };
        let lease = self.to_write(step, now.wall);
        let request = match (step, &lease) {
            (Step::Create, Some(lease)) => Request::Create(lease.clone()),
            (_, Some(lease)) => Request::Update(lease.clone()),
            (_, None) => Request::Get,
        };
        self.unsure |= matches!(step, Step::Create | Step::Update | Step::Optimistic);
        self.writing = lease;
        self.state = State::Sent { step, attempt, sent: now.at };
        let patience = now.at + self.timing.request_timeout();
        let give_up = self.lead.map_or(patience, |lead| patience.min(lead.until));
        Next::Send { request, give_up }
    }

    /// Ends the election and releases the lease if it is held. The following [`next`](Self::next) ends the term, so the
    /// work that requires the lease must have ended before.
    pub fn stop(&mut self) {
        self.stopping = true;
    }

    /// Returns the current term. It may already be over: compare `until` with the current time.
    pub fn lead(&self) -> Option<Lead> {
        self.lead
    }

    /// Returns the identity of the holder last seen; empty if there was none.
    pub fn leader(&self) -> &str {
        self.seen.as_ref().map(|(lease, _)| spec::holder(lease)).unwrap_or_default()
    }

    /// Returns the Lease as last read, observed or written.
    pub fn lease(&self) -> Option<&Lease> {
        self.seen.as_ref().map(|(lease, _)| lease)
    }

    /// Returns the number of renewals that needed a read, because the update without a read had failed.
    pub fn slow_paths(&self) -> u64 {
        self.slow_paths
    }

    /// Returns the Lease that a step writes, or `None` for a read.
    fn to_write(&self, step: Step, wall: Timestamp) -> Option<Lease> {
        let seen = self.seen.as_ref().map(|(lease, _)| lease);
        match step {
            Step::Get | Step::ReleaseGet => None,
            Step::Create => Some(spec::created(&self.lease, &self.identity, &self.timing, wall)),
            Step::Optimistic | Step::Update => seen.map(|lease| spec::held(lease, &self.identity, &self.timing, wall)),
            Step::Release | Step::ReleaseUpdate => seen.map(|lease| spec::released(lease, wall)),
        }
    }

    /// Switches to releasing the lease, unless that has started.
    fn begin_release(&mut self, now: Instant) {
        let releasing =
            matches!(self.state, State::Ready { step: Step::Release | Step::ReleaseGet | Step::ReleaseUpdate, .. });
        if releasing || matches!(self.state, State::Ended(_)) {
            return;
        }
        // The term ends before the release is sent: no write may be started afterwards.
        let led = self.lead.take().is_some();
        self.state = match (led, self.unsure) {
            // The last write was acknowledged, so the Lease is most likely unchanged.
            (true, false) => State::Ready { step: Step::Release, attempt: now },
            (_, true) => State::Ready { step: Step::ReleaseGet, attempt: now },
            (false, false) => State::Ended(End::Stopped),
        };
    }
}

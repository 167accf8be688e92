//! The state machine of an election: which request to send next, and the effect of its response. Without I/O; time is
//! an argument.

mod outcomes;

use std::time::Instant;

use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::Lease;
use rand::SeedableRng as _;
use rand::rngs::Xoshiro256PlusPlus;

use crate::{LeaseName, Timing, spec};

/// Current time of the monotonic clock and the wall clock.
#[derive(Debug, Clone, Copy)]
pub struct Now {
    /// Monotonic time; all decisions use it.
    pub at: Instant,
    /// Wall clock time, for `acquireTime` and `renewTime` of the Lease only.
    pub wall: Timestamp,
}

/// Term of a leader: the time in which it may start writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Term {
    /// Time at which the request that acquired the lease was sent.
    pub since: Instant,
    /// Time at which the last successful acquisition or renewal was sent.
    pub renewed: Instant,
    /// End of the term, one renew deadline after `renewed`. No write may be started from then on.
    pub until: Instant,
}

/// Next action of an election, returned by [`Elector::next`].
#[expect(clippy::large_enum_variant, reason = "only one value exists at a time, and it is moved once")]
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// Call [`Elector::next`] again at this time, or after an [observation](Elector::observe).
    Wait(Instant),
    /// Send this request and pass its result to [`Elector::record_outcome`].
    Send {
        /// The request to send.
        request: Request,
        /// Deadline of the response, after which the result is [unknown](RequestOutcome::Unknown).
        deadline: Instant,
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

/// Result of a [`Request`].
#[expect(clippy::large_enum_variant, reason = "only one value exists at a time, and it is moved once")]
#[derive(Debug, Clone, PartialEq)]
pub enum RequestOutcome {
    /// The Lease was read.
    Found(Lease),
    /// The Lease does not exist.
    NotFound,
    /// The write succeeded.
    Written {
        /// UID of the Lease.
        uid: String,
        /// Resource version of the Lease after the write.
        resource_version: String,
    },
    /// The server rejected the request with a 4xx status other than 404; it was not applied.
    Rejected,
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

/// State machine of one candidate in a leader election, without client, clock or runtime.
///
/// Call [`next`](Self::next), carry out its action, and pass the result of a request to
/// [`record_outcome`](Self::record_outcome). The times of successive calls must not decrease.
#[derive(Debug)]
pub struct Elector {
    lease: LeaseName,
    identity: String,
    timing: Timing,
    rng: Xoshiro256PlusPlus,
    state: State,
    /// The Lease as last read, observed or written, and the time at which its spec was first seen.
    observed: Option<(Lease, Instant)>,
    /// The Lease written by the request in flight.
    pending_write: Option<Lease>,
    term: Option<Term>,
    stopping: bool,
    /// Whether a write that makes this candidate the holder may have been applied without a response.
    write_unconfirmed: bool,
    slow_path_count: u64,
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
const JITTER_FACTOR: f64 = 1.2;

impl Elector {
    /// Creates a candidate that has not read the Lease yet. `seed` initializes the jitter of its retries.
    pub fn new(lease: LeaseName, identity: String, timing: Timing, seed: u64) -> Elector {
        Elector {
            lease,
            identity,
            timing,
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
            state: State::Idle(None),
            observed: None,
            pending_write: None,
            term: None,
            stopping: false,
            write_unconfirmed: false,
            slow_path_count: 0,
        }
    }

    /// Returns the next action. If no [outcome](Self::record_outcome) of the request in flight has been recorded, it
    /// counts as [unknown](RequestOutcome::Unknown).
    pub fn next(&mut self, now: Now) -> Next {
        if matches!(self.state, State::Sent { .. }) {
            self.record_outcome(now, RequestOutcome::Unknown);
        }
        if self.term.is_some_and(|term| term.until <= now.at) {
            self.term = None;
            self.state = State::Ended(if self.stopping { End::Stopped } else { End::Lost });
        }
        if self.stopping {
            self.start_release(now.at);
        }
        let (step, attempt) = match &self.state {
            State::Ended(end) => return Next::Ended(*end),
            State::Idle(Some(until)) if now.at < *until => {
                return Next::Wait(self.term.map_or(*until, |term| term.until.min(*until)));
            }
            State::Idle(_) if self.term.is_some() => (Step::Optimistic, now.at),
            State::Idle(_) | State::Sent { .. } => (Step::Get, now.at),
            State::Ready { step, attempt } => (*step, *attempt),
        };
        let lease = self.lease_to_write(step, now.wall);
        let request = match (step, &lease) {
            (Step::Create, Some(lease)) => Request::Create(lease.clone()),
            (_, Some(lease)) => Request::Update(lease.clone()),
            (_, None) => Request::Get,
        };
        self.write_unconfirmed |= matches!(step, Step::Create | Step::Update | Step::Optimistic);
        self.pending_write = lease;
        self.state = State::Sent { step, attempt, sent: now.at };
        let deadline = now.at + self.timing.request_timeout();
        let deadline = self.term.map_or(deadline, |term| deadline.min(term.until));
        Next::Send { request, deadline }
    }

    /// Ends the election and releases the lease if it is held. The following [`next`](Self::next) ends the term, so the
    /// work that requires the lease must have ended before.
    pub fn stop(&mut self) {
        self.stopping = true;
    }

    /// Ends the wait for the next attempt, because the server answers again after an outage.
    pub fn retry_now(&mut self) {
        if matches!(self.state, State::Idle(_)) {
            self.state = State::Idle(None);
        }
    }

    /// Returns the current term. It may already be over: compare `until` with the current time.
    pub fn term(&self) -> Option<Term> {
        self.term
    }

    /// Returns the identity of the holder last seen; empty if there was none.
    pub fn leader(&self) -> &str {
        self.observed.as_ref().map(|(lease, _)| spec::holder(lease)).unwrap_or_default()
    }

    /// Returns the Lease as last read, observed or written.
    pub fn lease(&self) -> Option<&Lease> {
        self.observed.as_ref().map(|(lease, _)| lease)
    }

    /// Returns the number of renewals that needed a read, because the update without a read had failed.
    pub fn slow_path_count(&self) -> u64 {
        self.slow_path_count
    }

    /// Returns the Lease that a step writes, or `None` for a read.
    fn lease_to_write(&self, step: Step, wall: Timestamp) -> Option<Lease> {
        let observed = self.observed.as_ref().map(|(lease, _)| lease);
        match step {
            Step::Get | Step::ReleaseGet => None,
            Step::Create => Some(spec::new_lease(&self.lease, &self.identity, &self.timing, wall)),
            Step::Optimistic | Step::Update => {
                observed.map(|lease| spec::held(lease, &self.identity, &self.timing, wall))
            }
            Step::Release | Step::ReleaseUpdate => observed.map(|lease| spec::released(lease, wall)),
        }
    }

    /// Switches to releasing the lease, unless that has started.
    fn start_release(&mut self, now: Instant) {
        let releasing =
            matches!(self.state, State::Ready { step: Step::Release | Step::ReleaseGet | Step::ReleaseUpdate, .. });
        if releasing || matches!(self.state, State::Ended(_)) {
            return;
        }
        // The term ends before the release is sent: no write may be started afterwards.
        let was_leading = self.term.take().is_some();
        self.state = match (was_leading, self.write_unconfirmed) {
            // The last write was acknowledged, so the Lease is most likely unchanged.
            (true, false) => State::Ready { step: Step::Release, attempt: now },
            (_, true) => State::Ready { step: Step::ReleaseGet, attempt: now },
            (false, false) => State::Ended(End::Stopped),
        };
    }
}

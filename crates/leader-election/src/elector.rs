//! The rules of an election: what to send next, and what an answer means. No client, no clock, no runtime.

mod answers;

use std::time::Instant;

use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::Lease;
use rand::SeedableRng as _;
use rand::rngs::StdRng;

use crate::{LeaseName, Timing, spec};

/// The time, as a caller sees it.
#[derive(Debug, Clone, Copy)]
pub struct Now {
    /// What all decisions are made by.
    pub at: Instant,
    /// What is written into the Lease for people to read; nothing is decided by it.
    pub wall: Timestamp,
}

/// A term of leadership.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lead {
    /// When the request was sent that began it.
    pub since: Instant,
    /// When the last renewal that succeeded was sent.
    pub renewed: Instant,
    /// From when on nothing may be started: one renew deadline later.
    pub until: Instant,
}

/// What to do next.
#[expect(clippy::large_enum_variant, reason = "there is one at a time, and it is moved once")]
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// Ask again at this time, or after an [observation](Elector::observe).
    Wait(Instant),
    /// Send this, and tell what came of it with [`Elector::answer`].
    Send {
        /// The request.
        request: Request,
        /// When to give up waiting for the answer, and say that it is [unknown](Answer::Unknown).
        give_up: Instant,
    },
    /// The election is over.
    Ended(End),
}

/// A request about the Lease.
#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    /// Read it.
    Get,
    /// Create it.
    Create(Lease),
    /// Replace it; carries the resourceVersion of the state that this was decided on.
    Update(Lease),
}

/// What came of a request.
#[expect(clippy::large_enum_variant, reason = "there is one at a time, and it is moved once")]
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// The Lease that was read.
    Found(Lease),
    /// There is no such Lease.
    Missing,
    /// The write was carried out.
    Written {
        /// Of the Lease.
        uid: String,
        /// Of the Lease as it is now.
        resource_version: String,
    },
    /// It was not carried out, and never will be: the server refused.
    Refused,
    /// Nobody knows: there was no answer.
    Unknown,
}

/// How an election ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Asked to stop; the lease was held and is given back.
    Released,
    /// Asked to stop; there was nothing to give back, or it could not be and will expire.
    Stopped,
    /// The lease could not be renewed in time, or another holds it.
    Lost,
}

/// One candidate's view of an election.
///
/// Ask [`next`](Self::next) what to do, do it, and report with [`answer`](Self::answer). Times may not go back.
#[derive(Debug)]
pub struct Elector {
    lease: LeaseName,
    identity: String,
    timing: Timing,
    draws: StdRng,
    state: State,
    /// The Lease as it was last seen or written, and when that state was first seen.
    seen: Option<(Lease, Instant)>,
    /// The Lease that the request under way writes.
    writing: Option<Lease>,
    lead: Option<Lead>,
    stopping: bool,
    /// Whether a write of ours that makes us the holder may have been carried out unseen.
    unsure: bool,
    slow_paths: u64,
}

#[derive(Debug)]
enum State {
    /// Nothing to do until then; or to begin at once.
    Idle(Option<Instant>),
    /// A request to be sent; the attempt it belongs to began then.
    Ready {
        step: Step,
        attempt: Instant,
    },
    /// Sent, and not answered yet.
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
    /// Renew, trusting that nobody wrote since we did.
    Optimistic,
    Get,
    Create,
    /// Take over or renew what was just read.
    Update,
    /// Give back, trusting that nobody wrote since we did.
    Release,
    ReleaseGet,
    ReleaseUpdate,
}

/// Candidates wait up to this much longer than the retry period, times the period.
const JITTER: f64 = 1.2;

impl Elector {
    /// A candidate that has seen nothing yet. `seed` decides by how much its tries are spread.
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

    /// What to do now. A request that was sent and not answered counts as [unknown](Answer::Unknown).
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

    /// Asks to end the election: what is held is given back. All that was done in the lease's name has to be over, for the
    /// fence closes with this.
    pub fn stop(&mut self) {
        self.stopping = true;
    }

    /// The term, while this candidate leads. It may be over already: compare `until` with the time.
    pub fn lead(&self) -> Option<Lead> {
        self.lead
    }

    /// The holder that was last seen; empty when there was none.
    pub fn leader(&self) -> &str {
        self.seen.as_ref().map(|(lease, _)| spec::holder(lease)).unwrap_or_default()
    }

    /// The Lease as last seen or written.
    pub fn lease(&self) -> Option<&Lease> {
        self.seen.as_ref().map(|(lease, _)| lease)
    }

    /// How many renewals took a read, because the update that trusted the last known state failed.
    pub fn slow_paths(&self) -> u64 {
        self.slow_paths
    }

    /// The Lease that a step writes, if it writes one.
    fn to_write(&self, step: Step, wall: Timestamp) -> Option<Lease> {
        let seen = self.seen.as_ref().map(|(lease, _)| lease);
        match step {
            Step::Get | Step::ReleaseGet => None,
            Step::Create => Some(spec::created(&self.lease, &self.identity, &self.timing, wall)),
            Step::Optimistic | Step::Update => seen.map(|lease| spec::held(lease, &self.identity, &self.timing, wall)),
            Step::Release | Step::ReleaseUpdate => seen.map(|lease| spec::released(lease, wall)),
        }
    }

    /// Turns to giving back, once.
    fn begin_release(&mut self, now: Instant) {
        let releasing =
            matches!(self.state, State::Ready { step: Step::Release | Step::ReleaseGet | Step::ReleaseUpdate, .. });
        if releasing || matches!(self.state, State::Ended(_)) {
            return;
        }
        // Nothing may be written any more once the request to give back is on its way.
        let led = self.lead.take().is_some();
        self.state = match (led, self.unsure) {
            // What was last written stands, as far as is known.
            (true, false) => State::Ready { step: Step::Release, attempt: now },
            (_, true) => State::Ready { step: Step::ReleaseGet, attempt: now },
            (false, false) => State::Ended(End::Stopped),
        };
    }
}

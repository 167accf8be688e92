//! Effect of responses and watch events on the state of an [`Elector`].

use std::time::Instant;

use k8s_openapi::api::coordination::v1::Lease;
use rand::RngExt as _;

use super::{Answer, Elector, End, JITTER, Lead, Now, State, Step};
use crate::spec;

impl Elector {
    /// Records the result of the request returned by [`next`](Self::next). Does nothing if no request is in flight.
    pub fn answer(&mut self, now: Now, answer: Answer) {
        let State::Sent { step, attempt, sent } = self.state else { return };
        let written = self.writing.take();
        let now = now.at;
        self.state = match (step, answer) {
            (Step::Get, Answer::Found(lease)) => self.read(lease, attempt, now),
            (Step::Get, Answer::Missing) => self.missing(attempt, now),
            (Step::Create | Step::Update | Step::Optimistic, Answer::Written { uid, resource_version }) => {
                self.wrote(written, uid, resource_version, sent, now)
            }
            // Another client may have written, or an earlier write of this candidate was applied without a response.
            (Step::Optimistic, answer) => {
                self.unsure |= answer == Answer::Unknown;
                State::Ready { step: Step::Get, attempt }
            }
            (Step::Create | Step::Update, answer) => {
                // An earlier write without a response is visible in the Lease read since then.
                self.unsure = answer == Answer::Unknown || self.leader() == self.identity;
                self.failed(attempt, now)
            }
            (Step::Release | Step::ReleaseUpdate, Answer::Written { uid, resource_version }) => {
                self.saw(written, uid, resource_version, now);
                State::Ended(End::Released)
            }
            (Step::Release, _) => State::Ready { step: Step::ReleaseGet, attempt },
            (Step::ReleaseGet, Answer::Found(lease)) => {
                self.see(lease, now);
                if self.leader() == self.identity {
                    State::Ready { step: Step::ReleaseUpdate, attempt }
                } else {
                    State::Ended(End::Stopped)
                }
            }
            // A renewal in flight at the time of the stop was applied after the read.
            (Step::ReleaseUpdate, Answer::Refused) if now < attempt + self.timing.request_timeout() => {
                State::Ready { step: Step::ReleaseGet, attempt }
            }
            (Step::ReleaseGet | Step::ReleaseUpdate, _) => State::Ended(End::Stopped),
            (Step::Get, _) => self.failed(attempt, now),
        };
    }

    /// Records a state of the Lease received by a watch. It only affects when the next attempt starts and when the
    /// holder expires; every write is based on a read or write of this candidate.
    pub fn observe(&mut self, now: Now, lease: Lease) {
        let State::Idle(until) = self.state else { return };
        // A leader ignores watch events: they may be older than its last write, and its next renewal detects changes.
        if self.lead.is_some() || !self.see(lease, now.at) {
            return;
        }
        self.state = State::Idle(match (until, self.held_until()) {
            // Released: try at once.
            (_, None) | (None, _) => None,
            (Some(until), Some(held)) if now.at < held => Some(until.min(held)),
            (until, _) => until,
        });
    }

    fn read(&mut self, lease: Lease, attempt: Instant, now: Instant) -> State {
        let changed = self.see(lease, now);
        let (ours, held) = (self.leader() == self.identity, !self.leader().is_empty());
        if ours {
            self.slow_paths += 1;
        } else {
            self.unsure = false;
            if held {
                if self.lead.take().is_some() {
                    return State::Ended(End::Lost);
                }
                // A holder that has just renewed is alive, however short its lease duration.
                if changed || self.held_until().is_some_and(|held| now < held) {
                    return self.failed(attempt, now);
                }
            }
        }
        State::Ready { step: Step::Update, attempt }
    }

    fn missing(&mut self, attempt: Instant, now: Instant) -> State {
        // The holder of a deleted Lease may still be running until its lease would have expired.
        if self.held_until().is_some_and(|held| now < held) {
            return self.failed(attempt, now);
        }
        State::Ready { step: Step::Create, attempt }
    }

    fn wrote(&mut self, lease: Option<Lease>, uid: String, version: String, sent: Instant, now: Instant) -> State {
        self.saw(lease, uid, version, now);
        let until = sent + self.timing.renew_deadline();
        if now < until {
            let since = self.lead.map_or(sent, |lead| lead.since);
            self.lead = Some(Lead { since, renewed: sent, until });
        }
        // A response after the end of the term neither renews nor starts one.
        self.unsure = self.lead.is_none();
        State::Idle(Some(now + self.timing.retry_period()))
    }

    fn failed(&mut self, attempt: Instant, now: Instant) -> State {
        let period = self.timing.retry_period();
        if self.lead.is_some() {
            return State::Idle(Some(now.max(attempt + period)));
        }
        let until = now + period + period.mul_f64(JITTER * self.draws.random::<f64>());
        let held = self.held_until().filter(|held| now < *held);
        State::Idle(Some(held.map_or(until, |held| until.min(held))))
    }

    /// Returns the time at which the lease of another holder expires; `None` if there is no other holder.
    fn held_until(&self) -> Option<Instant> {
        let (lease, since) = self.seen.as_ref()?;
        let holder = spec::holder(lease);
        (!holder.is_empty() && holder != self.identity).then(|| *since + spec::duration(lease))
    }

    /// Stores the Lease. Returns whether its spec differs from the last one; the times in it are only compared for
    /// equality.
    fn see(&mut self, lease: Lease, now: Instant) -> bool {
        let changed = self.seen.as_ref().is_none_or(|(seen, _)| seen.spec != lease.spec);
        match &mut self.seen {
            Some((seen, _)) if !changed => *seen = lease,
            seen => *seen = Some((lease, now)),
        }
        changed
    }

    fn saw(&mut self, lease: Option<Lease>, uid: String, version: String, now: Instant) {
        if let Some(mut lease) = lease {
            lease.metadata.uid = Some(uid);
            lease.metadata.resource_version = Some(version);
            self.see(lease, now);
        }
    }
}

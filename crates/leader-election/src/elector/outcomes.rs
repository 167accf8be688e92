//! Effect of responses and watch events on the state of an [`Elector`].

use std::time::Instant;

use k8s_openapi::api::coordination::v1::Lease;
use rand::RngExt as _;

use super::{Elector, End, JITTER_FACTOR, Now, RequestOutcome, State, Step, Term};
use crate::spec;

impl Elector {
    /// Records the result of the request returned by [`next`](Self::next). Does nothing if no request is in flight.
    pub fn record_outcome(&mut self, now: Now, outcome: RequestOutcome) {
        let State::Sent { step, attempt, sent } = self.state else { return };
        let pending_write = self.pending_write.take();
        let now = now.at;
        self.state = match (step, outcome) {
            (Step::Get, RequestOutcome::Found(lease)) => self.on_read(lease, attempt, now),
            (Step::Get, RequestOutcome::NotFound) => self.on_not_found(attempt, now),
            (Step::Create | Step::Update | Step::Optimistic, RequestOutcome::Written { uid, resource_version }) => {
                self.on_written(pending_write, uid, resource_version, sent, now)
            }
            // Another client may have written, or an earlier write of this candidate was applied without a response.
            (Step::Optimistic, outcome) => {
                self.write_unconfirmed |= outcome == RequestOutcome::Unknown;
                State::Ready { step: Step::Get, attempt }
            }
            (Step::Create | Step::Update, outcome) => {
                // An earlier write without a response is visible in the Lease read since then.
                self.write_unconfirmed = outcome == RequestOutcome::Unknown || self.leader() == self.identity;
                self.idle_until_retry(attempt, now)
            }
            (Step::Release | Step::ReleaseUpdate, RequestOutcome::Written { uid, resource_version }) => {
                self.record_write(pending_write, uid, resource_version, now);
                State::Ended(End::Released)
            }
            (Step::Release, _) => State::Ready { step: Step::ReleaseGet, attempt },
            (Step::ReleaseGet, RequestOutcome::Found(lease)) => {
                self.set_observed(lease, now);
                if self.leader() == self.identity {
                    State::Ready { step: Step::ReleaseUpdate, attempt }
                } else {
                    State::Ended(End::Stopped)
                }
            }
            // A renewal in flight at the time of the stop was applied after the read.
            (Step::ReleaseUpdate, RequestOutcome::Rejected) if now < attempt + self.timing.request_timeout() => {
                State::Ready { step: Step::ReleaseGet, attempt }
            }
            (Step::ReleaseGet | Step::ReleaseUpdate, _) => State::Ended(End::Stopped),
            (Step::Get, _) => self.idle_until_retry(attempt, now),
        };
    }

    /// Records a state of the Lease received by a watch. It only affects when the next attempt starts and when the
    /// holder expires; every write is based on a read or write of this candidate.
    pub fn observe(&mut self, now: Now, lease: Lease) {
        let State::Idle(until) = self.state else { return };
        // A leader ignores watch events: they may be older than its last write, and its next renewal detects changes.
        if self.term.is_some() || !self.set_observed(lease, now.at) {
            return;
        }
        self.state = State::Idle(match (until, self.holder_expires_at()) {
            // Released: try at once.
            (_, None) | (None, _) => None,
            (Some(until), Some(expires_at)) if now.at < expires_at => Some(until.min(expires_at)),
            (until, _) => until,
        });
    }

    fn on_read(&mut self, lease: Lease, attempt: Instant, now: Instant) -> State {
        let changed = self.set_observed(lease, now);
        let (is_holder, has_holder) = (self.leader() == self.identity, !self.leader().is_empty());
        if is_holder {
            self.slow_path_count += 1;
        } else {
            self.write_unconfirmed = false;
            if has_holder {
                if self.term.take().is_some() {
                    return State::Ended(End::Lost);
                }
                // A holder that has just renewed is alive, however short its lease duration.
                if changed || self.holder_expires_at().is_some_and(|expires_at| now < expires_at) {
                    return self.idle_until_retry(attempt, now);
                }
            }
        }
        State::Ready { step: Step::Update, attempt }
    }

    fn on_not_found(&mut self, attempt: Instant, now: Instant) -> State {
        // The holder of a deleted Lease may still be running until its lease would have expired.
        if self.holder_expires_at().is_some_and(|expires_at| now < expires_at) {
            return self.idle_until_retry(attempt, now);
        }
        State::Ready { step: Step::Create, attempt }
    }

    fn on_written(&mut self, lease: Option<Lease>, uid: String, version: String, sent: Instant, now: Instant) -> State {
        self.record_write(lease, uid, version, now);
        let until = sent + self.timing.renew_deadline();
        if now < until {
            let since = self.term.map_or(sent, |term| term.since);
            self.term = Some(Term { since, renewed: sent, until });
        }
        // A response after the end of the term neither renews nor starts one.
        self.write_unconfirmed = self.term.is_none();
        State::Idle(Some(now + self.timing.retry_period()))
    }

    fn idle_until_retry(&mut self, attempt: Instant, now: Instant) -> State {
        let period = self.timing.retry_period();
        if self.term.is_some() {
            return State::Idle(Some(now.max(attempt + period)));
        }
        let until = now + period + period.mul_f64(JITTER_FACTOR * self.rng.random::<f64>());
        let expires_at = self.holder_expires_at().filter(|expires_at| now < *expires_at);
        State::Idle(Some(expires_at.map_or(until, |expires_at| until.min(expires_at))))
    }

    /// Returns the time at which the lease of another holder expires; `None` if there is no other holder.
    fn holder_expires_at(&self) -> Option<Instant> {
        let (lease, since) = self.observed.as_ref()?;
        let holder = spec::holder(lease);
        (!holder.is_empty() && holder != self.identity).then(|| *since + spec::duration(lease))
    }

    /// Stores the Lease. Returns whether its spec differs from the last one; the times in it are only compared for
    /// equality.
    fn set_observed(&mut self, lease: Lease, now: Instant) -> bool {
        let changed = self.observed.as_ref().is_none_or(|(observed, _)| observed.spec != lease.spec);
        match &mut self.observed {
            Some((observed, _)) if !changed => *observed = lease,
            observed => *observed = Some((lease, now)),
        }
        changed
    }

    fn record_write(&mut self, lease: Option<Lease>, uid: String, version: String, now: Instant) {
        if let Some(mut lease) = lease {
            lease.metadata.uid = Some(uid);
            lease.metadata.resource_version = Some(version);
            self.set_observed(lease, now);
        }
    }
}

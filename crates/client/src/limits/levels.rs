//! The limits of all priority levels of the API server: a state machine without clock and I/O.
//!
//! The server sends the UID of the priority level with each response. It depends on the user, the verb and the
//! resource, so the level of a request is that of the last response to the same verb and resource. Until the first one,
//! and for servers that send no UID, requests are at a level without UID.

use std::collections::BTreeMap;
use std::time::Instant;

use super::adaptive::{AdaptiveLimit, Answer};
use super::queue::{PriorityQueue, RequestPriority, Ticket};
use crate::metrics::LimitState;

/// Maximum number of levels; requests at others are at the level without UID. The default configuration of a cluster
/// has eight.
const MAX_LEVELS: usize = 32;
/// Maximum number of kinds of requests. Others, and requests for paths, are at the level without UID.
const MAX_KINDS: usize = 256;

/// A request that waits or is in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Admission {
    ticket: Ticket,
    level: usize,
    /// Index in [`Levels::kinds`].
    kind: Option<usize>,
}

/// Limits of all priority levels.
#[derive(Debug)]
pub(crate) struct Levels {
    kinds: Vec<Kind>,
    /// The first is the level without UID.
    all: Vec<Level>,
    next: Ticket,
}

/// Verb and resource of requests.
#[derive(Debug)]
struct Kind {
    verb: &'static str,
    resource: String,
    level: usize,
}

#[derive(Debug)]
struct Level {
    uid: String,
    limit: AdaptiveLimit,
    queue: PriorityQueue,
    /// Requests that count as in flight and have not been polled since, with the time from which they count.
    admitted: BTreeMap<Ticket, Instant>,
}

impl Level {
    fn new(uid: String, limit: AdaptiveLimit) -> Self {
        Self { uid, limit, queue: PriorityQueue::default(), admitted: BTreeMap::new() }
    }
}

impl Levels {
    pub(crate) fn new() -> Self {
        let all = vec![Level::new(String::new(), AdaptiveLimit::new())];
        Self { kinds: Vec::new(), all, next: Ticket(0) }
    }

    /// Adds a request to the queue of its level.
    pub(crate) fn enqueue(
        &mut self,
        verb: &'static str,
        resource: &str,
        priority: RequestPriority,
        now: Instant,
    ) -> Admission {
        let kind = self.kind(verb, resource);
        let level = kind.map_or(0, |kind| self.kinds[kind].level);
        let ticket = self.next;
        self.next = Ticket(ticket.0 + 1);
        self.all[level].queue.push(ticket, priority, now);
        self.admit(level, now);
        Admission { ticket, level, kind }
    }

    fn kind(&mut self, verb: &'static str, resource: &str) -> Option<usize> {
        let known = self.kinds.iter().position(|it| it.verb == verb && it.resource == resource);
        known.or_else(|| {
            // Paths are as many as there are objects.
            if resource.starts_with('/') || self.kinds.len() >= MAX_KINDS {
                return None;
            }
            self.kinds.push(Kind { verb, resource: resource.to_owned(), level: 0 });
            Some(self.kinds.len() - 1)
        })
    }

    /// Admits waiting requests while the limit of their level allows it.
    fn admit(&mut self, level: usize, now: Instant) {
        let Level { limit, queue, admitted, .. } = &mut self.all[level];
        while limit.admits(now)
            && let Some(ticket) = queue.pop(now)
        {
            limit.sent(now);
            admitted.insert(ticket, now);
        }
    }

    /// Returns the time from which the request counts as in flight, if it may be sent. Then
    /// [`finish`](Self::finish) or [`cancel`](Self::cancel) must be called.
    pub(crate) fn poll(&mut self, request: Admission, now: Instant) -> Option<Instant> {
        self.admit(request.level, now);
        self.all[request.level].admitted.remove(&request.ticket)
    }

    /// Returns the end of the pause of the request's level, if it pauses.
    pub(crate) fn paused_until(&self, request: Admission, now: Instant) -> Option<Instant> {
        self.all[request.level].limit.paused_until(now)
    }

    /// Removes a request whose future was dropped: in flight since `sent`, or waiting.
    pub(crate) fn cancel(&mut self, request: Admission, sent: Option<Instant>, now: Instant) {
        let Level { limit, queue, admitted, .. } = &mut self.all[request.level];
        if let Some(sent) = sent.or_else(|| admitted.remove(&request.ticket)) {
            limit.cancelled(sent);
        } else {
            queue.remove(request.ticket);
        }
        self.admit(request.level, now);
    }

    /// Counts the answer to a request that was sent at `sent`. `uid` is the priority level in the response.
    pub(crate) fn finish(
        &mut self,
        request: Admission,
        sent: Instant,
        now: Instant,
        answer: Answer,
        uid: Option<&str>,
    ) {
        self.all[request.level].limit.answered(sent, now, answer);
        if let (Some(uid), Some(kind)) = (uid, request.kind) {
            self.learn(kind, uid);
        }
        self.admit(request.level, now);
    }

    /// Assigns later requests of this kind to a level.
    fn learn(&mut self, kind: usize, uid: &str) {
        let before = self.kinds[kind].level;
        if self.all[before].uid == uid {
            return;
        }
        let known = self.all.iter().position(|level| level.uid == uid);
        self.kinds[kind].level = match known {
            Some(level) => level,
            None if self.all.len() >= MAX_LEVELS => 0,
            None => {
                let limit = self.all[before].limit.split();
                self.all.push(Level::new(uid.to_owned(), limit));
                self.all.len() - 1
            }
        };
    }

    /// Returns the state of the level of a request.
    pub(crate) fn state(&self, request: Admission) -> LimitState<'_> {
        let Level { uid, limit, queue, .. } = &self.all[request.level];
        let (limit, in_flight) = (limit.limit().into(), limit.in_flight().into());
        LimitState { priority_level: uid, limit, in_flight, waiting: queue.len() }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::adaptive::INITIAL_LIMIT;
    use super::RequestPriority::Other;
    use super::*;

    fn now() -> Instant {
        tokio::time::Instant::now().into_std()
    }

    /// Sends a request for `resource` that the server assigns to the level `uid`.
    fn serve(levels: &mut Levels, resource: &str, answer: Answer, uid: Option<&str>) -> String {
        let now = now();
        let request = levels.enqueue("update", resource, Other, now);
        let sent = levels.poll(request, now).expect("admitted");
        let level = levels.state(request).priority_level.to_owned();
        levels.finish(request, sent, now, answer, uid);
        level
    }

    #[test]
    fn requests_are_at_the_level_of_the_last_response() {
        let mut levels = Levels::new();
        assert_eq!(serve(&mut levels, "slices", Answer::Served, Some("high")), "");
        assert_eq!(serve(&mut levels, "slices", Answer::Served, Some("high")), "high");
        assert_eq!(serve(&mut levels, "events", Answer::Served, Some("low")), "", "another kind of request");
        assert_eq!(serve(&mut levels, "slices", Answer::Served, Some("low")), "high");
        assert_eq!(serve(&mut levels, "slices", Answer::Served, None), "low");
        assert_eq!(serve(&mut levels, "slices", Answer::Served, None), "low", "stays without the header");
        assert_eq!(levels.all.len(), 3);
    }

    #[test]
    fn a_new_level_inherits_the_pause() {
        let mut levels = Levels::new();
        let retry_after = Some(Duration::from_secs(1));
        serve(&mut levels, "slices", Answer::Rejected(retry_after), Some("high"));
        let request = levels.enqueue("update", "slices", Other, now());
        assert_eq!(levels.state(request).priority_level, "high");
        assert!(levels.paused_until(request, now()).is_some() && levels.poll(request, now()).is_none());
    }

    #[test]
    fn levels_and_kinds_are_bounded() {
        let mut levels = Levels::new();
        for at in 0..2 * MAX_KINDS {
            serve(&mut levels, &format!("kind-{at}"), Answer::Served, Some(&format!("level-{at}")));
            serve(&mut levels, &format!("/path/{at}"), Answer::Served, Some(&format!("path-{at}")));
        }
        assert_eq!((levels.all.len(), levels.kinds.len()), (MAX_LEVELS, MAX_KINDS));
    }

    #[test]
    fn an_admitted_request_that_is_cancelled_admits_the_next() {
        let (mut levels, now) = (Levels::new(), now());
        let requests: Vec<_> = (0..=INITIAL_LIMIT).map(|_| levels.enqueue("update", "slices", Other, now)).collect();
        let (first, last) = (requests[0], requests[usize::from(INITIAL_LIMIT)]);
        assert_eq!(levels.poll(last, now), None);
        levels.cancel(first, None, now);
        assert!(levels.poll(last, now).is_some());
        for request in requests {
            levels.cancel(request, (request == last).then_some(now), now);
        }
        let state = levels.state(last);
        assert_eq!((state.in_flight, state.waiting), (0, 0));
    }
}

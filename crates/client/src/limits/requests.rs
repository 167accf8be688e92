//! The requests that wait or are in flight: a state machine without clock and I/O.

use std::collections::BTreeMap;
use std::time::Instant;

use super::adaptive::{AdaptiveLimit, Answer, Sent};
use super::queue::{PriorityQueue, RequestPriority, Ticket};
use crate::metrics::LimitState;

/// The limit, the queue of the requests that wait for it, and those that it has admitted.
#[derive(Debug)]
pub(crate) struct Requests {
    limit: AdaptiveLimit,
    queue: PriorityQueue,
    /// Requests that count as in flight and have not been polled since.
    admitted: BTreeMap<Ticket, Sent>,
    next: Ticket,
}

impl Requests {
    pub(crate) fn new() -> Self {
        let (limit, queue) = (AdaptiveLimit::new(), PriorityQueue::default());
        Self { limit, queue, admitted: BTreeMap::new(), next: Ticket(0) }
    }

    pub(crate) fn enqueue(&mut self, priority: RequestPriority, now: Instant) -> Ticket {
        let ticket = self.next;
        self.next = Ticket(ticket.0 + 1);
        self.queue.push(ticket, priority, now);
        ticket
    }

    fn admit(&mut self, now: Instant) {
        while self.limit.admits(now)
            && let Some(ticket) = self.queue.pop(now)
        {
            self.admitted.insert(ticket, self.limit.sent(now));
        }
    }

    /// Returns the request in flight, if it may be sent. Then [`finish`](Self::finish) or [`cancel`](Self::cancel) must be
    /// called.
    pub(crate) fn poll(&mut self, request: Ticket, now: Instant) -> Option<Sent> {
        self.admit(now);
        self.admitted.remove(&request)
    }

    pub(crate) fn waits_until(&self, now: Instant) -> Option<Instant> {
        self.limit.waits_until(now)
    }

    /// Removes a request whose future was dropped: in flight as `sent`, or waiting.
    pub(crate) fn cancel(&mut self, request: Ticket, sent: Option<Sent>, now: Instant) {
        if let Some(sent) = sent.or_else(|| self.admitted.remove(&request)) {
            self.limit.cancelled(sent);
        } else {
            self.queue.remove(request);
        }
        self.admit(now);
    }

    pub(crate) fn finish(&mut self, sent: Sent, now: Instant, answer: Answer) {
        self.limit.answered(sent, now, answer);
        self.admit(now);
    }

    pub(crate) fn state(&self) -> LimitState {
        let (limit, in_flight) = (self.limit.limit().into(), self.limit.in_flight().into());
        LimitState { limit, in_flight, waiting: self.queue.len() }
    }
}

#[cfg(test)]
mod tests {
    use super::super::adaptive::INITIAL_LIMIT;
    use super::RequestPriority::Other;
    use super::*;

    #[test]
    fn an_admitted_request_that_is_cancelled_admits_the_next() {
        let (mut all, now) = (Requests::new(), tokio::time::Instant::now().into_std());
        let requests: Vec<_> = (0..=INITIAL_LIMIT).map(|_| all.enqueue(Other, now)).collect();
        let (first, last) = (requests[0], requests[usize::from(INITIAL_LIMIT)]);
        assert!(all.poll(last, now).is_none());
        all.cancel(first, None, now);
        let sent = all.poll(last, now);
        assert!(sent.is_some());
        for request in requests {
            all.cancel(request, sent.filter(|_| request == last), now);
        }
        let state = all.state();
        assert_eq!((state.in_flight, state.waiting), (0, 0));
    }
}

//! Progress of a streaming list towards the bookmark that ends it.

use std::time::Duration;

use kube_wire::WatchEvent;
use tokio::time::Instant;

use super::error::ReflectorError;

/// Time without an initial event after which a streaming list does not end with its bookmark. It may still send changes:
/// an ordinary bookmark after this time ends it, too. Servers send one a minute once the initial events are complete.
const STALL: Duration = Duration::from_secs(60);

/// Times of the initial events of one streaming list.
#[derive(Debug)]
pub(super) struct StreamProgress {
    opened_at: Instant,
    /// Time of the last initial event.
    last_at: Instant,
}

impl StreamProgress {
    pub(super) fn new(now: Instant) -> Self {
        Self { opened_at: now, last_at: now }
    }

    /// Returns the time at which the stream has stalled, unless another initial event arrives.
    pub(super) fn stalls_at(&self) -> Instant {
        self.last_at + STALL
    }

    /// Fails with [`ReflectorError::NoBookmark`] if the stream has stalled.
    pub(super) fn check(&self, now: Instant) -> Result<(), ReflectorError> {
        if now < self.stalls_at() { Ok(()) } else { Err(ReflectorError::NoBookmark(STALL)) }
    }

    /// Records an event. Fails with [`ReflectorError::NoBookmark`] if it shows that the bookmark was left out.
    pub(super) fn record<T>(&mut self, event: &WatchEvent<T>, now: Instant) -> Result<(), ReflectorError> {
        match event {
            WatchEvent::Added(_) => self.last_at = now,
            WatchEvent::Bookmark { initial_events_end: false, .. } if now >= self.opened_at + STALL => {
                return Err(ReflectorError::NoBookmark(STALL));
            }
            _ => {}
        }
        Ok(())
    }
}

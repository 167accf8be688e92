//! Watches and streaming lists.

use std::{future::pending, time::Duration};

use display_full_error::DisplayFullErrorExt as _;
use kube_wire::{Accept, Decode, Encoding, EventHead, Received, ResourceVersion, WatchEvent, WatchParams, WatchReader};
use tokio::time::{Instant, sleep_until, timeout_at};

use super::{
    Reflector,
    error::ReflectorError,
    steps::{Failure, Observation},
    stream_progress::StreamProgress,
};
use crate::{Index, ListWatchResponse, RelistCause};

/// Grace period after the timeout of a watch. The server ends a watch at its timeout, so one that is still open after
/// the grace period is on a dead connection.
const WATCH_GRACE_PERIOD: Duration = Duration::from_secs(30);
/// Interval of the warning that a streaming list sends no data, as in client-go.
const STREAM_WARNING_INTERVAL: Duration = Duration::from_secs(10);
/// Time without an `ERROR` event after which a watch continues from the state of the store. A server sends it at once if it
/// does not have the version.
const RESUMED_AFTER: Duration = Duration::from_millis(500);

/// Sleeps until this time, or for ever.
async fn at(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => pending().await,
    }
}

impl<T: Decode, X: Index<T>> Reflector<T, X> {
    /// Opens a watch and applies its events until it ends. If `initial` is set, the watch is a streaming list.
    pub(super) async fn watch(&mut self, version: ResourceVersion, timeout: Duration, initial: bool) {
        let params = WatchParams {
            label_selector: self.scope.label_selector.clone(),
            field_selector: self.scope.field_selector.clone(),
            resource_version: version.clone(),
            timeout_seconds: u32::try_from(timeout.as_secs()).ok(),
            allow_bookmarks: true,
            send_initial_events: initial,
            accept: self.accept(),
        };
        let deadline = Instant::now() + timeout + WATCH_GRACE_PERIOD;
        if initial {
            self.begin_list(&version);
        }
        let opened = self.source.requests.watch(self.shared.resource(), self.scope.namespace.as_deref(), &params).await;
        let result = match opened {
            Ok(body) => self.read_events(body, version, deadline, initial).await,
            Err(error) => Err(error.into()),
        };
        self.gathered.clear();
        let observation = match result {
            Ok(()) => Observation::Ended,
            Err(error) => {
                let failure = error.failure();
                match &error {
                    _ if matches!(failure, Failure::Expired | Failure::ListRequested(_)) => {
                        tracing::debug!(resource = %self.shared.resource(), err = %error.display_full(), "watch ended for a relist");
                    }
                    ReflectorError::NoBookmark(_) => tracing::warn!(
                        resource = %self.shared.resource(), err = %error.display_full(),
                        "the server does not complete a streaming list, using lists without streaming for an hour"
                    ),
                    _ => self.log_failure("watch failed", &error),
                }
                Observation::Failed(failure)
            }
        };
        self.observe(observation);
    }

    /// Returns what a watch accepts: managed fields also if an observer may read them.
    fn accept(&self) -> Accept {
        let accept = Accept::of::<T>(self.machine.encoding());
        Accept { without_managed_fields: accept.without_managed_fields && self.observer.is_none(), ..accept }
    }

    /// Applies the events of an open watch until it ends. A broken connection is a normal end, except before the end of
    /// the initial events.
    async fn read_events(
        &mut self,
        mut body: ListWatchResponse,
        version: ResourceVersion,
        deadline: Instant,
        mut initial: bool,
    ) -> Result<(), ReflectorError> {
        self.observe(Observation::ResponseStarted(body.encoding()));
        self.shared.meter().record(|metrics| metrics.watch_opened());
        let mut events = WatchReader::<T>::new(body.encoding(), version);
        let mut progress = StreamProgress::new(Instant::now());
        let resumed_at = Instant::now() + RESUMED_AFTER;
        loop {
            let read_deadline = if initial {
                deadline.min(progress.stalls_at()).min(Instant::now() + STREAM_WARNING_INTERVAL)
            } else {
                deadline
            };
            let received = tokio::select! {
                biased;
                (cause, min_version) = self.shared.requests().list_requested(), if !initial => {
                    self.machine.require_version(min_version);
                    return Err(ReflectorError::ListRequested(cause));
                }
                () = self.restores.detected(), if !initial => return Ok(()),
                () = sleep_until(resumed_at), if !initial && !self.is_current => {
                    self.set_current();
                    continue;
                }
                () = at(self.machine.recheck_at()), if !initial => {
                    return Err(ReflectorError::ListRequested(RelistCause::Confirm));
                }
                received = timeout_at(read_deadline, body.next()) => received,
            };
            match received {
                Ok(Some(Ok(chunk))) => events.push(&chunk),
                Ok(Some(Err(error))) if initial => return Err(error.into()),
                // No event is lost: the next watch starts after the last complete event.
                Ok(Some(Err(error))) => {
                    tracing::debug!(resource = %self.shared.resource(), err = %error.display_full(), "watch connection failed");
                    return Ok(());
                }
                Ok(None) => {
                    if let Err(error) = events.finish() {
                        tracing::debug!(
                            resource = %self.shared.resource(), err = %error.display_full(),
                            "watch ended within an event"
                        );
                    }
                    return Ok(());
                }
                Err(_) if Instant::now() >= deadline => return Ok(()),
                Err(_) => {
                    progress.check(Instant::now())?;
                    tracing::warn!(
                        resource = %self.shared.resource(),
                        "still waiting for the end of the initial events"
                    );
                }
            }
            loop {
                let is_own = |head: &EventHead| self.shared.confirm(head);
                let is_own = (!initial && self.shared.lister().state().own.awaits_writes()).then_some(is_own);
                let received = {
                    let observer = self.observer.as_deref().filter(|_| !initial);
                    let observe = observer.map(|observe| observe as &dyn Fn(Encoding, &[u8]));
                    self.source.decode(|| events.next_event_observed(is_own, observe))?
                };
                let event = match received {
                    Some(Received::Event(event)) => event,
                    Some(Received::Known(head)) => {
                        self.apply_own_write(head);
                        continue;
                    }
                    None => break,
                };
                if initial {
                    progress.record(&event, Instant::now())?;
                }
                let observation = if initial { self.gather(event).await? } else { self.apply(event)? };
                initial &= !matches!(observation, Observation::Listed { .. });
                self.observe(observation);
            }
        }
    }

    /// Gathers an event of a streaming list. Stores the list at the bookmark that ends the initial events.
    async fn gather(&mut self, event: WatchEvent<T>) -> Result<Observation, ReflectorError> {
        match event {
            WatchEvent::Added(object) | WatchEvent::Modified(object) => {
                self.gathered.push(self.shared.intern(object));
            }
            WatchEvent::Deleted(object) => self.gathered.remove(object.key()),
            WatchEvent::Undecodable { event, object } => self.gather_undecodable(event, *object)?,
            WatchEvent::Bookmark { resource_version: version, initial_events_end: true } => {
                if version.is_empty() {
                    return Err(ReflectorError::Unversioned);
                }
                let held = self.replace(&version).await?;
                return Ok(Observation::Listed { version, held });
            }
            WatchEvent::Bookmark { .. } => {}
            WatchEvent::Error(status) => return Err(ReflectorError::ErrorEvent(Box::new(status))),
        }
        Ok(Observation::Progress { version: ResourceVersion::default(), added: true })
    }

    fn apply(&mut self, event: WatchEvent<T>) -> Result<Observation, ReflectorError> {
        let added = matches!(event, WatchEvent::Added(_));
        let version = match event {
            WatchEvent::Added(object) | WatchEvent::Modified(object) => {
                let version = object.resource_version();
                self.clear_undecodable(|| object.key());
                self.shared.upsert(object);
                version
            }
            WatchEvent::Deleted(object) => {
                let version = object.resource_version();
                self.clear_undecodable(|| object.key());
                self.shared.delete(object);
                version
            }
            WatchEvent::Bookmark { resource_version, .. } => {
                self.shared.bookmark(&resource_version);
                resource_version
            }
            WatchEvent::Undecodable { event, object } => return self.apply_undecodable(event, *object),
            WatchEvent::Error(status) => return Err(ReflectorError::ErrorEvent(Box::new(status))),
        };
        Ok(Observation::Progress { version, added })
    }

    /// Applies the event of an own write that the store contains already.
    fn apply_own_write(&mut self, head: EventHead) {
        let EventHead { added, key, resource_version: version } = head;
        self.clear_undecodable(|| key);
        self.observe(Observation::Progress { version, added });
    }
}

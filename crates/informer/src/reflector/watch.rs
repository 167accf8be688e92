//! Watches and streaming lists.

use std::{future::pending, time::Duration};

use display_full_error::DisplayFullErrorExt as _;
use kube_wire::{Accept, Encoding, ResourceVersion, WatchParams};
use tokio::time::{Instant, sleep_until, timeout_at};

use super::{
    Reflector,
    error::ReflectorError,
    steps::{Failure, Observation},
    stream_progress::StreamProgress,
};
use crate::{ListWatchResponse, RelistCause};

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

impl Reflector {
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
        let opened =
            self.source.requests.watch(&self.informer.resource, self.scope.namespace.as_deref(), &params).await;
        let result = match opened {
            Ok(body) => self.read_events(body, version, deadline, initial).await,
            Err(error) => Err(error.into()),
        };
        self.cache.clear();
        let observation = match result {
            Ok(()) => Observation::Ended,
            Err(error) => {
                let failure = error.failure();
                match &error {
                    _ if matches!(failure, Failure::Expired | Failure::ListRequested(_)) => {
                        tracing::debug!(resource = %self.informer.resource, err = %error.display_full(), "watch ended for a relist");
                    }
                    ReflectorError::NoBookmark(_) => tracing::warn!(
                        resource = %self.informer.resource, err = %error.display_full(),
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
        let accept = self.cache.accept(self.machine.encoding());
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
        self.informer.meter.record(|metrics| metrics.watch_opened());
        self.cache.open_watch(body.encoding(), version);
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
                (cause, min_version) = self.informer.requests.list_requested(), if !initial => {
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
                Ok(Some(Ok(chunk))) => self.cache.push(&chunk),
                Ok(Some(Err(error))) if initial => return Err(error.into()),
                // No event is lost: the next watch starts after the last complete event.
                Ok(Some(Err(error))) => {
                    tracing::debug!(resource = %self.informer.resource, err = %error.display_full(), "watch connection failed");
                    return Ok(());
                }
                Ok(None) => {
                    if let Err(error) = self.cache.finish_watch() {
                        tracing::debug!(
                            resource = %self.informer.resource, err = %error.display_full(),
                            "watch ended within an event"
                        );
                    }
                    return Ok(());
                }
                Err(_) if Instant::now() >= deadline => return Ok(()),
                Err(_) => {
                    progress.check(Instant::now())?;
                    tracing::warn!(
                        resource = %self.informer.resource,
                        "still waiting for the end of the initial events"
                    );
                }
            }
            loop {
                let received = {
                    let observer = self.observer.as_deref().filter(|_| !initial);
                    let observe = observer.map(|observe| observe as &dyn Fn(Encoding, &[u8]));
                    self.cache.next_event(initial.then_some(&mut progress), observe, &mut self.undecodable)?
                };
                let Some(mut observation) = received else { break };
                if let Observation::Listed { version, held } = &mut observation {
                    *held = self.replace(version).await?;
                }
                initial &= !matches!(observation, Observation::Listed { .. });
                self.observe(observation);
            }
        }
    }
}

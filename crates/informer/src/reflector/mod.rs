//! Fills a store from the API server: a streaming list or a list, then watches, and a relist when a watch fails.

mod backoff;
mod error;
mod failure_log;
mod gather;
mod held;
mod machine;
mod negotiation;
mod reported;
mod restored;
mod steps;
mod stream_progress;
mod undecodable;

use std::{future::pending, sync::Arc, time::Duration};

use display_full_error::DisplayFullErrorExt as _;
use kube_wire::{
    Accept, Decode, EventHead, EventType, ListParams, ListReader, Received, ResourceVersion, WatchEvent, WatchParams,
    WatchReader,
};
use tokio::time::{Instant, sleep, sleep_until, timeout, timeout_at};

pub use self::backoff::BackoffPolicy;
pub(crate) use self::failure_log::FailureLog;
use self::{
    error::ReflectorError,
    gather::Gathered,
    machine::Machine,
    reported::Reported,
    steps::{Action, Failure, ListRequest, Observation},
    stream_progress::StreamProgress,
};
use crate::{
    Index, ListWatchResponse, RelistCause, UndecodableObject, list_watch::Source, restore::RestoreSubscription,
    shared::Shared, undecodable::Choice,
};

/// Grace period after the timeout of a watch. The server ends a watch at its timeout, so one that is still open after
/// the grace period is on a dead connection.
const WATCH_GRACE_PERIOD: Duration = Duration::from_secs(30);
/// Maximum time without data in the response to a list: the server gives up on a list after 60 s.
const LIST_READ_TIMEOUT: Duration = Duration::from_secs(60);
/// Interval of the warning that a streaming list sends no data, as in client-go.
const STREAM_WARNING_INTERVAL: Duration = Duration::from_secs(10);

/// Time without an `ERROR` event after which a watch continues from the state of the store. A server sends it at once if it
/// does not have the version.
const RESUMED_AFTER: Duration = Duration::from_millis(500);

/// Namespace and selectors of the requests.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scope {
    pub(crate) namespace: Option<String>,
    pub(crate) label_selector: Option<String>,
    pub(crate) field_selector: Option<String>,
}

/// Keeps the store up to date. Ends only with an object that the choice is to fail for.
pub(crate) async fn reflect<T: Decode, X: Index<T>>(
    source: Source,
    scope: Scope,
    backoff: BackoffPolicy,
    restores: RestoreSubscription,
    on_undecodable: Choice,
    shared: Arc<Shared<T, X>>,
) -> UndecodableObject {
    let machine = Machine::new(backoff, source.accept::<T>().encoding);
    let reflector = Reflector {
        source,
        scope,
        shared,
        machine,
        restores,
        gathered: Gathered::new(),
        on_undecodable,
        undecodable: Reported::default(),
        failed: None,
        started_at: None,
        failures: FailureLog::default(),
        is_current: false,
        is_restored: false,
    };
    reflector.run().await
}

/// Sleeps until this time, or for ever.
async fn at(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => pending().await,
    }
}

struct Reflector<T, X> {
    source: Source,
    scope: Scope,
    shared: Arc<Shared<T, X>>,
    machine: Machine,
    restores: RestoreSubscription,
    /// Objects of a streaming list or paged list that is not complete yet.
    gathered: Gathered<T>,
    on_undecodable: Choice,
    /// Objects whose newest state cannot be decoded.
    undecodable: Reported,
    /// The object that ends the reflector.
    failed: Option<UndecodableObject>,
    /// When the first request of that list was sent; `None` without metrics.
    started_at: Option<Instant>,
    failures: FailureLog,
    /// The store was current when the machine last observed a list or the progress of a watch.
    is_current: bool,
    /// The next list is requested because of a restore.
    is_restored: bool,
}

impl<T: Decode, X: Index<T>> Reflector<T, X> {
    async fn run(mut self) -> UndecodableObject {
        loop {
            if let Some(failed) = self.failed.take() {
                return failed;
            }
            if self.restores.take() {
                self.relist_after_restore();
            }
            // Another list could be older than the delete, or show that a restore has undone it.
            if self.shared.lister().awaits_deletes() {
                self.machine.list_most_recent();
            }
            match self.machine.next(Instant::now(), kube_ambient::random()) {
                Action::Wait(wait) => self.unless_restored(sleep(wait)).await,
                Action::Retry { requested, limit } => {
                    let retry = timeout(limit, self.source.wait_to_retry(requested));
                    self.unless_restored(async { _ = retry.await }).await;
                }
                Action::Stream { version, timeout } => self.watch(version, timeout, true).await,
                Action::List(request) => self.list(request).await,
                Action::Verify => self.verify().await,
                Action::Watch { version, timeout } => self.watch(version, timeout, false).await,
            }
        }
    }

    /// Waits, but not after another informer has detected a restore of etcd.
    async fn unless_restored(&self, wait: impl Future<Output = ()>) {
        tokio::select! {
            biased;
            () = self.restores.detected() => {}
            () = wait => {}
        }
    }

    async fn list(&mut self, request: ListRequest) {
        let ListRequest { version, limit, continue_token } = request;
        if continue_token.is_none() {
            self.begin_list(&version.clone().unwrap_or_default());
        }
        let params = ListParams {
            label_selector: self.scope.label_selector.clone(),
            field_selector: self.scope.field_selector.clone(),
            limit,
            continue_token,
            resource_version: version,
            accept: Accept::of::<T>(self.machine.encoding()),
        };
        let observation = match self.read_page(&params).await {
            Ok(observation) => observation,
            Err(error) => {
                self.gathered.clear();
                self.shared.meter().list_failed();
                self.log_failure("list failed", &error);
                Observation::ListFailed(error.failure())
            }
        };
        self.observe(observation);
    }

    async fn read_page(&mut self, params: &ListParams) -> Result<Observation, ReflectorError> {
        let mut body = self.source.list(self.shared.resource(), self.scope.namespace.as_deref(), params).await?;
        self.observe(Observation::ResponseStarted(body.encoding()));
        let mut items = ListReader::<T>::of(self.shared.resource(), body.encoding());
        let last_version = self.shared.lister().last_resource_version();
        while let Some(chunk) = timeout(LIST_READ_TIMEOUT, body.next())
            .await
            .map_err(|_| ReflectorError::ReadTimeout(LIST_READ_TIMEOUT))?
            .transpose()?
        {
            items.push(&chunk);
            while let Some(object) =
                self.source.decode(|| items.next_item()).map_err(|error| error.with_resource_version(&last_version))?
            {
                match object {
                    Ok(object) => self.gathered.push(self.shared.intern(object)),
                    Err(it) => self.gather_undecodable(EventType::Added, *it)?,
                }
            }
        }
        let meta = items.finish().map_err(|error| error.with_resource_version(&last_version))?;
        if let Some(continue_token) = meta.continue_token {
            return Ok(Observation::Page { continue_token });
        }
        let (version, held) = (meta.resource_version.clone(), self.replace(&meta.resource_version).await?);
        Ok(Observation::Listed { version, held })
    }

    /// Requests the server's current resource version, which is compared with that of the store.
    async fn verify(&mut self) {
        match self.source.latest_version(self.shared.resource(), self.scope.namespace.as_deref()).await {
            Ok(version) => {
                self.observe(Observation::Verified { version });
            }
            Err(error) => {
                let error = ReflectorError::from(error);
                self.log_failure("cannot read the current resource version", &error);
                self.observe(Observation::Failed(error.failure()));
            }
        }
    }

    /// Opens a watch and applies its events until it ends. If `initial` is set, the watch is a streaming list.
    async fn watch(&mut self, version: ResourceVersion, timeout: Duration, initial: bool) {
        let params = WatchParams {
            label_selector: self.scope.label_selector.clone(),
            field_selector: self.scope.field_selector.clone(),
            resource_version: version.clone(),
            timeout_seconds: u32::try_from(timeout.as_secs()).ok(),
            allow_bookmarks: true,
            send_initial_events: initial,
            accept: Accept::of::<T>(self.machine.encoding()),
        };
        let deadline = Instant::now() + timeout + WATCH_GRACE_PERIOD;
        if initial {
            self.begin_list(&version);
        }
        let opened = self.source.watch(self.shared.resource(), self.scope.namespace.as_deref(), &params).await;
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
        self.shared.meter().watch_opened();
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
                let is_own = (!initial && self.shared.lister().awaits_writes()).then_some(is_own);
                let event = match self.source.decode(|| events.next_event_unless(is_own))? {
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

    /// Applies one event to the store.
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

    /// Begins a streaming list or list of `version` that replaces everything.
    fn begin_list(&mut self, version: &ResourceVersion) {
        self.gathered.clear();
        self.started_at = self.shared.meter().start_timer();
        self.shared.requests().begin_list(version);
        self.shared.list_requested(version.is_empty());
    }
}

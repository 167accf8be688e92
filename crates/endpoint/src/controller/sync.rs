//! The sync of one Service.

use std::sync::Arc;
use std::time::Duration;

use kube_controller::{Enqueuer, Executor, FailureCause, KeyStates, Outcome};
use kube_controller_client::events::{EventRecorder, EventType, ObjectReference};
use kube_controller_client::{Error, ReviewedClient};
use kube_endpoint_model::{
    Cluster as _, Endpoints, Listers, ObjectKey, SelectingService, Service, ServiceState, WarningEvent, Write,
};
use kube_informer::{WITHHELD_INTERVAL, WriteThrough};

use super::rules::EndpointsRules;
use super::superfluous::{Moment, Superfluous};
use super::unanswered::UnansweredWrites;
use crate::legacy::Legacy;
use crate::plan::plan;

/// Reconciles the Endpoints object of one Service; shared by the workers.
pub(super) struct Syncs {
    pub(super) caches: Listers,
    /// Stores the responses to own writes in the cache of Endpoints.
    pub(super) cache: WriteThrough<Endpoints>,
    pub(super) client: ReviewedClient<Endpoints>,
    pub(super) recorder: EventRecorder,
    pub(super) legacy: Legacy,
    pub(super) namespaced_create_events: bool,
    pub(super) states: KeyStates<ObjectKey, ServiceState>,
    pub(super) superfluous: Arc<Superfluous>,
    pub(super) unanswered: Arc<UnansweredWrites>,
    pub(super) keys: Enqueuer<ObjectKey>,
}

/// Error of a sync: a write that failed.
#[derive(Debug, thiserror::Error)]
#[error("failed to {verb} Endpoints {key}")]
pub(super) struct SyncError {
    verb: &'static str,
    key: ObjectKey,
    source: Error,
}

/// Returns how long a sync with its write takes in the controller of Go, fitted to measured writes (`docs/src/scale.md`).
fn upstream_sync(pods: usize) -> Duration {
    let pods = u32::try_from(pods.min(1_000)).unwrap_or(u32::MAX);
    Duration::from_millis(10) + Duration::from_micros(30) * pods
}

pub(super) fn failure_cause(error: &(dyn std::error::Error + 'static)) -> FailureCause {
    error.downcast_ref().map_or(FailureCause::Key, |SyncError { source, .. }| source.into())
}

impl Syncs {
    /// Creates, updates or deletes the Endpoints object of a Service, if necessary (EP-1, EP-3 to EP-13, EP-15 to EP-21).
    ///
    /// # Errors
    ///
    /// The write failed. The key must be retried.
    pub(super) async fn sync(&self, key: &ObjectKey) -> Result<Outcome, SyncError> {
        let read = self.superfluous.now();
        // What is left over of a Service that does not exist is read by `delete`.
        let plan = plan(&self.caches, key, &mut self.states.take(key), self.legacy, |_| false, |_, _| {});
        if plan.is_withheld {
            self.keys.requeue(key.clone(), WITHHELD_INTERVAL);
        }
        let service = match &plan.service {
            SelectingService::Selects(service) => service,
            SelectingService::Ignored => {
                self.keys.set_interval(key, Duration::ZERO);
                self.superfluous.service_exists(key, read);
                return Ok(Outcome::Unchanged);
            }
            SelectingService::Withheld => return Ok(Outcome::Unchanged),
            SelectingService::Missing => {
                self.states.forget(key);
                self.keys.set_interval(key, Duration::ZERO);
                return self.delete(key, read).await;
            }
        };
        self.superfluous.service_exists(key, read);
        for WarningEvent { reason, message } in plan.events {
            self.recorder.event(&ObjectReference::to(&**service), EventType::Warning, reason, message);
        }
        self.keys.set_interval(key, upstream_sync(plan.pods));
        self.send(key, plan.write).await
    }

    /// Deletes the Endpoints object of a Service that does not exist, if it is superfluous (EP-1): the cached
    /// object, or one that the watch has not delivered yet.
    async fn delete(&self, key: &ObjectKey, read: Moment) -> Result<Outcome, SyncError> {
        let may_exist = || self.superfluous.is_service_deleted(key) || self.unanswered.may_have_created(key);
        let write = match self.caches.endpoints(key) {
            Some(cached) if self.is_left_over(key, &cached) => Some(Write::Delete(cached)),
            None if may_exist() => self.find_left_over(key).await?.map(Write::Delete),
            _ => {
                // The cached object is a new one.
                self.superfluous.removed(key, read);
                self.unanswered.remove(key);
                None
            }
        };
        if let Some(Write::Delete(object)) = &write
            && !self.superfluous.precede_deletion(object)
            && self.service_is_stored(key).await?
        {
            // No event follows if it is deleted before the next list. Ever more rarely: a list may lack many for long.
            self.keys.add_contested(key.clone(), WITHHELD_INTERVAL);
            return Ok(Outcome::Unchanged);
        }
        let outcome = self.send(key, write).await?;
        if self.client.observes() {
            return Ok(Outcome::Unchanged);
        }
        self.superfluous.removed(key, read);
        Ok(outcome)
    }

    /// Returns whether the server has a Service that the caches lack. Shadow mode does not ask: what the writer removes is
    /// compared.
    async fn service_is_stored(&self, key: &ObjectKey) -> Result<bool, SyncError> {
        if self.client.observes() {
            return Ok(false);
        }
        match self.client.client().get::<Service>(&key.namespace, &key.name).await {
            Ok(_) => Ok(true),
            Err(error) if error.is_not_found() => Ok(false),
            Err(source) => Err(SyncError { verb: "get the Service of", key: key.clone(), source }),
        }
    }

    /// Returns whether Endpoints without a Service are superfluous.
    fn is_left_over(&self, key: &ObjectKey, endpoints: &Endpoints) -> bool {
        self.superfluous.contains(endpoints) || (endpoints.is_managed() && self.unanswered.may_have_created(key))
    }

    /// Reads the Endpoints of this name from the server; `None` if there are none, or if they are not superfluous.
    async fn find_left_over(&self, key: &ObjectKey) -> Result<Option<Arc<Endpoints>>, SyncError> {
        if self.client.observes() {
            return Ok(None);
        }
        let found = match self.client.client().get::<Endpoints>(&key.namespace, &key.name).await {
            Ok(found) => Some(found).filter(|found| self.is_left_over(key, found)),
            Err(error) if error.is_not_found() => None,
            Err(source) => return Err(SyncError { verb: "get", key: key.clone(), source }),
        };
        if found.is_none() {
            self.unanswered.nothing_to_delete(key);
        }
        Ok(found.map(Arc::new))
    }

    /// Sends a write, if there is one, or passes it to the review of the client.
    async fn send(&self, key: &ObjectKey, write: Option<Write<Endpoints>>) -> Result<Outcome, SyncError> {
        let mut rules = EndpointsRules {
            service: key,
            recorder: &self.recorder,
            namespaced_create_events: self.namespaced_create_events,
            superfluous: &self.superfluous,
        };
        let executor = Executor::new(&self.client, Some(&self.cache));
        let mut executed = executor.execute(key, [write.as_slice()].into_iter(), &mut rules).await;
        if executed.is_reviewed {
            return Ok(Outcome::Unchanged);
        }
        let failure = executed.failures.pop().map(|(_, error)| error);
        let result = failure.map_or(Ok(Outcome::of_writes(executed.writes)), Err);
        let Some(write) = &write else { return Ok(Outcome::Unchanged) };
        let recorded = match write {
            Write::Create(_) => self.unanswered.record_create(key, result),
            Write::Update { .. } => self.unanswered.record(key, result),
            Write::Delete(_) => self.unanswered.record_delete(key, result),
        };
        recorded.map_err(|source| SyncError { verb: write.verb(), key: key.clone(), source })
    }
}

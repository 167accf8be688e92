//! The sync of one Service.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use kube_controller::{Enqueuer, Executor, FailureCause, Outcome, locked};
use kube_controller_client::events::{EventRecorder, EventType, LastMessages, ObjectReference};
use kube_controller_client::{Error, ReviewedClient};
use kube_endpoint_model::well_known::TOLERATE_UNREADY_ANNOTATION;
use kube_endpoint_model::{
    Cluster as _, Endpoints, ObjectKey, SelectingService, Service, TriggerTimes, UnusableAddresses, Write,
};
use kube_informer::{WITHHELD_INTERVAL, WriteThrough};

use super::caches::Caches;
use super::rules::EndpointsRules;
use super::superfluous::Superfluous;
use super::unanswered::UnansweredWrites;
use crate::inputs::Inputs;
use crate::legacy::Legacy;

/// Reconciles the Endpoints object of one Service; shared by the workers.
pub(super) struct Syncs {
    pub(super) caches: Caches,
    /// Stores the responses to own writes in the cache of Endpoints.
    pub(super) cache: WriteThrough<Endpoints>,
    pub(super) client: ReviewedClient<Endpoints>,
    pub(super) recorder: EventRecorder,
    pub(super) legacy: Legacy,
    pub(super) namespaced_create_events: bool,
    pub(super) trigger_times: Mutex<TriggerTimes>,
    pub(super) unanswered: Arc<UnansweredWrites>,
    pub(super) superfluous: Arc<Superfluous>,
    /// Messages about Pods that are left out because of their addresses.
    pub(super) unusable: LastMessages,
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

/// Returns what a sync failed because of.
pub(super) fn failure_cause(error: &(dyn std::error::Error + 'static)) -> FailureCause {
    match error.downcast_ref() {
        Some(SyncError { source, .. }) if source.is_unreachable() => FailureCause::Unreachable,
        Some(SyncError { source, .. }) if source.is_server_failure() => FailureCause::Server,
        _ => FailureCause::Key,
    }
}

impl Syncs {
    /// Creates, updates or deletes the Endpoints object of a Service, if necessary (EP-1, EP-3 to EP-22).
    ///
    /// # Errors
    ///
    /// The write failed. The key must be retried.
    pub(super) async fn sync(&self, key: &ObjectKey) -> Result<Outcome, SyncError> {
        let service = match self.caches.selecting_service(key) {
            SelectingService::Selects(service) => service,
            // An existing object is not changed (EC-24).
            SelectingService::Ignored => {
                self.superfluous.service_exists(key);
                return Ok(Outcome::Unchanged);
            }
            SelectingService::Withheld => {
                self.keys.requeue(key.clone(), WITHHELD_INTERVAL);
                return Ok(Outcome::Unchanged);
            }
            SelectingService::Missing => return self.delete(key).await,
        };
        self.superfluous.service_exists(key);
        if let Some(value) = self.legacy.invalid_annotation(&service) {
            self.report_invalid_annotation(&service, value);
        }
        let inputs = Inputs::read(&self.caches, service);
        self.report_unusable(key, &inputs);
        let trigger_time = locked(&self.trigger_times).observe(key, &inputs.service, &inputs.pods);
        if !inputs.kept.is_empty() {
            self.keys.requeue(key.clone(), WITHHELD_INTERVAL);
        }
        self.keys.set_interval(key, upstream_sync(inputs.pods.len()));
        self.send(key, inputs.plan(trigger_time, self.legacy)).await
    }

    /// Deletes the Endpoints object of a Service that does not exist, if it is superfluous (EP-1).
    async fn delete(&self, key: &ObjectKey) -> Result<Outcome, SyncError> {
        locked(&self.trigger_times).forget(key);
        self.unusable.forget(key);
        let current = self.caches.endpoints(key);
        if !self.may_delete(key, current.as_deref()) {
            return Ok(Outcome::Unchanged);
        }
        let superfluous = self.to_delete(key, current).await?;
        let outcome = self.send(key, superfluous.map(Write::Delete)).await?;
        if self.client.observes() {
            return Ok(Outcome::Unchanged);
        }
        self.superfluous.removed(key);
        Ok(outcome)
    }

    /// Returns whether there may be Endpoints to delete, although only the server may have them yet. Without, what is
    /// recorded about the Service is dropped: the cached object is a new one.
    fn may_delete(&self, key: &ObjectKey, cached: Option<&Endpoints>) -> bool {
        let may = match cached {
            Some(cached) => self.is_superfluous(key, cached),
            None => self.superfluous.is_service_deleted(key) || self.unanswered.may_have_created(key),
        };
        if !may {
            self.superfluous.removed(key);
            self.unanswered.remove(key);
        }
        may
    }

    /// Returns whether Endpoints without a Service are superfluous.
    fn is_superfluous(&self, key: &ObjectKey, endpoints: &Endpoints) -> bool {
        self.superfluous.contains(endpoints) || self.unanswered.may_have_created(key)
    }

    /// Returns the object to delete: the cached one or, if the watch may not have delivered it yet, that of the server.
    /// `None` if there is none, or only one that is not superfluous.
    async fn to_delete(
        &self,
        key: &ObjectKey,
        cached: Option<Arc<Endpoints>>,
    ) -> Result<Option<Arc<Endpoints>>, SyncError> {
        if cached.is_some() || self.client.observes() {
            return Ok(cached);
        }
        let found = match self.client.client().get::<Endpoints>(&key.namespace, &key.name).await {
            Ok(found) => Some(found).filter(|found| self.is_superfluous(key, found)),
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

    /// Emits an event about Pods that are left out because of their addresses (EC-50), if they have changed.
    fn report_unusable(&self, key: &ObjectKey, inputs: &Inputs) {
        let unusable = self.legacy.unusable_addresses(&inputs.service, &inputs.pods);
        let message = unusable.map(|it| it.message("Endpoints"));
        if self.unusable.is_new(key, message.as_ref())
            && let Some(message) = message
        {
            let service = ObjectReference::to(&*inputs.service);
            self.recorder.event(&service, EventType::Warning, UnusableAddresses::EVENT, message);
        }
    }

    fn report_invalid_annotation(&self, service: &Service, value: &str) {
        let message = format!("Annotation {TOLERATE_UNREADY_ANNOTATION} is ignored: {value:?} is not a boolean");
        self.recorder.event(
            &ObjectReference::to(service),
            EventType::Warning,
            "InvalidTolerateUnreadyEndpoints",
            message,
        );
    }
}

//! The sync of one Service.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use display_full_error::DisplayFullErrorExt as _;
use kube_controller::{Enqueuer, FailureCause, Outcome, locked};
use kube_controller_client::events::{EventRecorder, EventType, LastMessages, ObjectReference};
use kube_controller_client::{Deleted, Error, PlannedWrite, Preconditions, ReviewedClient};
use kube_endpoint_model::well_known::TOLERATE_UNREADY_ANNOTATION;
use kube_endpoint_model::{
    EndpointSubset, Endpoints, ObjectKey, ObjectMeta, Pod, PodIndex, Service, ServiceIndex, TriggerTimes,
    UnusableAddresses, references,
};
use kube_informer::{Lister, WITHHELD_INTERVAL, WriteThrough};

use super::superfluous::Superfluous;
use super::unanswered::UnansweredWrites;
use crate::kept::kept_subsets;
use crate::legacy::Legacy;
use crate::plan::{Write, plan_keeping};
use crate::priority::priority;

/// Reconciles the Endpoints object of one Service; shared by the workers.
pub(super) struct Syncs {
    pub(super) services: Lister<Service, ServiceIndex>,
    pub(super) pods: Lister<Pod, PodIndex>,
    pub(super) endpoints: Lister<Endpoints>,
    /// Stores the responses to own writes in the cache of `endpoints`.
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
    #[cfg(feature = "defects")]
    pub(super) stale: super::stale::StaleEndpoints,
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
        let failed = |verb| move |source| SyncError { verb, key: key.clone(), source };
        let Some(service) = self.services.get(&key.namespace, &key.name) else {
            if self.services.is_withheld(&key.namespace, &key.name) {
                self.keys.add_again(key.clone(), WITHHELD_INTERVAL);
                return Ok(Outcome::Unchanged);
            }
            locked(&self.trigger_times).forget(key);
            self.unusable.forget(key);
            let current = self.endpoints.get(&key.namespace, &key.name);
            if !self.may_delete(key, current.as_deref()) {
                return Ok(Outcome::Unchanged);
            }
            if !self.client.sends(key, || current.as_deref().map(PlannedWrite::Delete)) {
                return Ok(Outcome::Unchanged);
            }
            let deleted = self.delete(key, current.as_deref()).await;
            let outcome = self.unanswered.record_delete(key, deleted).map_err(failed("delete"))?;
            self.superfluous.removed(key);
            #[cfg(feature = "defects")]
            self.stale.forget(key);
            return Ok(outcome);
        };
        self.superfluous.service_exists(key);
        let selector = match &service.selector {
            Some(selector) if !service.external_name => selector,
            // An existing object is not changed (EC-24).
            _ => return Ok(Outcome::Unchanged),
        };

        if let Some(value) = self.legacy.invalid_annotation(&service) {
            self.report_invalid_annotation(&service, value);
        }
        let pods = self.pods.read(|_, index| index.select(&key.namespace, selector));
        self.report_unusable(key, &service, &pods);
        let current = self.endpoints.get(&key.namespace, &key.name);
        #[cfg(feature = "defects")]
        if let Some(current) = &current
            && self.stale.is_stale(current)
        {
            // Upstream fails the sync; either way the key is retried.
            self.keys.add_again(key.clone(), Duration::from_secs(1));
            return Ok(Outcome::Unchanged);
        }
        let trigger_time = locked(&self.trigger_times).observe(key, &service, &pods);
        let kept = self.withheld_subsets(current.as_deref());
        if !kept.is_empty() {
            self.keys.add_again(key.clone(), WITHHELD_INTERVAL);
        }
        self.keys.set_interval(key, upstream_sync(pods.len()));
        let planned = plan_keeping(kept, &service, &pods, current.as_deref(), trigger_time, self.legacy);
        if !self.client.sends(key, || planned.as_ref().map(|write| write.planned(current.as_deref()))) {
            return Ok(Outcome::Unchanged);
        }
        match planned {
            None => Ok(Outcome::Unchanged),
            Some(Write::Create(endpoints)) => {
                self.unanswered.record_create(key, self.create(key, &endpoints).await).map_err(failed("create"))
            }
            Some(Write::Update(endpoints)) => self
                .unanswered
                .record(key, self.update(key, &endpoints, current.as_deref()).await)
                .map_err(failed("update")),
        }
    }

    /// Returns the stored addresses of Pods that the cache lacks because of wrong lists: they stay.
    fn withheld_subsets(&self, current: Option<&Endpoints>) -> Vec<EndpointSubset> {
        let Some(current) = current.filter(|_| self.pods.withholds_any()) else { return Vec::new() };
        kept_subsets(current, |target| {
            references::pod(target).is_some_and(|(pod, _)| self.pods.is_withheld(&pod.namespace, &pod.name))
        })
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

    /// Deletes the object. Returns [`Outcome::Unchanged`] if the server has none, or another one that is not superfluous.
    ///
    /// UID and resource version are preconditions; upstream sends none, so its delayed request may delete a changed
    /// object. An object that is not in the cache is read first, since the watch may not have delivered it yet.
    async fn delete(&self, key: &ObjectKey, cached: Option<&Endpoints>) -> Result<Outcome, Error> {
        let client = self.client.client().with_priority(|| priority(cached, None));
        let live: Endpoints;
        let object = match cached {
            Some(cached) => cached,
            None => match client.get(&key.namespace, &key.name).await {
                Ok(found) if self.is_superfluous(key, &found) => {
                    live = found;
                    &live
                }
                Ok(_) => return Ok(Outcome::Unchanged),
                Err(error) if error.is_not_found() => return Ok(Outcome::Unchanged),
                Err(error) => return Err(error),
            },
        };
        let ObjectMeta { uid, resource_version, .. } = &object.metadata;
        let unchanged = Preconditions::unchanged(uid, resource_version);
        let write = self.cache.begin(&key.namespace, &key.name);
        match client.delete::<Endpoints>(&key.namespace, &key.name, Some(unchanged)).await {
            Ok(Deleted::Removed) => {
                if let Some(cached) = cached {
                    write.deleted(cached);
                }
                Ok(Outcome::Written)
            }
            Ok(Deleted::Pending(answer)) => {
                write.written(answer);
                Ok(Outcome::Written)
            }
            // Another client deleted it. The watch will deliver that.
            Err(error) if error.is_not_found() => {
                write.failed(&error);
                Ok(Outcome::Unchanged)
            }
            Err(error) => {
                match cached {
                    Some(cached) if error.is_conflict() => write.conflict(cached),
                    _ => write.failed(&error),
                }
                Err(error)
            }
        }
    }

    /// Emits an event about Pods that are left out because of their addresses (EC-50), if they have changed.
    fn report_unusable(&self, key: &ObjectKey, service: &Service, pods: &[Arc<Pod>]) {
        let message = self.legacy.unusable_addresses(service, pods).map(|it| it.message("Endpoints"));
        if self.unusable.is_new(key, message.as_ref())
            && let Some(message) = message
        {
            let service = ObjectReference::to(service);
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

    async fn create(&self, key: &ObjectKey, endpoints: &Endpoints) -> Result<Outcome, Error> {
        let write = self.cache.begin(&key.namespace, &key.name);
        let client = self.client.client().with_priority(|| priority(None, Some(endpoints)));
        match client.create(endpoints).await {
            Ok(answer) => {
                let created = answer.clone();
                write.written(answer);
                // After it is in the cache, so that the handler of the Service sees it there, or this its record.
                self.superfluous.created(&created);
                Ok(Outcome::Written)
            }
            // Not an error (EP-20): the object would be deleted with the namespace.
            Err(error) if error.is_namespace_terminating() => {
                write.failed(&error);
                Ok(Outcome::Unchanged)
            }
            Err(error) => {
                write.failed(&error);
                // As upstream, the event refers to an object without UID and, before Kubernetes 1.38, without namespace
                // (EV-1).
                let namespace = if self.namespaced_create_events { key.namespace.to_string() } else { String::new() };
                let name = key.name.to_string();
                let involved = ObjectReference { namespace, name, ..ObjectReference::of("v1", "Endpoints") };
                let message = format!("Failed to create endpoint for service {key}: {}", error.display_full());
                self.recorder.event(&involved, EventType::Warning, "FailedToCreateEndpoint", message);
                Err(error)
            }
        }
    }

    async fn update(
        &self,
        key: &ObjectKey,
        endpoints: &Endpoints,
        current: Option<&Endpoints>,
    ) -> Result<Outcome, Error> {
        let write = self.cache.begin(&key.namespace, &key.name);
        let client = self.client.client().with_priority(|| priority(current, Some(endpoints)));
        match client.update(endpoints).await {
            Ok(answer) => {
                #[cfg(feature = "defects")]
                self.stale.updated(endpoints);
                write.written(answer);
                Ok(Outcome::Written)
            }
            Err(error) => {
                if error.is_conflict() || error.is_not_found() {
                    write.conflict(endpoints);
                } else {
                    write.failed(&error);
                }
                let message = format!("Failed to update endpoint {key}: {}", error.display_full());
                self.recorder.event(
                    &ObjectReference::to(endpoints),
                    EventType::Warning,
                    "FailedToUpdateEndpoint",
                    message,
                );
                Err(error)
            }
        }
    }
}

//! The sync of one Service.

use std::sync::{Arc, Mutex};

use kube_controller::{Outcome, locked};
use kube_controller_client::events::{EventRecorder, EventType, ObjectReference};
use kube_controller_client::{Client, Deleted, Error, Preconditions};
use kube_endpoint_model::well_known::TOLERATE_UNREADY_ANNOTATION;
use kube_endpoint_model::{Endpoints, ObjectKey, ObjectMeta, Pod, PodIndex, Service, ServiceIndex, TriggerTimes};
use kube_informer::{Lister, WriteThrough};

use super::unanswered::Unanswered;
use crate::legacy::Legacy;
use crate::plan::{Change, plan};

/// State that the workers share.
pub(super) struct Reconciler {
    pub(super) services: Lister<Service, ServiceIndex>,
    pub(super) pods: Lister<Pod, PodIndex>,
    pub(super) endpoints: Lister<Endpoints>,
    /// The cache behind `endpoints`, which takes in own writes.
    pub(super) cache: WriteThrough<Endpoints>,
    pub(super) client: Client,
    pub(super) recorder: EventRecorder,
    pub(super) legacy: Legacy,
    pub(super) trigger_times: Mutex<TriggerTimes>,
    pub(super) unanswered: Arc<Unanswered>,
    #[cfg(feature = "defects")]
    pub(super) stale: super::stale::StaleEndpoints,
    #[cfg(feature = "defects")]
    pub(super) keys: kube_controller::Enqueuer<ObjectKey>,
}

/// Why a sync failed.
#[derive(Debug, thiserror::Error)]
#[error("failed to {verb} Endpoints {key}: {source}")]
pub(super) struct SyncError {
    verb: &'static str,
    key: ObjectKey,
    source: Error,
}

impl Reconciler {
    /// Brings the Endpoints object of a Service into line with its Pods (EP-1, EP-3 to EP-22).
    pub(super) async fn sync(&self, key: &ObjectKey) -> Result<Outcome, SyncError> {
        let failed = |verb| move |source| SyncError { verb, key: key.clone(), source };
        let Some(service) = self.services.get(&key.namespace, &key.name) else {
            let current = self.endpoints.get(&key.namespace, &key.name);
            let deleted = self.delete(key, current.as_deref()).await;
            let outcome = self.unanswered.note(key, deleted).map_err(failed("delete"))?;
            locked(&self.trigger_times).forget(key);
            #[cfg(feature = "defects")]
            self.stale.forget(key);
            return Ok(outcome);
        };
        let selector = match &service.selector {
            Some(selector) if !service.external_name => selector,
            // An object that is there is left alone (EC-24).
            _ => return Ok(Outcome::Unchanged),
        };

        if let Some(value) = self.legacy.malformed_tolerance(&service) {
            self.tell_malformed_tolerance(&service, value);
        }
        let pods = self.pods.read(|_, index| index.select(&key.namespace, selector));
        let current = self.endpoints.get(&key.namespace, &key.name);
        #[cfg(feature = "defects")]
        if let Some(current) = &current
            && self.stale.is_stale(current)
        {
            // Upstream fails the sync; the key is tried again in either case.
            self.keys.add_again(key.clone(), std::time::Duration::from_secs(1));
            return Ok(Outcome::Unchanged);
        }
        let trigger_time = locked(&self.trigger_times).observe(key, &service, &pods);
        match plan(&service, &pods, current.as_deref(), trigger_time, self.legacy) {
            None => Ok(Outcome::Unchanged),
            Some(Change::Create(endpoints)) => {
                self.unanswered.note(key, self.create(key, &endpoints).await).map_err(failed("create"))
            }
            Some(Change::Update(endpoints)) => {
                self.unanswered.note(key, self.update(key, &endpoints).await).map_err(failed("update"))
            }
        }
    }

    /// Deletes the object; [`Outcome::Unchanged`] if there was none.
    ///
    /// Upstream sets no condition: its late request deletes what is there by then. Endpoints that are not in the cache are
    /// deleted by name as there, since they may be about to appear in it.
    async fn delete(&self, key: &ObjectKey, current: Option<&Endpoints>) -> Result<Outcome, Error> {
        let unchanged = current.map(|it| {
            let ObjectMeta { uid, resource_version, .. } = &it.metadata;
            Preconditions::unchanged(uid, resource_version)
        });
        let write = self.cache.begin(&key.namespace, &key.name);
        match self.client.delete::<Endpoints>(&key.namespace, &key.name, unchanged).await {
            Ok(Deleted::Gone) => {
                if let Some(current) = current {
                    write.deleted(current);
                }
                Ok(Outcome::Written)
            }
            Ok(Deleted::Pending(answer)) => {
                write.written(answer);
                Ok(Outcome::Written)
            }
            // Someone else deleted it, which the watch will show.
            Err(error) if error.is_not_found() => Ok(Outcome::Unchanged),
            Err(error) => {
                if error.is_conflict()
                    && let Some(current) = current
                {
                    write.refused(current);
                }
                Err(error)
            }
        }
    }

    fn tell_malformed_tolerance(&self, service: &Service, value: &str) {
        let message = format!("Annotation {TOLERATE_UNREADY_ANNOTATION} is ignored: {value:?} is no boolean");
        self.recorder.event(
            &ObjectReference::to(service),
            EventType::Warning,
            "InvalidTolerateUnreadyEndpoints",
            message,
        );
    }

    async fn create(&self, key: &ObjectKey, endpoints: &Endpoints) -> Result<Outcome, Error> {
        let write = self.cache.begin(&key.namespace, &key.name);
        match self.client.create(endpoints).await {
            Ok(answer) => {
                write.written(answer);
                Ok(Outcome::Written)
            }
            // Nothing can be created there any more, and nothing has to be.
            Err(error) if error.is_namespace_terminating() => Ok(Outcome::Unchanged),
            Err(error) => {
                // Upstream refers to an object that has neither namespace nor identity yet (EV-1).
                let about = ObjectReference { name: key.name.to_string(), ..ObjectReference::of("v1", "Endpoints") };
                let message = format!("Failed to create endpoint for service {key}: {error}");
                self.recorder.event(&about, EventType::Warning, "FailedToCreateEndpoint", message);
                Err(error)
            }
        }
    }

    async fn update(&self, key: &ObjectKey, endpoints: &Endpoints) -> Result<Outcome, Error> {
        let write = self.cache.begin(&key.namespace, &key.name);
        match self.client.update(endpoints).await {
            Ok(answer) => {
                #[cfg(feature = "defects")]
                self.stale.updated(endpoints);
                write.written(answer);
                Ok(Outcome::Written)
            }
            Err(error) => {
                if error.is_conflict() || error.is_not_found() {
                    write.refused(endpoints);
                }
                let message = format!("Failed to update endpoint {key}: {error}");
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

//! The sync of one Service.

use std::sync::{Arc, Mutex};

use kube_controller::{ControllerMetrics, Freshness, Next, Propagation, Turn, locked};
use kube_controller_client::events::{EventRecorder, EventType, ObjectReference};
use kube_controller_client::{Client, Error, Preconditions};
use kube_endpoint_model::well_known::TOLERATE_UNREADY_ANNOTATION;
use kube_endpoint_model::{
    Cause, Endpoints, ObjectKey, ObjectMeta, Pod, PodIndex, Service, ServiceIndex, TriggerTimes,
};
use kube_informer::Lister;
use tokio::time::Instant;

use crate::legacy::Legacy;
use crate::plan::{Change, plan};
use crate::stale::ReplacedVersions;

/// What the workers share.
pub(super) struct Reconciler {
    pub(super) services: Lister<Service, ServiceIndex>,
    pub(super) pods: Lister<Pod, PodIndex>,
    pub(super) endpoints: Lister<Endpoints>,
    pub(super) client: Client,
    pub(super) recorder: EventRecorder,
    pub(super) legacy: Legacy,
    pub(super) replaced: Arc<Mutex<ReplacedVersions>>,
    pub(super) trigger_times: Mutex<TriggerTimes>,
    pub(super) metrics: Arc<dyn ControllerMetrics>,
    pub(super) propagation: Propagation<ObjectKey, Cause>,
}

/// Why a sync failed.
#[derive(Debug, thiserror::Error)]
#[error("failed to {verb} Endpoints {key}: {source}")]
pub(super) struct SyncError {
    verb: &'static str,
    key: ObjectKey,
    source: Error,
}

/// The object there is, as far as it can be known.
enum Current {
    Known(Option<Arc<Endpoints>>),
    /// The cache is behind a write: come back.
    Later(Next),
}

impl Reconciler {
    /// Brings the Endpoints object of a Service into line with its Pods (EP-1 to EP-22).
    pub(super) async fn sync(&self, key: &ObjectKey) -> Result<Next, SyncError> {
        let mut turn = self.propagation.take(key);
        let result = self.try_sync(key, &mut turn).await;
        turn.end(&result);
        result
    }

    async fn try_sync(&self, key: &ObjectKey, turn: &mut Turn<'_, ObjectKey, Cause>) -> Result<Next, SyncError> {
        let failed = |verb| move |source| SyncError { verb, key: key.clone(), source };
        let Some(service) = self.services.get(&key.namespace, &key.name) else {
            let current = match self.current(key).await.map_err(failed("get"))? {
                Current::Known(current) => current,
                Current::Later(next) => return Ok(next),
            };
            // Upstream sets no condition: its late request deletes what is there by then. Endpoints that are not in the cache are
            // deleted by name as there, in case they are on their way into it.
            let unchanged = current.map(|it| {
                let ObjectMeta { uid, resource_version, .. } = &it.metadata;
                Preconditions::unchanged(uid, resource_version)
            });
            turn.writing();
            let deleted = self.client.delete::<Endpoints>(&key.namespace, &key.name, unchanged).await;
            match deleted {
                Ok(()) => {}
                Err(error) if error.is_not_found() => turn.wrote_nothing(),
                Err(error) => return Err(failed("delete")(error)),
            }
            locked(&self.trigger_times).forget(key);
            locked(&self.replaced).forget(key);
            return Ok(Next::Done);
        };
        let selector = match &service.selector {
            Some(selector) if !service.external_name => selector,
            // An object that is there is left alone (EC-24).
            _ => return Ok(Next::Done),
        };

        if let Some(value) = self.legacy.malformed_tolerance(&service) {
            self.tell_malformed_tolerance(&service, value);
        }
        let pods = self.pods.read(|_, index| index.select(&key.namespace, selector));
        let current = match self.current(key).await.map_err(failed("get"))? {
            Current::Known(current) => current,
            Current::Later(next) => return Ok(next),
        };
        let trigger_time = locked(&self.trigger_times).observe(key, &service, &pods);
        let change = plan(&service, &pods, current.as_deref(), trigger_time, self.legacy);
        if change.is_some() {
            turn.writing();
        }
        match change {
            None => {}
            Some(Change::Create(endpoints)) => self.create(key, &endpoints).await.map_err(failed("create"))?,
            Some(Change::Update(endpoints)) => self.update(key, &endpoints).await.map_err(failed("update"))?,
        }
        Ok(Next::Done)
    }

    async fn current(&self, key: &ObjectKey) -> Result<Current, Error> {
        let now = Instant::now().into_std();
        let look = || {
            let current = self.endpoints.get(&key.namespace, &key.name);
            let version = current.as_ref().map(|it| it.metadata.resource_version.clone()).unwrap_or_default();
            let freshness = locked(&self.replaced).check(key, &version, now);
            (current, freshness)
        };
        let (mut current, mut freshness) = look();
        if matches!(freshness, Freshness::Stale { .. }) {
            // The event that would have woken this Service may have come just before it was known to wait.
            (current, freshness) = look();
        }
        match freshness {
            Freshness::Fresh => Ok(Current::Known(current)),
            Freshness::Stale { wait } => Ok(Current::Later(Next::After(wait))),
            Freshness::Overdue => {
                tracing::warn!(endpoints = %key, "Endpoints informer cache stays out of date, reading from the server");
                self.metrics.repaired();
                let live = match self.client.get::<Endpoints>(&key.namespace, &key.name).await {
                    Ok(live) => Some(Arc::new(live)),
                    Err(error) if error.is_not_found() => None,
                    Err(error) => return Err(error),
                };
                locked(&self.replaced).forget(key);
                Ok(Current::Known(live))
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

    async fn create(&self, key: &ObjectKey, endpoints: &Endpoints) -> Result<(), Error> {
        match self.client.create(endpoints).await {
            Ok(_) => Ok(()),
            // Nothing can be created there any more, and nothing has to be.
            Err(error) if error.is_namespace_terminating() => Ok(()),
            Err(error) => {
                // Upstream refers to an object that has neither namespace nor identity yet (EV-1).
                let about = ObjectReference { name: key.name.to_string(), ..ObjectReference::of("v1", "Endpoints") };
                let message = format!("Failed to create endpoint for service {key}: {error}");
                self.recorder.event(&about, EventType::Warning, "FailedToCreateEndpoint", message);
                Err(error)
            }
        }
    }

    async fn update(&self, key: &ObjectKey, endpoints: &Endpoints) -> Result<(), Error> {
        match self.client.update(endpoints).await {
            Ok(written) => {
                let before = &endpoints.metadata.resource_version;
                if *before != *written.resource_version.as_str() {
                    locked(&self.replaced).replaced(key, before.clone());
                }
                Ok(())
            }
            Err(error) => {
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

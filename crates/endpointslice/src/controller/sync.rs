//! Sync of one Service.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use kube_controller::{Enqueuer, FailureCause, Outcome, locked};
use kube_controller_client::events::{EventType, LastMessages};
use kube_endpoint_model::membership::{addresses, exclusion};
use kube_endpoint_model::{
    Cluster as _, IpFamily, ObjectKey, Pod, SelectingService, Service, TriggerTimes, UnusableAddresses,
};
use kube_informer::WITHHELD_INTERVAL;
use kube_wire::Decode as _;

use super::caches::Caches;
use crate::apply::{ApplyError, join};
use crate::desired::{MissingNode, family};
use crate::input::TriggerTime;
use crate::metrics::{SliceMetrics, SyncResult};
use crate::owner::Owner;
use crate::reconciler::Reconciler;
use crate::service_inputs::ServiceInputs;

/// State that the workers share.
pub(super) struct Syncs {
    pub(super) caches: Caches,
    pub(super) reconciler: Reconciler,
    pub(super) metrics: Arc<dyn SliceMetrics>,
    /// Delay of the second sync of a Service after its slices were written.
    pub(super) echo_delay: Duration,
    pub(super) trigger_times: Mutex<TriggerTimes>,
    /// Messages about Pods that are left out because of their addresses.
    pub(super) unusable: LastMessages,
    pub(super) keys: Enqueuer<ObjectKey>,
}

/// Error of a sync.
#[derive(Debug, thiserror::Error)]
pub(super) enum SyncError {
    /// Writes failed, or Pods were left out because their Nodes are not in the cache.
    #[error("{}", join(.0))]
    Reconcile(Vec<Failure>),
}

#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    #[error(transparent)]
    Apply(#[from] ApplyError),
    #[error("skipping Pod {} for Service {service}: Node {} Not Found", missing.pod, missing.node)]
    MissingNode { service: ObjectKey, missing: MissingNode },
}

/// Returns how long a sync with its writes takes in the controller of Go, fitted to measured writes (`docs/src/scale.md`).
fn upstream_sync(pods: usize, writes: usize) -> Duration {
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let pods = Duration::from_micros(45).saturating_mul(count(pods));
    (Duration::from_millis(9) + pods).saturating_add(Duration::from_micros(2_500).saturating_mul(count(writes)))
}

/// Returns what a sync failed because of.
pub(super) fn failure_cause(error: &(dyn std::error::Error + 'static)) -> FailureCause {
    let Some(SyncError::Reconcile(failures)) = error.downcast_ref() else { return FailureCause::Key };
    let cause = |failure: &Failure| match failure {
        Failure::Apply(error) => error.failure_cause(),
        Failure::MissingNode { .. } => FailureCause::Key,
    };
    failures.iter().map(cause).max().unwrap_or_default()
}

impl Syncs {
    /// Recomputes the CPU ratios of the zones, and returns the Services to sync (ES-H10).
    pub(super) fn nodes_changed(&self) -> Vec<ObjectKey> {
        let nodes = self.caches.nodes.list();
        self.reconciler.set_nodes(nodes.iter().map(|node| &**node))
    }

    /// Reconciles the slices of a Service with its Pods (ES-1 to ES-5, ES-7), and counts the result (SY-3).
    pub(super) async fn sync(&self, key: &ObjectKey) -> Result<Outcome, SyncError> {
        let result = self.try_sync(key).await;
        self.metrics.synced(if result.is_ok() { SyncResult::Success } else { SyncResult::Error });
        result
    }

    async fn try_sync(&self, key: &ObjectKey) -> Result<Outcome, SyncError> {
        let service = match self.caches.selecting_service(key) {
            SelectingService::Selects(service) => service,
            // Existing slices are kept (EC-24).
            SelectingService::Ignored => return Ok(Outcome::Unchanged),
            SelectingService::Withheld => {
                self.keys.requeue(key.clone(), WITHHELD_INTERVAL);
                return Ok(Outcome::Unchanged);
            }
            SelectingService::Missing => {
                // The garbage collector deletes the slices through their owner references (ES-1).
                locked(&self.trigger_times).forget(key);
                self.unusable.forget(key);
                self.reconciler.forget(key);
                return Ok(Outcome::Unchanged);
            }
        };
        let owner = Owner::service(&service);
        if self.reconciler.awaits_deletion(&Service::RESOURCE, &owner, key, &self.keys, self.echo_delay).await {
            return Ok(Outcome::Unchanged);
        }

        let inputs = ServiceInputs::read(&self.caches, Arc::clone(&service));
        let trigger_time = locked(&self.trigger_times).observe(key, &service, inputs.pods());
        let desired = inputs.desired(&self.caches, |_| {});
        self.report_unusable(&owner, key, &service, inputs.pods());
        let input = inputs.input(desired.groups).trigger_time(TriggerTime::Write(trigger_time));
        let policy = Some(inputs.policy());
        let applied = match inputs.kept() {
            None => self.reconciler.reconcile(input, policy).await,
            Some(is_kept) => {
                let kept = input.keep(|endpoint| endpoint.target_ref.as_ref().is_some_and(&is_kept));
                self.reconciler.reconcile(kept, policy).await
            }
        };
        if inputs.is_withheld() {
            self.keys.requeue(key.clone(), WITHHELD_INTERVAL);
        }

        let missing = desired.missing_nodes.into_iter();
        let missing = missing.map(|missing| Failure::MissingNode { service: key.clone(), missing });
        let mut failures: Vec<Failure> = missing.collect();
        match applied {
            // Upstream syncs again if the watch delivers its write before the response, and then picks up changes that
            // enqueue nothing by themselves (EC-2). Here a sync that wrote is always followed by another (ES-7).
            Ok(done) if failures.is_empty() => {
                self.keys.set_interval(key, upstream_sync(inputs.pods().len(), done.writes));
                if done.writes == 0 {
                    return Ok(Outcome::Unchanged);
                }
                self.keys.requeue(key.clone(), self.echo_delay);
                return Ok(Outcome::Written);
            }
            Ok(_) => {}
            Err(error) => failures.push(Failure::Apply(error)),
        }
        let error = SyncError::Reconcile(failures);
        let message = format!("Error updating Endpoint Slices for Service {key}: {error}");
        self.reconciler.events().event(&owner, EventType::Warning, "FailedToUpdateEndpointSlices", message);
        Err(error)
    }

    /// Emits an event about Pods that are left out because of their addresses (EC-50), if they have changed.
    fn report_unusable(&self, owner: &Owner, key: &ObjectKey, service: &Service, pods: &[Arc<Pod>]) {
        let families: Vec<IpFamily> = service.address_types().iter().filter_map(family).collect();
        let of_a_family = |pod: &Pod| families.iter().find_map(|family| addresses(pod, *family).err());
        let reason = |pod: &Pod| exclusion(pod, true).or_else(|| of_a_family(pod));
        let unusable = UnusableAddresses::of(pods.iter().map(|pod| &**pod), reason);
        let message = unusable.map(|it| it.message("EndpointSlices"));
        if self.unusable.is_new(key, message.as_ref())
            && let Some(message) = message
        {
            self.reconciler.events().event(owner, EventType::Warning, UnusableAddresses::EVENT, message);
        }
    }
}

//! Sync of one Service.

use std::sync::Arc;
use std::time::Duration;

use kube_controller::{Enqueuer, FailureCause, Outcome};
use kube_controller_client::events::EventType;
use kube_endpoint_model::{Cluster as _, Listers, ObjectKey, SelectingService, Service, WarningEvent};
use kube_informer::{Lister, WITHHELD_INTERVAL};
use kube_topology::HintPolicy;
use kube_wire::Decode as _;

use crate::apply::{ApplyError, join};
use crate::desired::MissingNode;
use crate::metrics::SliceMetrics;
use crate::owner::Owner;
use crate::reconciler::Reconciler;
use crate::service_plan::{HintState, service_plan};

/// State that the workers share.
pub(super) struct Syncs {
    pub(super) caches: Listers,
    pub(super) reconciler: Reconciler,
    pub(super) metrics: Arc<dyn SliceMetrics>,
    /// Delay of the second sync of a Service after its slices were written.
    pub(super) echo_delay: Duration,
    pub(super) keys: Enqueuer<ObjectKey>,
}

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
        let nodes = self.caches.nodes.as_ref().map(Lister::list).unwrap_or_default();
        self.reconciler.set_nodes(nodes.iter().map(|node| &**node))
    }

    /// Reconciles the slices of a Service with its Pods (ES-1 to ES-5, ES-7), and counts the result (SY-3).
    pub(super) async fn sync(&self, key: &ObjectKey) -> Result<Outcome, SyncError> {
        let result = self.try_sync(key).await;
        self.metrics.synced(result.is_ok());
        result
    }

    async fn try_sync(&self, key: &ObjectKey) -> Result<Outcome, SyncError> {
        // Before the plan, which would be out of date afterwards, and of which nothing may be remembered if it is not sent.
        if self.keys.is_contested(key)
            && let SelectingService::Selects(service) = self.caches.selecting_service(key)
        {
            let (resource, owner) = (&Service::RESOURCE, Owner::service(&service));
            if self.reconciler.awaits_deletion(resource, &owner, key, &self.keys, self.echo_delay).await {
                return Ok(Outcome::Unchanged);
            }
        }
        let mut state = self.reconciler.states.take(key);
        let (ratios, enabled) = self.reconciler.hint_state(key);
        let hints = HintState { ratios: &ratios, enabled };
        let planned = service_plan(&self.caches, key, &mut state.service, self.reconciler.options(), hints, |_| {});
        if planned.is_withheld {
            self.keys.requeue(key.clone(), WITHHELD_INTERVAL);
        }
        let Some(slices) = planned.slices else {
            drop(state);
            self.keys.set_interval(key, Duration::ZERO);
            if planned.service == SelectingService::Missing {
                self.reconciler.forget(key);
            }
            return Ok(Outcome::Unchanged);
        };
        let (owner, policy) = (slices.owner.clone(), slices.policy);
        for WarningEvent { reason, message } in planned.events {
            self.reconciler.events().event(&owner, EventType::Warning, reason, message);
        }
        let applied = self.reconciler.execute_with(&mut state, slices).await;

        let missing = planned.missing_nodes.into_iter();
        let missing = missing.map(|missing| Failure::MissingNode { service: key.clone(), missing });
        let mut failures: Vec<Failure> = missing.collect();
        match applied {
            // Upstream syncs again if the watch delivers its write before the response, and then picks up changes that
            // enqueue nothing by themselves (EC-2). Here a sync that wrote is always followed by another (ES-7).
            Ok(done) if failures.is_empty() => {
                self.keys.set_interval(key, upstream_sync(planned.pods.len(), done.writes));
                if done.writes == 0 {
                    if let Some(delay) = done.retry_after {
                        self.keys.requeue(key.clone(), delay);
                    }
                    // Nodes that changed before the allocation of the plan was recorded have not been compared with it.
                    if policy == Some(HintPolicy::Topology) && self.reconciler.hint_state(key).0 != ratios {
                        self.keys.requeue(key.clone(), self.echo_delay);
                    }
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
}

#[cfg(test)]
mod tests;

//! Sync of one Service.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use kube_controller::{Enqueuer, FailureCause, Outcome, locked};
use kube_controller_client::events::{EventType, LastMessages};
use kube_endpoint_model::membership::{addresses, exclusion};
use kube_endpoint_model::well_known::SLICE_CONTROLLER;
use kube_endpoint_model::{
    EndpointSlice, IpFamily, Node, ObjectKey, Pod, PodIndex, Service, ServiceIndex, SliceIndex, TargetRef,
    TriggerTimes, UnusableAddresses,
};
use kube_informer::{Lister, WITHHELD_INTERVAL};
use kube_topology::HintPolicy;
use kube_wire::Decode as _;

use super::withheld::Withheld;
use crate::apply::{ApplyError, join};
use crate::desired::{MissingNode, desired_endpoints_from_service_pods, family};
use crate::input::{Input, TriggerTime};
use crate::metrics::{SliceMetrics, SyncResult};
use crate::owner::Owner;
use crate::reconciler::Reconciler;
use crate::slice_labels::SliceLabels;

/// State that the workers share.
pub(super) struct Syncs {
    pub(super) services: Lister<Service, ServiceIndex>,
    pub(super) pods: Lister<Pod, PodIndex>,
    pub(super) nodes: Lister<Node>,
    pub(super) slices: Lister<EndpointSlice, SliceIndex>,
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
        let nodes = self.nodes.list();
        self.reconciler.set_nodes(nodes.iter().map(|node| &**node))
    }

    /// Reconciles the slices of a Service with its Pods (ES-1 to ES-5, ES-7), and counts the result (SY-3).
    pub(super) async fn sync(&self, key: &ObjectKey) -> Result<Outcome, SyncError> {
        let result = self.try_sync(key).await;
        self.metrics.synced(if result.is_ok() { SyncResult::Success } else { SyncResult::Error });
        result
    }

    /// Returns the Pods and Nodes of a Service that the caches lack because of wrong lists.
    fn withheld(&self, pods: &[Arc<Pod>], existing: &[Arc<EndpointSlice>]) -> Withheld {
        if !self.pods.withholds_any() && !self.nodes.withholds_any() {
            return Withheld::default();
        }
        let is_withheld_pod = |namespace: &str, name: &str| self.pods.is_withheld(namespace, name);
        Withheld::of(pods, existing, is_withheld_pod, |node| self.nodes.is_withheld("", node))
    }

    async fn try_sync(&self, key: &ObjectKey) -> Result<Outcome, SyncError> {
        let Some(service) = self.services.get(&key.namespace, &key.name) else {
            if self.services.is_withheld(&key.namespace, &key.name) {
                self.keys.add_again(key.clone(), WITHHELD_INTERVAL);
                return Ok(Outcome::Unchanged);
            }
            // The garbage collector deletes the slices through their owner references (ES-1).
            locked(&self.trigger_times).forget(key);
            self.unusable.forget(key);
            self.reconciler.forget(key);
            return Ok(Outcome::Unchanged);
        };
        let selector = match &service.selector {
            Some(selector) if !service.external_name => selector,
            // Existing slices are kept (EC-24).
            _ => return Ok(Outcome::Unchanged),
        };

        let mut existing =
            self.slices.read(|_, index| index.managed_slices(&key.namespace, &key.name, SLICE_CONTROLLER));
        // A slice that is being deleted does not count (ES-5).
        existing.retain(|slice| slice.metadata.deletion_timestamp.is_none());

        let owner = Owner::service(&service);
        if self.reconciler.awaits_deletion(&Service::RESOURCE, &owner, key, &self.keys, self.echo_delay).await {
            return Ok(Outcome::Unchanged);
        }

        let pods = self.pods.read(|_, index| index.select(&key.namespace, selector));
        let trigger_time = locked(&self.trigger_times).observe(key, &service, &pods);
        let withheld = self.withheld(&pods, &existing);
        let desired = self.nodes.read(|nodes, ()| {
            let node = |name: &str| nodes.get("", name).or_else(|| withheld.nodes.get(name)).cloned();
            desired_endpoints_from_service_pods(&service, &pods, node)
        });
        self.report_unusable(&owner, key, &service, &pods);
        let address_types = service.address_types();
        let labels = SliceLabels::for_service(&service);
        let input = Input::new(&owner, &address_types, desired.groups, &existing)
            .labels(&labels)
            .trigger_time(TriggerTime::Write(trigger_time));
        let policy = Some(HintPolicy::of(&service));
        let applied = if withheld.pods.is_empty() {
            self.reconciler.reconcile(input, policy).await
        } else {
            let is_withheld = |target: &TargetRef| withheld.pods.contains(target);
            let kept = input.keep(|endpoint| endpoint.target_ref.as_ref().is_some_and(is_withheld));
            self.reconciler.reconcile(kept, policy).await
        };
        if !withheld.is_empty() {
            self.keys.add_again(key.clone(), WITHHELD_INTERVAL);
        }

        let missing = desired.missing_nodes.into_iter();
        let missing = missing.map(|missing| Failure::MissingNode { service: key.clone(), missing });
        let mut failures: Vec<Failure> = missing.collect();
        match applied {
            // Upstream syncs again if the watch delivers its write before the response, and then picks up changes that
            // enqueue nothing by themselves (EC-2). Here a sync that wrote is always followed by another (ES-7).
            Ok(done) if failures.is_empty() => {
                self.keys.set_interval(key, upstream_sync(pods.len(), done.writes));
                if done.writes == 0 {
                    return Ok(Outcome::Unchanged);
                }
                self.keys.add_again(key.clone(), self.echo_delay);
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

//! The sync of one Service.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::time::Duration;

use kube_controller::{Next, locked};
use kube_controller_client::Client;
use kube_controller_client::events::{EventRecorder, EventType, ObjectReference};
use kube_endpoint_model::well_known::SLICE_CONTROLLER;
use kube_endpoint_model::{
    EndpointSlice, Node, ObjectKey, Pod, PodIndex, Service, ServiceIndex, SliceIndex, TriggerTimes,
};
use kube_informer::Lister;
use kube_topology::{HintPolicy, TopologyCache};
use tokio::time::Instant;

use crate::apply::{ApplyError, apply, join};
use crate::desired::{MissingNode, desired_endpoints_from_service_pods};
use crate::fresh::{LiveReadError, Slices, fresh_slices};
use crate::input::{Hints, Input, ServiceHints, TriggerTime};
use crate::options::Options;
use crate::owner::Owner;
use crate::plan::{Plan, plan};
use crate::slice_labels::SliceLabels;
use crate::tracker::SliceTracker;

/// What the workers share.
pub(super) struct Reconciler {
    pub(super) services: Lister<Service, ServiceIndex>,
    pub(super) pods: Lister<Pod, PodIndex>,
    pub(super) nodes: Lister<Node>,
    pub(super) slices: Lister<EndpointSlice, SliceIndex>,
    pub(super) client: Client,
    pub(super) recorder: EventRecorder,
    pub(super) options: Options,
    /// When a Service is looked at again after its slices were written.
    pub(super) echo_delay: Duration,
    pub(super) tracker: std::sync::Arc<SliceTracker>,
    pub(super) trigger_times: Mutex<TriggerTimes>,
    pub(super) topology: Mutex<TopologyCache>,
}

/// Why a sync failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum SyncError {
    /// Writes failed, or Pods are on Nodes that are not known; what could be written was.
    #[error("{}", join(.0))]
    Reconcile(Vec<Failure>),
    /// The cache is out of date and the server could not be read.
    #[error(transparent)]
    LiveRead(#[from] LiveReadError),
}

#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    #[error(transparent)]
    Apply(#[from] ApplyError),
    #[error("skipping Pod {} for Service {service}: Node {} Not Found", missing.pod, missing.node)]
    MissingNode { service: ObjectKey, missing: MissingNode },
}

/// A slice that is being deleted does not count (ES-5).
fn counts(slice: &EndpointSlice) -> bool {
    slice.metadata.deletion_timestamp.is_none()
}

impl Reconciler {
    /// Works the shares of the zones out anew; returns the Services that are overloaded now (ES-H10).
    pub(super) fn nodes_changed(&self) -> Vec<ObjectKey> {
        let nodes = self.nodes.list();
        let mut topology = locked(&self.topology);
        topology.set_nodes(nodes.iter().map(|node| &**node));
        topology.overloaded_services()
    }

    /// Brings the slices of a Service into line with its Pods (ES-1 to ES-7).
    pub(super) async fn sync(&self, key: &ObjectKey) -> Result<Next, SyncError> {
        let Some(service) = self.services.get(&key.namespace, &key.name) else {
            // Its slices go with it: they are owned, and the garbage collector removes them.
            locked(&self.trigger_times).forget(key);
            locked(&self.topology).remove_service(key);
            self.tracker.forget(key);
            return Ok(Next::Done);
        };
        let selector = match &service.selector {
            Some(selector) if !service.external_name => selector,
            // Slices that are there are left alone (EC-24).
            _ => return Ok(Next::Done),
        };

        let read = || {
            let managed = |index: &SliceIndex| index.managed_slices(&key.namespace, &key.name, SLICE_CONTROLLER);
            let mut slices = self.slices.read(|_, index| managed(index));
            slices.retain(|slice| counts(slice));
            slices
        };
        let now = Instant::now().into_std();
        let slices = fresh_slices(&self.client, &self.tracker, key, SLICE_CONTROLLER, read, counts, now).await?;
        let existing = match slices {
            Slices::Fresh(slices) => slices,
            Slices::Stale(wait) => return Ok(Next::After(wait)),
        };

        let pods = self.pods.read(|_, index| index.select(&key.namespace, selector));
        let trigger_time = locked(&self.trigger_times).observe(key, &service, &pods);
        let desired = self.nodes.read(|nodes, ()| {
            desired_endpoints_from_service_pods(&service, &pods, |name| nodes.get("", name).cloned())
        });
        let policy = HintPolicy::of(&service);
        let (ratios, enabled) = {
            let topology = locked(&self.topology);
            (topology.ratios(), topology.enabled_types(key).into_iter().collect::<BTreeSet<_>>())
        };
        let (owner, address_types) = (Owner::service(&service), service.address_types());
        let labels = SliceLabels::for_service(&service);
        let input = Input::new(&owner, &address_types, desired.groups, &existing)
            .labels(&labels)
            .trigger_time(TriggerTime::Write(trigger_time))
            .hints(Hints::Decide(ServiceHints { policy, ratios: &ratios, enabled }));
        let plan = plan(input, &self.options);
        self.remember_hints(key, policy, &plan);

        let applied = apply(&self.client, key, &plan, &self.tracker).await;
        for event in plan.types.iter().flat_map(|plan| &plan.events) {
            let event_type = if event.normal { EventType::Normal } else { EventType::Warning };
            self.recorder.event(&reference(&service), event_type, event.reason, event.message.clone());
        }

        let missing = desired.missing_nodes.into_iter();
        let missing = missing.map(|missing| Failure::MissingNode { service: key.clone(), missing });
        let failures: Vec<Failure> = missing.chain(applied.err().map(Failure::Apply)).collect();
        if failures.is_empty() {
            // Upstream looks again when its own write comes back through the watch before its answer does, and then sees
            // what changed meanwhile without waking anybody (EC-2). Here that does not depend on who is faster.
            return Ok(if plan.is_empty() { Next::Done } else { Next::Again(self.echo_delay) });
        }
        let error = SyncError::Reconcile(failures);
        let message = format!("Error updating Endpoint Slices for Service {key}: {error}");
        self.recorder.event(&reference(&service), EventType::Warning, "FailedToUpdateEndpointSlices", message);
        Err(error)
    }

    /// Tells the topology cache how many endpoints are hinted to each zone.
    fn remember_hints(&self, key: &ObjectKey, policy: HintPolicy, plan: &Plan) {
        let mut topology = locked(&self.topology);
        if policy != HintPolicy::Topology {
            topology.remove_service(key);
            return;
        }
        for slice in &plan.unsupported {
            topology.record(key, &slice.address_type, None);
        }
        for plan in &plan.types {
            topology.record(key, &plan.address_type, plan.hints.clone());
        }
    }
}

fn reference(service: &Service) -> ObjectReference {
    ObjectReference {
        namespace: service.namespace.to_string(),
        name: service.name.to_string(),
        uid: service.uid.to_string(),
        resource_version: service.resource_version.to_string(),
        ..ObjectReference::of("v1", "Service")
    }
}

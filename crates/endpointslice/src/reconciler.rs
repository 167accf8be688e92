//! Plan, hints, writes, events and metrics in one: what a controller calls for each of its objects.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use kube_controller::{ControllerMetrics, locked};
use kube_controller_client::Client;
use kube_controller_client::events::{EventRecorder, EventType, ObjectReference};
use kube_endpoint_model::{AddressType, EndpointSlice, Node, ObjectKey};
use kube_topology::{HintPolicy, TopologyCache};

use crate::apply::{ApplyError, Writer};
use crate::desired_endpoint::DesiredEndpoint;
use crate::fresh::{LiveReadError, Slices, fresh_slices, live};
use crate::input::{Hints, Input, ServiceHints};
use crate::metrics::{HintLabels, MetricsCache, SliceMetrics};
use crate::options::Options;
use crate::owner::Owner;
use crate::plan::{Plan, plan};
use crate::tracker::SliceTracker;

/// Where notes about owners go.
pub trait EventSink: Send + Sync {
    /// Takes a note. Must not wait.
    fn event(&self, about: &Owner, event_type: EventType, reason: &str, message: String);
}

impl EventSink for EventRecorder {
    fn event(&self, about: &Owner, event_type: EventType, reason: &str, message: String) {
        let reference = ObjectReference {
            namespace: about.namespace.to_string(),
            name: about.name.to_string(),
            uid: about.uid.to_string(),
            resource_version: about.resource_version.to_string(),
            ..ObjectReference::of(&about.api_version, &about.kind)
        };
        EventRecorder::event(self, &reference, event_type, reason, message);
    }
}

/// Drops every note.
impl EventSink for () {
    fn event(&self, _: &Owner, _: EventType, _: &str, _: String) {}
}

/// Brings the slices of owners into line with their endpoints, and remembers between syncs what that takes: the
/// [tracker](SliceTracker), the [topology cache](TopologyCache) and the totals of its metrics.
///
/// One per controller, shared by its workers. A sync of an owner asks for its [slices](Reconciler::slices), and if those
/// are fresh, builds what is desired and [reconciles](Reconciler::reconcile). No two syncs of the same owner may run at
/// once, which the queue sees to.
pub struct Reconciler {
    client: Client,
    options: Options,
    tracker: Arc<SliceTracker>,
    topology: Option<Mutex<TopologyCache>>,
    traffic_distribution: bool,
    events: Box<dyn EventSink>,
    metrics: Arc<dyn SliceMetrics>,
    controller_metrics: Arc<dyn ControllerMetrics>,
    totals: Mutex<MetricsCache>,
}

/// What is planned for an owner, and not written yet.
pub(crate) struct Prepared<'a> {
    owner: &'a Owner,
    service: ObjectKey,
    policy: Option<HintPolicy>,
    pub(crate) plan: Plan,
}

/// Sets up a [`Reconciler`].
#[must_use]
pub struct ReconcilerBuilder {
    reconciler: Reconciler,
}

impl ReconcilerBuilder {
    /// Hints from the CPU of the zones, for owners that ask for [`HintPolicy::Topology`]. Off by default: such owners
    /// then have no hints.
    pub fn topology_cache(mut self, cache: TopologyCache) -> Self {
        self.reconciler.topology = Some(Mutex::new(cache));
        self
    }

    /// Whether owners may ask for [`HintPolicy::Traffic`]. On by default.
    pub fn traffic_distribution(mut self, heeded: bool) -> Self {
        self.reconciler.traffic_distribution = heeded;
        self
    }

    /// Where notes about owners go; nowhere by default.
    pub fn events(mut self, sink: impl EventSink + 'static) -> Self {
        self.reconciler.events = Box::new(sink);
        self
    }

    /// Who is told of slices planned and written; nobody by default.
    pub fn metrics(mut self, metrics: Arc<dyn SliceMetrics>) -> Self {
        self.reconciler.metrics = metrics;
        self
    }

    /// Who is told of caches that had to be repaired; nobody by default.
    pub fn controller_metrics(mut self, metrics: Arc<dyn ControllerMetrics>) -> Self {
        self.reconciler.controller_metrics = metrics;
        self
    }

    /// The reconciler.
    pub fn build(self) -> Reconciler {
        self.reconciler
    }
}

impl Reconciler {
    /// A reconciler that writes with `client`.
    pub fn builder(client: Client, options: Options) -> ReconcilerBuilder {
        let reconciler = Reconciler {
            client,
            options,
            tracker: Arc::default(),
            topology: None,
            traffic_distribution: true,
            events: Box::new(()),
            metrics: Arc::new(()),
            controller_metrics: Arc::new(()),
            totals: Mutex::default(),
        };
        ReconcilerBuilder { reconciler }
    }

    /// What the handler of slices must tell of what it sees: see [`slice_events`](crate::slice_events).
    pub fn tracker(&self) -> &Arc<SliceTracker> {
        &self.tracker
    }

    /// Where notes about owners go.
    pub fn events(&self) -> &dyn EventSink {
        &*self.events
    }

    /// The slices of a Service a sync may rely on, read from the cache through `cached`, or from the server when the
    /// cache has been out of date for too long. `cached` is to return the slices of this controller that name the
    /// Service; those being deleted are left out here (ES-5).
    pub async fn slices(
        &self,
        service: &ObjectKey,
        cached: impl Fn() -> Vec<Arc<EndpointSlice>>,
        now: Instant,
    ) -> Result<Slices, LiveReadError> {
        let read = || {
            let mut slices = cached();
            slices.retain(|slice| counts(slice));
            slices
        };
        let slices =
            fresh_slices(&self.client, &self.tracker, service, &self.options.controller, read, counts, now).await?;
        if matches!(slices, Slices::Repaired(_)) {
            self.controller_metrics.repaired();
        }
        Ok(slices)
    }

    /// The slices of a Service that this controller manages, read from the server: for programs without a cache. Those
    /// being deleted are left out.
    pub async fn live_slices(&self, service: &ObjectKey) -> Result<Vec<Arc<EndpointSlice>>, LiveReadError> {
        let mut slices = live(&self.client, service, &self.options.controller).await?;
        slices.retain(counts);
        self.tracker.reset(service, &slices);
        Ok(slices.into_iter().map(Arc::new).collect())
    }

    /// Plans and writes. `policy` says which hints the owner asks for; `None` leaves hints alone. What `input` says
    /// about hints is not looked at.
    ///
    /// Returns what was planned: if that is empty, nothing was written. On failure everything else was written, as far
    /// as one failure does not stop others (see [`apply`](crate::apply())).
    pub async fn reconcile<E: DesiredEndpoint>(
        &self,
        input: Input<'_, E>,
        policy: Option<HintPolicy>,
    ) -> Result<Plan, ApplyError> {
        self.carry_out(self.prepare(input, policy)).await
    }

    /// The first half of [`reconcile`](Reconciler::reconcile): plans, and writes nothing yet.
    pub(crate) fn prepare<'a, E: DesiredEndpoint>(
        &self,
        input: Input<'a, E>,
        policy: Option<HintPolicy>,
    ) -> Prepared<'a> {
        let policy = policy.map(|policy| self.heeded(policy));
        let owner = input.owner;
        let service = input.service();
        let plan = self.plan(&service, input, policy);

        if let Some(policy) = policy {
            self.remember_hints(&service, policy, &plan);
        }
        for plan in &plan.types {
            self.metrics.planned(plan);
        }
        let Options { max_endpoints_per_slice, placeholder, .. } = self.options;
        self.metrics.totals(locked(&self.totals).update(&service, &plan, max_endpoints_per_slice, placeholder));
        Prepared { owner, service, policy, plan }
    }

    /// The second half: writes.
    pub(crate) async fn carry_out(&self, prepared: Prepared<'_>) -> Result<Plan, ApplyError> {
        let Prepared { owner, service, policy, plan } = prepared;
        let writer =
            Writer { client: &self.client, service: &service, tracker: &self.tracker, metrics: &*self.metrics };
        let applied = writer.apply(&plan, policy.map(labels)).await;
        for event in plan.types.iter().flat_map(|plan| &plan.events) {
            let event_type = if event.normal { EventType::Normal } else { EventType::Warning };
            self.events.event(owner, event_type, event.reason, event.message.clone());
        }
        applied.map(|()| plan)
    }

    /// Forgets a Service that is gone. Its slices are left to the garbage collector.
    pub fn forget(&self, service: &ObjectKey) {
        self.tracker.forget(service);
        if let Some(topology) = &self.topology {
            locked(topology).remove_service(service);
        }
        let mut cache = locked(&self.totals);
        if let Some(totals) = cache.remove(service) {
            self.metrics.totals(totals);
            self.metrics.traffic_distributions(&cache.traffic_distributions());
        }
    }

    /// Works the shares of the zones out anew; returns the Services that are overloaded now and need a sync (ES-H10).
    pub fn set_nodes<'a>(&self, nodes: impl IntoIterator<Item = &'a Node>) -> Vec<ObjectKey> {
        let Some(topology) = &self.topology else { return Vec::new() };
        let mut topology = locked(topology);
        topology.set_nodes(nodes);
        topology.overloaded_services()
    }

    fn heeded(&self, policy: HintPolicy) -> HintPolicy {
        match policy {
            HintPolicy::Topology if self.topology.is_none() => HintPolicy::ClusterWide,
            HintPolicy::Traffic(_) if !self.traffic_distribution => HintPolicy::ClusterWide,
            policy => policy,
        }
    }

    fn plan<E: DesiredEndpoint>(&self, service: &ObjectKey, input: Input<'_, E>, policy: Option<HintPolicy>) -> Plan {
        let Some(policy) = policy else { return plan(input.hints(Hints::Leave), &self.options) };
        let (ratios, enabled) = match &self.topology {
            Some(topology) => {
                let topology = locked(topology);
                (topology.ratios(), topology.enabled_types(service).into_iter().collect::<BTreeSet<AddressType>>())
            }
            None => Default::default(),
        };
        let Input { owner, address_types, desired, existing, labels, annotations, trigger_time, hints: _ } = input;
        let hints = Hints::Decide(ServiceHints { policy, ratios: &ratios, enabled });
        plan(Input { owner, address_types, desired, existing, labels, annotations, trigger_time, hints }, &self.options)
    }

    /// Tells the topology cache how many endpoints are hinted to each zone, and the metrics which distribution is used.
    fn remember_hints(&self, service: &ObjectKey, policy: HintPolicy, plan: &Plan) {
        if let Some(topology) = &self.topology {
            let mut topology = locked(topology);
            if policy == HintPolicy::Topology {
                for slice in &plan.unsupported {
                    topology.record(service, &slice.address_type, None);
                }
                for plan in &plan.types {
                    topology.record(service, &plan.address_type, plan.hints.clone());
                }
            } else {
                topology.remove_service(service);
            }
        }
        let mut totals = locked(&self.totals);
        if totals.set_traffic_distribution(service, labels(policy).traffic_distribution) {
            self.metrics.traffic_distributions(&totals.traffic_distributions());
        }
    }
}

/// A slice that is being deleted does not count (ES-5).
fn counts(slice: &EndpointSlice) -> bool {
    slice.metadata.deletion_timestamp.is_none()
}

fn labels(policy: HintPolicy) -> HintLabels {
    match policy {
        HintPolicy::Topology => HintLabels { topology: true, traffic_distribution: None },
        HintPolicy::Traffic(distribution) => HintLabels { topology: false, traffic_distribution: Some(distribution) },
        HintPolicy::ClusterWide => HintLabels { topology: false, traffic_distribution: None },
    }
}

impl std::fmt::Debug for Reconciler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reconciler").field("options", &self.options).finish_non_exhaustive()
    }
}

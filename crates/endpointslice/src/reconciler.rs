//! Plan, hints, writes, events and metrics in one: what a controller calls for each of its objects.

use std::collections::{BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Mutex};

use kube_controller::locked;
use kube_controller_client::Client;
use kube_controller_client::events::{EventRecorder, EventType, ObjectReference};
use kube_endpoint_model::{AddressType, EndpointSlice, Node, ObjectKey, Text};
use kube_topology::{HintPolicy, TopologyCache};
use kube_wire::Decode;

use crate::altered::AlteredWrites;
use crate::apply::{ApplyError, Writer};
use crate::desired_endpoint::DesiredEndpoint;
use crate::input::{Hints, Input, ServiceHints};
use crate::live::{LiveReadError, is_gone, live};
use crate::metrics::{HintLabels, MetricsCache, SliceMetrics};
use crate::options::Options;
use crate::owner::Owner;
use crate::plan::{Plan, plan};
use crate::slice_cache::SliceCache;
use crate::slice_names::SliceNames;

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

/// Brings the slices of owners into line with their endpoints.
///
/// One per controller, shared by its workers. A sync reads the slices of an owner from the cache, builds what is desired and
/// [reconciles](Reconciler::reconcile). The cache must show the reconciler's own writes: give it the
/// [`cache`](ReconcilerBuilder::cache) to put the answers into, or read the slices from the server each time
/// ([`live_slices`](Reconciler::live_slices)). No two syncs of the same owner may run at once, which the queue sees to.
///
/// Between syncs it remembers the [topology cache](TopologyCache), the totals of its metrics, the names of creates that were not
/// answered, and writes that the server answered with other content: those are not repeated.
pub struct Reconciler {
    client: Client,
    options: Options,
    cache: Box<dyn SliceCache>,
    names: SliceNames,
    altered: AlteredWrites,
    #[cfg(feature = "defects")]
    ghosts: crate::ghosts::Ghosts,
    topology: Option<Mutex<TopologyCache>>,
    traffic_distribution: bool,
    events: Box<dyn EventSink>,
    /// Digest of the hint events that were emitted last for a Service.
    hint_events: Mutex<HashMap<ObjectKey, u64>>,
    metrics: Arc<dyn SliceMetrics>,
    totals: Mutex<MetricsCache>,
}

/// Outcome of a reconciliation that succeeded.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Reconciled {
    /// The writes that were decided. Empty if the slices were as desired.
    pub plan: Plan,
    /// The number of writes that the server accepted: fewer than planned in a namespace that is being deleted.
    pub writes: usize,
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

    /// The cache that the answers to writes go into; by default they are dropped.
    pub fn cache(mut self, cache: impl SliceCache + 'static) -> Self {
        self.reconciler.cache = Box::new(cache);
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
            cache: Box::new(()),
            names: SliceNames::default(),
            altered: AlteredWrites::default(),
            #[cfg(feature = "defects")]
            ghosts: crate::ghosts::Ghosts::default(),
            topology: None,
            traffic_distribution: true,
            events: Box::new(()),
            hint_events: Mutex::default(),
            metrics: Arc::new(()),
            totals: Mutex::default(),
        };
        ReconcilerBuilder { reconciler }
    }

    /// Where notes about owners go.
    pub fn events(&self) -> &dyn EventSink {
        &*self.events
    }

    /// Reads the slices of a Service that this controller manages from the server: for programs without a cache. Those being
    /// deleted are left out.
    ///
    /// # Errors
    ///
    /// The list failed or cannot be decoded.
    pub async fn live_slices(&self, service: &ObjectKey) -> Result<Vec<Arc<EndpointSlice>>, LiveReadError> {
        let mut slices = live(&self.client, service, &self.options.controller).await?;
        // A slice that is being deleted does not count (ES-5).
        slices.retain(|slice| slice.metadata.deletion_timestamp.is_none());
        Ok(slices.into_iter().map(Arc::new).collect())
    }

    /// Returns whether the server has no object `T` with the name and uid of `owner`; `false` if it does not answer.
    ///
    /// For owners of which another client has deleted slices
    /// ([`Enqueuer::is_contested`](kube_controller::Enqueuer::is_contested)): the garbage collector does that while a cache still
    /// shows an owner that is gone, and would delete each slice that is created again.
    pub async fn owner_is_gone<T: Decode>(&self, owner: &Owner) -> bool {
        is_gone::<T>(&self.client, owner).await
    }

    /// Plans and writes. `policy` is the hint policy of the owner; `None` leaves hints alone.
    ///
    /// # Errors
    ///
    /// Some writes failed. For each address type, creates come first, then updates, then deletes; the first failure ends that
    /// type, and the others go on.
    pub async fn reconcile<E: DesiredEndpoint>(
        &self,
        input: Input<'_, E>,
        policy: Option<HintPolicy>,
    ) -> Result<Reconciled, ApplyError> {
        let policy = policy.map(|policy| self.heeded(policy));
        let (owner, existing, service) = (input.owner, input.existing, input.service());
        let existing = || existing.iter().map(|slice| &**slice);
        self.names.exist(&service, existing());
        let mut plan = self.plan(&service, input, policy);

        if let Some(policy) = policy {
            self.remember_hints(&service, policy, &plan);
        }
        self.metrics.planned(&plan);
        let Options { max_endpoints_per_slice, placeholder, .. } = self.options;
        self.metrics.totals(locked(&self.totals).update(&service, &plan, max_endpoints_per_slice, placeholder));
        let misplaced = self.altered.suppress(&service, existing(), &*self.cache, &mut plan);
        #[cfg(feature = "defects")]
        let misplaced = [misplaced, self.ghosts.block(&service, &mut plan)].concat();

        let applied =
            self.writer(&owner.kind, &service, &*self.metrics).apply(&plan, policy.map(labels), misplaced).await;
        self.emit_hint_events(owner, &service, &plan);
        Ok(Reconciled { writes: applied?, plan })
    }

    /// Deletes slices of a Service that is to have none; `owner` is the kind of their owner, for messages. These deletions do not count in metrics, as upstream.
    ///
    /// # Errors
    ///
    /// Some deletes failed; the others were carried out.
    pub async fn delete(
        &self,
        owner: &Text,
        service: &ObjectKey,
        slices: Vec<Arc<EndpointSlice>>,
    ) -> Result<usize, ApplyError> {
        self.writer(owner, service, &()).apply(&Plan::delete(slices), None, Vec::new()).await
    }

    fn writer<'a>(&'a self, owner: &'a Text, service: &'a ObjectKey, metrics: &'a dyn SliceMetrics) -> Writer<'a> {
        let Reconciler { client, cache, names, altered, .. } = self;
        Writer {
            client,
            owner,
            service,
            cache: &**cache,
            names,
            altered,
            #[cfg(feature = "defects")]
            ghosts: &self.ghosts,
            metrics,
        }
    }

    /// Emits the hint events of a plan, unless they repeat the last ones: upstream emits them in each sync, and each of its syncs
    /// follows an event, while here a sync follows each write. A plan with writes is a new decision.
    fn emit_hint_events(&self, owner: &Owner, service: &ObjectKey, plan: &Plan) {
        let events = || plan.types.iter().flat_map(|plan| &plan.events);
        if events().next().is_none() {
            locked(&self.hint_events).remove(service);
            return;
        }
        let mut digest = DefaultHasher::new();
        owner.resource_version.hash(&mut digest);
        events().for_each(|event| (event.reason, &event.message).hash(&mut digest));
        let digest = digest.finish();
        let last = locked(&self.hint_events).insert(service.clone(), digest);
        if plan.is_empty() && last == Some(digest) {
            return;
        }
        for event in events() {
            let event_type = if event.normal { EventType::Normal } else { EventType::Warning };
            self.events.event(owner, event_type, event.reason, event.message.clone());
        }
    }

    /// Forgets a Service that is gone. Its slices are left to the garbage collector.
    pub fn forget(&self, service: &ObjectKey) {
        self.names.forget(service);
        self.altered.forget(service);
        #[cfg(feature = "defects")]
        self.ghosts.forget(service);
        locked(&self.hint_events).remove(service);
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
        let Some(policy) = policy else { return plan(input, Hints::Leave, &self.options) };
        let (ratios, enabled) = match &self.topology {
            Some(topology) => {
                let topology = locked(topology);
                (topology.ratios(), topology.enabled_types(service).into_iter().collect::<BTreeSet<AddressType>>())
            }
            None => Default::default(),
        };
        let hints = Hints::Decide(ServiceHints { policy, ratios: &ratios, enabled });
        plan(input, hints, &self.options)
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

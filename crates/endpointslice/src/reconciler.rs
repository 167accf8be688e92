//! Reconciler: plan, hints, writes, events and metrics of one sync.

mod builder;
mod event_sink;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use kube_controller::{Action, Enqueuer, Executed, Executor, KeyStates, Outcome, locked};
use kube_controller_client::events::EventType;
use kube_controller_client::{Error, ReviewedClient};
use kube_endpoint_model::{AddressType, EndpointSlice, Node, ObjectKey, SliceIndex, Text, Write};
use kube_informer::{Informer, WriteThrough};
use kube_topology::{HintPolicy, TopologyCache, ZoneRatios};
use kube_wire::Resource;
use tokio::time::Instant;

pub use self::builder::ReconcilerBuilder;
pub use self::event_sink::EventSink;
use crate::altered::{Basis, label_name};
use crate::apply::{ApplyError, WriteError, WriteFailure};
use crate::desired_endpoint::DesiredEndpoint;
use crate::input::{Hints, Input};
use crate::live::{LiveReadError, is_gone, live};
use crate::metrics::{Counted, SliceMetrics, Sums};
use crate::options::Options;
use crate::owner::Owner;
use crate::owner_state::OwnerState;
use crate::plan::{Plan, plan};
use crate::service_plan::{HintState, OwnerPlan};
use crate::slice_rules::{Sent, SliceRules};

/// Reconciles the slices of owners with their desired endpoints.
///
/// A controller has one reconciler, shared by its workers. A sync reads the
/// [existing slices](Reconciler::existing_slices) of an owner, computes its desired endpoints, and calls
/// [`reconcile`](Reconciler::reconcile). The existing slices must include the reconciler's own writes: build it with an
/// [informer of slices](ReconcilerBuilder::slices), or with the [`cache`](ReconcilerBuilder::cache) of one that the
/// caller reads; without either, each sync reads them from the API server. Syncs of the same owner must not run
/// concurrently, which a work queue ensures.
///
/// Owners are identified by their [key](Input::key). Slices are found by [`Options::owner_label`].
///
/// Between syncs it keeps the [topology cache](TopologyCache), the totals for its metrics, the names of failed creates,
/// the last hint events, and writes that the server answered with other content, which are repeated ever more rarely.
/// [`forget`](Reconciler::forget) drops all of these for one owner.
pub struct Reconciler {
    client: ReviewedClient<EndpointSlice>,
    options: Options,
    pub(crate) slices: Option<Informer<EndpointSlice, SliceIndex>>,
    /// With `slices`, set by the handler of the controller or, without one, by the first write.
    pub(crate) cache: OnceLock<WriteThrough<EndpointSlice>>,
    topology: Option<Mutex<TopologyCache>>,
    traffic_distribution: bool,
    events: Box<dyn EventSink>,
    metrics: Arc<dyn SliceMetrics>,
    pub(crate) states: KeyStates<ObjectKey, OwnerState>,
    sums: Mutex<Sums>,
}

/// Result of a successful reconciliation.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Reconciled {
    /// Planned writes, without repetitions of writes that the server answered with other content.
    pub plan: Plan,
    /// Number of writes that the server accepted. Fewer than planned if the namespace is being deleted, or if slices to
    /// delete were gone already.
    pub writes: usize,
    /// Time until the next sync that repeats writes that the server answered with other content; `None` if there are none.
    /// It grows from a minute to an hour.
    pub retry_after: Option<Duration>,
}

/// A sync that wrote slices has the outcome [`Outcome::Written`]. The key is synced again
/// [in time](Reconciled::retry_after).
impl From<Reconciled> for Action {
    fn from(done: Reconciled) -> Self {
        let outcome = Outcome::of_writes(done.writes);
        done.retry_after.map_or_else(|| outcome.into(), |delay| outcome.requeue_after(delay))
    }
}

impl Reconciler {
    /// Returns the receiver of Kubernetes Events about owners.
    pub fn events(&self) -> &dyn EventSink {
        &*self.events
    }

    /// Returns the options.
    pub fn options(&self) -> &Options {
        &self.options
    }

    pub(crate) fn is_gated(&self) -> bool {
        self.client.client().is_gated()
    }

    /// Returns the slices of an owner that this controller manages: from the informer that the reconciler was built
    /// with, otherwise from the API server, as [`live_slices`](Self::live_slices). Slices that are being deleted are
    /// left out.
    ///
    /// # Errors
    ///
    /// Those of [`live_slices`](Self::live_slices); none with an informer.
    pub async fn existing_slices(&self, owner: &ObjectKey) -> Result<Vec<Arc<EndpointSlice>>, LiveReadError> {
        let Some(slices) = &self.slices else { return self.live_slices(owner).await };
        let (value, controller) = (self.options.label_value(&owner.name), &self.options.controller);
        let mut slices = slices.lister().read(|_, index| index.managed_slices(&owner.namespace, &value, controller));
        // As in the slice controller, a slice that is being deleted does not count (ES-5).
        slices.retain(|slice| slice.metadata.deletion_timestamp.is_none());
        Ok(slices)
    }

    /// Reads the slices of an owner that this controller manages directly from the API server, for programs without a
    /// cache. Slices that are being deleted are left out.
    ///
    /// # Errors
    ///
    /// The request failed, or its response cannot be decoded.
    pub async fn live_slices(&self, owner: &ObjectKey) -> Result<Vec<Arc<EndpointSlice>>, LiveReadError> {
        let mut slices = live(self.client.client(), owner, &self.options).await?;
        // As in the slice controller, a slice that is being deleted does not count (ES-5).
        slices.retain(|slice| slice.metadata.deletion_timestamp.is_none());
        Ok(slices.into_iter().map(Arc::new).collect())
    }

    /// Returns whether the sync of `key` must wait, since the server has no object of `resource` with the name and UID of
    /// `owner` any more: then it adds the key again after `delay` or longer.
    ///
    /// Sends a request only for [contested](Enqueuer::is_contested) keys, and assumes that the owner exists if the
    /// request fails. While a cache still contains a deleted owner, the garbage collector would delete each slice that
    /// is created for it. The event of the deletion queues the key too.
    pub async fn awaits_deletion(
        &self,
        resource: &Resource,
        owner: &Owner,
        key: &ObjectKey,
        keys: &Enqueuer<ObjectKey>,
        delay: Duration,
    ) -> bool {
        // A controller that only compares creates nothing that the garbage collector could delete.
        let may_create = keys.is_contested(key) && !self.client.observes();
        let is_gone = may_create && is_gone(self.client.client(), resource, owner).await;
        if is_gone {
            keys.add_contested(key.clone(), delay);
        }
        is_gone
    }

    /// Plans and writes the slices of an owner, emits the events of the plan and reports its metrics.
    ///
    /// `policy` is the hint policy of the owner; `None` is [`Hints::Leave`].
    ///
    /// # Errors
    ///
    /// Those of [`execute`](Self::execute).
    pub async fn reconcile<E: DesiredEndpoint>(
        &self,
        input: Input<'_, E>,
        policy: Option<HintPolicy>,
    ) -> Result<Reconciled, ApplyError> {
        let policy = policy.map(|policy| self.effective_policy(policy));
        let (owner, key, existing) = (input.owner.clone(), input.key(), input.existing.to_vec());
        let (ratios, enabled) = self.hint_state(&key);
        let hints =
            policy.map_or(Hints::Leave, |policy| HintState { ratios: &ratios, enabled }.decide(policy, &existing));
        let plan = plan(input, hints, &self.options);
        self.execute(OwnerPlan { owner, key, existing, policy, plan }).await
    }

    /// Writes the slices of a plan, emits its events and reports its metrics.
    ///
    /// A plan that goes to the [review](kube_controller_client::Review) of the client is returned, but neither written nor
    /// counted, and its events are not emitted.
    ///
    /// # Errors
    ///
    /// Some writes failed. For each address type, creates come first, then updates, then deletes; the first failure
    /// ends the writes of that type, and the other types continue. Retry the sync with back-off, from the current
    /// slices. With [`WriteFailure::Misplaced`](crate::WriteFailure::Misplaced), creates were not sent. Retries fail
    /// while the cache contains the slices that it names, but for those that write these slices: after one minute, two
    /// minutes and so on, up to an hour.
    pub async fn execute(&self, planned: OwnerPlan) -> Result<Reconciled, ApplyError> {
        let key = planned.key.clone();
        self.execute_with(&mut self.states.take(&key), planned).await
    }

    /// Does the same as [`execute`](Self::execute) with the state of the owner.
    pub(crate) async fn execute_with(
        &self,
        state: &mut OwnerState,
        planned: OwnerPlan,
    ) -> Result<Reconciled, ApplyError> {
        let OwnerPlan { owner, key, existing, policy, mut plan } = planned;
        self.count(state, &key, policy, &plan);
        let basis = Basis { options: &self.options, owner: &owner.uid, existing: &existing };
        let misplaced = state.suppress(Instant::now(), basis, self.cache(), &mut plan);
        let sent = self.send(&owner.kind, &key, state, &plan, &*self.metrics, policy).await;
        let Some(Sent { writes, mut failures, answers }) = sent else {
            return Ok(Reconciled { plan, ..Reconciled::default() });
        };
        self.emit_hint_events(&owner, state, &plan);
        if !misplaced.is_empty() {
            let label = label_name(&self.options).to_owned();
            let source = WriteFailure::Misplaced { label, slices: misplaced };
            failures.insert(0, WriteError::new(&owner.kind, &key, "create", None, source));
        }
        if !failures.is_empty() {
            return Err(ApplyError(failures));
        }
        let retry_after = state.sent(Instant::now(), basis, &plan, answers);
        Ok(Reconciled { plan, writes, retry_after })
    }

    /// Deletes slices of an owner that should have none: one that is gone, or that no longer qualifies.
    ///
    /// `kind` is the kind of the owner, for error messages, and `owner` its key. As upstream, these deletes do not count in
    /// metrics (MI-24).
    ///
    /// If the owner is gone, the garbage collector deletes the slices too. To delete them at once, or in a cluster without
    /// one, a sync that finds no owner does:
    ///
    /// ```
    /// # use kube_endpoint_model::ObjectKey;
    /// # use kube_endpointslice::{Reconciled, Reconciler};
    /// # async fn sync(reconciler: &Reconciler, key: &ObjectKey) -> Result<Reconciled, Box<dyn std::error::Error>> {
    /// let existing = reconciler.existing_slices(key).await?;
    /// let deleted = reconciler.delete(&"InferencePool".into(), key, existing).await?;
    /// reconciler.forget(key);
    /// # Ok(deleted)
    /// # }
    /// ```
    ///
    /// This includes owners that were deleted while the controller did not run: the handler of slices
    /// (`Controller::owns_slices` of `kube-controller-program`, or `watch_slices`) queues the owner of each slice of the
    /// first list.
    ///
    /// # Errors
    ///
    /// Some deletes failed; all of them were tried.
    pub async fn delete(
        &self,
        kind: &Text,
        owner: &ObjectKey,
        slices: Vec<Arc<EndpointSlice>>,
    ) -> Result<Reconciled, ApplyError> {
        let plan = Plan::delete(slices);
        match self.send(kind, owner, &mut OwnerState::default(), &plan, &(), None).await {
            Some(sent) if !sent.failures.is_empty() => Err(ApplyError(sent.failures)),
            sent => Ok(Reconciled { plan, writes: sent.map_or(0, |sent| sent.writes), retry_after: None }),
        }
    }

    /// Sends the writes of a plan. `None` if it went to the review of the client.
    async fn send(
        &self,
        kind: &Text,
        owner: &ObjectKey,
        state: &mut OwnerState,
        plan: &Plan,
        metrics: &dyn SliceMetrics,
        hints: Option<HintPolicy>,
    ) -> Option<Sent> {
        if !self.client.observes() {
            metrics.planned(plan);
        }
        let of_types = plan.types.iter().map(|plan| &*plan.writes);
        let groups = of_types.chain(plan.unsupported.iter().map(std::slice::from_ref));
        let mut rules = SliceRules {
            owner,
            cache: self.cache(),
            options: &self.options,
            state,
            metrics,
            types: &plan.types,
            hints,
            name: None,
            answers: Vec::new(),
        };
        let Executed { is_reviewed, writes, failures } =
            Executor::new(&self.client, self.cache()).execute(owner, groups, &mut rules).await;
        let write_error = |(write, error): (&Write<EndpointSlice>, Error)| {
            let slice = write.before().map(|slice| slice.metadata.name.to_string());
            let is_unsupported = plan.unsupported.iter().any(|it| std::ptr::eq(it, write));
            WriteError { is_unsupported, ..WriteError::new(kind, owner, write.verb(), slice, error.into()) }
        };
        let failures = failures.into_iter().map(write_error).collect();
        (!is_reviewed).then_some(Sent { writes, failures, answers: rules.answers })
    }

    fn cache(&self) -> Option<&WriteThrough<EndpointSlice>> {
        match &self.slices {
            Some(slices) => Some(self.cache.get_or_init(|| slices.write_through(&slices.store_synced()))),
            None => self.cache.get(),
        }
    }

    /// Emits the hint events of a plan. Events that equal the previous ones are emitted only if the plan has writes or
    /// the owner has changed: upstream repeats them in every sync, but here a sync follows each write, so that each
    /// event would be emitted twice (RC-35).
    fn emit_hint_events(&self, owner: &Owner, state: &mut OwnerState, plan: &Plan) {
        let events: Vec<_> = plan.types.iter().flat_map(|plan| &plan.events).collect();
        let messages: Vec<_> = events.iter().map(|event| (event.reason, &event.message)).collect();
        let message = (!events.is_empty()).then_some((&owner.resource_version, messages));
        if !state.hint_events.is_new(message) && plan.is_empty() {
            return;
        }
        for event in events {
            let event_type = if event.normal { EventType::Normal } else { EventType::Warning };
            self.events.event(owner, event_type, event.reason, event.message.clone());
        }
    }

    /// Drops all state of an owner, usually a deleted one. Deletes no slices: the garbage collector does, or
    /// [`delete`](Self::delete).
    pub fn forget(&self, owner: &ObjectKey) {
        if let Some(topology) = &self.topology {
            locked(topology).remove_service(owner);
        }
        if let Some(counted) = self.states.forget(owner).and_then(|state| state.counted) {
            self.replace_counted(counted, Counted::default());
        }
    }

    /// Recomputes the CPU ratios of the zones from all Nodes, and returns the Services with too few endpoints for some
    /// zone, which need a sync (ES-H10). Returns none without a [topology cache](ReconcilerBuilder::topology_cache).
    pub fn set_nodes<'a>(&self, nodes: impl IntoIterator<Item = &'a Node>) -> Vec<ObjectKey> {
        let Some(topology) = &self.topology else { return Vec::new() };
        let mut topology = locked(topology);
        topology.set_nodes(nodes);
        topology.overloaded_services()
    }

    /// Returns the policy that applies: none if it is not supported.
    fn effective_policy(&self, policy: HintPolicy) -> HintPolicy {
        match policy {
            HintPolicy::Topology if self.topology.is_none() => HintPolicy::None,
            HintPolicy::Traffic(_) if !self.traffic_distribution => HintPolicy::None,
            policy => policy,
        }
    }

    /// Returns what the hints of an owner depend on beside its endpoints: the CPU ratios of the zones, and the address
    /// types that have hints, for [`HintState::enabled`].
    pub(crate) fn hint_state(&self, owner: &ObjectKey) -> (ZoneRatios, Option<BTreeSet<AddressType>>) {
        let Some(topology) = &self.topology else { return (ZoneRatios::default(), Some(BTreeSet::new())) };
        let topology = locked(topology);
        // The history of hints is that of the writer, which only the slices show to another process.
        let enabled = (!self.client.observes()).then(|| topology.enabled_types(owner).into_iter().collect());
        (topology.ratios(), enabled)
    }

    /// Stores the hints of a plan in the topology cache, and counts it.
    fn count(&self, state: &mut OwnerState, key: &ObjectKey, policy: Option<HintPolicy>, plan: &Plan) {
        if let (Some(topology), Some(policy)) = (&self.topology, policy) {
            let mut topology = locked(topology);
            if policy == HintPolicy::Topology {
                for slice in plan.unsupported.iter().filter_map(Write::before) {
                    topology.record(key, &slice.address_type, None);
                }
                for plan in &plan.types {
                    topology.record(key, &plan.address_type, plan.hints.clone());
                }
            } else {
                topology.remove_service(key);
            }
        }
        let Options { max_endpoints_per_slice: max, placeholder, .. } = self.options;
        let traffic = if let Some(HintPolicy::Traffic(distribution)) = policy { Some(distribution) } else { None };
        let counted = Counted::of(plan, max, placeholder, traffic);
        let before = state.counted.replace(counted).unwrap_or_default();
        self.replace_counted(before, counted);
    }

    fn replace_counted(&self, before: Counted, now: Counted) {
        let mut sums = locked(&self.sums);
        self.metrics.totals(sums.replace(before, now));
        if let Some(services) = sums.changed_traffic(before, now) {
            self.metrics.traffic_distributions(services);
        }
    }
}

impl std::fmt::Debug for Reconciler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reconciler").field("options", &self.options).finish_non_exhaustive()
    }
}

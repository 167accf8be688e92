// Public API, listed by docs/tests/it/api.rs.

// crate

#[derive(Debug, thiserror::Error)]
pub struct ApplyError(pub(crate) Vec<WriteError>);
impl ApplyError {
    pub fn failures(&self) -> &[WriteError] {}
    pub fn failure_cause(&self) -> FailureCause {}
}
pub trait DesiredEndpoint: View {
    fn endpoint(&self) -> Endpoint {}
    fn is_ready(&self) -> bool {}
}
#[derive(Clone, Debug, PartialEq)]
pub struct DesiredGroup<E = Endpoint> {
    pub address_type: AddressType,
    pub ports: Vec<EndpointPort>,
    pub endpoints: Vec<E>,
}
impl<E: DesiredEndpoint> DesiredGroup<E> {
    pub fn ready_count(&self) -> usize {}
}
pub trait EventSink: Send + Sync {
    fn event(&self, about: &Owner, event_type: EventType, reason: &str, message: String);
}
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Explanation {
    pub placements: Vec<Placement>,
}
impl fmt::Display for Explanation {}
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupCount {
    pub endpoints: usize,
    pub slices: usize,
}
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Hints<'a> {
    Leave,
    Decide(ServiceHints<'a>),
}
#[derive(Debug)]
#[non_exhaustive]
pub struct Input<'a, E = Endpoint> {
    pub owner: &'a Owner,
    pub address_types: &'a [AddressType],
    pub desired: Vec<DesiredGroup<E>>,
    pub existing: &'a [Arc<EndpointSlice>],
    pub tracked_as: Option<&'a str>,
    pub labels: Option<&'a SliceLabels>,
    pub annotations: Option<&'a Labels>,
    pub trigger_time: TriggerTime,
}
impl<'a, E> Input<'a, E> {
    pub fn new(
        owner: &'a Owner,
        address_types: &'a [AddressType],
        desired: Vec<DesiredGroup<E>>,
        existing: &'a [Arc<EndpointSlice>],
    ) -> Input<'a, E> {}
    pub fn key(&self) -> ObjectKey {}
    #[must_use]
    pub fn tracked_as(mut self, name: &'a str) -> Self {}
    #[must_use]
    pub fn labels(mut self, labels: &'a SliceLabels) -> Self {}
    #[must_use]
    pub fn annotations(mut self, annotations: &'a Labels) -> Self {}
    #[must_use]
    pub fn trigger_time(mut self, trigger_time: TriggerTime) -> Self {}
}
impl<'a, E> Input<'a, E> {
    #[must_use]
    pub fn keep(self, is_kept: impl Fn(&Endpoint) -> bool) -> Input<'a, Kept<E>> {}
}
#[derive(Clone, Debug)]
pub enum Kept<E> {
    Desired(E),
    Existing(Endpoint),
}
impl<E: View> View for Kept<E> {}
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LiveReadError {
    List { owner: ObjectKey, source: Error },
    Decode { owner: ObjectKey, source: DecodeError },
}
pub const MAX_PORTS: usize = 20_000;
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingNode {
    pub pod: Text,
    pub node: Text,
}
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    pub controller: Text,
    pub owner_label: Text,
    pub max_endpoints_per_slice: NonZeroUsize,
    pub placeholder: bool,
    pub enforce_ownership: bool,
    pub packing: Packing,
}
impl Options {
    pub fn new(controller: impl Into<Text>) -> Options {}
    pub fn for_services(controller: impl Into<Text>) -> Options {}
    #[must_use]
    pub fn owner_label(mut self, key: impl Into<Text>) -> Options {}
    #[must_use]
    pub fn max_endpoints_per_slice(mut self, max: NonZeroUsize) -> Options {}
    #[must_use]
    pub fn placeholder(mut self, placeholder: bool) -> Options {}
    #[must_use]
    pub fn enforce_ownership(mut self, enforce: bool) -> Options {}
    #[must_use]
    pub fn packing(mut self, packing: Packing) -> Options {}
    pub fn slice_index(&self) -> SliceIndex {}
    pub fn label_value<'a>(&self, owner: &'a str) -> Cow<'a, str> {}
}
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Owner {
    pub api_version: Text,
    pub kind: Text,
    pub namespace: Text,
    pub name: Text,
    pub uid: Uid,
    pub resource_version: ResourceVersion,
    pub terminating: bool,
}
impl Owner {
    pub fn new(api_version: &str, kind: &str, metadata: &impl Metadata) -> Owner {}
    pub fn of_resource(resource: &Resource, metadata: &impl Metadata) -> Owner {}
    pub fn service(service: &Service) -> Owner {}
    pub fn of<K: k8s_openapi::Metadata<Ty = meta::ObjectMeta>>(object: &K) -> Owner {}
    pub fn key(&self) -> ObjectKey {}
    pub fn reference(&self) -> OwnerReference {}
    pub fn owns(&self, slice: &EndpointSlice) -> bool {}
}
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Packing {
    Incremental,
    Single,
}
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Placement {
    pub address_type: AddressType,
    pub addresses: Addresses,
    pub target: Option<TargetRef>,
    pub slice: SliceName,
    pub reason: PlacementReason,
}
impl fmt::Display for Placement {}
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum PlacementReason {
    Kept,
    UpdatedInPlace,
    FilledIn,
    FilledFullest,
    NewSlice,
    RecycledName,
    Removed,
}
impl PlacementReason {
    pub fn code(self) -> Code {}
}
impl fmt::Display for PlacementReason {}
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Plan {
    pub types: Vec<TypePlan>,
    pub unsupported: Vec<Write<EndpointSlice>>,
}
impl Plan {
    pub fn delete(slices: Vec<Arc<EndpointSlice>>) -> Plan {}
    pub fn is_empty(&self) -> bool {}
    pub fn writes(&self) -> impl Iterator<Item = &Write<EndpointSlice>> {}
    pub fn len(&self) -> usize {}
}
#[non_exhaustive]
pub struct PodDecision<'a, P = Pod> {
    pub pod: &'a Arc<P>,
    pub address_type: &'a AddressType,
    pub outcome: PodOutcome,
    pub addresses: &'a [Address],
}
impl<P> Clone for PodDecision<'_, P> {}
impl<P> Copy for PodDecision<'_, P> {}
impl<P: PodFields> fmt::Debug for PodDecision<'_, P> {}
#[derive(Debug)]
pub struct PodEndpoint<'a, P = Pod> {}
impl<P> Clone for PodEndpoint<'_, P> {}
impl<P: PodFields> View for PodEndpoint<'_, P> {}
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Reconciled {
    pub plan: Plan,
    pub writes: usize,
}
pub struct Reconciler {}
impl Reconciler {
    pub fn events(&self) -> &dyn EventSink {}
    pub fn options(&self) -> &Options {}
    pub async fn existing_slices(
        &self,
        owner: &ObjectKey,
    ) -> Result<Vec<Arc<EndpointSlice>>, LiveReadError> {}
    pub async fn live_slices(
        &self,
        owner: &ObjectKey,
    ) -> Result<Vec<Arc<EndpointSlice>>, LiveReadError> {}
    pub async fn awaits_deletion(
        &self,
        resource: &Resource,
        owner: &Owner,
        key: &ObjectKey,
        keys: &Enqueuer<ObjectKey>,
        delay: Duration,
    ) -> bool {}
    pub async fn reconcile<E: DesiredEndpoint>(
        &self,
        input: Input<'_, E>,
        policy: Option<HintPolicy>,
    ) -> Result<Reconciled, ApplyError> {}
    pub async fn delete(
        &self,
        kind: &Text,
        owner: &ObjectKey,
        slices: Vec<Arc<EndpointSlice>>,
    ) -> Result<Reconciled, ApplyError> {}
    pub fn forget(&self, owner: &ObjectKey) {}
    pub fn set_nodes<'a>(
        &self,
        nodes: impl IntoIterator<Item = &'a Node>,
    ) -> Vec<ObjectKey> {}
}
impl Reconciler {
    pub fn builder(
        client: impl Into<ReviewedClient<EndpointSlice>>,
        options: Options,
    ) -> ReconcilerBuilder {}
}
impl std::fmt::Debug for Reconciler {}
impl Owns for Reconciler {}
#[must_use]
pub struct ReconcilerBuilder {}
impl ReconcilerBuilder {
    pub fn topology_cache(mut self, cache: TopologyCache) -> Self {}
    pub fn traffic_distribution(mut self, supported: bool) -> Self {}
    pub fn events(mut self, sink: impl EventSink + 'static) -> Self {}
    pub fn metrics(mut self, metrics: Arc<dyn SliceMetrics>) -> Self {}
    pub fn slices(mut self, slices: &Informer<EndpointSlice, SliceIndex>) -> Self {}
    pub fn cache(mut self, cache: WriteThrough<EndpointSlice>) -> Self {}
    pub fn build(self) -> Reconciler {}
}
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServiceEndpoints<'a, P = Pod> {
    pub groups: Vec<DesiredGroup<PodEndpoint<'a, P>>>,
    pub missing_nodes: Vec<MissingNode>,
}
impl<P> Default for ServiceEndpoints<'_, P> {}
#[derive(Clone, Debug)]
pub struct ServiceHints<'a> {
    pub policy: HintPolicy,
    pub ratios: &'a ZoneRatios,
    pub enabled: BTreeSet<AddressType>,
}
#[derive(Debug)]
pub struct ServiceInputs {}
impl ServiceInputs {
    pub fn read(cluster: &impl Cluster, service: Arc<Service>) -> ServiceInputs {}
    pub fn pods(&self) -> &[Arc<Pod>] {}
    pub fn into_pods(self) -> Vec<Arc<Pod>> {}
    pub fn existing(&self) -> &[Arc<EndpointSlice>] {}
    pub fn policy(&self) -> HintPolicy {}
    pub fn desired(
        &self,
        cluster: &impl Cluster,
        observe: impl FnMut(PodDecision<'_>),
    ) -> ServiceEndpoints<'_> {}
    pub fn input<E>(&self, desired: Vec<DesiredGroup<E>>) -> Input<'_, E> {}
    pub fn is_withheld(&self) -> bool {}
    pub fn kept(&self) -> Option<impl Fn(&TargetRef) -> bool + '_> {}
}
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SliceLabels {}
impl SliceLabels {
    pub fn carry(labels: &Labels) -> SliceLabels {}
    pub fn for_service(service: &Service) -> SliceLabels {}
    #[must_use]
    pub fn of_service(self, name: impl Into<Text>) -> SliceLabels {}
}
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SliceName {
    Known(Text),
    New(usize),
}
impl fmt::Display for SliceName {}
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TriggerTime {
    Leave,
    Write(Option<Timestamp>),
}
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TypePlan {
    pub address_type: AddressType,
    pub writes: Vec<Write<EndpointSlice>>,
    pub events: Vec<TopologyEvent>,
    pub hints: Option<BTreeMap<Text, usize>>,
    pub groups: Vec<GroupCount>,
    pub withheld: usize,
    pub added: usize,
    pub updated: usize,
    pub removed: usize,
}
impl TypePlan {
    pub fn empty(address_type: AddressType) -> TypePlan {}
    pub fn is_empty(&self) -> bool {}
    pub fn len(&self) -> usize {}
    pub fn creates(&self) -> impl Iterator<Item = &EndpointSlice> {}
    pub fn updates(&self) -> impl Iterator<Item = &EndpointSlice> {}
    pub fn deletes(&self) -> impl Iterator<Item = &Arc<EndpointSlice>> {}
}
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub struct WriteError {
    pub operation: Operation,
    pub slice: Option<String>,
    pub owner: Text,
    pub service: ObjectKey,
    pub source: WriteFailure,
}
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteFailure {
    Request(Error),
    Misplaced { label: String, slices: Vec<String> },
}
pub fn desired_endpoints_explained<'a, P: PodFields>(
    service: &Service,
    pods: &'a [Arc<P>],
    node: impl Fn(&str) -> Option<Arc<Node>>,
    mut observe: impl FnMut(PodDecision<'_, P>),
) -> ServiceEndpoints<'a, P> {}
pub fn desired_endpoints_from_pods<'a, P: PodFields>(
    pods: &'a [Arc<P>],
    ports: &[EndpointPort],
    node: impl Fn(&str) -> Option<Arc<Node>>,
) -> Vec<DesiredGroup<PodEndpoint<'a, P>>> {}
pub fn desired_endpoints_from_service_pods<'a, P: PodFields>(
    service: &Service,
    pods: &'a [Arc<P>],
    node: impl Fn(&str) -> Option<Arc<Node>>,
) -> ServiceEndpoints<'a, P> {}
pub fn endpoint_at(pod: &impl PodFields, addresses: Addresses) -> Endpoint {}
pub fn hinted_types(slices: &[Arc<EndpointSlice>]) -> BTreeSet<AddressType> {}
pub fn plan<E: DesiredEndpoint>(
    input: Input<'_, E>,
    mut hints: Hints<'_>,
    options: &Options,
) -> Plan {}
pub fn plan_explained<E: DesiredEndpoint>(
    input: Input<'_, E>,
    hints: Hints<'_>,
    options: &Options,
) -> (Plan, Explanation) {}
pub fn watch_slices(
    controller: &mut ControllerBuilder<ObjectKey>,
    slices: &Informer<EndpointSlice, SliceIndex>,
    options: &Options,
    terminating: Terminating,
    delay: Duration,
) -> HandlerHandle {}

// controller

#[derive(Clone, Copy, Debug)]
pub struct Config {
    pub concurrent_syncs: usize,
    pub max_endpoints_per_slice: NonZeroUsize,
    pub batch_period: Duration,
    pub batching: Batching,
}
#[derive(Debug, Clone)]
pub struct Informers {
    pub services: Informer<Service, ServiceIndex>,
    pub pods: Informer<Pod, PodIndex>,
    pub nodes: Informer<Node>,
    pub slices: Informer<EndpointSlice, SliceIndex>,
}
pub fn endpointslice_controller(
    informers: &Informers,
    client: impl Into<ReviewedClient<EndpointSlice>>,
    recorder: EventRecorder,
    config: Config,
    slices: Arc<dyn SliceMetrics>,
    metrics: Metrics,
) -> Controller<ObjectKey> {}

// metrics

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HintLabels {
    pub topology: bool,
    pub traffic_distribution: Option<TrafficDistribution>,
}
#[derive(Clone, Debug, Default)]
pub struct MetricsCache {}
impl MetricsCache {
    pub fn update(
        &mut self,
        service: &ObjectKey,
        plan: &Plan,
        max: NonZeroUsize,
        placeholder: bool,
    ) -> Totals {}
    pub fn remove(&mut self, service: &ObjectKey) -> Option<Totals> {}
    pub fn set_traffic_distribution(
        &mut self,
        service: &ObjectKey,
        used: Option<TrafficDistribution>,
    ) -> bool {}
    pub fn traffic_distributions(&self) -> BTreeMap<TrafficDistribution, usize> {}
}
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Create,
    Update,
    Delete,
}
impl Operation {
    pub fn of<T>(write: &Write<T>) -> Operation {}
    pub fn as_str(self) -> &'static str {}
}
#[derive(Clone, Debug)]
pub struct PrometheusMetrics {}
impl PrometheusMetrics {
    pub fn register(registry: &Registry) -> prometheus::Result<PrometheusMetrics> {}
    pub fn register_with_changes_total(
        registry: &Registry,
    ) -> prometheus::Result<PrometheusMetrics> {}
    pub fn register_with_prefix(
        registry: &Registry,
        prefix: &str,
    ) -> prometheus::Result<PrometheusMetrics> {}
}
impl SliceMetrics for PrometheusMetrics {}
pub trait SliceMetrics: Send + Sync {
    fn planned(&self, plan: &Plan) {}
    fn totals(&self, totals: Totals) {}
    fn traffic_distributions(&self, services: &BTreeMap<TrafficDistribution, usize>) {}
    fn wrote(&self, operation: Operation) {}
    fn changed(&self, slices: usize, hints: HintLabels) {}
    fn synced(&self, result: SyncResult) {}
}
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncResult {
    Success,
    Error,
}
impl SyncResult {
    pub fn as_str(self) -> &'static str {}
}
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    pub endpoints: usize,
    pub slices: usize,
    pub desired_slices: usize,
}
#[derive(Clone, Debug)]
pub struct WriteMetrics {}
impl WriteMetrics {
    pub fn register_mirroring(registry: &Registry) -> prometheus::Result<WriteMetrics> {}
}
impl WriteMetrics {
    pub fn changes(&self, added: usize, updated: usize, removed: usize) {}
}
impl SliceMetrics for WriteMetrics {}

// slice_events

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Terminating {
    Ignored,
    Counted,
}
pub fn owners_to_sync(
    (old, new): (Option<&Arc<EndpointSlice>>, Option<&Arc<EndpointSlice>>),
    options: &Options,
    terminating: Terminating,
) -> Vec<ObjectKey> {}

// Public API, listed by docs/tests/it/api.rs.

// crate

#[derive(Clone, Copy, Debug)]
pub struct Config {
    pub concurrent_syncs: usize,
    pub max_endpoints_per_subset: NonZeroUsize,
    pub batch_period: Duration,
    pub batching: Batching,
}
#[derive(Debug, Clone)]
pub struct Informers {
    pub services: Informer<Service, ServiceIndex>,
    pub endpoints: Informer<Endpoints>,
    pub slices: Informer<EndpointSlice, SliceIndex>,
}
#[derive(Clone, Debug)]
pub struct Inputs {
    pub endpoints: Result<Arc<Endpoints>, NothingToMirror>,
    pub existing: Vec<Arc<EndpointSlice>>,
}
impl Inputs {
    pub fn read(cluster: &impl Cluster, key: &ObjectKey) -> Inputs {}
    pub fn plan(&self, max: NonZeroUsize) -> Option<MirrorPlan> {}
    pub fn superfluous(&self) -> &[Arc<EndpointSlice>] {}
}
#[derive(Debug, PartialEq)]
pub struct MirrorPlan {
    pub plan: Plan,
    pub skipped: usize,
    pub invalid: usize,
}
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Mirrored {
    pub groups: Vec<DesiredGroup>,
    pub skipped: usize,
    pub invalid: usize,
}
pub trait MirroringMetrics: SliceMetrics {
    fn skipped(&self, addresses: usize) {}
    fn sync_duration(&self, duration: Duration) {}
}
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NotMirrored {
    Skipped,
    LeaderLock,
    NoService,
    Selector,
}
impl NotMirrored {
    pub fn code(self) -> Code {}
}
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NothingToMirror {
    NoEndpoints,
    NotMirrored(NotMirrored),
    Withheld,
}
#[derive(Clone, Debug)]
pub struct PrometheusMetrics {}
impl PrometheusMetrics {
    pub fn register(registry: &Registry) -> prometheus::Result<PrometheusMetrics> {}
}
impl SliceMetrics for PrometheusMetrics {}
impl MirroringMetrics for PrometheusMetrics {}
pub fn desired(endpoints: &Endpoints, max: NonZeroUsize) -> Mirrored {}
pub fn mirroring_controller(
    informers: &Informers,
    client: impl Into<ReviewedClient<EndpointSlice>>,
    recorder: EventRecorder,
    config: Config,
    mirroring: Arc<dyn MirroringMetrics>,
    metrics: Metrics,
) -> Controller<ObjectKey> {}
pub fn not_mirrored(
    endpoints: &Endpoints,
    service: Option<&Service>,
) -> Option<NotMirrored> {}
pub fn plan(
    endpoints: &Endpoints,
    existing: &[Arc<EndpointSlice>],
    max: NonZeroUsize,
) -> MirrorPlan {}

// Public API, listed by docs/tests/it/api.rs.

// crate

#[derive(Clone, Copy, Debug)]
pub struct Config {
    pub concurrent_syncs: usize,
    pub batch_period: Duration,
    pub batching: Batching,
    pub legacy: Legacy,
    pub namespaced_create_events: bool,
}
#[derive(Debug, Clone)]
pub struct Informers {
    pub services: Informer<Service, ServiceIndex>,
    pub pods: Informer<Pod, PodIndex>,
    pub endpoints: Informer<Endpoints>,
}
#[derive(Clone, Debug)]
pub struct Inputs {
    pub service: Arc<Service>,
    pub pods: Vec<Arc<Pod>>,
    pub current: Option<Arc<Endpoints>>,
    pub kept: Vec<EndpointSubset>,
}
impl Inputs {
    pub fn read(cluster: &impl Cluster, service: Arc<Service>) -> Inputs {}
    pub fn of_pods(
        cluster: &impl Cluster,
        service: Arc<Service>,
        pods: Vec<Arc<Pod>>,
    ) -> Inputs {}
    pub fn plan(
        &self,
        trigger_time: Option<Timestamp>,
        legacy: Legacy,
    ) -> Option<Write<Endpoints>> {}
}
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Legacy {
    pub tolerate_unready_endpoints: bool,
    pub single_stack_endpoints: bool,
    pub restart_policy_membership: bool,
}
pub const MAX_ADDRESSES: usize = 1_000;
pub fn endpoints_controller(
    informers: &Informers,
    client: impl Into<ReviewedClient<Endpoints>>,
    recorder: EventRecorder,
    config: Config,
    metrics: Metrics,
) -> Controller<ObjectKey> {}
pub fn explain(
    service: &Service,
    pods: &[Arc<Pod>],
    legacy: Legacy,
    mut observe: impl FnMut(&Arc<Pod>, PodOutcome),
) {}
pub fn plan(
    service: &Service,
    pods: &[Arc<Pod>],
    current: Option<&Arc<Endpoints>>,
    trigger_time: Option<Timestamp>,
    legacy: Legacy,
) -> Option<Write<Endpoints>> {}

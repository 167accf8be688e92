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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Legacy {
    pub tolerate_unready_endpoints: bool,
    pub single_stack_endpoints: bool,
    pub restart_policy_membership: bool,
}
pub const MAX_ADDRESSES: usize = 1_000;
#[derive(Clone, Debug, PartialEq)]
pub enum Write {
    Create(Endpoints),
    Update(Endpoints),
}
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
    current: Option<&Endpoints>,
    trigger_time: Option<Timestamp>,
    legacy: Legacy,
) -> Option<Write> {}

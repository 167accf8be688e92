// Public API, listed by docs/tests/it/api.rs.

// crate

#[must_use = "the election does not start until `run` is called"]
pub struct Election {}
impl Election {
    pub fn new(client: Client, options: ElectionOptions) -> (Election, Fence) {}
    pub fn lease(&self) -> LeaseHandle {}
    pub async fn run(self, stop: CancellationToken) -> End {}
}
pub trait ElectionMetrics: Send + Sync {
    fn leading(&self, is_leader: bool);
    fn add_slow_paths(&self, count: u64);
}
pub trait ElectionMetricsProvider: Send + Sync {
    fn election(&self, name: &str) -> Arc<dyn ElectionMetrics>;
}
pub struct ElectionOptions {
    pub lease: LeaseName,
    pub identity: String,
    pub timing: Timing,
    pub recorder: Option<EventRecorder>,
    pub metrics: Option<Arc<dyn ElectionMetrics>>,
}
#[derive(Debug)]
pub struct Elector {}
impl Elector {
    pub fn new(
        lease: LeaseName,
        identity: String,
        timing: Timing,
        seed: u64,
    ) -> Elector {}
    pub fn next(&mut self, now: Now) -> Next {}
    pub fn stop(&mut self) {}
    pub fn retry_now(&mut self) {}
    pub fn term(&self) -> Option<Term> {}
    pub fn leader(&self) -> &str {}
    pub fn lease(&self) -> Option<&Lease> {}
    pub fn slow_path_count(&self) -> u64 {}
}
impl Elector {
    pub fn record_outcome(&mut self, now: Now, outcome: RequestOutcome) {}
    pub fn observe(&mut self, now: Now, lease: Lease) {}
}
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Released,
    Stopped,
    Lost,
}
#[derive(Clone)]
pub struct Fence(watch::Receiver<ElectionState>);
impl Fence {
    pub fn term_end(&self) -> Option<Instant> {}
    pub async fn wait_until_leading(&mut self) -> bool {}
    pub fn leader(&self) -> String {}
    pub async fn changed(&mut self) -> bool {}
    pub fn is_overdue(&self) -> bool {}
}
impl WriteGate for Fence {}
impl fmt::Debug for Fence {}
#[derive(Clone)]
pub struct LeaseHandle {}
impl LeaseHandle {
    pub fn reference(&self) -> ObjectReference {}
}
impl fmt::Debug for LeaseHandle {}
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeaseName {
    pub namespace: String,
    pub name: String,
}
impl LeaseName {
    pub fn new(namespace: impl Into<String>, name: impl Into<String>) -> Self {}
}
impl fmt::Display for LeaseName {}
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    Wait(Instant),
    Send { request: Request, deadline: Instant },
    Ended(End),
}
#[derive(Debug, Clone, Copy)]
pub struct Now {
    pub at: Instant,
    pub wall: Timestamp,
}
#[derive(Debug, Clone)]
pub struct PrometheusMetrics {}
impl PrometheusMetrics {
    pub fn register(registry: &Registry) -> prometheus::Result<Self> {}
}
impl ElectionMetricsProvider for PrometheusMetrics {}
#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    Get,
    Create(Lease),
    Update(Lease),
}
#[derive(Debug, Clone, PartialEq)]
pub enum RequestOutcome {
    Found(Lease),
    NotFound,
    Written { uid: String, resource_version: String },
    Rejected,
    Unknown,
}
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Term {
    pub since: Instant,
    pub renewed: Instant,
    pub until: Instant,
}
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {}
impl Timing {
    pub fn new(
        lease_duration: Duration,
        renew_deadline: Duration,
        retry_period: Duration,
    ) -> Result<Timing, TimingError> {}
    pub fn lease_duration(&self) -> Duration {}
    pub fn renew_deadline(&self) -> Duration {}
    pub fn retry_period(&self) -> Duration {}
    pub fn request_timeout(&self) -> Duration {}
    pub fn timeouts(&self) -> Timeouts {}
}
impl Default for Timing {}
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TimingError {
    RenewDeadline,
    RetryPeriod,
    Zero,
}
pub fn identity() -> String {}

// Public API, listed by docs/tests/it/api.rs.

// crate

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "the key is only requeued if the sync returns the action"]
pub struct Action {}
impl Action {
    pub fn requeue(delay: Duration) -> Self {}
    pub fn await_change() -> Self {}
}
impl<T: Into<Outcome>> From<T> for Action {}
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Batching {
    None,
    Adaptive,
}
impl fmt::Display for Batching {}
impl FromStr for Batching {}
pub struct Controller<K> {}
impl<K: Clone + Eq + Hash + Display + Send + Sync + 'static> Controller<K> {
    pub fn builder(
        name: impl Into<Arc<str>>,
        queue: kube_workqueue::Builder<K>,
        metrics: Metrics,
    ) -> ControllerBuilder<K> {}
    #[must_use]
    pub fn wait_for(self, ready: impl Future<Output = ()> + Send + 'static) -> Self {}
    #[must_use]
    pub fn before_sync<F>(self, wait: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {}
    #[must_use]
    pub fn contain_panics(self, report: impl Fn(&str) + Send + Sync + 'static) -> Self {}
    #[must_use]
    pub fn server_gate(mut self, gate: ServerGate) -> Self {}
    pub fn enqueuer(&self) -> Enqueuer<K> {}
    pub fn on_change(&self, observe: impl Fn(&K) + Send + Sync + 'static) {}
    pub async fn run(self, stop: CancellationToken) -> Result<(), NeverSynced> {}
}
impl<K> fmt::Debug for Controller<K> {}
#[must_use]
pub struct ControllerBuilder<K> {}
impl<K: Clone + Eq + Hash + Display + Send + Sync + 'static> ControllerBuilder<K> {
    pub fn concurrency(self, count: usize) -> Self {}
    pub fn retry(self, policy: RetryPolicy) -> Self {}
    pub fn failure_cause(
        self,
        classify: impl Fn(
            &(dyn std::error::Error + 'static),
        ) -> FailureCause + Send + Sync + 'static,
    ) -> Self {}
    pub fn batching(self, batching: Batching) -> Self {}
    pub fn watch<T, X>(
        &mut self,
        informer: &Informer<T, X>,
        name: impl Into<Arc<str>>,
        mut handle: impl FnMut(&Event<T>, &Enqueuer<K>) + Send + 'static,
    ) -> HandlerHandle
    where
        T: kube_wire::Object,
        X: kube_wire::Index<T>,
    {}
    pub fn enqueuer(&self, source: Option<&str>) -> Enqueuer<K> {}
    pub fn background(self, future: impl Future<Output = ()> + Send + 'static) -> Self {}
    pub fn build<S, F, O, E>(self, sync: S) -> Controller<K>
    where
        S: Fn(K) -> F + Send + Sync + 'static,
        F: Future<Output = Result<O, E>> + Send + 'static,
        O: Into<Action>,
        E: Into<BoxError>,
    {}
}
impl<K> fmt::Debug for ControllerBuilder<K> {}
pub trait ControllerMetrics: Send + Sync {
    fn retries_exhausted(&self) {}
    fn waiting_for_server(&self, keys: usize) {}
    fn pending(&self, count: PendingKeys) {}
    fn propagated(&self, source: &str, latency: Latency) {}
}
pub struct Enqueuer<K> {}
impl<K: Clone + Eq + Hash + Send + 'static> Enqueuer<K> {
    pub fn add(&self, key: K) {}
    pub fn add_after(&self, key: K, delay: Duration) {}
    pub fn add_change(&self, key: K, urgency: Urgency) {}
    pub fn add_change_after(&self, key: K, urgency: Urgency, delay: Duration) {}
    pub fn set_interval(&self, key: &K, interval: Duration) {}
    pub fn add_contested(&self, key: K, delay: Duration) {}
    pub fn requeue(&self, key: K, delay: Duration) {}
    pub fn is_contested(&self, key: &K) -> bool {}
}
impl<K> Clone for Enqueuer<K> {}
impl<K> std::fmt::Debug for Enqueuer<K> {}
#[derive(Debug)]
pub struct Executed<'p, T> {
    pub is_reviewed: bool,
    pub writes: usize,
    pub failures: Vec<(&'p Write<T>, Error)>,
}
#[derive(Debug)]
pub struct Executor<'a, T> {}
impl<'a, T: Encode + Clone> Executor<'a, T> {
    pub fn new(
        client: &'a ReviewedClient<T>,
        cache: Option<&'a WriteThrough<T>>,
    ) -> Self {}
    pub async fn execute<'p>(
        &self,
        key: &ObjectKey,
        groups: impl Iterator<Item = &'p [Write<T>]> + Clone + Send,
        rules: &mut (impl WriteRules<T> + Send),
    ) -> Executed<'p, T>
    where
        T: 'p,
    {}
}
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    Fail,
    EndGroup,
    Repeat,
}
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum FailureCause {
    Key,
    Server,
    Unreachable,
}
#[derive(Clone, Default)]
pub struct Health {}
impl Health {
    pub fn add(
        &self,
        name: &str,
        probes: &[Probe],
        test: impl Fn() -> Result<(), String> + Send + Sync + 'static,
    ) {}
    pub fn add_informer(&self, name: &str, progress: Progress) {}
    pub fn add_leader_election(
        &self,
        lease: impl fmt::Display,
        is_overdue: impl Fn() -> bool + Send + Sync + 'static,
    ) {}
    pub fn respond(&self, path: &str, query: &str) -> Option<HealthResponse> {}
    pub fn metrics(&self) -> prometheus::Result<Vec<prometheus::proto::MetricFamily>> {}
    pub fn reset_metrics(&self) {}
}
impl fmt::Debug for Health {}
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HealthResponse {
    pub passed: bool,
    pub body: String,
}
impl HealthResponse {
    pub fn status(&self) -> u16 {}
}
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latency {
    pub queue: Duration,
    pub sync: Duration,
}
impl Latency {
    pub fn total(&self) -> Duration {}
}
#[derive(Clone, Default)]
pub struct Metrics {
    pub queue: Option<Arc<dyn MetricsProvider>>,
    pub controller: Option<Arc<dyn ControllerMetrics>>,
}
impl fmt::Debug for Metrics {}
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Unchanged,
    Written,
}
impl Outcome {
    pub fn of_writes(count: usize) -> Self {}
    pub fn requeue_after(self, delay: Duration) -> Action {}
}
impl From<()> for Outcome {}
pub trait Owns {
    /// Type of the owned objects.
    type Object: Decode;
    /// Index of their informer.
    type Index: Index<Self::Object>;
    fn informer(&self) -> Option<&Informer<Self::Object, Self::Index>>;
    fn watch(&self, controller: &mut ControllerBuilder<ObjectKey>);
    fn is_gated(&self) -> bool;
}
pub type PendingKeys = Box<dyn Fn() -> Option<usize> + Send + Sync>;
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Probe {
    Healthz,
    Livez,
    Readyz,
}
#[derive(Clone, Debug)]
pub struct PrometheusControllers {}
impl PrometheusControllers {
    pub fn register(registry: &Registry) -> prometheus::Result<Self> {}
    pub fn register_with_prefix(
        registry: &Registry,
        prefix: &str,
    ) -> prometheus::Result<Self> {}
    pub fn controller(&self, name: &str) -> Arc<dyn ControllerMetrics> {}
}
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    pub max_retries: u32,
    pub slow_interval: Duration,
}
impl Default for RetryPolicy {}
#[derive(Clone, Default)]
pub struct ServerGate(Arc<Shared>);
impl ServerGate {
    pub fn is_closed(&self) -> bool {}
    pub fn server_answered(&self) {}
    pub async fn follow<F: Future<Output = ()>>(
        self,
        recovery: impl Fn() -> F,
        stop: CancellationToken,
    ) {}
}
impl fmt::Debug for ServerGate {}
#[derive(Debug)]
pub struct Supervisor {}
impl Supervisor {
    pub fn new(stop: CancellationToken) -> Supervisor {}
    pub fn spawn(
        &mut self,
        name: impl Into<String>,
        task: impl Future<Output = ()> + Send + 'static,
    ) {}
    pub fn try_spawn<E: Error + Send + Sync + 'static>(
        &mut self,
        name: impl Into<String>,
        task: impl Future<Output = Result<(), E>> + Send + 'static,
    ) {}
    pub async fn run(mut self, grace: Duration) -> Result<(), SupervisorError> {}
}
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SupervisorError {
    Ended { task: String },
    Failed { task: String, source: Box<dyn Error + Send + Sync> },
    Panicked { task: String, message: String },
    Stuck { grace: Duration, tasks: Vec<String> },
}
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct UnknownBatching;
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urgency {
    High,
    Normal,
}
pub struct Workers<K> {}
impl<K> Workers<K>
where
    K: Clone + Eq + Hash + Display + Send + Sync + 'static,
{
    pub fn new(name: impl Into<Arc<str>>, queue: Queue<K>, timer: Timer<K>) -> Self {}
    #[must_use]
    pub fn concurrency(self, concurrency: usize) -> Self {}
    #[must_use]
    pub fn retry(self, retry: RetryPolicy) -> Self {}
    #[must_use]
    pub fn metrics(self, metrics: Option<Arc<dyn ControllerMetrics>>) -> Self {}
    #[must_use]
    pub fn failure_cause(
        self,
        classify: impl Fn(
            &(dyn std::error::Error + 'static),
        ) -> FailureCause + Send + Sync + 'static,
    ) -> Self {}
    #[must_use]
    pub fn server_gate(self, gate: ServerGate) -> Self {}
    pub async fn run<S, F, O, E>(self, stop: CancellationToken, sync: S)
    where
        S: Fn(K) -> F + Send + Sync + 'static,
        F: Future<Output = Result<O, E>> + Send + 'static,
        O: Into<Action> + Send + 'static,
        E: Into<BoxError> + Send + 'static,
    {}
}
pub trait WriteRules<T> {
    fn priority(&self, writes: &[&Write<T>]) -> RequestPriority;
    fn to_create<'p>(&mut self, planned: &'p T) -> Cow<'p, T>
    where
        T: Clone,
    {}
    fn answered(&mut self, planned: &T, answer: &T) {}
    fn accepted(&mut self, write: &Write<T>, uid: &Uid) {}
    fn failed(&mut self, write: &Write<T>, sent: &T, error: &Error) -> Failure {}
    fn completed(&mut self, group: usize) {}
}
pub fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {}

// Public API, listed by docs/tests/it/api.rs.

// crate

pub use kube_controller::Action;
pub use kube_controller::Batching;
pub use tokio_util::sync::CancellationToken;
pub use kube_controller_client::Client;
pub use kube_controller_client::ClientOptions;
pub use kube_controller_client::Config;
#[must_use = "the controller does nothing until it runs"]
pub struct Controller<X = ()> {}
impl Controller {
    pub fn new(name: impl Into<Arc<str>>, client: Client) -> Controller {}
    pub fn with_metrics(
        name: impl Into<Arc<str>>,
        client: Client,
        metrics: &crate::PrometheusMetrics,
    ) -> Controller {}
}
impl<X: 'static> Controller<X> {
    pub fn name(&self) -> &str {}
    pub fn client(&self) -> &Client {}
    pub fn gate(&self) -> Gate {}
    pub fn health(&self) -> Health {}
    pub fn informer<T: Decode>(&self) -> kube_informer::Builder<T> {}
    pub fn primary<T: Decode, Y: Index<T>>(
        self,
        objects: &Informer<T, Y>,
    ) -> Controller<Y> {}
    pub fn watches<T: Decode, Y: Index<T>, K: IntoIterator<Item = ObjectKey>>(
        mut self,
        objects: &Informer<T, Y>,
        keys: impl Fn(&T, &X) -> K + Send + 'static,
    ) -> Self {}
    pub fn caches<T: Decode, Y: Index<T>>(mut self, objects: &Informer<T, Y>) -> Self {}
    pub fn owns_slices<R: Owns>(mut self, reconciler: &R) -> Self {}
    pub fn handlers(&mut self) -> &mut ControllerBuilder<ObjectKey> {}
    pub fn concurrency(mut self, count: usize) -> Self {}
    pub fn retry(mut self, policy: RetryPolicy) -> Self {}
    pub fn batching(mut self, batching: Batching) -> Self {}
    pub fn task<F: Future<Output = ()> + Send + 'static>(
        mut self,
        name: impl Into<String>,
        task: impl FnOnce(CancellationToken) -> F + Send + 'static,
    ) -> Self {}
    pub fn recorder(&mut self) -> EventRecorder {}
    pub fn with_leader_election(mut self, lease: LeaseName) -> Self {}
    pub fn election_timing(mut self, timing: Timing) -> Self {}
    pub async fn run<C, S, F, O, E>(
        self,
        stop: CancellationToken,
        context: C,
        sync: S,
    ) -> Result<(), ControllerError>
    where
        C: Send + Sync + 'static,
        S: Fn(Arc<C>, ObjectKey) -> F + Send + Sync + 'static,
        F: Future<Output = Result<O, E>> + Send + 'static,
        O: Into<Action>,
        E: Into<Box<dyn Error + Send + Sync>>,
    {}
}
impl<X: 'static> Controller<X> {
    pub fn serve(self, listener: TcpListener) -> Self {}
}
impl<X> fmt::Debug for Controller<X> {}
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ControllerError {
    Supervisor(SupervisorError),
    LeaseLost,
    Elections(ConfigError),
    OwnsWithoutInformer,
    OwnsWithoutGate,
}
pub use kube_wire::Decode;
pub use kube_informer::Event;
pub use kube_controller_client::events::EventRecorder;
pub use kube_controller_client::events::EventType;
#[derive(Clone)]
pub struct Gate(Arc<watch::Sender<State>>);
impl Gate {
    pub async fn wait_until_open(&self) -> bool {}
}
impl WriteGate for Gate {}
impl fmt::Debug for Gate {}
pub use kube_controller::Health;
pub use kube_controller::HealthResponse;
pub use kube_informer::Informer;
pub use kube_lease_election::LeaseName;
pub use kube_informer::Lister;
pub use kube_informer::NamedIndexes;
pub use kube_wire::Object;
pub use kube_wire::ObjectKey;
pub use kube_controller_client::events::ObjectReference;
pub use kube_informer::OnUndecodable;
pub use kube_controller::Outcome;
pub use kube_controller::Owns;
pub use kube_controller::Probe;
#[derive(Clone, Debug)]
pub struct PrometheusMetrics {}
impl PrometheusMetrics {
    pub fn register(registry: &Registry) -> prometheus::Result<PrometheusMetrics> {}
}
impl ClientMetricsProvider for PrometheusMetrics {}
pub use kube_wire::Resource;
pub use kube_controller::RetryPolicy;
pub use kube_lease_election::Timing;
pub use kube_wire::object;
pub fn stop_on_signals() -> io::Result<CancellationToken> {}

// Public API, listed by docs/tests/it/api.rs.

// crate

#[must_use = "the controller does nothing until it runs"]
pub struct Program {}
impl Program {
    pub fn new(name: impl Into<Arc<str>>, client: Client, metrics: Metrics) -> Program {}
    pub fn primary<T: Decode, X: Index<T>>(self, objects: &Informer<T, X>) -> Self {}
    pub fn watches<T: Decode, X: Index<T>, K: IntoIterator<Item = ObjectKey>>(
        mut self,
        objects: &Informer<T, X>,
        name: &'static str,
        keys: impl Fn(&T) -> K + Send + 'static,
    ) -> Self {}
    pub fn caches<T: Decode, X: Index<T>>(mut self, objects: &Informer<T, X>) -> Self {}
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
    pub fn client(&self) -> &Client {}
    pub fn with_leader_election(mut self, elections: Client, lease: LeaseName) -> Self {}
    pub async fn run<C, S, F, O, E>(
        self,
        stop: CancellationToken,
        context: C,
        sync: S,
    ) -> Result<(), ProgramError>
    where
        C: Send + Sync + 'static,
        S: Fn(Arc<C>, ObjectKey) -> F + Send + Sync + 'static,
        F: Future<Output = Result<O, E>> + Send + 'static,
        O: Into<Outcome>,
        E: Into<Box<dyn Error + Send + Sync>>,
    {}
}
impl fmt::Debug for Program {}
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProgramError {
    Supervisor(SupervisorError),
    LeaseLost,
}

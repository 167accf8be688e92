// Public API, listed by docs/tests/it/api.rs.

// crate

#[derive(Clone, Debug)]
pub struct Informers {
    pub services: Informer<Service, ServiceIndex>,
    pub pods: Informer<Pod, PodIndex>,
    pub nodes: Informer<Node>,
    pub endpoints: Informer<Endpoints>,
    pub slices: Informer<EndpointSlice, SliceIndex>,
}
pub use kube_endpoints_explain::Settings;
#[derive(Clone, Debug)]
pub struct Options {
    pub settle_period: Duration,
    pub writer_lease: Option<LeaseName>,
    pub compare_period: Duration,
    pub limits: Settings,
}
#[derive(Clone, Debug)]
pub struct Report {
    pub text: String,
    pub json: Value,
}
pub struct Shadow {}
impl Shadow {
    pub fn new(
        informers: &Informers,
        options: Options,
    ) -> prometheus::Result<Arc<Shadow>> {}
    pub fn register(self: &Arc<Self>, registry: &Registry) -> prometheus::Result<()> {}
    pub fn follow(
        self: &Arc<Self>,
        name: &'static str,
        controller: Controller<ObjectKey>,
    ) -> Controller<ObjectKey> {}
    pub fn client<T: Object + Serialize + 'static>(
        self: &Arc<Self>,
        client: Client,
        controller: &'static str,
    ) -> ReviewedClient<T> {}
    pub fn spawn(
        self: &Arc<Self>,
        supervisor: &mut Supervisor,
        reader: &Client,
        stop: &CancellationToken,
    ) {}
    pub fn report(&self) -> Report {}
}

// Public API, listed by docs/tests/it/api.rs.

// crate

pub use kube_wire::Accept;
#[derive(Clone, Default)]
pub struct Availability {}
impl Availability {
    pub fn is_available(&self) -> bool {}
    pub fn recovered_at(&self) -> Option<Instant> {}
    pub fn next_answer(&self) -> impl Future<Output = ()> + Send + use<> {}
    pub fn recovery(&self) -> impl Future<Output = ()> + Send + use<> {}
    pub async fn wait_to_retry(&self, requested: Option<Duration>) {}
}
impl fmt::Debug for Availability {}
#[derive(Clone, PartialEq, Eq)]
pub struct BearerToken(String);
impl From<String> for BearerToken {}
impl fmt::Debug for BearerToken {}
#[derive(Debug)]
pub struct Body {}
impl Body {
    pub fn encoding(&self) -> Encoding {}
}
impl Stream for Body {}
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {}
impl Call {
    pub fn verb(&self) -> &'static str {}
}
impl fmt::Display for Call {}
#[derive(Clone)]
pub struct Client {}
impl Client {
    pub fn new(config: &Config, options: ClientOptions) -> Result<Self, ConfigError> {}
    pub fn with_metrics(
        config: &Config,
        options: ClientOptions,
        metrics: &dyn ClientMetricsProvider,
    ) -> Result<Self, ConfigError> {}
    #[must_use]
    pub fn gated(&self, gate: Arc<dyn WriteGate>) -> Self {}
    pub fn is_gated(&self) -> bool {}
    pub fn separate(&self, timeouts: Timeouts) -> Result<Self, ConfigError> {}
    #[must_use]
    pub fn with_shutdown(&self, shutdown: CancellationToken) -> Self {}
    #[must_use]
    pub fn without_retries(&self) -> Self {}
    pub fn availability(&self) -> &Availability {}
    #[must_use]
    pub fn with_priority(&self, priority: impl FnOnce() -> RequestPriority) -> Self {}
    #[must_use]
    pub fn decoding_in(&self, context: impl DecodeContext + 'static) -> Self {}
    pub fn decode<R>(&self, decode: impl FnOnce() -> R) -> R {}
    pub fn decode_context(&self) -> Option<Arc<dyn DecodeContext>> {}
    pub fn content_type(&self) -> Encoding {}
    pub async fn get_json(&self, path: &str) -> Result<serde_json::Value, Error> {}
}
impl Client {
    pub async fn list(
        &self,
        resource: &Resource,
        namespace: Option<&str>,
        params: &ListParams,
    ) -> Result<Bytes, Error> {}
    pub async fn list_chunks(
        &self,
        resource: &Resource,
        namespace: Option<&str>,
        params: &ListParams,
    ) -> Result<Body, Error> {}
    pub async fn get_chunks(
        &self,
        resource: &Resource,
        namespace: &str,
        name: &str,
    ) -> Result<Body, Error> {}
    pub async fn watch(
        &self,
        resource: &Resource,
        namespace: Option<&str>,
        params: &WatchParams,
    ) -> Result<Body, Error> {}
}
impl Client {
    pub async fn raw(
        &self,
        method: Method,
        path_and_query: &str,
        content_type: Option<&str>,
        body: Vec<u8>,
    ) -> Result<(StatusCode, Bytes), Error> {}
}
impl Client {
    pub async fn discover(
        &self,
        api_version: &str,
        kind: &str,
    ) -> Result<Option<Resource>, Error> {}
}
impl Client {
    pub async fn get<T: Decode>(&self, namespace: &str, name: &str) -> Result<T, Error> {}
    pub async fn get_of<T: Decode>(
        &self,
        resource: &Resource,
        namespace: &str,
        name: &str,
    ) -> Result<T, Error> {}
    pub async fn create<T: Encode>(&self, object: &T) -> Result<T, Error> {}
    pub async fn create_virtual<T: Decode + Serialize>(
        &self,
        object: &T,
    ) -> Result<T, Error> {}
    pub async fn update<T: Encode>(&self, object: &T) -> Result<T, Error> {}
    pub async fn delete<T: Decode>(
        &self,
        namespace: &str,
        name: &str,
        preconditions: Option<Preconditions>,
    ) -> Result<Deleted<T>, Error> {}
    pub async fn merge_patch<T: Decode>(
        &self,
        namespace: &str,
        name: &str,
        subresource: Option<&str>,
        patch: &Value,
    ) -> Result<PatchedMetadata, Error> {}
    pub async fn merge_patch_of(
        &self,
        resource: &Resource,
        namespace: &str,
        name: &str,
        subresource: Option<&str>,
        patch: &Value,
    ) -> Result<PatchedMetadata, Error> {}
}
impl fmt::Debug for Client {}
pub trait ClientMetrics: Send + Sync {
    fn rate_limited(&self, method: &Method, waited: Duration) {}
    fn limit_changed(&self, state: &LimitState<'_>) {}
    fn responded(
        &self,
        method: &Method,
        code: Option<StatusCode>,
        request_bytes: usize,
    ) {}
    fn retried(&self, method: &Method, code: Option<StatusCode>) {}
    fn completed(&self, method: &Method, duration: Duration) {}
    fn body_read(&self, method: &Method, size: usize) {}
}
pub trait ClientMetricsProvider: Send + Sync {
    fn client(&self, host: &str) -> Arc<dyn ClientMetrics>;
}
#[derive(Debug, Clone)]
pub struct ClientOptions {
    pub user_agent: String,
    pub qps: f32,
    pub burst: u32,
    pub adaptive: bool,
    pub content_type: Encoding,
    pub timeouts: Timeouts,
    pub read_only: bool,
    pub log_warnings: bool,
}
impl Default for ClientOptions {}
#[derive(Clone)]
pub struct Config {}
impl Config {
    pub async fn from_kubeconfig(path: &Path) -> Result<Self, ConfigError> {}
    pub async fn from_kubeconfig_with(
        options: KubeconfigOptions,
    ) -> Result<Self, ConfigError> {}
    pub fn in_cluster() -> Result<Self, ConfigError> {}
    pub async fn infer() -> Result<Self, ConfigError> {}
    pub async fn infer_with(options: KubeconfigOptions) -> Result<Self, ConfigError> {}
    pub fn from_kubeconfig_text(text: &str) -> Result<Self, ConfigError> {}
    pub fn from_url(url: &str) -> Result<Self, ConfigError> {}
    pub fn from_service<S, B>(service: S) -> Self
    where
        S: Service<Request<Full<Bytes>>, Response = Response<B>> + Clone + Send + Sync
            + 'static,
        S::Error: Into<BoxError>,
        S::Future: Send + 'static,
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {}
    pub fn with_server(self, url: &str) -> Result<Self, ConfigError> {}
    pub fn follow_files(&self) -> impl Future<Output = Infallible> + Send + use<> {}
    pub fn credentials(&self) -> &Credentials {}
    pub fn availability(&self) -> &Availability {}
    #[must_use]
    pub fn as_service_account(
        &self,
        token_client: Client,
        namespace: &str,
        name: &str,
    ) -> Self {}
    pub fn server(&self) -> String {}
    pub fn verifies_server(&self) -> bool {}
    pub fn default_namespace(&self) -> String {}
}
impl Config {
    pub fn from_kube_client(client: kube::Client) -> Self {}
}
impl fmt::Debug for Config {}
impl TryFrom<kube::Config> for Config {}
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    Kubeconfig { path: PathBuf, source: BoxError },
    Text { source: BoxError },
    Infer { kubeconfig: Box<ConfigError>, source: Box<ConfigError> },
    InCluster { source: BoxError },
    Server { url: String, source: BoxError },
    Connection { server: String, source: BoxError },
}
#[derive(Debug, Clone, Default)]
pub struct Credentials(Arc<Mutex<CredentialsState>>);
impl Credentials {
    pub fn accepted_at(&self) -> Option<Instant> {}
    pub fn rejected_since(&self) -> Option<Instant> {}
}
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deleted<T> {
    Removed,
    Pending(T),
}
pub use kube_wire::Encoding;
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    Api { call: Call, status: Box<Status> },
    Transport { call: Call, kind: TransportKind, source: BoxError },
    Gated { call: Call },
    ShuttingDown { call: Call },
    ReadOnly { call: Call },
    Request { call: Call, source: BoxError },
    InvalidResponse { call: Call, source: BoxError },
}
impl Error {
    pub fn call(&self) -> &Call {}
    pub fn status(&self) -> Option<&Status> {}
    pub fn is_not_found(&self) -> bool {}
    pub fn is_already_exists(&self) -> bool {}
    pub fn may_have_been_applied(&self) -> bool {}
    pub fn is_server_failure(&self) -> bool {}
    pub fn is_unreachable(&self) -> bool {}
    pub fn is_conflict(&self) -> bool {}
    pub fn is_forbidden(&self) -> bool {}
    pub fn is_expired(&self) -> bool {}
    pub fn is_namespace_terminating(&self) -> bool {}
    pub fn is_too_many_requests(&self) -> bool {}
    pub fn retry_after(&self) -> Option<Duration> {}
}
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KubeconfigOptions {
    pub path: Option<PathBuf>,
    pub context: Option<String>,
    pub cluster: Option<String>,
    pub user: Option<String>,
    pub impersonate: Option<String>,
    pub impersonate_groups: Vec<String>,
    pub impersonate_uid: Option<String>,
    pub token: Option<BearerToken>,
    pub certificate_authority: Option<PathBuf>,
    pub insecure_skip_tls_verify: bool,
    pub tls_server_name: Option<String>,
}
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LimitState<'a> {
    pub priority_level: &'a str,
    pub limit: usize,
    pub in_flight: usize,
    pub waiting: usize,
}
pub use kube_wire::ListParams;
pub use kube_wire::MAX_RETRY_AFTER;
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct PatchedMetadata {
    pub name: String,
    pub namespace: String,
    pub uid: Uid,
    pub resource_version: ResourceVersion,
    pub generation: i64,
}
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Preconditions {
    pub uid: Option<Uid>,
    pub resource_version: Option<ResourceVersion>,
}
impl Preconditions {
    pub fn unchanged(uid: &Uid, resource_version: &ResourceVersion) -> Self {}
}
#[derive(Debug, Clone)]
pub struct PrometheusMetrics {}
impl PrometheusMetrics {
    pub fn register(registry: &Registry) -> prometheus::Result<Self> {}
}
impl ClientMetricsProvider for PrometheusMetrics {}
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum RequestPriority {
    Removal,
    Addition,
    Other,
}
impl RequestPriority {
    pub fn of_change<T: Eq + Hash>(
        before: impl IntoIterator<Item = T>,
        after: impl IntoIterator<Item = T>,
    ) -> Self {}
}
pub use kube_wire::Resource;
pub trait Review<T>: Send + Sync {
    fn review(&self, key: &ObjectKey, writes: &[&Write<T>]);
}
pub struct ReviewedClient<T> {}
impl<T> ReviewedClient<T> {
    pub fn new(client: Client, review: Arc<dyn Review<T>>) -> Self {}
    pub fn client(&self) -> &Client {}
    pub fn observes(&self) -> bool {}
    pub fn sends<'a, W>(&self, key: &ObjectKey, writes: impl FnOnce() -> W) -> bool
    where
        W: IntoIterator<Item = &'a Write<T>>,
        T: 'a,
    {}
}
impl<T> From<Client> for ReviewedClient<T> {}
impl<T> Clone for ReviewedClient<T> {}
impl<T> fmt::Debug for ReviewedClient<T> {}
pub use kube_wire::Status;
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    pub request: Duration,
    pub connect: Duration,
    pub ping_interval: Duration,
    pub ping_timeout: Duration,
}
impl Default for Timeouts {}
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TransportKind {
    Connect,
    Reset,
    Timeout,
    Other,
}
pub use kube_wire::WatchParams;
pub trait WriteGate: Send + Sync {
    fn open_until(&self) -> Option<Instant>;
}
pub use bytes;
pub use http;

// events

#[derive(Debug, Clone)]
pub struct EventRecorder {}
impl EventRecorder {
    pub fn new(client: Client, component: &str) -> (Self, EventWriter) {}
    pub fn event(
        &self,
        object: &ObjectReference,
        event_type: EventType,
        reason: impl Into<String>,
        message: impl Into<String>,
    ) {}
    pub fn dropped(&self) -> u64 {}
}
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EventType {
    Normal,
    Warning,
}
#[derive(Debug)]
#[must_use = "events are not written until `run` is called"]
pub struct EventWriter {}
impl EventWriter {
    pub async fn run(mut self, stop: CancellationToken) {}
}
#[derive(Debug, Default)]
pub struct LastMessages {}
impl LastMessages {
    pub fn is_new(&self, object: &ObjectKey, message: Option<impl Hash>) -> bool {}
    pub fn forget(&self, object: &ObjectKey) {}
}
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct ObjectReference {
    pub api_version: String,
    pub kind: String,
    pub namespace: String,
    pub name: String,
    pub uid: Uid,
    pub resource_version: ResourceVersion,
}
impl ObjectReference {
    pub fn of(api_version: &str, kind: &str) -> Self {}
    pub fn to<T: Decode>(object: &T) -> Self {}
}

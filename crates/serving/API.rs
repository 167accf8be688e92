// Public API, listed by docs/tests/it/api.rs.

// crate

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthenticationSettings {
    pub client_ca_file: Option<PathBuf>,
    pub skip_lookup: bool,
    pub tolerate_lookup_failure: bool,
    pub kubeconfig: Option<PathBuf>,
    pub token_ttl: Duration,
}
impl Default for AuthenticationSettings {}
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthorizationSettings {
    pub kubeconfig: Option<PathBuf>,
    pub always_allow_paths: Vec<String>,
    pub authorized_ttl: Duration,
    pub unauthorized_ttl: Duration,
}
impl Default for AuthorizationSettings {}
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CertificateError {
    File { path: PathBuf, source: Box<dyn Error + Send + Sync> },
    Generate(rcgen::Error),
    Use { what: String, source: Box<dyn Error + Send + Sync> },
}
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateFiles {
    pub certificate: PathBuf,
    pub key: PathBuf,
}
impl CertificateFiles {
    pub fn pair(folder: &Path, name: &str) -> CertificateFiles {}
}
#[derive(Clone)]
pub struct Certificates(Arc<Tls>);
impl Certificates {
    pub async fn reload(&self) {}
}
#[derive(Clone, Debug)]
pub struct DebugPage<'a> {
    pub component: &'a str,
    pub kind: &'a str,
    pub fields: Map<String, Value>,
    pub text: String,
}
impl DebugPage<'_> {
    pub fn respond(self, accept: &str) -> Response {}
}
#[derive(Clone, Copy, Debug)]
pub struct PageRequest<'a> {
    pub accept: &'a str,
    pub query: &'a str,
}
#[derive(Default)]
pub struct Reviewers {}
impl Reviewers {
    pub fn new(tokens: Option<Client>, access: Option<Client>) -> Reviewers {}
    pub async fn connect(
        settings: &ServingSettings,
        client: impl Fn(&Config, ClientOptions, &str) -> Result<Client, ConfigError>,
    ) -> Result<Reviewers, ConfigError> {}
    pub fn reviews_tokens(&self) -> bool {}
    pub fn reviews_access(&self) -> bool {}
}
impl fmt::Debug for Reviewers {}
pub struct Routes {}
impl Routes {
    pub fn new(health: Health) -> Routes {}
    #[must_use]
    pub fn metrics(self, registry: Registry) -> Routes {}
    #[must_use]
    pub fn health_metrics(self) -> Routes {}
    #[must_use]
    pub fn page(
        mut self,
        path: &'static str,
        respond: impl Fn(PageRequest<'_>) -> Response + Send + Sync + 'static,
    ) -> Routes {}
}
impl fmt::Debug for Routes {}
pub struct Server {}
impl Server {
    pub async fn bind(
        settings: &ServingSettings,
        reviewers: Reviewers,
        routes: Routes,
        metrics: ServingMetrics,
    ) -> Result<Server, ServingError> {}
    pub fn plain(
        listener: TcpListener,
        routes: Routes,
        metrics: ServingMetrics,
    ) -> Server {}
    pub fn address(&self) -> std::io::Result<SocketAddr> {}
    pub fn certificates(&self) -> Option<Certificates> {}
    pub async fn run(self) {}
}
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ServerCertificate {
    Generated,
    Stored(CertificateFiles),
    Files(CertificateFiles),
}
pub struct ServerThread {}
impl ServerThread {
    pub async fn start<F, E>(
        bind: impl FnOnce() -> F + Send + 'static,
    ) -> Result<ServerThread, E>
    where
        F: Future<Output = Result<Server, E>>,
        E: From<ServingError> + Send + 'static,
    {}
    pub async fn failed(&mut self) -> SupervisorError {}
    pub async fn stop(self) {}
}
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServingError {
    Certificate(CertificateError),
    Lookup(kube_controller_client::Error),
    Listen { address: SocketAddr, source: std::io::Error },
    Thread(std::io::Error),
}
#[derive(Clone, Debug, Default)]
pub struct ServingMetrics(Option<Arc<Series>>);
impl ServingMetrics {
    pub fn register(
        registry: &Registry,
        prefix: &str,
    ) -> prometheus::Result<ServingMetrics> {}
}
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServingSettings {
    pub bind_address: IpAddr,
    pub port: u16,
    pub certificate: ServerCertificate,
    pub min_tls_version: TlsVersion,
    pub authentication: AuthenticationSettings,
    pub authorization: AuthorizationSettings,
}
impl Default for ServingSettings {}
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum TlsVersion {
    Tls12,
    Tls13,
}

// response

pub type Response = http::Response<Full<Bytes>>;
pub use http::StatusCode;
pub fn json(body: &serde_json::Value) -> Response {}
pub fn not_found() -> Response {}
pub fn of(
    code: StatusCode,
    content_type: &'static str,
    body: impl Into<Bytes>,
) -> Response {}
pub fn text(code: StatusCode, body: impl Into<Bytes>) -> Response {}

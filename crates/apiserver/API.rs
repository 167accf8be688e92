// Public API, listed by docs/tests/it/api.rs.

// crate

#[derive(Debug, Clone, Copy)]
pub struct Admission<'a> {}
impl<'a> Admission<'a> {
    pub fn mutate(
        &self,
        rule: impl Fn(
            &AdmissionRequest<'_>,
            &mut Value,
        ) -> Result<(), Denial> + Send + Sync + 'static,
    ) -> u64 {}
    pub fn validate(
        &self,
        rule: impl Fn(
            &AdmissionRequest<'_>,
            Option<&Value>,
        ) -> Result<(), Denial> + Send + Sync + 'static,
    ) -> u64 {}
    pub fn remove(&self, id: u64) -> bool {}
    pub fn clear(&self) {}
}
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct AdmissionRequest<'a> {
    pub operation: Operation,
    pub group: &'a str,
    pub kind: &'a str,
    pub resource: &'a str,
    pub subresource: &'a str,
    pub namespace: &'a str,
    pub name: &'a str,
    pub old: Option<&'a Value>,
    pub dry_run: bool,
}
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anonymous {
    Allowed,
    Rejected,
}
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Authorization {
    AlwaysAllow,
    Rbac,
}
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClientCertificate {
    pub certificate: String,
    pub key: String,
}
impl std::fmt::Debug for ClientCertificate {}
#[derive(Clone, Default)]
pub struct Clock {}
impl Clock {
    pub fn new(read: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {}
    pub fn system() -> Self {}
    pub fn now(&self) -> Timestamp {}
}
impl PartialEq for Clock {}
impl Eq for Clock {}
impl fmt::Debug for Clock {}
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    pub listen: SocketAddr,
    pub transport: Transport,
    pub anonymous: Anonymous,
    pub authorization: Authorization,
    pub tokens: Vec<Token>,
    pub service_cidr_v4: Ipv4Net,
    pub service_cidr_v6: Ipv6Net,
    pub kinds: Vec<CustomKind>,
    pub garbage_collection: bool,
    pub namespace_grace: Duration,
    pub watch_history: usize,
    pub bookmark_interval: Duration,
    pub watch_timeout: Duration,
    pub request_log: usize,
    pub debug_endpoints: bool,
    pub seed: Option<u64>,
    pub field_tracking: FieldTracking,
    pub managed_fields_opt_out: bool,
    pub clock: Clock,
}
impl Default for Config {}
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomKind {}
impl CustomKind {
    pub fn new(group: &str, version: &str, kind: &str) -> Self {}
    #[must_use]
    pub fn plural(self, plural: &str) -> Self {}
    #[must_use]
    pub fn short_name(mut self, name: &str) -> Self {}
    #[must_use]
    pub fn category(mut self, name: &str) -> Self {}
    #[must_use]
    pub fn cluster_scoped(self) -> Self {}
    #[must_use]
    pub fn with_status(self) -> Self {}
    #[must_use]
    pub fn with_scale(
        self,
        spec_replicas: &str,
        status_replicas: &str,
        label_selector: Option<&str>,
    ) -> Self {}
    #[must_use]
    pub fn selectable_field(mut self, path: &str) -> Self {}
    #[must_use]
    pub fn schema(self, schema: Value) -> Self {}
    #[must_use]
    pub fn column(mut self, name: &str, value_type: &str, json_path: &str) -> Self {}
}
pub const DEFAULT_FIELD_MANAGER: &str = "test";
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denial {}
impl Denial {
    pub fn new(code: u16, reason: &'static str, message: impl Into<String>) -> Self {}
    pub fn forbidden(message: impl Into<String>) -> Self {}
    pub fn invalid(message: impl Into<String>) -> Self {}
}
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Effect {
    Reject { code: u16, retry_after_seconds: Option<u32> },
    Reset,
    ApplyThenTimeout,
    ApplyThenReset,
    DelayRequest { min_millis: u64, max_millis: u64 },
    DelayEvents { min_millis: u64, max_millis: u64 },
    Trickle { max_bytes: u32, pause_millis: u64 },
    RepeatEvents,
    OmitObjects { namespace: Option<String>, keep: usize },
    EndWatch { after_millis: u64, how: End },
}
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum End {
    Cleanly,
    Expired,
    Reset,
}
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fault {}
impl Fault {
    pub fn reject(code: u16) -> Self {}
    pub fn expired() -> Self {}
    pub fn too_many_requests(retry_after: Duration) -> Self {}
    pub fn internal_error() -> Self {}
    pub fn unavailable() -> Self {}
    pub fn reset() -> Self {}
    pub fn apply_then_timeout() -> Self {}
    pub fn apply_then_reset() -> Self {}
    pub fn delay_request(min: Duration, max: Duration) -> Self {}
    pub fn delay_events(min: Duration, max: Duration) -> Self {}
    pub fn trickle(max_bytes: u32, pause: Duration) -> Self {}
    pub fn repeat_events() -> Self {}
    pub fn omit_objects() -> Self {}
    pub fn end_watch(after: Duration, how: End) -> Self {}
    pub fn effect(&self) -> &Effect {}
    #[must_use]
    pub fn on(mut self, on: On) -> Self {}
    #[must_use]
    pub fn after(mut self, requests: u32) -> Self {}
    #[must_use]
    pub fn times(mut self, requests: u32) -> Self {}
    #[must_use]
    pub fn probability(mut self, probability: f64) -> Self {}
}
impl From<Effect> for Fault {}
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FaultState {
    pub id: u64,
    pub fault: Fault,
    pub matched: u32,
    pub hits: u32,
}
impl FaultState {
    pub fn is_spent(&self) -> bool {}
}
impl fmt::Display for FaultState {}
#[derive(Debug, Clone, Copy)]
pub struct Faults<'a> {}
impl<'a> Faults<'a> {
    pub fn inject(&self, fault: impl Into<Fault>) -> u64 {}
    pub fn remove(&self, id: u64) -> Option<FaultState> {}
    pub fn clear(&self) {}
    pub fn states(&self) -> Vec<FaultState> {}
    pub fn unspent(&self) -> Vec<FaultState> {}
    pub fn assert_spent(&self) {}
    pub fn cut_watches(&self, on: &On) -> usize {}
    pub fn open_watches(&self, on: &On) -> usize {}
}
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FieldTracking {
    Applied,
    Always,
}
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum History {
    Kept,
    Lost,
}
#[derive(Debug, Clone)]
pub struct InProcess {}
impl InProcess {
    #[must_use]
    pub fn as_user(&self, user: User) -> Self {}
    #[must_use]
    pub fn behind(&self, lag: &Lag) -> Self {}
}
impl<B> Service<Request<B>> for InProcess
where
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<BoxError>,
{}
#[derive(Clone, Debug, Default)]
pub struct Lag {}
impl Lag {
    pub fn stop_at(&self, revision: u64) {}
    pub fn catch_up(&self) {}
}
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    UnknownKind { api_version: String, kind: String },
    Rejected {
        kind: String,
        namespace: String,
        name: String,
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LoggedRequest {
    pub started: Timestamp,
    pub answered: Timestamp,
    pub verb: String,
    pub group: String,
    pub resource: String,
    pub subresource: String,
    pub namespace: String,
    pub name: String,
    pub object_name: String,
    pub path: String,
    pub user: String,
    pub user_agent: String,
    pub content_length: u64,
    pub status: Option<u16>,
    pub message: String,
    pub denied: bool,
    pub applied: bool,
    pub resource_version: String,
    pub dry_run: bool,
    pub propagation_policy: String,
}
impl LoggedRequest {
    pub fn matches(&self, on: &On) -> bool {}
}
impl fmt::Display for LoggedRequest {}
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ObjectError {
    Refused { code: u16, reason: String, message: String },
    UnknownKind { group: String, plural: String },
    WrongMethod { message: String },
    Convert { message: String },
}
impl ObjectError {
    pub fn is_not_found(&self) -> bool {}
}
impl From<StatusError> for ObjectError {}
impl From<serde_json::Error> for ObjectError {}
#[derive(Debug, Clone)]
pub struct Objects<'a, K> {}
impl<K> Objects<'_, K> {
    #[must_use]
    pub fn namespace(mut self, namespace: &str) -> Self {}
    #[must_use]
    pub fn field_manager(mut self, name: &str) -> Self {}
    pub fn delete(&self, name: &str) -> Result<(), ObjectError> {}
}
impl<K: DeserializeOwned> Objects<'_, K> {
    pub fn get(&self, name: &str) -> Result<K, ObjectError> {}
    pub fn list(&self) -> Result<Vec<K>, ObjectError> {}
    pub fn patch(&self, name: &str, patch: &Value) -> Result<K, ObjectError> {}
    pub fn patch_status(&self, name: &str, patch: &Value) -> Result<K, ObjectError> {}
}
impl<K: Serialize + DeserializeOwned> Objects<'_, K> {
    pub fn create(&self, object: &K) -> Result<K, ObjectError> {}
    pub fn replace(&self, object: &K) -> Result<K, ObjectError> {}
    pub fn replace_status(&self, object: &K) -> Result<K, ObjectError> {}
}
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct On {}
impl On {
    pub fn any() -> Self {}
    pub fn writes() -> Self {}
    #[must_use]
    pub fn verb(self, verb: &str) -> Self {}
    #[must_use]
    pub fn group(mut self, group: &str) -> Self {}
    #[must_use]
    pub fn resource(mut self, plural: &str) -> Self {}
    #[must_use]
    pub fn subresource(mut self, subresource: &str) -> Self {}
    #[must_use]
    pub fn namespace(mut self, namespace: &str) -> Self {}
    #[must_use]
    pub fn name(mut self, name: &str) -> Self {}
    #[must_use]
    pub fn user(mut self, user: &str) -> Self {}
    #[must_use]
    pub fn user_agent(mut self, part: &str) -> Self {}
}
impl fmt::Display for On {}
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    Create,
    Update,
    Delete,
}
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Population {
    pub pods: usize,
    pub services: usize,
    pub nodes: usize,
    pub services_of_a_namespace: usize,
}
impl Population {
    pub fn objects<'a>(&self, pod: &'a Value) -> impl Iterator<Item = Value> + use<'a> {}
    pub fn namespaces(&self) -> usize {}
    pub fn service_name(service: usize) -> String {}
    pub fn node_name(node: usize) -> String {}
    pub fn zone(node: usize) -> String {}
    pub fn pod_ip(pod: usize) -> String {}
    pub fn namespace(&self, service: usize) -> String {}
    pub fn service_of(&self, pod: usize) -> usize {}
    pub fn pods_of(&self, service: usize) -> std::ops::Range<usize> {}
    pub fn node_of(&self, pod: usize) -> usize {}
    pub fn pod_name(&self, pod: usize) -> String {}
    pub fn pod(&self, template: &Value, at: usize) -> Value {}
    pub fn template(mut recorded: Value) -> Value {}
}
#[derive(Debug, Clone, Copy)]
pub struct Requests<'a> {}
impl<'a> Requests<'a> {
    pub fn all(&self) -> Vec<LoggedRequest> {}
    pub fn matching(&self, on: &On) -> Vec<LoggedRequest> {}
    pub fn count(&self, on: &On) -> usize {}
    pub fn take(&self) -> Vec<LoggedRequest> {}
    pub fn clear(&self) {}
}
#[derive(Debug)]
pub struct ReservedPort {}
impl ReservedPort {
    pub fn new() -> io::Result<Self> {}
    pub fn address(&self) -> SocketAddr {}
    pub fn port(&self) -> u16 {}
}
#[derive(Debug)]
pub struct ResponseBody {}
impl Body for ResponseBody {}
#[derive(Debug)]
pub struct Server {}
impl Server {
    pub fn url(&self) -> String {}
    pub fn kubeconfig(&self) -> String {}
    pub fn kubeconfig_for(&self, user: User) -> String {}
    pub fn token_for(&self, user: User) -> String {}
    pub fn expire_tokens(&self) {}
    pub fn ca_certificate(&self) -> Option<String> {}
    pub fn client_certificate(
        &self,
        user: &str,
        group: Option<&str>,
    ) -> Option<Result<ClientCertificate, TlsError>> {}
}
impl Server {
    pub fn objects(&self, group: &str, plural: &str) -> Vec<Value> {}
    pub fn encoded_objects(&self, group: &str, plural: &str) -> Vec<Bytes> {}
    pub fn object(
        &self,
        group: &str,
        plural: &str,
        namespace: &str,
        name: &str,
    ) -> Option<Value> {}
    pub fn revision(&self) -> u64 {}
}
impl Server {
    pub fn load(
        &self,
        objects: impl IntoIterator<Item = Value>,
    ) -> Result<usize, LoadError> {}
}
impl Server {
    pub async fn start(config: Config) -> Result<Self, StartError> {}
    pub fn in_process(config: Config) -> Result<Self, StartError> {}
    pub fn service(&self) -> InProcess {}
    pub fn address(&self) -> SocketAddr {}
    pub fn faults(&self) -> Faults<'_> {}
    pub fn admission(&self) -> Admission<'_> {}
    pub fn requests(&self) -> Requests<'_> {}
    pub fn traffic(&self) -> Vec<Traffic> {}
    pub fn empty_namespaces(&self) {}
    pub fn restart(&self, history: History) {}
    pub async fn shutdown(mut self) {}
}
impl Server {
    pub fn snapshot(&self) -> Snapshot {}
    pub fn restore(&self, snapshot: &Snapshot) {}
    pub fn restore_bumped(&self, snapshot: &Snapshot, bump: u64) {}
}
impl Server {
    pub fn typed<K: k8s_openapi::Resource>(&self) -> Objects<'_, K> {}
    pub fn typed_as<K>(&self, group: &str, plural: &str) -> Objects<'_, K> {}
}
impl Server {
    pub async fn wait_until<T>(
        &self,
        limit: Duration,
        mut condition: impl FnMut() -> Option<T>,
    ) -> Result<T, WaitTimeout> {}
}
impl UnwindSafe for Server {}
impl RefUnwindSafe for Server {}
impl Drop for Server {}
#[derive(Debug, Clone)]
pub struct Snapshot {}
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    Listen { address: SocketAddr, source: std::io::Error },
    Tls(TlsError),
    InitialObjects { source: Box<dyn std::error::Error + Send + Sync> },
}
impl From<StatusError> for StartError {}
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    Certificate(rcgen::Error),
    Rustls(rustls::Error),
    Verifier(rustls::server::VerifierBuilderError),
}
#[derive(Clone, PartialEq, Eq)]
pub struct Token {
    pub token: String,
    pub user: User,
}
impl std::fmt::Debug for Token {}
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Traffic {
    pub user_agent: String,
    pub received: u64,
    pub sent: u64,
}
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    Plain,
    Tls,
}
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct User {
    pub name: String,
    pub uid: String,
    pub groups: Vec<String>,
}
impl User {
    pub fn new(name: impl Into<String>) -> Self {}
    #[must_use]
    pub fn group(mut self, group: impl Into<String>) -> Self {}
    pub fn service_account(namespace: &str, name: &str) -> Self {}
}
#[derive(Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub struct WaitTimeout {
    pub limit: Duration,
    pub checks: u64,
    pub revision: u64,
    pub failed: Vec<LoggedRequest>,
    pub unspent: Vec<FaultState>,
}
impl fmt::Debug for WaitTimeout {}

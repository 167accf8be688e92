// Public API, listed by docs/tests/it/api.rs.

// crate

pub use kube_controller_serving::AuthenticationSettings;
pub use kube_controller_serving::AuthorizationSettings;
pub use kube_controller::Batching;
pub use kube_controller_serving::CertificateError;
pub use kube_controller_serving::CertificateFiles;
#[derive(Clone, Debug, PartialEq)]
pub struct ClientSettings {
    pub kubeconfig: Option<PathBuf>,
    pub master: Option<String>,
    pub qps: f32,
    pub burst: u32,
    pub adaptive: bool,
    pub content_type: Encoding,
    pub service_account_credentials: bool,
}
impl Default for ClientSettings {}
#[derive(Clone, Debug)]
pub struct CommandLine {
    pub settings: Settings,
    pub warnings: Vec<String>,
    pub flags: BTreeMap<String, String>,
}
impl CommandLine {
    pub fn parse(
        arguments: impl IntoIterator<Item = OsString>,
    ) -> Result<CommandLine, UsageError> {}
}
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Controllers {
    pub endpoints: bool,
    pub endpointslice: bool,
    pub mirroring: bool,
}
impl Controllers {
    pub fn parse(list: &[String]) -> Result<Controllers, Vec<UnknownController>> {}
}
impl Default for Controllers {}
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum EmulatedVersion {
    V1_36,
    V1_37,
    V1_38,
}
impl fmt::Display for EmulatedVersion {}
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum FeatureGateError {
    Unknown(String),
    Locked { name: &'static str, value: bool },
    MissingValue(String),
    InvalidValue { name: String, value: String },
    UnknownComponent(String),
}
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeatureGates {}
impl FeatureGates {
    pub fn of_version(version: EmulatedVersion) -> FeatureGates {}
    pub fn enabled(&self, name: &str) -> bool {}
    pub fn all(&self) -> impl Iterator<Item = (Gate, bool)> {}
}
impl Default for FeatureGates {}
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gate {
    pub name: &'static str,
    pub stage: Stage,
    pub default: bool,
    pub locked: bool,
}
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaderElection {
    pub lease: LeaseName,
    pub timing: Timing,
}
impl Default for LeaderElection {}
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogFormat {
    Text,
    Json,
}
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoggingSettings {
    pub verbosity: u32,
    pub format: LogFormat,
}
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    Active,
    Shadow,
}
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    Client(ConfigError),
    ShadowNotCompiledIn,
    LeaseLost,
    Credentials { rejected: Duration },
    Serving(ServingError),
    Metrics(prometheus::Error),
    Task(SupervisorError),
}
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecondWriterSettings {
    pub window: Duration,
    pub objects: usize,
    pub repeats: usize,
    pub quiet: Duration,
}
impl Default for SecondWriterSettings {}
pub use kube_controller_serving::ServerCertificate;
pub use kube_controller_serving::ServingError;
pub use kube_controller_serving::ServingSettings;
#[derive(Clone, Debug)]
pub struct Settings {
    pub mode: Mode,
    pub shadow: ShadowSettings,
    pub controllers: Controllers,
    pub emulated_version: EmulatedVersion,
    pub endpoint: kube_endpoint::Config,
    pub endpointslice: kube_endpointslice::controller::Config,
    pub mirroring: kube_endpointslice_mirroring::Config,
    pub client: ClientSettings,
    pub min_resync_period: Duration,
    pub guard: Guard,
    pub feature_gates: FeatureGates,
    pub leader_election: Option<LeaderElection>,
    pub second_writer: SecondWriterSettings,
    pub serving: ServingSettings,
    pub registry: Option<Registry>,
    pub logging: LoggingSettings,
    pub flags: BTreeMap<String, String>,
}
impl Default for Settings {}
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShadowSettings {
    pub settle_period: Duration,
    pub writer_lease: Option<LeaseName>,
    pub compare_period: Duration,
}
impl Default for ShadowSettings {}
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    Alpha,
    Beta,
    Stable,
    Deprecated,
}
impl Stage {
    pub fn label(self) -> &'static str {}
}
pub use kube_controller_serving::TlsVersion;
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub struct UnknownController {}
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UsageError {
    Invalid(Vec<String>),
    HelpOrVersion(String),
}
pub fn feature_gate_reference() -> String {}
pub fn flag_reference() -> String {}
pub async fn run(
    config: Config,
    settings: Settings,
    stop: CancellationToken,
) -> Result<(), RunError> {}
pub fn start_logging(settings: &LoggingSettings) {}

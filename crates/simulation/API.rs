// Public API, listed by docs/tests/it/api.rs.

// crate

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chaos {
    pub requests: f64,
    pub events: f64,
    pub crashes: f64,
}
impl Chaos {
    pub const NONE: Chaos = Chaos {
        requests: 0.0,
        events: 0.0,
        crashes: 0.0,
    };
}
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Disturbance {
    RestartServer(bool),
    Restore(u32),
    Rewind(u32),
    WrongLists(String, u32),
    Policy(Policy, u32),
    Freeze(String, u32),
    Crash(String, u32),
    Jump(u32),
    SetWallClock(i32),
}
impl fmt::Display for Disturbance {}
impl FromStr for Disturbance {}
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub at: Duration,
    pub what: EntryKind,
}
#[derive(Clone, Debug, PartialEq)]
pub enum EntryKind {
    User { operation: Operation, code: u16 },
    Request {
        point: Point,
        target: Target,
        body: Bytes,
        code: Option<u16>,
        answer: Bytes,
    },
    Event { point: Point, frame: Bytes },
    Fault { point: Point, fault: Fault },
    Disturbance(Disturbance),
    Started { process: String },
    Ended { process: String, reason: String },
    Violation(String),
}
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Environment {
    pub name: Arc<str>,
    pub transport: Transport,
    pub metrics: Registry,
    pub stop: CancellationToken,
}
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    Reject(u16),
    Throttle(u32),
    LoseRequest,
    LoseAnswer,
    Delay(u32),
    Crash(u32),
    CrashToPast(u8),
    Skip,
}
impl fmt::Display for Fault {}
impl FromStr for Fault {}
#[derive(Clone, Debug)]
pub enum Faults {
    Drawn { chaos: Chaos, disturbances: Vec<(Duration, Disturbance)> },
    Planned(Plan),
}
impl Faults {
    pub fn drawn(chaos: Chaos) -> Faults {}
    pub fn disturbances(&self) -> &[(Duration, Disturbance)] {}
}
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub settle: Duration,
    pub quiet: Duration,
}
impl Default for Limits {}
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Log {}
impl Log {
    pub fn entries(&self) -> &[Entry] {}
    pub fn writes(&self) -> impl Iterator<Item = (&Point, &Target)> {}
    pub fn text(&self) -> String {}
    pub fn timeline(&self) -> String {}
}
#[derive(Clone, Debug, PartialEq)]
pub enum Operation {
    Create { path: String, object: Value },
    Patch { path: String, patch: Value },
    Delete { path: String, options: Value },
}
impl fmt::Display for Operation {}
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    pub violations: Vec<String>,
    pub log: Log,
    pub plan: Plan,
    pub settled_after: Option<Duration>,
}
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ParseError {}
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    pub faults: BTreeMap<Point, Fault>,
    pub disturbances: Vec<(Duration, Disturbance)>,
}
impl Plan {
    pub fn len(&self) -> usize {}
    pub fn is_empty(&self) -> bool {}
}
impl fmt::Display for Plan {}
impl FromStr for Plan {}
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Point {
    pub process: String,
    pub verb: Verb,
    pub resource: String,
    pub nth: u32,
}
impl fmt::Display for Point {}
impl FromStr for Point {}
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    AddLabel,
    RejectCreates,
    RejectUpdates,
    RejectDeletes,
}
impl fmt::Display for Policy {}
#[derive(Clone)]
pub struct Process {}
impl Process {
    pub fn new<F, E>(
        name: &str,
        main: impl Fn(Environment) -> F + Send + Sync + 'static,
    ) -> Process
    where
        F: Future<Output = Result<(), E>> + Send + 'static,
        E: Into<ProcessError>,
    {}
    #[must_use]
    pub fn with_leader_election(self) -> Process {}
}
impl fmt::Debug for Process {}
pub type ProcessError = Box<dyn std::error::Error + Send + Sync>;
pub trait Rules: Send + Sync {
    fn resolve(&self, path: &str, server: &Server) -> Option<String> {}
    fn must_stop(&self, target: &Target) -> bool {}
    fn needs_lease(&self, target: &Target) -> bool {}
    fn is_policed(&self, resource: &str) -> bool;
    fn remembered(&self) -> &[(&str, &str)] {}
    fn write(&self, write: &Write<'_>, server: &Server) -> Option<String> {}
    fn max_pending(&self, controller: &str, server: &Server) -> usize {}
    fn differences(&self, server: &Server) -> Vec<String>;
    fn history(&self, log: &Log, fault_free: &dyn Fn() -> Log) -> Vec<String> {}
}
#[derive(Clone, Debug)]
pub struct Shrunk {
    pub simulation: Simulation,
    pub outcome: Outcome,
    pub steps: Vec<usize>,
    pub plan: Plan,
    pub runs: usize,
}
#[derive(Clone)]
pub struct Simulation {
    pub seed: u64,
    pub processes: Vec<Process>,
    pub rules: Arc<dyn Rules>,
    pub setup: Vec<Operation>,
    pub steps: Vec<Step>,
    pub faults: Faults,
    pub limits: Limits,
}
impl Simulation {
    pub fn run(&self) -> Outcome {}
}
impl std::fmt::Debug for Simulation {}
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    pub after: Duration,
    pub operation: Operation,
}
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    pub verb: Verb,
    pub group: String,
    pub resource: String,
    pub namespace: String,
    pub name: String,
    pub subresource: String,
}
impl fmt::Display for Target<'_> {}
#[derive(Clone)]
pub struct Transport {}
impl std::fmt::Debug for Transport {}
impl<B> Service<Request<B>> for Transport
where
    B: http_body::Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<BoxError>,
{}
pub type TransportBody = UnsyncBoxBody<Bytes, io::Error>;
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verb {
    Get,
    List,
    Watch,
    Create,
    Update,
    Patch,
    Delete,
    Event,
}
impl Verb {
    pub fn is_write(self) -> bool {}
    pub fn as_str(self) -> &'static str {}
}
impl fmt::Display for Verb {}
#[derive(Clone, Debug, Default)]
pub struct Versions {}
impl Versions {
    pub fn of(&self, namespace: &str, name: &str) -> &[Value] {}
}
#[derive(Clone, Copy, Debug)]
pub struct Write<'a> {
    pub process: &'a str,
    pub target: &'a Target,
    pub body: &'a Bytes,
    pub past: &'a [Versions],
}
pub fn reduced(simulation: &Simulation, steps: &[usize], plan: &Plan) -> Simulation {}
pub fn shrink(simulation: &Simulation, outcome: &Outcome) -> Option<Shrunk> {}
pub fn shrink_faults(simulation: &Simulation, outcome: &Outcome) -> Option<Shrunk> {}

// endpoints

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    CreatePod(usize),
    Ready(usize),
    Unready(usize),
    DeletePod(usize),
    CreateService(usize),
    SelectAll(usize),
    SelectNone(usize),
    DeleteService(usize),
}
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Content {
    pub services: Vec<Value>,
    pub pods: Vec<Value>,
    pub nodes: Vec<Value>,
    pub endpoints: Vec<Value>,
    pub slices: Vec<Value>,
}
#[derive(Clone, Copy, Debug)]
pub struct EndpointRules {
    pub max_endpoints_per_slice: NonZeroUsize,
}
impl Rules for EndpointRules {}
#[derive(Clone, Debug)]
pub struct Histories {}
impl Histories {
    pub fn up_to(depth: usize) -> Self {}
}
impl Iterator for Histories {}
pub const MAX_ENDPOINTS_PER_SLICE: usize = 2;
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    pub encoding: Encoding,
    pub elects: bool,
    pub max_endpoints_per_slice: NonZeroUsize,
    pub batching: Batching,
    pub checks_all_lists: bool,
}
#[derive(Clone, Debug)]
pub struct Scenario {
    pub name: String,
    pub setup: Vec<Operation>,
    pub steps: Vec<Step>,
    pub unnoticed: Option<&'static str>,
}
pub use kube_endpoints_conformance::Unnoticed;
#[derive(Clone, Debug, PartialEq)]
pub struct Walk {
    pub setup: Vec<Step>,
    pub steps: Vec<Step>,
}
pub fn builtin() -> std::io::Result<Vec<Scenario>> {}
pub fn content(server: &Server) -> Content {}
pub fn controller_manager(name: &str, options: Options) -> Process {}
pub fn differences(content: &Content, max_endpoints_per_slice: usize) -> Vec<String> {}
pub fn random(seed: u64, operations: usize) -> Vec<Step> {}
pub fn read(directory: &Path) -> std::io::Result<Vec<Scenario>> {}
pub fn resolve_slice(path: &str, slices: &[Value]) -> Option<String> {}
pub fn same_content(before: &Content, after: &Content) -> Vec<String> {}
pub fn setup() -> Vec<Step> {}
pub fn steps(acts: &[Act], gap: Duration) -> Vec<Step> {}
pub fn walk(seed: u64, length: usize) -> Walk {}
pub fn write_violation(
    before: Option<&Value>,
    after: Option<&Value>,
    resource: &str,
    services: &[Value],
    endpoints_versions: &[Value],
) -> Option<String> {}

// endpoints::scenario

pub fn base(seed: u64, steps: Vec<Step>, options: Options) -> Simulation {}
pub fn exhaustive(acts: &[Act]) -> Simulation {}
pub fn history(seed: u64) -> Simulation {}
pub fn random(seed: u64) -> Simulation {}
pub fn recorded(scenario: &RecordedScenario) -> Simulation {}
pub fn walk(seed: u64, length: usize) -> Simulation {}

// sieve

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pattern {
    Crash,
    Past,
    Unobserved,
}
impl Pattern {
    pub const ALL: [Pattern; 3] = [Pattern::Crash, Pattern::Past, Pattern::Unobserved];
}
pub fn plans(log: &Log, pattern: Pattern, pruned: bool) -> Vec<Plan> {}

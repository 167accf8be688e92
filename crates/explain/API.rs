// Public API, listed by docs/tests/it/api.rs.

// crate

#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    pub object: ObjectRef,
    pub before: Option<serde_json::Value>,
    pub after: Option<serde_json::Value>,
    pub reasons: Vec<Reason>,
}
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub object: ObjectRef,
    pub severity: Severity,
    pub reason: Reason,
}
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HintsReport {
    pub policy: Option<String>,
    pub reasons: Vec<Reason>,
}
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum Kind {
    Service,
    Pod,
    Node,
    Endpoints,
    EndpointSlice,
}
impl std::fmt::Display for Kind {}
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LastWrite {
    pub manager: String,
    pub time: Timestamp,
}
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NearMiss {
    pub name: String,
    pub reason: Reason,
}
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct ObjectRef {
    pub kind: Kind,
    pub namespace: String,
    pub name: String,
}
impl std::fmt::Display for ObjectRef {}
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ObjectReport {
    pub object: ObjectRef,
    pub service: Option<String>,
    pub written: WrittenObject,
    pub mirrors: Vec<String>,
    pub findings: Vec<Finding>,
    pub unknown: Vec<Kind>,
}
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum ObjectState {
    Current,
    Outdated,
    Superfluous,
    Orphaned,
    Foreign,
    Terminating,
    Unknown,
}
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PodEndpointReport {
    pub address_type: String,
    pub address: String,
    pub ports: Vec<i32>,
    pub ready: bool,
}
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PodOfService {
    pub service: String,
    pub pod: PodReport,
}
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PodReport {
    pub name: String,
    pub state: PodState,
    pub endpoints: Vec<PodEndpointReport>,
    pub zone: Option<String>,
    pub node: String,
    pub reasons: Vec<Reason>,
}
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PodServicesReport {
    pub object: ObjectRef,
    pub services: Vec<PodOfService>,
    pub near_misses: Vec<NearMiss>,
    pub unknown: Vec<Kind>,
}
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum PodState {
    Serving,
    NotServing,
    LeftOut,
}
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Reason {
    pub code: Code,
    pub message: String,
}
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ServiceReport {
    pub object: ObjectRef,
    pub serving: usize,
    pub pods: Vec<PodReport>,
    pub near_misses: Vec<NearMiss>,
    pub slices: Vec<WrittenObject>,
    pub endpoints: Option<WrittenObject>,
    pub hints: HintsReport,
    pub findings: Vec<Finding>,
    pub unknown: Vec<Kind>,
}
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum Severity {
    Info,
    Warning,
    Error,
}
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WrittenObject {
    pub name: String,
    pub address_type: Option<String>,
    pub endpoints: usize,
    pub ready: usize,
    pub managed_by: Option<String>,
    pub last_write: Option<LastWrite>,
    pub state: ObjectState,
}

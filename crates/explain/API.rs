// Public API, listed by docs/tests/it/api.rs.

// crate

#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    pub object: ObjectRef,
    pub before: Option<serde_json::Value>,
    pub after: Option<serde_json::Value>,
    pub class: DifferenceClass,
    pub reasons: Vec<Reason>,
}
#[derive(Clone, Copy, Debug)]
pub struct Difference<'a> {
    pub before: Option<&'a Value>,
    pub after: Option<&'a Value>,
}
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum DifferenceClass {
    Content,
    Metadata,
    Hints,
    Packing,
    Objects,
}
impl DifferenceClass {
    pub const ALL: [DifferenceClass; 5] = [
        DifferenceClass::Content,
        DifferenceClass::Metadata,
        DifferenceClass::Hints,
        DifferenceClass::Packing,
        DifferenceClass::Objects,
    ];
    pub fn as_str(self) -> &'static str {}
}
impl std::fmt::Display for DifferenceClass {}
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
impl LastWrite {
    pub fn of(metadata: &ObjectMeta) -> Option<LastWrite> {}
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
impl ObjectRef {
    pub fn new(kind: Kind, key: &ObjectKey) -> ObjectRef {}
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
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PodDetails {
    pub phase: String,
    pub unscheduled: Option<String>,
    pub pending_gates: Vec<(String, Option<String>)>,
    pub unready_containers: Vec<(String, Option<String>)>,
}
impl From<&core::Pod> for PodDetails {}
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
    pub would_serve: usize,
    pub pods: Vec<PodReport>,
    pub near_misses: Vec<NearMiss>,
    pub slices: Vec<WrittenObject>,
    pub endpoints: Option<WrittenObject>,
    pub hints: HintsReport,
    pub findings: Vec<Finding>,
    pub unknown: Vec<Kind>,
}
impl ServiceReport {
    pub fn reasons(&self) -> impl Iterator<Item = &Reason> {}
    pub fn first_cause(&self) -> Option<&Reason> {}
}
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Settings {
    pub max_endpoints_per_slice: NonZeroUsize,
    pub max_endpoints_per_subset: NonZeroUsize,
    pub now: Option<Timestamp>,
}
impl Default for Settings {}
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum Severity {
    Info,
    Warning,
    Error,
}
impl Severity {
    pub fn of(code: Code) -> Severity {}
}
#[derive(Clone, Copy, Debug, Default)]
pub struct TextStyle {
    pub color: bool,
    pub wide: bool,
    pub now: Option<Timestamp>,
}
#[derive(Debug, Default)]
pub struct World {}
impl World {
    pub fn changes(&self) -> Vec<Change> {}
}
impl World {
    pub fn check(&self) -> Vec<Finding> {}
}
impl World {
    pub fn pod(&self, key: &ObjectKey) -> Option<PodServicesReport> {}
    pub fn slice(&self, key: &ObjectKey) -> Option<ObjectReport> {}
    pub fn endpoints(&self, key: &ObjectKey) -> Option<ObjectReport> {}
}
impl World {
    pub fn service(&self, key: &ObjectKey) -> Option<ServiceReport> {}
    pub fn pods_to_detail(&self, service: &ObjectKey, limit: usize) -> Vec<ObjectKey> {}
}
impl World {
    pub fn new(settings: Settings) -> World {}
    pub fn add_services(&mut self, objects: impl IntoIterator<Item = Arc<Service>>) {}
    pub fn add_pods(&mut self, objects: impl IntoIterator<Item = Arc<Pod>>) {}
    pub fn add_nodes(&mut self, objects: impl IntoIterator<Item = Arc<Node>>) {}
    pub fn add_endpoints(&mut self, objects: impl IntoIterator<Item = Arc<Endpoints>>) {}
    pub fn add_slices(&mut self, objects: impl IntoIterator<Item = Arc<EndpointSlice>>) {}
    pub fn set_unknown(&mut self, kind: Kind) {}
    pub fn add_pod_details(&mut self, pod: ObjectKey, details: PodDetails) {}
    pub fn add_last_write(&mut self, object: ObjectRef, write: LastWrite) {}
    pub fn services(&self) -> impl Iterator<Item = &Arc<Service>> {}
}
impl Cluster for World {}
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
pub fn classify(
    plan: &[Difference<'_>],
    unchanged: &BTreeSet<String>,
) -> Vec<BTreeSet<DifferenceClass>> {}

// text

#[derive(Clone, Copy, Debug, Default)]
pub struct TextStyle {
    pub color: bool,
    pub wide: bool,
    pub now: Option<Timestamp>,
}
pub fn findings(findings: &[Finding], unknown: &[Kind], style: TextStyle) -> String {}
pub fn may_not_read(kinds: &[Kind]) -> String {}
pub fn object(report: &ObjectReport, style: TextStyle) -> String {}
pub fn pod(report: &PodServicesReport, style: TextStyle) -> String {}
pub fn service(report: &ServiceReport, style: TextStyle) -> String {}

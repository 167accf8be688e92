// Public API, listed by docs/tests/it/api.rs.

// crate

#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Address(Repr);
impl Address {
    pub fn new(text: &str) -> Address {}
    pub fn ip(&self) -> Option<IpAddr> {}
    pub fn family(&self) -> Option<IpFamily> {}
}
impl Address {
    pub fn checked(text: &str) -> Result<Address, AddressError> {}
    pub fn usable(&self) -> Result<Address, AddressError> {}
}
impl From<&str> for Address {}
impl From<IpAddr> for Address {}
impl fmt::Display for Address {}
impl fmt::Debug for Address {}
impl Ord for Address {}
impl PartialOrd for Address {}
impl Serialize for Address {}
impl<'de> Deserialize<'de> for Address {}
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AddressError {
    NotAnIp,
    Unspecified,
    Loopback,
    LinkLocal,
    LinkLocalMulticast,
}
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AddressType {
    IPv4,
    IPv6,
    Fqdn,
    Other(Text),
}
impl AddressType {
    pub fn as_str(&self) -> &str {}
}
impl From<&str> for AddressType {}
impl From<IpFamily> for AddressType {}
impl Default for AddressType {}
impl<'de> Deserialize<'de> for AddressType {}
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Addresses(Repr);
impl Addresses {
    #[must_use]
    pub fn sorted(mut self) -> Self {}
}
impl Deref for Addresses {}
impl Default for Addresses {}
impl<A: Into<Address>> FromIterator<A> for Addresses {}
impl<A: Into<Address>, const N: usize> From<[A; N]> for Addresses {}
impl From<Address> for Addresses {}
impl fmt::Debug for Addresses {}
impl Serialize for Addresses {}
impl<'de> Deserialize<'de> for Addresses {}
pub trait AnnotationKeys: Send + Sync + 'static {
    fn keeps(key: &str) -> bool;
}
pub struct Annotations<K> {}
impl<K> Deref for Annotations<K> {}
impl<K: AnnotationKeys> Part for Annotations<K> {}
impl<'de, K: AnnotationKeys> Deserialize<'de> for Annotations<K> {}
impl<K> Clone for Annotations<K> {}
impl<K> Default for Annotations<K> {}
impl<K> PartialEq for Annotations<K> {}
impl<K> Eq for Annotations<K> {}
impl<K> fmt::Debug for Annotations<K> {}
pub trait Cluster {
    fn service(&self, key: &ObjectKey) -> Option<Arc<Service>> {}
    fn pods(&self, namespace: &str, selector: &Labels) -> Vec<Arc<Pod>> {}
    fn node(&self, name: &str) -> Option<Arc<Node>> {}
    fn with_nodes<R>(
        &self,
        f: impl FnOnce(&dyn Fn(&str) -> Option<Arc<Node>>) -> R,
    ) -> R {}
    fn endpoints(&self, key: &ObjectKey) -> Option<Arc<Endpoints>> {}
    fn slices(&self, key: &ObjectKey, manager: &str) -> Vec<Arc<EndpointSlice>> {}
    fn withholds_service(&self, key: &ObjectKey) -> bool {}
    fn withholds_endpoints(&self, key: &ObjectKey) -> bool {}
    fn withholds_pod(&self, key: &ObjectKey) -> bool {}
    fn withholds_node(&self, name: &str) -> bool {}
    fn withholds_any(&self) -> bool {}
    fn selected_pods(&self, service: &Service) -> Vec<Arc<Pod>> {}
    fn selecting_service(&self, key: &ObjectKey) -> SelectingService {}
}
pub use code::Code;
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CompactTime(NonZeroI64);
impl CompactTime {
    pub fn timestamp(self) -> Timestamp {}
}
impl From<Timestamp> for CompactTime {}
impl fmt::Debug for CompactTime {}
#[derive(Clone, Debug, PartialEq, Default, Deserialize, Serialize)]
pub struct Endpoint {
    pub addresses: Addresses,
    pub conditions: EndpointConditions,
    pub deprecated_topology: Labels,
    pub hints: Option<Arc<EndpointHints>>,
    pub hostname: Option<Text>,
    pub node_name: Option<Text>,
    pub target_ref: Option<TargetRef>,
    pub zone: Option<Text>,
}
impl Endpoint {
    pub fn is_ready(&self) -> bool {}
    pub fn equal_beyond_identity(&self, other: &Endpoint) -> bool {}
}
impl From<&discovery::Endpoint> for Endpoint {}
impl From<&Endpoint> for discovery::Endpoint {}
impl Message for Endpoint {}
impl ToMessage for Endpoint {}
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct EndpointAddress {
    pub hostname: Text,
    pub ip: Address,
    pub node_name: Option<Text>,
    pub target_ref: Option<TargetRef>,
}
impl Default for EndpointAddress {}
impl From<&core::EndpointAddress> for EndpointAddress {}
impl From<&EndpointAddress> for core::EndpointAddress {}
impl Message for EndpointAddress {}
impl ToMessage for EndpointAddress {}
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Deserialize, Serialize)]
pub struct EndpointConditions {
    pub ready: Option<bool>,
    pub serving: Option<bool>,
    pub terminating: Option<bool>,
}
impl EndpointConditions {
    pub fn counts_as_ready(&self) -> bool {}
    pub fn counts_as_serving(&self) -> bool {}
    pub fn counts_as_terminating(&self) -> bool {}
}
impl Message for EndpointConditions {}
impl ToMessage for EndpointConditions {}
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default, Serialize)]
pub struct EndpointHints {
    pub for_nodes: Vec<Text>,
    pub for_zones: Vec<Text>,
}
impl<'de> Deserialize<'de> for EndpointHints {}
impl From<&EndpointHints> for discovery::EndpointHints {}
impl Message for EndpointHints {}
impl ToMessage for EndpointHints {}
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Deserialize)]
pub struct EndpointPort {
    pub name: Option<Text>,
    pub protocol: Option<Text>,
    pub port: Option<i32>,
    pub app_protocol: Option<Text>,
}
impl From<&SubsetPort> for core::EndpointPort {}
impl Serialize for EndpointPort {}
impl From<&discovery::EndpointPort> for EndpointPort {}
impl From<&EndpointPort> for discovery::EndpointPort {}
impl Message for EndpointPort {}
impl ToMessage for EndpointPort {}
#[derive(Clone, Debug, PartialEq, Default, Deserialize)]
pub struct EndpointSlice {
    pub metadata: ObjectMeta,
    pub address_type: AddressType,
    pub endpoints: Vec<Endpoint>,
    pub ports: Vec<EndpointPort>,
}
impl EndpointSlice {
    pub fn service_name(&self) -> Option<&str> {}
    pub fn label(&self, key: &str) -> Option<&Text> {}
    pub fn is_managed_by(&self, controller: &str) -> bool {}
}
impl Serialize for EndpointSlice {}
impl From<&discovery::EndpointSlice> for EndpointSlice {}
impl From<&EndpointSlice> for discovery::EndpointSlice {}
impl Message for EndpointSlice {}
impl ToMessage for EndpointSlice {}
#[derive(Clone, Debug, PartialEq, Eq, Default, Deserialize, Serialize)]
pub struct EndpointSubset {
    pub addresses: Vec<EndpointAddress>,
    pub not_ready_addresses: Vec<EndpointAddress>,
    pub ports: Vec<SubsetPort>,
}
impl From<&core::EndpointSubset> for EndpointSubset {}
impl From<&EndpointSubset> for core::EndpointSubset {}
impl Message for EndpointSubset {}
impl ToMessage for EndpointSubset {}
#[derive(Clone, Debug, PartialEq, Default, Deserialize)]
pub struct Endpoints {
    pub metadata: ObjectMeta,
    pub subsets: Vec<EndpointSubset>,
}
impl Endpoints {
    pub fn is_leader_lock(&self) -> bool {}
}
impl Serialize for Endpoints {}
impl From<&core::Endpoints> for Endpoints {}
impl From<&Endpoints> for core::Endpoints {}
impl Message for Endpoints {}
impl ToMessage for Endpoints {}
pub use kube_wire::Index;
#[derive(Clone, Default)]
pub struct Interner(Arc<Pools>);
impl Interner {
    pub fn run<R>(&self, decode: impl FnOnce() -> R) -> R {}
}
impl DecodeContext for Interner {}
impl fmt::Debug for Interner {}
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IpFamily {
    V4,
    V6,
}
impl IpFamily {
    pub fn of(ip: IpAddr) -> IpFamily {}
    pub fn parse(text: &str) -> Option<IpFamily> {}
    pub fn as_str(self) -> &'static str {}
}
pub const LONGEST_LABEL_VALUE: usize = 63;
pub struct LabelIndex<T> {}
impl<T: Labelled> LabelIndex<T> {
    pub fn select(&self, namespace: &str, selector: &Labels) -> Vec<Arc<T>> {}
}
impl<T: Labelled> Index<T> for LabelIndex<T> {}
impl<T> Clone for LabelIndex<T> {}
impl<T> Default for LabelIndex<T> {}
impl<T> fmt::Debug for LabelIndex<T> {}
pub trait Labelled: Object {
    fn labels(&self) -> &Labels;
}
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Labels(Arc<[Pair]>);
impl Labels {
    #[must_use]
    pub fn with_fitting<'a>(
        &'a self,
        added: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Labels {}
}
impl Labels {
    pub fn get(&self, key: &str) -> Option<&str> {}
    pub fn get_text(&self, key: &str) -> Option<&Text> {}
    pub fn contains_key(&self, key: &str) -> bool {}
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &str)> {}
    pub fn len(&self) -> usize {}
    pub fn is_empty(&self) -> bool {}
    pub fn contains_all(&self, selector: &Labels) -> bool {}
    #[must_use]
    pub fn without(&self, drop: impl Fn(&str) -> bool) -> Labels {}
    #[must_use]
    pub fn with<'a>(
        &'a self,
        pairs: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Labels {}
}
impl fmt::Debug for Labels {}
impl<K: AsRef<str>, V: AsRef<str>> FromIterator<(K, V)> for Labels {}
impl From<&BTreeMap<String, String>> for Labels {}
impl From<&Option<BTreeMap<String, String>>> for Labels {}
impl Serialize for Labels {}
impl<'de> Deserialize<'de> for Labels {}
impl FromStr for Labels {}
pub use kube_wire::Metadata;
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NamedPort {
    pub name: Text,
    pub protocol: Text,
    pub port: i32,
}
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Node {
    pub name: Text,
    pub uid: Uid,
    pub resource_version: ResourceVersion,
    pub zone: Text,
    pub control_plane: bool,
    pub ready: bool,
    pub cpu_milli: i64,
}
impl<'de> Deserialize<'de> for Node {}
impl From<&core::Node> for Node {}
impl Message for Node {}
pub use kube_wire::ObjectKey;
#[derive(Clone, Debug, PartialEq, Eq, Default, Deserialize, Serialize)]
pub struct ObjectMeta {
    pub annotations: Labels,
    pub creation_timestamp: Option<Timestamp>,
    pub deletion_grace_period_seconds: Option<i64>,
    pub deletion_timestamp: Option<Timestamp>,
    pub finalizers: Vec<Text>,
    pub generate_name: Option<Text>,
    pub generation: i64,
    pub labels: Labels,
    pub name: Text,
    pub namespace: Text,
    pub owner_references: Vec<OwnerReference>,
    pub resource_version: ResourceVersion,
    pub self_link: Option<Text>,
    pub uid: Uid,
}
impl kube_wire::Metadata for ObjectMeta {}
impl From<&meta::ObjectMeta> for ObjectMeta {}
impl From<&ObjectMeta> for meta::ObjectMeta {}
impl Message for ObjectMeta {}
impl ToMessage for ObjectMeta {}
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default, Deserialize)]
pub struct ObjectReference {
    pub api_version: Text,
    pub field_path: Text,
    pub kind: Text,
    pub name: Text,
    pub namespace: Text,
    pub resource_version: ResourceVersion,
    pub uid: Uid,
}
impl Message for ObjectReference {}
impl From<&TargetRef> for ObjectReference {}
impl From<&TargetRef> for core::ObjectReference {}
#[derive(Clone, Debug, PartialEq, Eq, Default, Deserialize, Serialize)]
pub struct OwnerReference {
    pub api_version: Text,
    pub block_owner_deletion: Option<bool>,
    pub controller: Option<bool>,
    pub kind: Text,
    pub name: Text,
    pub uid: Uid,
}
impl From<&meta::OwnerReference> for OwnerReference {}
impl From<&OwnerReference> for meta::OwnerReference {}
impl Message for OwnerReference {}
impl ToMessage for OwnerReference {}
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseLabelsError {
    NotAPair(String),
    Key(String),
    Value(String),
}
pub trait Part: PartialEq + Send + Sync + Sized + 'static {
    /// Whether [`from_protobuf`](Self::from_protobuf) is implemented.
    const PROTOBUF: bool = false;
    /// Whether the part contains something of `metadata.managedFields`, see [`Decode::READS_MANAGED_FIELDS`].
    const READS_MANAGED_FIELDS: bool = true;
    fn from_json(kind: &str, bytes: &[u8]) -> Result<Self, DecodeError>;
    fn from_protobuf(kind: &str, bytes: &[u8]) -> Result<Self, DecodeError> {}
}
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Pod {
    pub namespace: Text,
    pub name: Text,
    pub uid: Uid,
    pub resource_version: ResourceVersion,
    pub labels: Labels,
    pub hostname: Text,
    pub subdomain: Text,
    pub node_name: Text,
    pub pod_ips: Addresses,
    pub pod_ip_family: Option<IpFamily>,
    pub named_ports: Arc<[NamedPort]>,
    pub ready_changed: Option<CompactTime>,
    pub ready: bool,
    pub terminating: bool,
    pub finished: bool,
    pub excluded_by_restart_policy: bool,
}
impl From<&core::Pod> for Pod {}
impl<'de> Deserialize<'de> for Pod {}
impl Message for Pod {}
impl Labelled for Pod {}
impl PodFields for Pod {}
pub trait PodFields: Labelled {
    fn pod_ips(&self) -> &Addresses;
    fn is_ready(&self) -> bool;
    fn is_terminating(&self) -> bool;
    fn is_finished(&self) -> bool;
    fn pod_ip_family(&self) -> Option<IpFamily> {}
    fn node_name(&self) -> &Text {}
    fn hostname(&self) -> &Text {}
    fn subdomain(&self) -> &Text {}
    fn named_ports(&self) -> &[NamedPort] {}
    fn has_uid(&self, uid: &Uid) -> bool {}
}
pub type PodIndex = LabelIndex<Pod>;
pub use kube_wire::Resource;
pub use kube_wire::ResourceVersion;
pub trait Selecting: Object {
    fn selector(&self) -> Option<&Labels>;
    fn selects(&self, labels: &Labels) -> bool {}
    fn publishes_not_ready(&self) -> bool {}
}
#[derive(Clone, Debug, PartialEq)]
pub enum SelectingService {
    Missing,
    Withheld,
    Ignored,
    Selects(Arc<Service>),
}
pub struct SelectorIndex<T> {}
impl<T: Selecting> SelectorIndex<T> {
    pub fn selecting(&self, namespace: &str, labels: &Labels) -> Vec<&Arc<T>> {}
    pub fn keys(&self, namespace: &str, labels: &Labels) -> Vec<ObjectKey> {}
}
impl SelectorIndex<Service> {
    pub fn select(&self, namespace: &str, labels: &Labels) -> Vec<Text> {}
}
impl<T: Selecting> Index<T> for SelectorIndex<T> {}
impl<T> Clone for SelectorIndex<T> {}
impl<T> Default for SelectorIndex<T> {}
impl<T> fmt::Debug for SelectorIndex<T> {}
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Service {
    pub namespace: Text,
    pub name: Text,
    pub uid: Uid,
    pub resource_version: ResourceVersion,
    pub labels: Labels,
    pub topology_annotation: Option<Text>,
    pub tolerate_unready_annotation: Option<Text>,
    pub created: Option<Timestamp>,
    pub terminating: bool,
    pub external_name: bool,
    pub cluster_ip: Text,
    pub selector: Option<Labels>,
    pub ports: Vec<ServicePort>,
    pub ip_families: Vec<IpFamily>,
    pub publish_not_ready_addresses: bool,
    pub traffic_distribution: Option<Text>,
}
impl Service {
    pub fn has_cluster_ip(&self) -> bool {}
    pub fn is_headless(&self) -> bool {}
    pub fn topology_mode(&self) -> TopologyMode {}
    pub fn address_types(&self) -> Vec<AddressType> {}
    pub fn cluster_ip_family(&self) -> Option<IpFamily> {}
}
impl Selecting for Service {}
impl<'de> Deserialize<'de> for Service {}
impl From<&core::Service> for Service {}
impl Message for Service {}
pub type ServiceIndex = SelectorIndex<Service>;
#[derive(Clone, Debug, PartialEq, Eq, Default, Deserialize)]
pub struct ServicePort {
    pub name: Text,
    pub protocol: Text,
    pub target: TargetPort,
    pub app_protocol: Option<Text>,
}
impl ServicePort {
    pub fn endpoint_port(&self, number: i32) -> EndpointPort {}
}
impl From<&core::ServicePort> for ServicePort {}
impl Message for ServicePort {}
#[derive(Clone, Debug, Default)]
pub struct SliceIndex {}
impl SliceIndex {
    pub fn by(label: impl Into<Text>) -> Self {}
    pub fn label(&self) -> &str {}
    pub fn managed_slices(
        &self,
        namespace: &str,
        owner: &str,
        controller: &str,
    ) -> Vec<Arc<EndpointSlice>> {}
    pub fn slices(
        &self,
        namespace: &str,
        owner: &str,
    ) -> impl Iterator<Item = &Arc<EndpointSlice>> {}
}
impl Index<EndpointSlice> for SliceIndex {}
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Deserialize)]
pub struct SubsetPort {
    pub name: Text,
    pub port: i32,
    pub protocol: Text,
    pub app_protocol: Option<Text>,
}
impl Serialize for SubsetPort {}
impl From<&core::EndpointPort> for SubsetPort {}
impl Message for SubsetPort {}
impl ToMessage for SubsetPort {}
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TargetPort {
    Number(i32),
    Name(Text),
}
impl TargetPort {
    pub fn number(&self) -> Option<i32> {}
}
impl Default for TargetPort {}
impl<'de> Deserialize<'de> for TargetPort {}
impl From<IntOrString> for TargetPort {}
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TargetRef {}
impl TargetRef {
    pub fn pod(namespace: Text, name: Text, uid: Uid) -> TargetRef {}
    pub fn namespace(&self) -> &Text {}
    pub fn name(&self) -> &Text {}
    pub fn uid(&self) -> &Uid {}
    pub fn kind(&self) -> &str {}
    pub fn is_of_pod(&self) -> bool {}
    pub fn same_object(&self, other: &TargetRef) -> bool {}
}
impl ToMessage for TargetRef {}
impl From<ObjectReference> for TargetRef {}
impl<'de> Deserialize<'de> for TargetRef {}
impl Serialize for TargetRef {}
impl From<&core::ObjectReference> for TargetRef {}
pub use kube_wire::Text;
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TopologyMode {
    Auto,
    Disabled,
}
#[derive(Debug, Default)]
pub struct TriggerTimes {}
impl TriggerTimes {
    pub fn observe(
        &mut self,
        key: &ObjectKey,
        service: &Service,
        pods: &[Arc<Pod>],
    ) -> Option<Timestamp> {}
    pub fn forget(&mut self, key: &ObjectKey) {}
}
pub use kube_wire::Uid;
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnusableAddresses {}
impl UnusableAddresses {
    pub const EVENT: &str = "InvalidPodAddress";
    pub fn message(&self, objects: &str) -> String {}
    pub fn of<'a, P: PodFields + 'a>(
        pods: impl IntoIterator<Item = &'a P>,
        reason: impl Fn(&P) -> Option<PodReason>,
    ) -> Option<UnusableAddresses> {}
}
impl fmt::Display for UnusableAddresses {}
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct With<T, P> {
    pub object: T,
    pub part: P,
}
impl<T, P> Deref for With<T, P> {}
impl<T: Object, P: Part> Object for With<T, P> {}
impl<T: Decode, P: Part> Decode for With<T, P> {}
impl<T: Labelled, P: Part> Labelled for With<T, P> {}
impl<T: Selecting, P: Part> Selecting for With<T, P> {}
impl<T: PodFields, P: Part> PodFields for With<T, P> {}
pub use kube_wire::Write;
pub fn is_label_value(text: &str) -> bool {}
pub fn parse_go_bool(text: &str) -> Option<bool> {}
pub fn parse_milli(text: &str) -> Option<i64> {}
pub fn parse_sloppy(text: &str) -> Option<IpAddr> {}
pub fn same_target(a: Option<&TargetRef>, b: Option<&TargetRef>) -> bool {}
pub fn sort_slice_ports(ports: &mut [EndpointPort]) {}
pub fn sort_subset_ports(ports: &mut [SubsetPort]) {}

// membership

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PodOutcome {
    Ready,
    NotReady(PodReason),
    LeftOut(PodReason),
}
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PodReason {
    Finished,
    NotReady,
    Terminating,
    WithoutAddress,
    TargetPortUnknown,
    TargetPortProtocol,
    NoPort,
    NoAddressOfFamily,
    InvalidAddress,
    UnusableAddress,
    NodeMissing,
}
impl PodReason {
    pub fn code(self) -> Code {}
}
pub fn addresses(
    pod: &impl PodFields,
    family: IpFamily,
) -> Result<Cow<'_, Addresses>, PodReason> {}
pub fn exclusion(pod: &impl PodFields, include_terminating: bool) -> Option<PodReason> {}
pub fn find_port(pod: &impl PodFields, port: &ServicePort) -> Result<i32, PodReason> {}
pub fn has_hostname(pod: &impl PodFields, service: &Service) -> bool {}
pub fn hostname(pod: &impl PodFields, service: &Service) -> Option<Text> {}
pub fn primary_address(
    pod: &impl PodFields,
    service: &Service,
) -> Result<Address, PodReason> {}
pub fn target(pod: &impl PodFields) -> TargetRef {}
pub fn unready(pod: &impl PodFields, publish_not_ready: bool) -> Option<PodReason> {}

// pod_change

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceToSync {
    pub key: ObjectKey,
    pub loses_ready_endpoint: bool,
}
pub fn services_to_sync<P: PodFields, S: Selecting>(
    states @ (old, new): States<'_, P>,
    services: &SelectorIndex<S>,
) -> Vec<ServiceToSync> {}

// references

#[derive(Clone, Copy, Debug)]
pub struct Written<'a> {
    pub slices: &'a [Arc<EndpointSlice>],
    pub endpoints: &'a [Arc<Endpoints>],
}
impl<'a> Written<'a> {
    pub fn pods(self) -> impl Iterator<Item = (ObjectKey, Uid)> {}
    pub fn nodes(self) -> impl Iterator<Item = (ObjectKey, Uid)> {}
    pub fn services(self) -> impl Iterator<Item = (ObjectKey, Uid)> {}
    pub fn endpoints(self) -> impl Iterator<Item = (ObjectKey, Uid)> {}
}
pub fn pod(target: &TargetRef) -> Option<(ObjectKey, Uid)> {}

// subsets

pub fn equal_ignoring_versions(a: &[EndpointSubset], b: &[EndpointSubset]) -> bool {}
pub fn repack(subsets: &[EndpointSubset]) -> Vec<EndpointSubset> {}
pub fn repack_like_upstream(subsets: &[EndpointSubset]) -> Vec<EndpointSubset> {}

// well_known

pub const CLUSTER_IP_NONE: &str = "None";
pub const CONTROL_PLANE_LABEL: &str = "node-role.kubernetes.io/control-plane";
pub const ENDPOINTS_CONTROLLER: &str = "endpoint-controller";
pub const ENDPOINTS_CONTROLLER_NAME: &str = "endpoints-controller";
pub const ENDPOINTS_MANAGED_BY_LABEL: &str = "endpoints.kubernetes.io/managed-by";
pub const HEADLESS_LABEL: &str = "service.kubernetes.io/headless";
pub const LAST_APPLIED_ANNOTATION: &str = "kubectl.kubernetes.io/last-applied-configuration";
pub const LEADER_ANNOTATION: &str = "control-plane.alpha.kubernetes.io/leader";
pub const MASTER_LABEL: &str = "node-role.kubernetes.io/master";
pub const MIRRORING_CONTROLLER: &str = "endpointslicemirroring-controller.k8s.io";
pub const MIRRORING_CONTROLLER_NAME: &str = "endpointslice-mirroring-controller";
pub const OVER_CAPACITY_ANNOTATION: &str = "endpoints.kubernetes.io/over-capacity";
pub const SERVICE_NAME_LABEL: &str = "kubernetes.io/service-name";
pub const SERVICE_PROXY_NAME_LABEL: &str = "service.kubernetes.io/service-proxy-name";
pub const SKIP_MIRROR_LABEL: &str = "endpointslice.kubernetes.io/skip-mirror";
pub const SLICE_CONTROLLER: &str = "endpointslice-controller.k8s.io";
pub const SLICE_CONTROLLER_NAME: &str = "endpointslice-controller";
pub const SLICE_MANAGED_BY_LABEL: &str = "endpointslice.kubernetes.io/managed-by";
pub const TOLERATE_UNREADY_ANNOTATION: &str = "service.alpha.kubernetes.io/tolerate-unready-endpoints";
pub const TOPOLOGY_HINTS_ANNOTATION: &str = "service.kubernetes.io/topology-aware-hints";
pub const TOPOLOGY_MODE_ANNOTATION: &str = "service.kubernetes.io/topology-mode";
pub const TRIGGER_TIME_ANNOTATION: &str = "endpoints.kubernetes.io/last-change-trigger-time";
pub const ZONE_LABEL: &str = "topology.kubernetes.io/zone";

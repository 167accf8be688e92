// Public API, listed by docs/tests/it/api.rs.

// crate

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DisabledReason {
    InsufficientNodeInfo,
    NodesReadyInOneZoneOnly,
    InsufficientNumberOfEndpoints { endpoints: usize, zones: usize },
    MinAllocationExceedsOverloadThreshold { endpoints: usize, zones: usize },
    NoZoneSpecified,
}
impl DisabledReason {
    pub fn code(self) -> Code {}
}
impl fmt::Display for DisabledReason {}
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HintPolicy {
    Topology,
    Traffic(TrafficDistribution),
    None,
}
impl HintPolicy {
    pub fn of(service: &Service) -> HintPolicy {}
    pub fn new(
        topology: TopologyMode,
        traffic_distribution: Option<&str>,
    ) -> HintPolicy {}
    pub fn apply(
        self,
        ratios: &ZoneRatios,
        was_enabled: bool,
        address_type: &AddressType,
        slices: &mut SliceSet,
    ) -> HintsOutcome {}
}
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HintsOutcome {
    pub allocated: Option<BTreeMap<Text, usize>>,
    pub events: Vec<TopologyEvent>,
}
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SliceSet {
    pub create: Vec<EndpointSlice>,
    pub update: Vec<EndpointSlice>,
    pub unchanged: Vec<Arc<EndpointSlice>>,
}
impl SliceSet {
    pub fn iter(&self) -> impl Iterator<Item = &EndpointSlice> {}
    pub fn ready_endpoints(&self) -> usize {}
}
#[derive(Clone, Debug, Default)]
pub struct TopologyCache {}
impl TopologyCache {
    pub fn set_nodes<'a>(&mut self, nodes: impl IntoIterator<Item = &'a Node>) {}
    pub fn ratios(&self) -> ZoneRatios {}
    pub fn is_enabled(&self, service: &ObjectKey) -> bool {}
    pub fn enabled_types(&self, service: &ObjectKey) -> Vec<AddressType> {}
    pub fn counts(
        &self,
        service: &ObjectKey,
        address_type: &AddressType,
    ) -> Option<&BTreeMap<Text, usize>> {}
    pub fn record(
        &mut self,
        service: &ObjectKey,
        address_type: &AddressType,
        allocated: Option<BTreeMap<Text, usize>>,
    ) {}
    pub fn remove_service(&mut self, service: &ObjectKey) -> bool {}
    pub fn overloaded_services(&self) -> Vec<ObjectKey> {}
}
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopologyEvent {
    pub normal: bool,
    pub reason: &'static str,
    pub message: String,
    pub cause: Option<DisabledReason>,
}
impl TopologyEvent {
    pub fn type_name(&self) -> &'static str {}
}
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TrafficDistribution {
    PreferClose,
    PreferSameZone,
    PreferSameNode,
}
impl TrafficDistribution {
    pub const ALL: [TrafficDistribution; 3] = [
        TrafficDistribution::PreferClose,
        TrafficDistribution::PreferSameZone,
        TrafficDistribution::PreferSameNode,
    ];
    pub fn parse(text: &str) -> Option<TrafficDistribution> {}
    pub fn as_str(self) -> &'static str {}
}
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ZoneRatios(State);
impl ZoneRatios {
    pub fn from_nodes<'a>(nodes: impl IntoIterator<Item = &'a Node>) -> ZoneRatios {}
    pub fn is_known(&self) -> bool {}
    pub fn is_insufficient(&self) -> bool {}
    pub fn shares(&self) -> &[(Text, f64)] {}
    pub fn get(&self, zone: &str) -> Option<f64> {}
}
pub fn add_hints(
    ratios: &ZoneRatios,
    was_enabled: bool,
    address_type: &AddressType,
    slices: &mut SliceSet,
) -> HintsOutcome {}
pub fn disabled_event(address_type: &AddressType) -> TopologyEvent {}
pub fn strip_hints(slices: &mut SliceSet) {}
pub fn traffic_hints(distribution: TrafficDistribution, slices: &mut SliceSet) {}

// traffic

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TrafficDistribution {
    PreferClose,
    PreferSameZone,
    PreferSameNode,
}
impl TrafficDistribution {
    pub const ALL: [TrafficDistribution; 3] = [
        TrafficDistribution::PreferClose,
        TrafficDistribution::PreferSameZone,
        TrafficDistribution::PreferSameNode,
    ];
    pub fn parse(text: &str) -> Option<TrafficDistribution> {}
    pub fn as_str(self) -> &'static str {}
}
pub fn traffic_hints(distribution: TrafficDistribution, slices: &mut SliceSet) {}

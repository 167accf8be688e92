//! Which of the two ways of hinting a Service asks for.

use kube_endpoint_model::{AddressType, Service, TopologyMode};

use crate::{
    HintsOutcome, SliceSet, TrafficDistribution, ZoneRatios, add_hints, disabled_event, strip_hints, traffic_hints,
};

/// What decides about the hints of a Service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HintPolicy {
    /// The topology annotation: hints follow the CPU of the zones.
    Topology,
    /// The field `spec.trafficDistribution`: hints follow from where each endpoint runs.
    Traffic(TrafficDistribution),
    /// Neither: no hints.
    ClusterWide,
}

impl HintPolicy {
    /// Reads annotation and field (RC-29, RC-30). The annotation wins, even where it leads to no hints at all (TD-7,
    /// EC-30).
    pub fn of(service: &Service) -> HintPolicy {
        HintPolicy::new(service.topology_mode(), service.traffic_distribution.as_deref())
    }

    /// The same for users without a Service. A traffic distribution that is not known counts as none.
    pub fn new(topology: TopologyMode, traffic_distribution: Option<&str>) -> HintPolicy {
        match (topology, traffic_distribution.and_then(TrafficDistribution::parse)) {
            (TopologyMode::Auto, _) => HintPolicy::Topology,
            (TopologyMode::Disabled, Some(distribution)) => HintPolicy::Traffic(distribution),
            (TopologyMode::Disabled, None) => HintPolicy::ClusterWide,
        }
    }

    /// Brings the hints of one address type in line (RC-32 to RC-34). `was_enabled` says whether any address type of
    /// the Service has topology hints already.
    ///
    /// Afterwards a controller calls [`record`] under [`HintPolicy::Topology`], and [`remove_service`] otherwise.
    ///
    /// [`record`]: crate::TopologyCache::record
    /// [`remove_service`]: crate::TopologyCache::remove_service
    pub fn apply(
        self,
        ratios: &ZoneRatios,
        was_enabled: bool,
        address_type: &AddressType,
        slices: &mut SliceSet,
    ) -> HintsOutcome {
        match self {
            HintPolicy::Topology => return add_hints(ratios, was_enabled, address_type, slices),
            HintPolicy::Traffic(distribution) => traffic_hints(distribution, slices),
            HintPolicy::ClusterWide => strip_hints(slices),
        }
        let events = if was_enabled { vec![disabled_event(address_type)] } else { Vec::new() };
        HintsOutcome { allocated: None, events }
    }
}

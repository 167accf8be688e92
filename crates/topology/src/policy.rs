//! The hint policy of a Service.

use kube_endpoint_model::{AddressType, Service};

use crate::{
    HintsOutcome, SliceSet, TrafficDistribution, ZoneRatios, add_hints, disabled_event, strip_hints, traffic_hints,
};

/// Method by which the hints of a Service are computed: topology, traffic distribution, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HintPolicy {
    /// Topology annotation: hints are allocated by the zones' CPU.
    Topology,
    /// Field `spec.trafficDistribution`: hints follow the endpoint's own zone and Node.
    Traffic(TrafficDistribution),
    /// Neither the annotation nor the field is set: endpoints have no hints.
    None,
}

impl HintPolicy {
    /// Returns the policy of a Service (RC-29, RC-30). The annotation takes precedence over the field, even if the
    /// allocation fails and there are no hints (EC-30). An unrecognized traffic distribution counts as unset.
    pub fn of(service: &Service) -> HintPolicy {
        let distribution = || TrafficDistribution::parse(service.traffic_distribution.as_deref()?);
        if service.requests_topology_hints() {
            return HintPolicy::Topology;
        }
        distribution().map_or(HintPolicy::None, HintPolicy::Traffic)
    }

    /// Updates the hints of one address type (RC-32 to RC-34). `was_enabled` is whether any address type of the Service
    /// has topology hints already; if so, a policy other than [`HintPolicy::Topology`] returns a [`disabled_event`].
    ///
    /// Afterwards the controller calls [`record`] under [`HintPolicy::Topology`], and [`remove_service`] otherwise.
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
            HintPolicy::None => strip_hints(slices),
        }
        let events = if was_enabled { vec![disabled_event(address_type)] } else { Vec::new() };
        HintsOutcome { allocated: None, events }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::notation::{assert_set, set};

    const CLOSE: HintPolicy = HintPolicy::Traffic(TrafficDistribution::PreferClose);

    fn policy(annotation: Option<&str>, field: Option<&str>) -> HintPolicy {
        let (topology_annotation, traffic_distribution) = (annotation.map(Into::into), field.map(Into::into));
        HintPolicy::of(&Service { topology_annotation, traffic_distribution, ..Service::default() })
    }

    // RC-29, RC-30; the annotation is parsed by kube-endpoint-model.
    #[rstest]
    #[case::neither(None, None, HintPolicy::None)]
    #[case::field(None, Some("PreferClose"), CLOSE)]
    #[case::field_unknown(None, Some("PreferFar"), HintPolicy::None)]
    #[case::annotation(Some("Auto"), None, HintPolicy::Topology)]
    #[case::both(Some("Auto"), Some("PreferSameNode"), HintPolicy::Topology)]
    fn policy_of_annotation_and_field(
        #[case] annotation: Option<&str>,
        #[case] field: Option<&str>,
        #[case] expected: HintPolicy,
    ) {
        assert_eq!(policy(annotation, field), expected);
    }

    // EC-30
    #[test]
    fn ec_30_the_annotation_wins_even_without_hints_of_its_own() {
        let mut slices = set("a | | b>b");
        let policy = policy(Some("Auto"), Some("PreferClose"));
        let outcome = policy.apply(&ZoneRatios::from_nodes([]), false, &AddressType::IPv4, &mut slices);
        assert_set(&slices, "a | b |");
        assert_eq!(outcome.allocated, None);
    }

    // RC-33, RC-34
    #[rstest]
    #[case::to_traffic(CLOSE, "a>b !a>b | | b>b, c", "a>a !a>b | c>c | b>b")]
    #[case::to_nothing(HintPolicy::None, "a>b !a>b | | b>b, c", "a !a | b | c")]
    fn removing_topology_hints_emits_one_event(
        #[case] policy: HintPolicy,
        #[case] given: &str,
        #[case] expected: &str,
    ) {
        for (was_enabled, events) in [(true, vec![disabled_event(&AddressType::IPv6)]), (false, vec![])] {
            let mut slices = set(given);
            let outcome = policy.apply(&ZoneRatios::default(), was_enabled, &AddressType::IPv6, &mut slices);
            assert_set(&slices, expected);
            assert_eq!(outcome, HintsOutcome { allocated: None, events });
        }
    }
}

//! Traffic distribution: hints that depend only on the endpoint itself.

use kube_endpoint_model::{Endpoint, EndpointHints, Text};

use crate::SliceSet;

/// A recognized value of a Service's `spec.trafficDistribution`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TrafficDistribution {
    /// Older name of [`PreferSameZone`](TrafficDistribution::PreferSameZone).
    PreferClose,
    /// Prefers endpoints in the client's zone.
    PreferSameZone,
    /// Prefers endpoints on the client's Node, then endpoints in its zone.
    PreferSameNode,
}

impl TrafficDistribution {
    /// All recognized values of the field.
    pub const ALL: [TrafficDistribution; 3] =
        [TrafficDistribution::PreferClose, TrafficDistribution::PreferSameZone, TrafficDistribution::PreferSameNode];

    /// Parses the field; `None` for an unrecognized value, which counts as unset (RC-30).
    pub fn parse(text: &str) -> Option<TrafficDistribution> {
        Self::ALL.into_iter().find(|it| it.as_str() == text)
    }

    /// Returns the value as it is written in the API.
    pub fn as_str(self) -> &'static str {
        match self {
            TrafficDistribution::PreferClose => "PreferClose",
            TrafficDistribution::PreferSameZone => "PreferSameZone",
            TrafficDistribution::PreferSameNode => "PreferSameNode",
        }
    }
}

/// Sets the hints of every ready endpoint according to `distribution`, and moves an unchanged slice to the updates if a
/// ready endpoint's hints differ (TD-1 to TD-4).
///
/// Endpoints that are not ready keep their hints and cause no write (EC-17).
pub fn traffic_hints(distribution: TrafficDistribution, slices: &mut SliceSet) {
    let node_hints = distribution == TrafficDistribution::PreferSameNode;
    slices.update_hints(
        |endpoint| endpoint.is_ready() && !ExpectedHints::new(endpoint, node_hints).matches(endpoint),
        |endpoint| {
            if endpoint.is_ready() {
                endpoint.hints = ExpectedHints::new(endpoint, node_hints).into_hints().map(Into::into);
            }
        },
    );
}

/// Expected hints of an endpoint: at most one zone and one Node.
struct ExpectedHints<'a> {
    zone: Option<&'a Text>,
    node: Option<&'a Text>,
}

impl<'a> ExpectedHints<'a> {
    fn new(endpoint: &'a Endpoint, node_hints: bool) -> Self {
        ExpectedHints { zone: endpoint.zone.as_ref(), node: endpoint.node_name.as_ref().filter(|_| node_hints) }
    }

    /// Compares with the endpoint's hints. Empty and absent hints are equivalent to consumers and compare equal.
    fn matches(&self, endpoint: &Endpoint) -> bool {
        let (zones, nodes): (&[Text], &[Text]) = match &endpoint.hints {
            Some(hints) => (&hints.for_zones, &hints.for_nodes),
            None => (&[], &[]),
        };
        zones == self.zone.map_or(&[][..], std::slice::from_ref)
            && nodes == self.node.map_or(&[][..], std::slice::from_ref)
    }

    fn into_hints(self) -> Option<EndpointHints> {
        (self.zone.is_some() || self.node.is_some()).then(|| EndpointHints {
            for_zones: self.zone.cloned().into_iter().collect(),
            for_nodes: self.node.cloned().into_iter().collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rstest::rstest;

    use super::*;
    use crate::notation::{assert_set, set};
    use crate::strip_hints;

    /// Sets hints as the slice controller does: none for an unrecognized value.
    fn hint(distribution: Option<&str>, slices: &mut SliceSet) {
        match distribution.and_then(TrafficDistribution::parse) {
            Some(distribution) => traffic_hints(distribution, slices),
            None => strip_hints(slices),
        }
    }

    // upstream: TestReconcileHints (trafficdist/trafficdist_test.go)
    #[rstest]
    #[case::should_set_zone_hints_with_prefer_close(
        Some("PreferClose"),
        "a@n1 b@n2, a@n3 b@n4 | a@n5 a@n6, b@n7 c@n8 |",
        "a@n1>a b@n2>b, a@n3>a b@n4>b | a@n5>a a@n6>a, b@n7>b c@n8>c |"
    )]
    #[case::should_set_zone_hints_with_prefer_same_zone(
        Some("PreferSameZone"),
        "a@n1 b@n2 | a@n5 a@n6 | b@n7 c@n8",
        "a@n1>a b@n2>b | a@n5>a a@n6>a, b@n7>b c@n8>c |"
    )]
    #[case::should_set_zone_and_node_hints_with_prefer_same_node(
        Some("PreferSameNode"),
        "a@n1 b@n2 | a@n5 a@n6 | b@n7>b c@n8>c, b@n7>b/n7 c@n8>c/n8",
        "a@n1>a/n1 b@n2>b/n2 | a@n5>a/n5 a@n6>a/n6, b@n7>b/n7 c@n8>c/n8 | b@n7>b/n7 c@n8>c/n8"
    )]
    #[case::should_correct_incorrect_hints_with_prefer_close(
        Some("PreferClose"),
        "| a@n1>b | b@n2>c, c@n3, c@n3>c",
        "| a@n1>a, b@n2>b, c@n3>c | c@n3>c"
    )]
    #[case::should_not_create_hints_with_prefer_close_if_there_are_no_zones(
        Some("PreferClose"),
        "-@n1 -@n2 | -@n3 | -@n4",
        "-@n1 -@n2 | -@n3 | -@n4"
    )]
    #[case::should_create_only_node_hints_with_prefer_same_node_if_there_are_no_zones(
        Some("PreferSameNode"),
        "-@n1 -@n2 | -@n3 | -@n4",
        "-@n1>/n1 -@n2>/n2 | -@n3>/n3, -@n4>/n4 |"
    )]
    #[case::unready_endpoints_should_not_trigger_updates(Some("PreferClose"), "|  | !b@n2", "|  | !b@n2")]
    #[case::should_remove_hints_when_traffic_distribution_is_unrecognized(
        Some("Unknown"),
        "a@n1>a b@n2>b, a@n3>a | a@n5>a |",
        "a@n1 b@n2, a@n3 | a@n5 |"
    )]
    #[case::should_remove_hints_when_traffic_distribution_is_unset(None, "| a@n5>a | b@n6>b", "| a@n5, b@n6 |")]
    fn reconcile_hints(#[case] distribution: Option<&str>, #[case] given: &str, #[case] expected: &str) {
        let mut slices = set(given);
        hint(distribution, &mut slices);
        assert_set(&slices, expected);
    }

    // upstream: TestReconcileHints_doesNotMutateUnchangedSlices
    #[test]
    fn shared_slices_are_not_modified() {
        let mut slices = set("| | a@n1");
        let shared = Arc::clone(&slices.unchanged[0]);
        traffic_hints(TrafficDistribution::PreferClose, &mut slices);
        assert_set(&slices, "| a@n1>a |");
        assert_eq!(shared.endpoints[0].hints, None);
    }

    // TD-3: deviations of a ready endpoint in an unchanged slice.
    #[rstest]
    #[case::two_zones("PreferClose", "| | a>a+b", "| a>a |")]
    #[case::stale_zone("PreferClose", "| | ->a", "| - |")]
    #[case::node_too_many("PreferSameZone", "| | a@n>a/n", "| a@n>a |")]
    #[case::node_missing("PreferSameNode", "| | a@n>a", "| a@n>a/n |")]
    #[case::node_wrong("PreferSameNode", "| | a@n>a/m", "| a@n>a/n |")]
    #[case::node_without_node("PreferSameNode", "| | a>a/m", "| a>a |")]
    #[case::hints_without_a_hint("PreferSameNode", "| | ->", "| | ->")]
    // TD-4: slices to create or update get exact hints.
    #[case::written_anyway("PreferClose", "-> | -@n>b/m |", "- | -@n |")]
    fn deviations(#[case] distribution: &str, #[case] given: &str, #[case] expected: &str) {
        let mut slices = set(given);
        hint(Some(distribution), &mut slices);
        assert_set(&slices, expected);
    }

    #[test]
    fn ec_17_endpoints_that_are_not_ready_keep_their_hints() {
        let mut slices = set("!a>b ?a>b a>b | !a@n>/m | !a>c ?a b>b");
        traffic_hints(TrafficDistribution::PreferSameNode, &mut slices);
        assert_set(&slices, "!a>b ?a>b a>a | !a@n>/m | !a>c ?a b>b");
    }

    // TD-6
    #[test]
    fn hints_are_removed_step_by_step() {
        let mut slices = set("| | a@n>a/n");
        traffic_hints(TrafficDistribution::PreferClose, &mut slices);
        assert_set(&slices, "| a@n>a |");
        strip_hints(&mut slices);
        assert_set(&slices, "| a@n |");
    }

    #[test]
    fn values_are_exact() {
        for value in TrafficDistribution::ALL {
            assert_eq!(TrafficDistribution::parse(value.as_str()), Some(value));
        }
        for unknown in ["", "preferclose", "PreferClose ", "Auto"] {
            assert_eq!(TrafficDistribution::parse(unknown), None);
        }
    }
}

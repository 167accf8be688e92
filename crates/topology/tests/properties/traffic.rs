//! Properties of traffic distribution and of `strip_hints`.

use kube_topology::{TrafficDistribution, strip_hints, traffic_hints};
use proptest::prelude::*;

use crate::strategies::{CASES, any_slices, endpoints, settled, without_hints};

fn distribution() -> impl Strategy<Value = TrafficDistribution> {
    prop::sample::select(TrafficDistribution::ALL.to_vec())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(CASES))]

    #[test]
    fn hints_follow_from_the_endpoint_alone(distribution in distribution(), given in any_slices()) {
        let mut slices = given.clone();
        traffic_hints(distribution, &mut slices);
        let (before, after) = (endpoints(&given), endpoints(&slices));
        prop_assert_eq!(before.len(), after.len());
        for (name, endpoint) in &after {
            prop_assert_eq!(without_hints(endpoint), without_hints(&before[name]));
            if !endpoint.is_ready() {
                prop_assert_eq!(&endpoint.hints, &before[name].hints);
                continue;
            }
            let node = endpoint.node_name.as_ref().filter(|_| distribution == TrafficDistribution::PreferSameNode);
            let hints = endpoint.hints.clone().unwrap_or_default();
            prop_assert_eq!(hints.for_zones.iter().collect::<Vec<_>>(), endpoint.zone.iter().collect::<Vec<_>>());
            prop_assert_eq!(hints.for_nodes.iter().collect::<Vec<_>>(), node.into_iter().collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_second_run_changes_nothing(distribution in distribution(), given in any_slices()) {
        let mut slices = given;
        traffic_hints(distribution, &mut slices);
        let before = settled(slices);
        let mut slices = before.clone();
        traffic_hints(distribution, &mut slices);
        prop_assert_eq!(slices, before);
    }

    #[test]
    fn strip_removes_all_hints_and_moves_only_slices_with_hints(given in any_slices()) {
        let mut slices = given.clone();
        strip_hints(&mut slices);
        let (before, after) = (endpoints(&given), endpoints(&slices));
        prop_assert!(after.iter().all(|(name, it)| *it == without_hints(&before[name])));
        let kept: Vec<_> =
            given.unchanged.iter().filter(|it| it.endpoints.iter().all(|it| it.hints.is_none())).cloned().collect();
        prop_assert_eq!(slices.unchanged, kept);
    }
}

//! Number of hints per zone.

use std::collections::BTreeMap;

use kube_endpoint_model::{EndpointSlice, Text};

use crate::allocation::Allocations;

/// Hints per zone: by index for zones with an allocation, by name for other zones.
///
/// Other zones occur if an endpoint runs in a zone without a ratio, for instance because none of its Nodes is ready.
/// Such an endpoint gets a hint for its own zone.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tally<'a> {
    allocations: &'a Allocations,
    hinted: Vec<usize>,
    others: BTreeMap<Text, usize>,
}

impl<'a> Tally<'a> {
    pub(crate) fn new(allocations: &'a Allocations) -> Self {
        Tally { allocations, hinted: vec![0; allocations.as_slice().len()], others: BTreeMap::new() }
    }

    /// Returns the number of hints by index in the allocations.
    pub(crate) fn hinted(&self) -> &[usize] {
        &self.hinted
    }

    pub(crate) fn add(&mut self, zone: &Text) {
        match self.allocations.position(zone) {
            Some(position) => self.hinted[position] += 1,
            None => *self.others.entry(zone.clone()).or_default() += 1,
        }
    }

    pub(crate) fn shift(&mut self, from: usize, to: usize) {
        self.hinted[from] -= 1;
        self.hinted[to] += 1;
    }

    /// Adds the hints of a slice if the slice can stay unchanged, and returns whether it can (TP-8): every ready
    /// endpoint has a zone hint, each zone has an allocation, and no zone exceeds its maximum. Otherwise adds nothing.
    pub(crate) fn keep(&mut self, slice: &EndpointSlice) -> bool {
        let mut in_slice = vec![0; self.hinted.len()];
        for endpoint in slice.endpoints.iter().filter(|endpoint| endpoint.is_ready()) {
            let Some(hints) = endpoint.hints.as_ref().filter(|hints| !hints.for_zones.is_empty()) else {
                return false;
            };
            for zone in &hints.for_zones {
                let Some(position) = self.allocations.position(zone) else { return false };
                in_slice[position] += 1;
            }
        }
        let exceeds = self.allocations.as_slice().iter().zip(&self.hinted).zip(&in_slice).any(
            // As upstream, only the zones that this slice has hints for are checked.
            |((allocation, hinted), in_slice)| {
                *in_slice > 0 && i64::try_from(hinted + in_slice).is_ok_and(|sum| sum > allocation.maximum)
            },
        );
        if exceeds {
            return false;
        }
        for (hinted, in_slice) in self.hinted.iter_mut().zip(in_slice) {
            *hinted += in_slice;
        }
        true
    }

    /// Returns the number of hints of each zone that has any.
    pub(crate) fn into_counts(self) -> BTreeMap<Text, usize> {
        let mut counts = self.others;
        let hinted = self.allocations.as_slice().iter().zip(self.hinted).filter(|(_, hinted)| *hinted > 0);
        counts.extend(hinted.map(|(allocation, hinted)| (allocation.zone.clone(), hinted)));
        counts
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::allocation::Allocation;
    use crate::notation::slice;

    fn allocations(maximums: &[(&str, i64)]) -> Allocations {
        let allocation =
            |(zone, maximum): &(&str, i64)| Allocation { zone: Text::from(*zone), maximum: *maximum, desired: 0.0 };
        Allocations::of(maximums.iter().map(allocation).collect())
    }

    // upstream: Test_getHintsByZone (topologycache/utils_test.go)
    #[rstest]
    #[case::empty("", &[], &[], Some(vec![]))]
    #[case::single_zone_hint("a>a", &["a"], &[("a", 3)], Some(vec![2]))]
    #[case::single_zone_hint_with_1_unready_endpoint_and_1_unknown_endpoint(
        "a>a !a>a ?a>a",
        &["a"],
        &[("a", 3)],
        Some(vec![2]),
    )]
    #[case::multiple_zone_hints(
        "a>a a>b b>b",
        &["a", "b", "c"],
        &[("a", 3), ("b", 3), ("c", 3)],
        Some(vec![2, 3, 1]),
    )]
    #[case::invalid_by_zones_that_no_longer_requires_any_allocations(
        "a>gone",
        &["a", "b", "c"],
        &[("a", 3)],
        None,
    )]
    #[case::invalid_by_endpoints_with_nil_hints("a", &[], &[("a", 3)], None)]
    #[case::invalid_by_endpoint_with_no_hints("a>", &[], &[("a", 3)], None)]
    #[case::invalid_by_hints_that_would_make_minimum_allocations_impossible("a>a a>a", &["a"], &[("a", 2)], None)]
    // TP-8; not in upstream's tests.
    #[case::every_hinted_zone_counts("a>a+b", &[], &[("a", 1), ("b", 1)], Some(vec![1, 1]))]
    #[case::without_ready_endpoints("!a ?a>gone", &["a"], &[("a", 0)], Some(vec![1]))]
    #[case::other_zones_may_be_over("b>b", &["a", "a"], &[("a", 1), ("b", 1)], Some(vec![2, 1]))]
    #[case::node_hints_alone_are_none("a@n>/n", &[], &[("a", 3)], None)]
    fn hints_by_zone(
        #[case] text: &str,
        #[case] counted: &[&str],
        #[case] maximums: &[(&str, i64)],
        #[case] expected: Option<Vec<usize>>,
    ) {
        let allocations = allocations(maximums);
        let mut tally = Tally::new(&allocations);
        for zone in counted {
            tally.add(&Text::from(*zone));
        }
        let before = tally.clone();
        assert_eq!(tally.keep(&slice(text)), expected.is_some());
        match expected {
            Some(expected) => assert_eq!(tally.hinted(), expected),
            None => assert_eq!(tally, before),
        }
    }

    #[test]
    fn counts_name_zones_with_hints_only() {
        let allocations = allocations(&[("b", 9), ("c", 9)]);
        let mut tally = Tally::new(&allocations);
        for zone in ["b", "d", "a", "b", "d"] {
            tally.add(&Text::from(zone));
        }
        let counts: Vec<(Text, usize)> = tally.into_counts().into_iter().collect();
        assert_eq!(counts, [("a".into(), 1), ("b".into(), 2), ("d".into(), 2)]);
    }
}

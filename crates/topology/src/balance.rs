//! Numbers of endpoints to move between zones.

use crate::allocation::{Allocations, count_as_float};

/// Number of endpoints that each zone still gives and receives, by index in the allocations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Quotas {
    pub(crate) give: Vec<usize>,
    pub(crate) receive: Vec<usize>,
}

impl Quotas {
    /// Computes how many endpoints each zone gives and receives (TP-10).
    ///
    /// Repeatedly moves one endpoint from the zone with the greatest surplus to the zone with the greatest deficit,
    /// while both are at least 0.5 and one of them is at least 1. Ties go to the first zone by name.
    pub(crate) fn new(allocations: &Allocations, hinted: &[usize]) -> Quotas {
        let surplus = |(allocation, hinted): (&crate::allocation::Allocation, &usize)| {
            count_as_float(*hinted) - allocation.desired
        };
        Quotas::from_surplus(allocations.as_slice().iter().zip(hinted).map(surplus).collect())
    }

    /// Computes the quotas from the surplus of each zone; negative for a deficit.
    fn from_surplus(mut surplus: Vec<f64>) -> Quotas {
        let mut quotas = Quotas { give: vec![0; surplus.len()], receive: vec![0; surplus.len()] };
        let mut deficit: Vec<f64> = surplus.iter().map(|it| -it).collect();
        while let (Some(giver), Some(receiver)) = (greatest(&surplus), greatest(&deficit)) {
            let (larger, smaller) = (surplus[giver].max(deficit[receiver]), surplus[giver].min(deficit[receiver]));
            if larger < 1.0 || smaller < 0.5 {
                break;
            }
            quotas.give[giver] += 1;
            surplus[giver] -= 1.0;
            quotas.receive[receiver] += 1;
            deficit[receiver] -= 1.0;
        }
        quotas
    }

    /// Moves one endpoint from zone `giver` to the first zone by name that still receives, and returns that zone;
    /// `None` if there is nothing left to give or to receive.
    pub(crate) fn take(&mut self, giver: usize) -> Option<usize> {
        let left = self.give[giver].checked_sub(1)?;
        let receiver = self.receive.iter().position(|left| *left > 0)?;
        self.give[giver] = left;
        self.receive[receiver] -= 1;
        Some(receiver)
    }

    /// Returns whether no zone has anything left to give.
    pub(crate) fn is_done(&self) -> bool {
        self.give.iter().all(|left| *left == 0)
    }
}

/// Returns the index of the greatest positive value; the first one of equals.
fn greatest(values: &[f64]) -> Option<usize> {
    let mut found: Option<usize> = None;
    for (position, value) in values.iter().enumerate() {
        if *value > found.map_or(0.0, |at| values[at]) {
            found = Some(position);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::allocation::Allocation;

    // upstream: Test_getGivingAndReceivingZones (topologycache/utils_test.go). Zones are numbered. Counts are floats
    // because two cases have negative ones, which callers cannot pass.
    #[rstest]
    #[case::empty(&[], &[], &[], &[])]
    #[case::simple_allocation_with_no_need_for_rebalancing(&[1.2, 1.1, 1.0], &[1.0, 1.0, 1.0], &[0, 0, 0], &[0, 0, 0])]
    #[case::preference_for_same_zone_even_when_giving_an_extra_endpoint_would_result_in_slightly_better_distribution(
        &[5.1, 5.1, 5.8],
        &[16.0, 0.0, 0.0],
        &[10, 0, 0],
        &[0, 5, 5],
    )]
    #[case::when_2_zones_need_less_than_1_endpoint_give_to_zone_that_needs_endpoint_most(
        &[5.0, 5.6, 5.4],
        &[16.0, 0.0, 0.0],
        &[11, 0, 0],
        &[0, 6, 5],
    )]
    #[case::when_2_zones_have_extra_endpoints_give_from_zone_with_most_extra(
        &[5.0, 5.6, 5.4],
        &[0.0, 8.0, 8.0],
        &[0, 2, 3],
        &[5, 0, 0],
    )]
    #[case::more_allocated_than_allocations(&[5.0, 5.0, 5.0], &[6.0, 6.0, 6.0], &[0, 0, 0], &[0, 0, 0])]
    #[case::negative_allocations(&[-5.0, -5.0, -5.0], &[6.0, 6.0, 6.0], &[0, 0, 0], &[0, 0, 0])]
    #[case::negative_allocated(&[5.0, 5.0, 5.0], &[-4.0, -3.0, -2.0], &[0, 0, 0], &[0, 0, 0])]
    #[case::negative_for_1_zone(&[5.0, 5.0, 5.0], &[-40.0, 20.0, 20.0], &[0, 15, 15], &[30, 0, 0])]
    fn giving_and_receiving_zones(
        #[case] desired: &[f64],
        #[case] hinted: &[f64],
        #[case] give: &[usize],
        #[case] receive: &[usize],
    ) {
        let quotas =
            Quotas::from_surplus(hinted.iter().zip(desired).map(|(hinted, desired)| hinted - desired).collect());
        assert_eq!(quotas, Quotas { give: give.to_vec(), receive: receive.to_vec() });
    }

    #[test]
    fn ties_go_to_the_first_zone() {
        let allocation = |zone: &str| Allocation { zone: zone.into(), maximum: 9, desired: 2.0 };
        let allocations = Allocations::of(["a", "b", "c", "d"].map(allocation).to_vec());
        let mut quotas = Quotas::new(&allocations, &[3, 3, 1, 1]);
        assert_eq!(quotas, Quotas { give: vec![1, 1, 0, 0], receive: vec![0, 0, 1, 1] });
        let taken: Vec<_> = [1, 1, 2, 0, 0].into_iter().map(|giver| quotas.take(giver)).collect();
        assert_eq!(taken, [Some(2), None, None, Some(3), None]);
        assert!(quotas.is_done());
    }
}

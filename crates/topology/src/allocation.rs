//! Desired and maximum number of endpoints per zone.

use kube_endpoint_model::Text;

use crate::ZoneRatios;
use crate::event::DisabledReason;

/// By how much an endpoint may get more than the average traffic (upstream: `overloadThreshold`).
const OVERLOAD_THRESHOLD: f64 = 0.2;
/// Upstream multiplies by the reciprocal; a division would sometimes round differently before the ceiling.
const WITHIN_THRESHOLD: f64 = 1.0 / (1.0 + OVERLOAD_THRESHOLD);

/// Allocation of one zone (TP-7).
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Allocation {
    pub(crate) zone: Text,
    /// Maximum number of endpoints; more would leave another zone below its minimum.
    pub(crate) maximum: i64,
    /// Desired number of endpoints: the zone's share of the CPU, but at least its minimum.
    pub(crate) desired: f64,
}

/// Allocations of all zones, sorted by zone.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Allocations(Vec<Allocation>);

impl Allocations {
    /// Allocates `endpoints` to the zones, or returns why that is impossible (TP-6).
    pub(crate) fn new(ratios: &ZoneRatios, endpoints: usize) -> Result<Allocations, DisabledReason> {
        let shares = ratios.shares();
        let zones = shares.len();
        if ratios.is_insufficient() {
            return Err(DisabledReason::InsufficientNodeInfo);
        }
        if zones < 2 {
            return Err(DisabledReason::NodesReadyInOneZoneOnly);
        }
        if zones > endpoints {
            return Err(DisabledReason::InsufficientNumberOfEndpoints { endpoints, zones });
        }
        let minimums: Vec<i64> = shares.iter().map(|(_, share)| minimum(share * count_as_float(endpoints))).collect();
        let spare = i64::try_from(endpoints).unwrap_or(i64::MAX) - minimums.iter().sum::<i64>();
        if spare < 0 {
            return Err(DisabledReason::MinAllocationExceedsOverloadThreshold { endpoints, zones });
        }
        let allocation = |((zone, share), minimum): (&(Text, f64), i64)| Allocation {
            zone: zone.clone(),
            maximum: minimum + spare,
            desired: (share * count_as_float(endpoints)).max(whole_as_float(minimum)),
        };
        Ok(Allocations(shares.iter().zip(minimums).map(allocation).collect()))
    }

    /// Returns the index of `zone`; `None` if it has no share.
    pub(crate) fn position(&self, zone: &str) -> Option<usize> {
        self.0.binary_search_by(|it| (*it.zone).cmp(zone)).ok()
    }

    pub(crate) fn as_slice(&self) -> &[Allocation] {
        &self.0
    }

    #[cfg(test)]
    pub(crate) fn of(allocations: Vec<Allocation>) -> Allocations {
        Allocations(allocations)
    }
}

/// Returns the minimum number of endpoints that keeps a zone with `desired` endpoints within the overload threshold.
pub(crate) fn minimum(desired: f64) -> i64 {
    #[expect(clippy::cast_possible_truncation, reason = "an integer, and at most the number of endpoints")]
    let minimum = (desired * WITHIN_THRESHOLD).ceil() as i64;
    minimum
}

#[expect(clippy::cast_precision_loss, reason = "endpoints of one Service: far below 2^52")]
pub(crate) fn count_as_float(count: usize) -> f64 {
    count as f64
}

#[expect(clippy::cast_precision_loss, reason = "endpoints of one Service: far below 2^52")]
fn whole_as_float(count: i64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    // In the order of TP-6.
    #[rstest]
    #[case::no_node_yet(ZoneRatios::default(), 0, DisabledReason::NodesReadyInOneZoneOnly)]
    #[case::no_node_yet_but_endpoints(ZoneRatios::default(), 9, DisabledReason::NodesReadyInOneZoneOnly)]
    #[case::insufficient(ZoneRatios::from_nodes([]), 0, DisabledReason::InsufficientNodeInfo)]
    #[case::too_few(
        ZoneRatios::of(&[("a", 0.3), ("b", 0.4), ("c", 0.3)]),
        2,
        DisabledReason::InsufficientNumberOfEndpoints { endpoints: 2, zones: 3 },
    )]
    #[case::too_uneven(
        ZoneRatios::of(&[("a", 0.9), ("b", 0.05), ("c", 0.05)]),
        4,
        DisabledReason::MinAllocationExceedsOverloadThreshold { endpoints: 4, zones: 3 },
    )]
    fn disabled_reasons(#[case] ratios: ZoneRatios, #[case] endpoints: usize, #[case] expected: DisabledReason) {
        assert_eq!(Allocations::new(&ratios, endpoints), Err(expected));
    }

    // TP-7: of 12 endpoints the zones should get 6, 3 and 3, at least 5, 3 and 3; one endpoint may go to any of them.
    #[test]
    fn allocations() {
        let ratios = ZoneRatios::of(&[("a", 0.5), ("b", 0.25), ("c", 0.25)]);
        let allocations = Allocations::new(&ratios, 12).unwrap();
        let maximums: Vec<i64> = allocations.as_slice().iter().map(|it| it.maximum).collect();
        assert_eq!(maximums, [6, 4, 4]);
        assert_eq!(allocations.as_slice()[1].desired.to_bits(), 3.0_f64.to_bits());
        assert_eq!((allocations.position("b"), allocations.position("d")), (Some(1), None));
    }

    #[test]
    fn desired_is_not_less_than_the_minimum() {
        let allocations = Allocations::new(&ZoneRatios::of(&[("a", 0.95), ("b", 0.05)]), 10).unwrap();
        assert_eq!(allocations.as_slice()[1].desired.to_bits(), 1.0_f64.to_bits());
    }

    // Bit-exact with upstream: 0.4 * 12.0 is slightly more than 4.8, so the minimum is 5 instead of 4.
    #[rstest]
    #[case(0.0, 0)]
    #[case(0.5, 1)]
    #[case(1.2, 1)]
    #[case(1.21, 2)]
    #[case(2.4, 2)]
    #[case(3.6, 3)]
    #[case(6.0, 5)]
    #[case(4.8, 4)]
    #[case(0.4 * 12.0, 5)]
    #[case(-1.0, 0)]
    fn minimums(#[case] desired: f64, #[case] expected: i64) {
        assert_eq!(minimum(desired), expected);
    }
}

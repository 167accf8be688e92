//! How many endpoints each zone should get, and may get.

use kube_endpoint_model::Text;

use crate::ZoneRatios;
use crate::event::Obstacle;

/// An endpoint may get up to a fifth more traffic than with all endpoints alike. The reciprocal is what upstream
/// multiplies with; dividing by 1.2 would round otherwise now and then, and with it the ceiling.
const WITHIN_THRESHOLD: f64 = 1.0 / (1.0 + 0.2);

/// What one zone is due (TP-7).
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Allocation {
    pub(crate) zone: Text,
    /// More would leave too few for the other zones.
    pub(crate) maximum: i64,
    /// The share the zone should have: its part of the CPU, but not less than its minimum.
    pub(crate) desired: f64,
}

/// What every zone is due, sorted by zone.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Allocations(Vec<Allocation>);

impl Allocations {
    /// Shares `endpoints` out, or says why that cannot be done (TP-6).
    pub(crate) fn new(ratios: &ZoneRatios, endpoints: usize) -> Result<Allocations, Obstacle> {
        let shares = ratios.shares();
        let zones = shares.len();
        if ratios.is_insufficient() {
            return Err(Obstacle::InsufficientNodeInfo);
        }
        if zones < 2 {
            return Err(Obstacle::NodesReadyInOneZoneOnly);
        }
        if zones > endpoints {
            return Err(Obstacle::InsufficientNumberOfEndpoints { endpoints, zones });
        }
        let minimums: Vec<i64> = shares.iter().map(|(_, share)| minimum(share * count_as_float(endpoints))).collect();
        let spare = i64::try_from(endpoints).unwrap_or(i64::MAX) - minimums.iter().sum::<i64>();
        if spare < 0 {
            return Err(Obstacle::MinAllocationExceedsOverloadThreshold { endpoints, zones });
        }
        let allocation = |((zone, share), minimum): (&(Text, f64), i64)| Allocation {
            zone: zone.clone(),
            maximum: minimum + spare,
            desired: (share * count_as_float(endpoints)).max(whole_as_float(minimum)),
        };
        Ok(Allocations(shares.iter().zip(minimums).map(allocation).collect()))
    }

    /// The position of `zone`, if it has a share.
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

/// The fewest endpoints that keep a zone within the threshold, if it should have `desired` of them.
pub(crate) fn minimum(desired: f64) -> i64 {
    #[expect(clippy::cast_possible_truncation, reason = "a whole number, and at most the number of endpoints")]
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

    // TP-6, in its order.
    #[rstest]
    #[case::no_node_yet(ZoneRatios::default(), 0, Obstacle::NodesReadyInOneZoneOnly)]
    #[case::no_node_yet_but_endpoints(ZoneRatios::default(), 9, Obstacle::NodesReadyInOneZoneOnly)]
    #[case::insufficient(ZoneRatios::from_nodes([]), 0, Obstacle::InsufficientNodeInfo)]
    #[case::too_few(
        ZoneRatios::of(&[("a", 0.3), ("b", 0.4), ("c", 0.3)]),
        2,
        Obstacle::InsufficientNumberOfEndpoints { endpoints: 2, zones: 3 },
    )]
    #[case::too_uneven(
        ZoneRatios::of(&[("a", 0.9), ("b", 0.05), ("c", 0.05)]),
        4,
        Obstacle::MinAllocationExceedsOverloadThreshold { endpoints: 4, zones: 3 },
    )]
    fn obstacles(#[case] ratios: ZoneRatios, #[case] endpoints: usize, #[case] expected: Obstacle) {
        assert_eq!(Allocations::new(&ratios, endpoints), Err(expected));
    }

    // TP-7: due 6, 3 and 3 of 12; at least 5, 3 and 3, which leaves one to whoever wants it.
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

    // Upstream's rounding to the bit: 0.4 of 12 endpoints is a trace more than 4.8, and the minimum 5 instead of 4.
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

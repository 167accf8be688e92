//! CPU ratios of the zones of a cluster.

use std::collections::BTreeMap;
use std::sync::Arc;

use kube_endpoint_model::{Node, Text};

/// Each zone's share of the cluster's CPU, used as its share of the traffic. A clone shares the data.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ZoneRatios(State);

#[derive(Clone, Debug, Default, PartialEq)]
enum State {
    /// No Node event yet. A Service gets another reason than with `Insufficient` (TP-1, EC-15).
    #[default]
    BeforeFirstNode,
    /// A Node lacks its zone or CPU, or fewer than two zones have Nodes.
    Insufficient,
    /// Sorted by zone; at least two zones.
    Known(Arc<[(Text, f64)]>),
}

impl ZoneRatios {
    /// Computes each zone's share of the CPU of all Nodes (TP-2, TP-3).
    ///
    /// Only ready Nodes without a control-plane role count. The result is insufficient if one of them has no zone or no
    /// allocatable CPU, or if there are fewer than two zones.
    ///
    /// ```
    /// use kube_endpoint_model::Node;
    /// use kube_topology::ZoneRatios;
    ///
    /// let node = |zone: &str, cpu_milli| Node { zone: zone.into(), cpu_milli, ready: true, ..Node::default() };
    /// let ratios = ZoneRatios::from_nodes(&[node("a", 3000), node("b", 1000)]);
    /// assert_eq!(ratios.shares()[0], ("a".into(), 0.75));
    /// ```
    pub fn from_nodes<'a>(nodes: impl IntoIterator<Item = &'a Node>) -> ZoneRatios {
        let mut by_zone: BTreeMap<&Text, i64> = BTreeMap::new();
        let mut total = 0_i64;
        for node in nodes.into_iter().filter(|node| node.ready && !node.control_plane) {
            if node.zone.is_empty() || node.cpu_milli == 0 {
                return ZoneRatios(State::Insufficient);
            }
            let zone = by_zone.entry(&node.zone).or_default();
            *zone = zone.saturating_add(node.cpu_milli);
            total = total.saturating_add(node.cpu_milli);
        }
        if total == 0 || by_zone.len() < 2 {
            return ZoneRatios(State::Insufficient);
        }
        let share = |(zone, cpu): (&Text, i64)| (zone.clone(), as_float(cpu) / as_float(total));
        ZoneRatios(State::Known(by_zone.into_iter().map(share).collect()))
    }

    /// Returns whether there are ratios: false before the first Node event and if the Nodes were insufficient.
    pub fn is_known(&self) -> bool {
        matches!(self.0, State::Known(_))
    }

    /// Returns whether the Nodes were insufficient to compute ratios (see [`from_nodes`](Self::from_nodes)); false
    /// before the first Node event.
    pub(crate) fn is_insufficient(&self) -> bool {
        self.0 == State::Insufficient
    }

    /// Returns the ratios, which add up to 1, sorted by zone; empty if they are unknown.
    pub fn shares(&self) -> &[(Text, f64)] {
        match &self.0 {
            State::BeforeFirstNode | State::Insufficient => &[],
            State::Known(shares) => shares,
        }
    }

    /// Creates ratios from literal values.
    #[cfg(test)]
    pub(crate) fn of(shares: &[(&str, f64)]) -> ZoneRatios {
        ZoneRatios(State::Known(shares.iter().map(|(zone, share)| (Text::from(*zone), *share)).collect()))
    }
}

#[expect(clippy::cast_precision_loss, reason = "upstream does the same, and the results must be bit-exact")]
fn as_float(milli: i64) -> f64 {
    milli as f64
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// Parses Nodes from `zone cpu`, prefixed with `!` if not ready and with `^` for a control-plane role.
    fn nodes(texts: &[&str]) -> Vec<Node> {
        let node = |text: &&str| {
            let (zone, cpu) = text.split_once(' ').unwrap();
            Node {
                zone: Text::from(zone.trim_start_matches(['!', '^'])),
                cpu_milli: cpu.parse().unwrap(),
                ready: !zone.contains('!'),
                control_plane: zone.contains('^'),
                ..Node::default()
            }
        };
        texts.iter().map(node).collect()
    }

    // upstream: TestSetNodes (topologycache/topologycache_test.go)
    #[rstest]
    #[case::empty(&[], &[])]
    #[case::single_node(&["a 1000"], &[])]
    #[case::single_zone(&["a 1000", "a 1000"], &[])]
    #[case::two_zones(&["a 1000", "b 1000"], &[("a", 0.5), ("b", 0.5)])]
    #[case::two_zones_unready_node_in_1_ready_node_in_1(&["!a 1000", "b 1000"], &[])]
    #[case::two_zones_control_plane_node_in_1_ready_node_in_1(&["a 1000", "^b 1000"], &[])]
    #[case::two_zones_unready_node_in_1_ready_node_in_2(
        &["a 1000", "b 1000", "!b 1000"],
        &[("a", 0.5), ("b", 0.5)],
    )]
    #[case::two_zones_control_plane_node_in_1_ready_node_in_2(
        &["a 1000", "b 1000", "^b 1000"],
        &[("a", 0.5), ("b", 0.5)],
    )]
    #[case::three_zones_4_nodes_in_1_2_nodes_in_1_1_node_in_1(
        &["a 1000", "a 1000", "a 1000", "a 2000", "b 3000", "b 1500", "c 500"],
        &[("a", 0.5), ("b", 0.45), ("c", 0.05)],
    )]
    // TP-2
    #[case::node_without_zone(&["a 1000", "b 1000", " 1000"], &[])]
    #[case::node_without_cpu(&["a 1000", "b 1000", "c 0"], &[])]
    #[case::only_nodes_that_count_need_zone_and_cpu(
        &["! 1000", "^ 0", "a 1000", "b 3000", "!c 0"],
        &[("a", 0.25), ("b", 0.75)],
    )]
    fn set_nodes(#[case] given: &[&str], #[case] expected: &[(&str, f64)]) {
        let ratios = ZoneRatios::from_nodes(&nodes(given));
        if expected.is_empty() {
            assert!(ratios.is_insufficient() && ratios.shares().is_empty());
        } else {
            assert_eq!(ratios, ZoneRatios::of(expected));
        }
        // The order of the Nodes does not matter.
        assert_eq!(ZoneRatios::from_nodes(nodes(given).iter().rev()), ratios);
    }

    // TP-1
    #[test]
    fn ec_15_before_the_first_node_is_not_insufficient() {
        let ratios = ZoneRatios::default();
        assert!(!ratios.is_known() && !ratios.is_insufficient());
    }
}

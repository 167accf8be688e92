//! How the CPU of a cluster is spread over its zones.

use std::collections::BTreeMap;
use std::sync::Arc;

use kube_endpoint_model::{Node, Text};

/// Each zone's share of the cluster's CPU, which is taken for its share of the traffic. Cheap to clone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ZoneRatios(State);

#[derive(Clone, Debug, Default, PartialEq)]
enum State {
    /// No Node has been seen yet. Differs from `Insufficient` in the reason users are given (TP-1, EC-15).
    #[default]
    BeforeFirstNode,
    /// The Nodes do not say enough.
    Insufficient,
    /// Sorted by zone, two zones at least.
    Known(Arc<[(Text, f64)]>),
}

impl ZoneRatios {
    /// Works out the shares (TP-2, TP-3).
    ///
    /// Only ready Nodes outside the control plane count. One of them without a zone or without allocatable CPU makes
    /// the whole insufficient, and so does a single zone.
    ///
    /// ```
    /// use kube_endpoint_model::Node;
    /// use kube_topology::ZoneRatios;
    ///
    /// let node = |zone: &str, cpu_milli| Node { zone: zone.into(), cpu_milli, ready: true, ..Node::default() };
    /// let ratios = ZoneRatios::from_nodes(&[node("a", 3000), node("b", 1000)]);
    /// assert_eq!(ratios.get("a"), Some(0.75));
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

    /// Whether the Nodes said enough to work out shares.
    pub fn is_known(&self) -> bool {
        matches!(self.0, State::Known(_))
    }

    /// Whether Nodes have been seen and did not say enough; false before the first.
    pub fn is_insufficient(&self) -> bool {
        self.0 == State::Insufficient
    }

    /// The zones and their shares, by zone; empty where they are not known.
    pub fn shares(&self) -> &[(Text, f64)] {
        match &self.0 {
            State::BeforeFirstNode | State::Insufficient => &[],
            State::Known(shares) => shares,
        }
    }

    /// The share of `zone`.
    pub fn get(&self, zone: &str) -> Option<f64> {
        self.shares().iter().find(|(it, _)| &**it == zone).map(|(_, share)| *share)
    }

    /// Shares as tests want them.
    #[cfg(test)]
    pub(crate) fn of(shares: &[(&str, f64)]) -> ZoneRatios {
        ZoneRatios(State::Known(shares.iter().map(|(zone, share)| (Text::from(*zone), *share)).collect()))
    }
}

#[expect(clippy::cast_precision_loss, reason = "upstream does the same, and its results are to be met to the bit")]
fn as_float(milli: i64) -> f64 {
    milli as f64
}

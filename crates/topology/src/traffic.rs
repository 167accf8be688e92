//! Traffic distribution: hints that follow from where each endpoint runs, whatever the others do.

use kube_endpoint_model::{Endpoint, EndpointHints, Text};

use crate::SliceSet;

/// A value of a Service's `spec.trafficDistribution` that asks for hints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TrafficDistribution {
    /// The older name of [`PreferSameZone`](TrafficDistribution::PreferSameZone).
    PreferClose,
    /// Prefer endpoints in the client's zone.
    PreferSameZone,
    /// Prefer endpoints on the client's Node, then in its zone.
    PreferSameNode,
}

impl TrafficDistribution {
    /// Every value.
    pub const ALL: [TrafficDistribution; 3] =
        [TrafficDistribution::PreferClose, TrafficDistribution::PreferSameZone, TrafficDistribution::PreferSameNode];

    /// Reads the field; `None` for a value this version does not know, which counts as unset (RC-30).
    pub fn parse(text: &str) -> Option<TrafficDistribution> {
        Self::ALL.into_iter().find(|it| it.as_str() == text)
    }

    /// As the API writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            TrafficDistribution::PreferClose => "PreferClose",
            TrafficDistribution::PreferSameZone => "PreferSameZone",
            TrafficDistribution::PreferSameNode => "PreferSameNode",
        }
    }
}

/// Gives every ready endpoint the hints that `distribution` asks for, and moves the unchanged slices where a ready
/// endpoint has others to the updates (TD-1 to TD-4).
///
/// Endpoints that are not ready keep the hints they have, and give no reason for a write (EC-17).
pub fn traffic_hints(distribution: TrafficDistribution, slices: &mut SliceSet) {
    let node_hints = distribution == TrafficDistribution::PreferSameNode;
    slices.edit(
        |endpoint| endpoint.is_ready() && !Wanted::new(endpoint, node_hints).is_met(endpoint),
        |endpoint| {
            if endpoint.is_ready() {
                endpoint.hints = Wanted::new(endpoint, node_hints).into_hints();
            }
        },
    );
}

/// The hints an endpoint should have: at most one zone and one Node.
struct Wanted<'a> {
    zone: Option<&'a Text>,
    node: Option<&'a Text>,
}

impl<'a> Wanted<'a> {
    fn new(endpoint: &'a Endpoint, node_hints: bool) -> Self {
        Wanted { zone: endpoint.zone.as_ref(), node: endpoint.node_name.as_ref().filter(|_| node_hints) }
    }

    /// Empty hints and no hints are the same to a consumer, so that neither is worth a write.
    fn is_met(&self, endpoint: &Endpoint) -> bool {
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

//! Number of endpoints by state.

use std::{collections::BTreeSet, fmt, ops::AddAssign};

use kube_endpoint_model::{EndpointAddress, EndpointSlice, EndpointSubset, Endpoints};

/// Number of endpoints in each state. An endpoint has exactly one state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct EndpointCounts {
    /// Ready.
    pub(crate) ready: usize,
    /// Neither ready nor terminating.
    pub(crate) not_ready: usize,
    /// Terminating and still serving.
    pub(crate) draining: usize,
    /// Terminating and not serving.
    pub(crate) terminating: usize,
}

impl EndpointCounts {
    pub(crate) fn of_slice(slice: &EndpointSlice) -> Self {
        let mut counts = Self::default();
        for it in slice.endpoints.iter().map(|endpoint| endpoint.conditions) {
            match (it.counts_as_terminating(), it.counts_as_serving(), it.counts_as_ready()) {
                (true, true, _) => counts.draining += 1,
                (true, false, _) => counts.terminating += 1,
                (false, _, true) => counts.ready += 1,
                (false, _, false) => counts.not_ready += 1,
            }
        }
        counts
    }

    /// Counts the distinct addresses of an Endpoints object, which contains no terminating Pods.
    pub(crate) fn of_endpoints(endpoints: &Endpoints) -> Self {
        // An address can be in several subsets with different ports.
        let distinct = |addresses: fn(&EndpointSubset) -> &[EndpointAddress]| {
            let addresses = endpoints.subsets.iter().flat_map(addresses);
            addresses.map(|address| address.ip.to_string()).collect::<BTreeSet<_>>().len()
        };
        Self {
            ready: distinct(|subset| &subset.addresses),
            not_ready: distinct(|subset| &subset.not_ready_addresses),
            ..Self::default()
        }
    }
}

impl AddAssign for EndpointCounts {
    fn add_assign(&mut self, other: Self) {
        let Self { ready, not_ready, draining, terminating } = other;
        self.ready += ready;
        self.not_ready += not_ready;
        self.draining += draining;
        self.terminating += terminating;
    }
}

/// Formats the states with a non-zero count, such as `2 ready, 1 not ready`; `none` if all are zero.
impl fmt::Display for EndpointCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { ready, not_ready, draining, terminating } = self;
        let parts = [(ready, "ready"), (not_ready, "not ready"), (draining, "draining"), (terminating, "terminating")];
        let parts = parts.into_iter().filter(|(count, _)| **count > 0).map(|(count, state)| format!("{count} {state}"));
        let text = parts.collect::<Vec<_>>().join(", ");
        f.pad(if text.is_empty() { "none" } else { &text })
    }
}

#[cfg(test)]
mod tests {
    use kube_wire::Decode as _;
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    #[rstest]
    #[case::nothing(json!([]), "none")]
    #[case::unknown_is_ready(json!([{"addresses": ["10.0.0.1"]}]), "1 ready")]
    #[case::ready(json!([{"addresses": [], "conditions": {"ready": true, "serving": true, "terminating": false}}]), "1 ready")]
    #[case::not_ready(json!([{"addresses": [], "conditions": {"ready": false}}]), "1 not ready")]
    #[case::draining(json!([{"addresses": [], "conditions": {"ready": false, "serving": true, "terminating": true}}]), "1 draining")]
    #[case::gone_quiet(
        json!([{"addresses": [], "conditions": {"ready": false, "serving": false, "terminating": true}}]),
        "1 terminating"
    )]
    #[case::mixed(
        json!([
            {"addresses": [], "conditions": {"ready": true}},
            {"addresses": [], "conditions": {"ready": false}},
            {"addresses": [], "conditions": {"ready": true}},
        ]),
        "2 ready, 1 not ready"
    )]
    fn endpoints_of_a_slice_are_counted_by_state(#[case] endpoints: Value, #[case] expect: &str) {
        let slice = json!({"metadata": {}, "addressType": "IPv4", "endpoints": endpoints}).to_string();
        let slice = EndpointSlice::from_json(slice.as_bytes()).unwrap();
        assert_eq!(EndpointCounts::of_slice(&slice).to_string(), expect);
    }

    #[test]
    fn address_in_two_subsets_is_counted_once() {
        let endpoints = json!({"metadata": {}, "subsets": [
            {"addresses": [{"ip": "10.0.0.1"}, {"ip": "10.0.0.2"}], "ports": [{"port": 80}]},
            {"addresses": [{"ip": "10.0.0.1"}], "notReadyAddresses": [{"ip": "10.0.0.3"}], "ports": [{"port": 81}]},
        ]});
        let endpoints = Endpoints::from_json(endpoints.to_string().as_bytes()).unwrap();
        let counts = EndpointCounts::of_endpoints(&endpoints);
        assert_eq!(counts.to_string(), "2 ready, 1 not ready");
    }
}

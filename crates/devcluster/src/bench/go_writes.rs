//! Estimate of the writes of the controllers of Go without a batch period.

use serde::Serialize;

/// Updates of slices and of Endpoints that kube-controller-manager 1.36.2 and this program made in the same readiness
/// storm over 60 Pods, on a cluster with hollow kubelets, without a batch period and without adaptive batching.
const MEASURED: [(&str, Updates); 2] =
    [("endpointslices", Updates { go: 619, ours: 847 }), ("endpoints", Updates { go: 552, ours: 701 })];

#[derive(Debug, Clone, Copy)]
struct Updates {
    go: u64,
    ours: u64,
}

/// Estimated writes of the controllers of Go.
///
/// A sync of Go takes 10 to 20 ms with its writes, so that it combines more changes than one of this program. The model
/// of upstream, whose syncs take no time, would write once per event without a batch period. The estimate is therefore
/// the number of writes of this program without adaptive batching, times the measured ratio.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct GoWrites {
    pub(crate) slices: u64,
    pub(crate) endpoints: u64,
}

impl GoWrites {
    /// Returns the estimate from the writes of this program without adaptive batching; `writes` returns those of a
    /// resource.
    pub(crate) fn of(writes: impl Fn(&str) -> u64) -> GoWrites {
        let [slices, endpoints] = MEASURED.map(|(resource, Updates { go, ours })| writes(resource) * go / ours);
        GoWrites { slices, endpoints }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_measured_storm_gives_the_measured_writes() {
        let of = |resource: &str| if resource == "endpoints" { 701 } else { 847 };
        assert_eq!(GoWrites::of(of), GoWrites { slices: 619, endpoints: 552 });
    }
}

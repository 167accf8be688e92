//! Numbers of endpoints.

use kube_endpoint_model::EndpointSlice;

/// Numbers of endpoints of one or more slices. A Pod of a dual-stack Service counts once for each address type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// All endpoints.
    pub(crate) endpoints: usize,
    /// Endpoints whose condition `ready` is false.
    pub(crate) not_ready: usize,
}

impl Counts {
    /// Returns the sums over `slices`.
    pub(crate) fn of<'a>(slices: impl IntoIterator<Item = &'a EndpointSlice>) -> Self {
        slices.into_iter().fold(Self::default(), |sum, slice| Self {
            endpoints: sum.endpoints + slice.endpoints.len(),
            not_ready: sum.not_ready + slice.endpoints.iter().filter(|it| !it.conditions.counts_as_ready()).count(),
        })
    }

    /// Returns the number of ready endpoints.
    pub(crate) fn ready(self) -> usize {
        self.endpoints - self.not_ready
    }
}

//! The slices of one sync.

use std::mem;
use std::sync::Arc;

use kube_endpoint_model::{Endpoint, EndpointSlice};

/// The slices of one Service and address type during a sync.
///
/// Slices to create and to update are owned and edited in place. Unchanged slices are shared with a cache: to change a
/// hint, the slice is copied to [`update`](SliceSet::update). Slices to delete play no part in hints (RC-31).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SliceSet {
    /// Slices that do not exist yet.
    pub create: Vec<EndpointSlice>,
    /// Slices that exist and will be written.
    pub update: Vec<EndpointSlice>,
    /// Slices that exist and need no write.
    pub unchanged: Vec<Arc<EndpointSlice>>,
}

impl SliceSet {
    /// Returns an iterator over all slices: those to create, those to update, and the unchanged.
    pub fn iter(&self) -> impl Iterator<Item = &EndpointSlice> {
        self.create.iter().chain(&self.update).chain(self.unchanged.iter().map(|slice| &**slice))
    }

    /// Returns the number of ready endpoints; an absent condition counts as not ready (TP-5).
    pub fn ready_endpoints(&self) -> usize {
        self.iter().flat_map(|slice| &slice.endpoints).filter(|endpoint| endpoint.is_ready()).count()
    }

    /// Calls `apply` for every endpoint to be written, after moving the unchanged slices with an endpoint for which
    /// `needs_update` is true to the updates.
    pub(crate) fn update_hints(&mut self, needs_update: impl Fn(&Endpoint) -> bool, apply: impl Fn(&mut Endpoint)) {
        for slice in mem::take(&mut self.unchanged) {
            if slice.endpoints.iter().any(&needs_update) {
                self.update.push(Arc::unwrap_or_clone(slice));
            } else {
                self.unchanged.push(slice);
            }
        }
        self.create.iter_mut().chain(&mut self.update).flat_map(|slice| &mut slice.endpoints).for_each(apply);
    }
}

/// Removes the hints of every endpoint, ready or not (TP-12, TD-5).
///
/// An unchanged slice moves to the updates exactly if one of its endpoints has hints, for zones or for Nodes.
pub fn strip_hints(slices: &mut SliceSet) {
    slices.update_hints(|endpoint| endpoint.hints.is_some(), |endpoint| endpoint.hints = None);
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::notation::{assert_set, set};

    type Sizes = &'static [(usize, usize)];

    // upstream: Test_getTotalReadyEndpoints (topologycache/sliceinfo_test.go). Slices are (ready, not ready).
    #[rstest]
    #[case::empty(&[], &[], &[], 0)]
    #[case::empty_slice(&[(0, 0)], &[], &[], 0)]
    #[case::multiple_slices(&[(15, 0), (8, 0)], &[], &[], 23)]
    #[case::slices_for_all(&[(15, 0), (8, 0)], &[(2, 0)], &[(100, 0), (90, 0)], 215)]
    #[case::slices_for_all_with_some_unready(&[(15, 3), (5, 4)], &[(3, 8)], &[(98, 2), (90, 6)], 211)]
    fn total_ready_endpoints(
        #[case] create: Sizes,
        #[case] update: Sizes,
        #[case] unchanged: Sizes,
        #[case] expected: usize,
    ) {
        let slice = |(ready, unready): &(usize, usize)| format!("() {}{}", "a ".repeat(*ready), "!a ".repeat(*unready));
        let group = |sizes: Sizes| sizes.iter().map(slice).collect::<Vec<_>>().join(",");
        assert_eq!(set(&[create, update, unchanged].map(group).join("|")).ready_endpoints(), expected);
    }

    #[test]
    fn an_absent_condition_is_not_ready() {
        assert_eq!(set("a ?a !a").ready_endpoints(), 1);
    }

    // TP-12
    #[test]
    fn strip_removes_all_hints_and_moves_only_slices_with_hints() {
        let mut slices = set("a>a b | !a>a ?b>/n | a b, a !b@n>/n, a>, a>a, ()");
        strip_hints(&mut slices);
        assert_set(&slices, "a b | !a ?b, a !b@n, a, a | a b, ()");
    }
}

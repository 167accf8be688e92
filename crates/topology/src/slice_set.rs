//! The slices a sync decides about.

use std::mem;
use std::sync::Arc;

use kube_endpoint_model::{Endpoint, EndpointSlice};

/// The slices of one Service and address type while a sync decides about them.
///
/// Slices to create and to update are owned and may be edited freely. Unchanged slices are those of a cache: whoever
/// needs another hint in one of them copies it into [`update`](SliceSet::update) and leaves the shared one alone.
/// Slices to delete have no part in hints and are not here (RC-31).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SliceSet {
    /// Slices that do not exist yet.
    pub create: Vec<EndpointSlice>,
    /// Slices that exist and will be written.
    pub update: Vec<EndpointSlice>,
    /// Slices that exist and need no write so far.
    pub unchanged: Vec<Arc<EndpointSlice>>,
}

impl SliceSet {
    /// Every slice: those to create, to update, and the unchanged, each in order.
    pub fn iter(&self) -> impl Iterator<Item = &EndpointSlice> {
        self.create.iter().chain(&self.update).chain(self.unchanged.iter().map(|slice| &**slice))
    }

    /// How many endpoints are ready; a condition that is absent counts as not ready (TP-5).
    pub fn ready_endpoints(&self) -> usize {
        self.iter().flat_map(|slice| &slice.endpoints).filter(|endpoint| endpoint.is_ready()).count()
    }

    /// Applies `fix` to every endpoint that will be written, after moving there the unchanged slices with an endpoint
    /// that is `wrong`.
    pub(crate) fn edit(&mut self, wrong: impl Fn(&Endpoint) -> bool, fix: impl Fn(&mut Endpoint)) {
        for slice in mem::take(&mut self.unchanged) {
            if slice.endpoints.iter().any(&wrong) {
                self.update.push(Arc::unwrap_or_clone(slice));
            } else {
                self.unchanged.push(slice);
            }
        }
        self.create.iter_mut().chain(&mut self.update).flat_map(|slice| &mut slice.endpoints).for_each(fix);
    }
}

/// Takes the hints off every endpoint, ready or not (TP-12, TD-5).
///
/// An unchanged slice moves to the updates exactly if it has hints to lose, for zones or for nodes.
pub fn strip_hints(slices: &mut SliceSet) {
    slices.edit(|endpoint| endpoint.hints.is_some(), |endpoint| endpoint.hints = None);
}

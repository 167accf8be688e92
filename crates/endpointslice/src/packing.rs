//! Which endpoints go to which slice, for endpoints that share their address type and ports.

use std::collections::HashMap;
use std::sync::Arc;

use kube_endpoint_model::{Endpoint, EndpointIdentity, EndpointSlice};

use crate::slice_labels::SliceLabels;

/// What becomes of the slices of one group.
#[derive(Debug, Default)]
pub(crate) struct Packed {
    /// Endpoints of new slices, one list a slice.
    pub(crate) create: Vec<Vec<Endpoint>>,
    pub(crate) update: Vec<EndpointSlice>,
    pub(crate) delete: Vec<Arc<EndpointSlice>>,
    pub(crate) unchanged: Vec<Arc<EndpointSlice>>,
    /// Endpoints that were in no slice before.
    pub(crate) added: usize,
    /// Endpoints that are in no slice any more.
    pub(crate) removed: usize,
}

/// The endpoints of a group by identity, the later of equal ones winning.
pub(crate) fn by_identity(endpoints: Vec<Endpoint>) -> HashMap<EndpointIdentity, Endpoint> {
    endpoints.into_iter().map(|endpoint| (endpoint.identity(), endpoint)).collect()
}

/// Packs in upstream's three phases (RC-15 to RC-21): first every slice keeps what it may, then slices that are written
/// anyway are filled, then the slice that ends up fullest, or new ones.
///
/// Endpoints stay where they are and slices are never merged. Where upstream leaves a choice to chance, slices go by
/// size, then by their lowest endpoint, and only then by name, since names are random; endpoints go by identity.
pub(crate) fn pack(
    existing: &[Arc<EndpointSlice>],
    mut desired: HashMap<EndpointIdentity, Endpoint>,
    labels: &SliceLabels,
    max: usize,
) -> Packed {
    let mut packed = Packed::default();

    for slice in in_stable_order(existing) {
        let mut updated = false;
        let kept: Vec<Endpoint> = slice
            .endpoints
            .iter()
            .filter_map(|endpoint| {
                let wanted = desired.remove(&endpoint.identity())?;
                updated |= !wanted.equal_beyond_identity(endpoint);
                Some(wanted)
            })
            .collect();
        let shrunk_by = slice.endpoints.len() - kept.len();
        packed.removed += shrunk_by;
        if updated || shrunk_by > 0 {
            if kept.is_empty() {
                packed.delete.push(slice);
            } else {
                let mut copy = EndpointSlice::clone(&slice);
                copy.endpoints = kept;
                copy.metadata.labels = labels.written().clone();
                packed.update.push(copy);
            }
        } else if labels.differ_from(&slice) {
            let mut copy = EndpointSlice::clone(&slice);
            copy.metadata.labels = labels.written().clone();
            packed.update.push(copy);
        } else {
            packed.unchanged.push(slice);
        }
    }

    packed.added = desired.len();
    let mut remaining: Vec<(EndpointIdentity, Endpoint)> = desired.into_iter().collect();
    remaining.sort_by(|(a, _), (b, _)| a.cmp(b));
    let mut remaining: Vec<Endpoint> = remaining.into_iter().map(|(_, endpoint)| endpoint).collect();

    if !remaining.is_empty() {
        // The order above broke ties already; a stable sort keeps it.
        packed.update.sort_by_key(|slice| std::cmp::Reverse(slice.endpoints.len()));
        for slice in &mut packed.update {
            fill(&mut slice.endpoints, &mut remaining, max);
        }
    }
    while !remaining.is_empty() {
        if let Some(at) = fullest_after(&packed.unchanged, remaining.len(), max) {
            let mut copy = EndpointSlice::clone(&packed.unchanged.remove(at));
            fill(&mut copy.endpoints, &mut remaining, max);
            packed.update.push(copy);
        } else {
            let mut endpoints = Vec::new();
            fill(&mut endpoints, &mut remaining, max);
            packed.create.push(endpoints);
        }
    }
    packed
}

/// Moves endpoints over, from the front, until the slice is full.
fn fill(slice: &mut Vec<Endpoint>, remaining: &mut Vec<Endpoint>, max: usize) {
    let room = max.saturating_sub(slice.len()).min(remaining.len());
    slice.extend(remaining.drain(..room));
}

/// The slice that has room for all `additional` endpoints and is fullest with them (RC-19). A full slice's worth of
/// endpoints always makes a new slice.
fn fullest_after(slices: &[Arc<EndpointSlice>], additional: usize, max: usize) -> Option<usize> {
    if additional >= max {
        return None;
    }
    let with_slack = slices.iter().enumerate().filter_map(|(at, slice)| {
        let slack = max.checked_sub(slice.endpoints.len() + additional)?;
        Some((slack, at))
    });
    with_slack.min().map(|(_, at)| at)
}

/// Slices by size, fullest first, then by their lowest endpoint, then by name.
pub(crate) fn in_stable_order(slices: &[Arc<EndpointSlice>]) -> Vec<Arc<EndpointSlice>> {
    let mut ordered = slices.to_vec();
    if ordered.len() > 1 {
        ordered.sort_by_cached_key(|slice| {
            let lowest = slice.endpoints.iter().map(Endpoint::identity).min();
            (std::cmp::Reverse(slice.endpoints.len()), lowest, slice.metadata.name.clone())
        });
    }
    ordered
}

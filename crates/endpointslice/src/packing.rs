//! Distribution of endpoints with the same address type and ports over slices.

use std::sync::Arc;

use kube_endpoint_model::{Endpoint, EndpointSlice};

use crate::desired_endpoint::DesiredEndpoint;
use crate::desired_set::DesiredSet;
use crate::identity::Identity;
use crate::slice_labels::WrittenLabels;

/// Changes of the slices of one group.
#[derive(Debug, Default)]
pub(crate) struct Packed {
    /// Endpoints of the slices to create, one list per slice.
    pub(crate) create: Vec<Vec<Endpoint>>,
    pub(crate) update: Vec<EndpointSlice>,
    pub(crate) delete: Vec<Arc<EndpointSlice>>,
    pub(crate) unchanged: Vec<Arc<EndpointSlice>>,
    /// Number of desired endpoints; those with the same identity count once.
    pub(crate) desired: usize,
    /// Number of endpoints that no slice of the group contains yet.
    pub(crate) added: usize,
    /// Number of endpoints that stay in their slice and change.
    pub(crate) updated: usize,
    /// Number of endpoints that are removed from their slice.
    pub(crate) removed: usize,
}

/// Distributes endpoints in upstream's three phases (RC-15, RC-16, RC-18 to RC-21): each slice keeps its endpoints that are
/// desired; slices that are updated anyway are filled; the remaining endpoints go into the unchanged slice that is fullest with
/// them, or into new slices.
///
/// Endpoints do not move between slices, and slices are not merged. Where upstream's result depends on map order,
/// slices are taken by size, then by their lowest endpoint, and only then by name, since names are random. Added
/// endpoints are sorted by identity.
pub(crate) fn pack<E: DesiredEndpoint>(
    existing: &[&Arc<EndpointSlice>],
    desired: &[E],
    labels: &WrittenLabels<'_>,
    max_endpoints_per_slice: usize,
) -> Packed {
    let mut desired = DesiredSet::new(desired);
    let mut left = desired.len();
    let mut packed = Packed { desired: left, ..Packed::default() };
    let mut kept = Vec::new();
    for slice in in_stable_order(existing) {
        kept.clear();
        let mut updated = 0;
        for endpoint in &slice.endpoints {
            if let Some(wanted) = desired.take(endpoint) {
                updated += usize::from(!wanted.is_met_by(endpoint));
                kept.push(wanted);
            }
        }
        let shrunk_by = slice.endpoints.len() - kept.len();
        left -= kept.len();
        packed.updated += updated;
        packed.removed += shrunk_by;
        if updated > 0 || shrunk_by > 0 {
            if kept.is_empty() {
                packed.delete.push(Arc::clone(slice));
            } else {
                let endpoints = kept.iter().map(|wanted| wanted.to_endpoint()).collect();
                packed.update.push(rewritten(slice, endpoints, labels));
            }
        } else if labels.differ_from(slice) {
            packed.update.push(rewritten(slice, slice.endpoints.clone(), labels));
        } else {
            packed.unchanged.push(Arc::clone(slice));
        }
    }

    packed.added = left;
    if left > 0 {
        let mut remaining = desired.into_rest().into_iter().map(E::endpoint);
        // The sort is stable: slices of the same size stay in the order of the first phase.
        packed.update.sort_by_key(|slice| std::cmp::Reverse(slice.endpoints.len()));
        for slice in &mut packed.update {
            let free = max_endpoints_per_slice.saturating_sub(slice.endpoints.len());
            slice.endpoints.extend(remaining.by_ref().take(free));
        }
        while remaining.len() > 0 {
            if let Some(at) = fullest_after(&packed.unchanged, remaining.len(), max_endpoints_per_slice) {
                let mut slice = EndpointSlice::clone(&packed.unchanged.remove(at));
                slice.endpoints.extend(remaining.by_ref());
                packed.update.push(slice);
            } else {
                packed.create.push(remaining.by_ref().take(max_endpoints_per_slice).collect());
            }
        }
    }
    packed
}

/// Returns the slice with these endpoints and the desired labels.
fn rewritten(slice: &EndpointSlice, endpoints: Vec<Endpoint>, labels: &WrittenLabels<'_>) -> EndpointSlice {
    let mut metadata = slice.metadata.clone();
    metadata.labels = labels.written.clone();
    EndpointSlice { metadata, address_type: slice.address_type.clone(), endpoints, ports: slice.ports.clone() }
}

/// Returns the position of the slice that can take all `additional` endpoints and is fullest with them (RC-19); `None`
/// if there is none, or if the endpoints fill a slice of their own.
fn fullest_after(slices: &[Arc<EndpointSlice>], additional: usize, max_endpoints_per_slice: usize) -> Option<usize> {
    if additional >= max_endpoints_per_slice {
        return None;
    }
    let with_slack = slices.iter().enumerate().filter_map(|(at, slice)| {
        let slack = max_endpoints_per_slice.checked_sub(slice.endpoints.len() + additional)?;
        Some((slack, at))
    });
    with_slack.min().map(|(_, at)| at)
}

/// Sorts slices by number of endpoints, highest first, then by their lowest endpoint, then by name.
pub(crate) fn in_stable_order<'a>(slices: &[&'a Arc<EndpointSlice>]) -> Vec<&'a Arc<EndpointSlice>> {
    let mut ordered = slices.to_vec();
    if ordered.len() > 1 {
        ordered.sort_by_cached_key(|slice| {
            let lowest = slice.endpoints.iter().map(Identity::of).min();
            (std::cmp::Reverse(slice.endpoints.len()), lowest, &*slice.metadata.name)
        });
    }
    ordered
}

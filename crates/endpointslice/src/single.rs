//! One slice for all endpoints of a group: [`Packing::Single`](crate::Packing::Single).

use std::sync::Arc;

use kube_endpoint_model::{Endpoint, EndpointSlice};

use crate::desired_endpoint::DesiredEndpoint;
use crate::desired_set::DesiredSet;
use crate::packing::{Packed, in_stable_order};
use crate::plan::Builder;

/// Replaces the slice of a group if anything in it differs, and deletes surplus slices (MI-13 to MI-16).
pub(crate) fn single<E: DesiredEndpoint>(
    existing: &[&Arc<EndpointSlice>],
    desired: &[E],
    build: &Builder<'_>,
    new_slice: impl FnOnce(Vec<Endpoint>) -> EndpointSlice,
) -> Packed {
    let max = build.options.max_endpoints_per_slice.get();
    let mut ordered = in_stable_order(existing).into_iter();
    let mut packed = Packed::default();
    if desired.is_empty() {
        packed.delete = ordered.cloned().collect();
        packed.removed = packed.delete.iter().map(|slice| slice.endpoints.len()).sum();
        return packed;
    }

    let first = ordered.next();
    packed.delete = ordered.cloned().collect();
    let mut wanted = DesiredSet::new(desired).into_rest();
    packed.desired = wanted.len();
    wanted.truncate(max);
    let endpoints = || wanted.iter().map(|wanted| wanted.to_endpoint()).collect();
    let Some(first) = first else {
        packed.added = wanted.len();
        packed.create.push(endpoints());
        return packed;
    };

    let mut before = DesiredSet::new(&first.endpoints);
    let distinct_before = before.len();
    let mut kept = 0;
    for wanted in &wanted {
        if let Some(existing) = before.take_same(wanted.identity()) {
            kept += 1;
            packed.updated += usize::from(!wanted.is_met_by(existing));
        }
    }
    packed.added = wanted.len() - kept;
    packed.removed = distinct_before - kept;
    let same_endpoints = packed.added + packed.updated == 0 && first.endpoints.len() == wanted.len();
    if same_endpoints
        && !build.labels.differ_from(first)
        && first.metadata.annotations == *build.annotations
        && !build.owner.predecessor_owns(first)
    {
        packed.unchanged.push(Arc::clone(first));
    } else {
        let mut replacement = new_slice(endpoints());
        replacement.metadata.name = first.metadata.name.clone();
        replacement.metadata.resource_version = first.metadata.resource_version.clone();
        // As upstream, which sends either a name or a prefix, so the first update removes the prefix (MI-16).
        replacement.metadata.generate_name = None;
        packed.update.push(replacement);
    }
    packed
}

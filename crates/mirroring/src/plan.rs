//! Plans the writes that make slices mirror an Endpoints object. No I/O.

use std::num::NonZeroUsize;
use std::sync::Arc;

use kube_endpoint_model::well_known::{LAST_APPLIED_ANNOTATION, MIRRORING_CONTROLLER, TRIGGER_TIME_ANNOTATION};
use kube_endpoint_model::{AddressType, EndpointSlice, Endpoints, Labels};
use kube_endpointslice::{DesiredGroup, Hints, Input, Options, Owner, Packing, Plan, SliceLabels};

use crate::desired::{Mirrored, desired};

/// Address types of mirrored slices.
const ADDRESS_TYPES: [AddressType; 2] = [AddressType::IPv4, AddressType::IPv6];

/// Writes that mirror an Endpoints object, and the number of addresses that are left out.
#[derive(Debug, PartialEq)]
pub struct MirrorPlan {
    /// Slices to create, update and delete.
    pub plan: Plan,
    /// Number of addresses that are not mirrored: invalid ones, and those beyond the limit.
    pub skipped: usize,
    /// Number of invalid addresses. Addresses beyond the limit are not parsed (MI-12).
    pub invalid: usize,
}

/// Plans the writes that make slices mirror `endpoints` (MI-6 to MI-22), with at most `max` addresses of each subset
/// and of each slice.
///
/// `existing` are the slices that this controller manages for the Service of that name, including slices that are being
/// deleted (MI-4).
pub fn plan(endpoints: &Endpoints, existing: &[Arc<EndpointSlice>], max: NonZeroUsize) -> MirrorPlan {
    let Mirrored { groups, skipped, invalid } = desired(endpoints, max);
    let plan =
        kube_endpointslice::plan(SliceMetadata::of(endpoints).input(groups, existing), Hints::Leave, &options(max));
    MirrorPlan { plan, skipped, invalid }
}

/// Returns the options of the generic reconciler for mirroring: one slice per group, slices of earlier owners are
/// reused, and no placeholder.
pub(crate) fn options(max: NonZeroUsize) -> Options {
    Options::for_services(MIRRORING_CONTROLLER)
        .max_endpoints_per_slice(max)
        .placeholder(false)
        .enforce_ownership(false)
        .packing(Packing::Single)
}

/// Metadata that slices copy from an Endpoints object.
pub(crate) struct SliceMetadata {
    pub(crate) owner: Owner,
    labels: SliceLabels,
    annotations: Labels,
}

impl SliceMetadata {
    pub(crate) fn of(endpoints: &Endpoints) -> SliceMetadata {
        let metadata = &endpoints.metadata;
        SliceMetadata {
            owner: Owner::new("v1", "Endpoints", metadata),
            labels: SliceLabels::carry(&metadata.labels),
            annotations: mirrored_annotations(&metadata.annotations),
        }
    }

    /// Returns the input of the generic reconciler.
    pub(crate) fn input<'a>(&'a self, groups: Vec<DesiredGroup>, existing: &'a [Arc<EndpointSlice>]) -> Input<'a> {
        Input::new(&self.owner, &ADDRESS_TYPES, groups, existing).labels(&self.labels).annotations(&self.annotations)
    }
}

/// Returns the annotations that slices copy from an Endpoints object (MI-19): all except those that describe only that
/// object.
fn mirrored_annotations(annotations: &Labels) -> Labels {
    annotations.without(|key| key == TRIGGER_TIME_ANNOTATION || key == LAST_APPLIED_ANNOTATION)
}

//! From an Endpoints object and the slices there are to what must be written: pure.

use std::num::NonZeroUsize;
use std::sync::Arc;

use kube_endpoint_model::well_known::{LAST_APPLIED_ANNOTATION, MIRRORING_CONTROLLER, TRIGGER_TIME_ANNOTATION};
use kube_endpoint_model::{AddressType, EndpointSlice, Endpoints, Labels};
use kube_endpointslice::{DesiredGroup, Hints, Input, Options, Owner, Packing, Plan, SliceLabels};

use crate::desired::{Mirrored, desired};

/// Slices have either family.
const ADDRESS_TYPES: [AddressType; 2] = [AddressType::IPv4, AddressType::IPv6];

/// What must be written to mirror an Endpoints object, and what of it is not mirrored.
#[derive(Debug, PartialEq)]
pub struct MirrorPlan {
    /// The writes.
    pub plan: Plan,
    /// Addresses that are not mirrored: invalid ones, and those beyond the limit.
    pub skipped: usize,
    /// Addresses met that do not parse. Those beyond the limit are not looked at (MI-12).
    pub invalid: usize,
}

/// Plans the writes that make the slices mirror `endpoints` (MI-6 to MI-22), with at most `max` addresses of each subset
/// and of each slice. `existing` are the slices of that name and this controller, those being deleted included (MI-4).
pub fn plan(endpoints: &Endpoints, existing: &[Arc<EndpointSlice>], max: NonZeroUsize) -> MirrorPlan {
    let Mirrored { groups, skipped, invalid } = desired(endpoints, max);
    let plan = kube_endpointslice::plan(Mirror::of(endpoints).input(groups, existing), Hints::Leave, &options(max));
    MirrorPlan { plan, skipped, invalid }
}

/// Returns the options of the generic reconciler for mirroring: one slice for each group, whatever owned it before, and no
/// placeholder.
pub(crate) fn options(max: NonZeroUsize) -> Options {
    Options::new(MIRRORING_CONTROLLER)
        .max_endpoints_per_slice(max)
        .placeholder(false)
        .enforce_ownership(false)
        .packing(Packing::Single)
}

/// What slices take over from an Endpoints object.
pub(crate) struct Mirror {
    pub(crate) owner: Owner,
    labels: SliceLabels,
    annotations: Labels,
}

impl Mirror {
    pub(crate) fn of(endpoints: &Endpoints) -> Mirror {
        let metadata = &endpoints.metadata;
        Mirror {
            owner: Owner::new("v1", "Endpoints", metadata),
            labels: SliceLabels::carry(&metadata.labels, &metadata.name),
            annotations: mirrored_annotations(&metadata.annotations),
        }
    }

    pub(crate) fn input<'a>(&'a self, groups: Vec<DesiredGroup>, existing: &'a [Arc<EndpointSlice>]) -> Input<'a> {
        Input::new(&self.owner, &ADDRESS_TYPES, groups, existing).labels(&self.labels).annotations(&self.annotations)
    }
}

/// The annotations that slices take over from an Endpoints object (MI-19): all but those that speak of that object only.
fn mirrored_annotations(annotations: &Labels) -> Labels {
    annotations.without(|key| key == TRIGGER_TIME_ANNOTATION || key == LAST_APPLIED_ANNOTATION)
}

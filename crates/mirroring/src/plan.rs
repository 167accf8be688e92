//! Plans the writes that make slices mirror the Endpoints object of one Service. No I/O.

use std::num::NonZeroUsize;
use std::sync::Arc;

use kube_endpoint_model::well_known::{LAST_APPLIED_ANNOTATION, MIRRORING_CONTROLLER, TRIGGER_TIME_ANNOTATION};
use kube_endpoint_model::{
    AddressType, Cluster, EndpointSlice, Endpoints, Labels, NotMirrored, ObjectKey, WarningEvent, not_mirrored,
};
use kube_endpointslice::{Hints, Input, Options, Owner, OwnerPlan, Packing, SliceLabels};

use crate::desired::{MAX_PORT_LISTS, Mirrored, desired};

/// Address types of mirrored slices.
const ADDRESS_TYPES: [AddressType; 2] = [AddressType::IPv4, AddressType::IPv6];

/// What the controller does about the slices of a Service whose Endpoints object is mirrored.
#[derive(Clone, Debug)]
pub struct MirrorPlan {
    /// Plan for the slices. Their owner is the Endpoints object.
    pub slices: OwnerPlan,
    /// Events about the Endpoints object.
    pub events: Vec<WarningEvent>,
    /// Number of addresses that are not mirrored: invalid ones, and those beyond the limit.
    pub skipped: usize,
    /// Number of invalid addresses. Addresses beyond the limit are not parsed (MI-11).
    pub invalid: usize,
}

/// Why a Service has no mirrored slices.
#[derive(Clone, Debug)]
pub enum NothingToMirror {
    /// There is no Endpoints object.
    NoEndpoints {
        /// Slices to delete (MI-24).
        superfluous: Vec<Arc<EndpointSlice>>,
    },
    /// The Endpoints object is not mirrored.
    NotMirrored {
        /// Why it is not.
        reason: NotMirrored,
        /// Slices to delete (MI-24).
        superfluous: Vec<Arc<EndpointSlice>>,
    },
    /// The Service or the Endpoints object may exist although the cluster lacks it: the plan has to be repeated.
    Withheld,
}

impl NothingToMirror {
    /// Returns the slices to delete.
    pub fn superfluous(&self) -> &[Arc<EndpointSlice>] {
        match self {
            NothingToMirror::NoEndpoints { superfluous } | NothingToMirror::NotMirrored { superfluous, .. } => {
                superfluous
            }
            NothingToMirror::Withheld => &[],
        }
    }
}

/// Plans the slices that mirror the Endpoints object of a name (MI-1 to MI-11, MI-13 to MI-21, MI-23, MI-24), with
/// at most `max` addresses of each subset and of each slice.
///
/// The controller, previews and explanations all call it.
///
/// # Errors
///
/// There is nothing to mirror.
pub fn plan(cluster: &impl Cluster, key: &ObjectKey, max: NonZeroUsize) -> Result<MirrorPlan, NothingToMirror> {
    let is_withheld = cluster.withholds_service(key) || cluster.withholds_endpoints(key);
    let service = cluster.service(key);
    let endpoints = cluster.endpoints(key);
    let reason = endpoints.as_ref().and_then(|endpoints| not_mirrored(endpoints, service.as_deref()));
    let nothing = endpoints.is_none() || reason.is_some();
    if nothing && is_withheld {
        return Err(NothingToMirror::Withheld);
    }
    // Including those that are being deleted (MI-4).
    let existing = cluster.slices(key, MIRRORING_CONTROLLER);
    match (endpoints, reason) {
        (None, _) => Err(NothingToMirror::NoEndpoints { superfluous: existing }),
        (_, Some(reason)) => Err(NothingToMirror::NotMirrored { reason, superfluous: existing }),
        (Some(endpoints), None) => Ok(mirror(&endpoints, existing, max)),
    }
}

fn mirror(endpoints: &Endpoints, existing: Vec<Arc<EndpointSlice>>, max: NonZeroUsize) -> MirrorPlan {
    let metadata = &endpoints.metadata;
    let owner = Owner::new("v1", "Endpoints", metadata);
    let (labels, annotations) = (SliceLabels::carry(&metadata.labels), mirrored_annotations(&metadata.annotations));
    let Mirrored { groups, skipped, invalid, skipped_ports } = desired(endpoints, max);
    let input = Input::new(&owner, &ADDRESS_TYPES, groups, &existing).labels(&labels).annotations(&annotations);
    let (key, plan) = (input.key(), kube_endpointslice::plan(input, Hints::Leave, &options(max)));
    let slices = OwnerPlan { owner, key, existing, policy: None, plan };
    MirrorPlan { slices, events: skip_events(max, skipped, invalid, skipped_ports), skipped, invalid }
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

/// Returns the annotations that slices copy from an Endpoints object (MI-19): all except those that describe only that
/// object.
fn mirrored_annotations(annotations: &Labels) -> Labels {
    annotations.without(|key| key == TRIGGER_TIME_ANNOTATION || key == LAST_APPLIED_ANNOTATION)
}

/// Returns the events about skipped addresses (MI-11) and ports (EC-52). `max` is the limit for one subset, `invalid` the
/// number of skipped addresses that do not parse.
fn skip_events(max: NonZeroUsize, skipped: usize, invalid: usize, ports: usize) -> Vec<WarningEvent> {
    let mut events = Vec::new();
    if invalid > 0 {
        let message = format!("Skipped {invalid} invalid IP addresses when mirroring to EndpointSlices");
        events.push(WarningEvent { reason: "InvalidIPAddress", message });
    }
    if skipped > invalid {
        let message = format!(
            "A max of {max} addresses can be mirrored to EndpointSlices per Endpoints subset. \
             {skipped} addresses were skipped"
        );
        events.push(WarningEvent { reason: "TooManyAddressesToMirror", message });
    }
    if ports > 0 {
        let message = format!(
            "A max of {MAX_PORT_LISTS} ports of one name can be mirrored to EndpointSlices per Endpoints subset. \
             {ports} ports were skipped"
        );
        events.push(WarningEvent { reason: "TooManyPortsToMirror", message });
    }
    events
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use kube_endpoint_model::{Endpoints, Service};
    use rstest::rstest;

    use super::*;

    const INVALID: (&str, &str) =
        ("InvalidIPAddress", "Skipped 2 invalid IP addresses when mirroring to EndpointSlices");
    const TOO_MANY: (&str, &str) = (
        "TooManyAddressesToMirror",
        "A max of 1000 addresses can be mirrored to EndpointSlices per Endpoints subset. 5 addresses were skipped",
    );

    const PORTS: (&str, &str) = (
        "TooManyPortsToMirror",
        "A max of 16 ports of one name can be mirrored to EndpointSlices per Endpoints subset. 7 ports were skipped",
    );

    /// Caches that lack the Service or the Endpoints object, until the right list arrives after the read.
    struct LateList {
        of_services: bool,
        is_corrected: Cell<bool>,
    }

    impl Cluster for LateList {
        fn service(&self, _: &ObjectKey) -> Option<Arc<Service>> {
            self.is_corrected.set(true);
            None
        }

        fn endpoints(&self, _: &ObjectKey) -> Option<Arc<Endpoints>> {
            self.of_services.then(Arc::default)
        }

        fn withholds_service(&self, _: &ObjectKey) -> bool {
            self.of_services && !self.is_corrected.get()
        }

        fn withholds_endpoints(&self, _: &ObjectKey) -> bool {
            !self.of_services && !self.is_corrected.get()
        }
    }

    #[rstest]
    fn slices_stay_if_their_source_is_stored_during_the_read(#[values(true, false)] of_services: bool) {
        let cluster = LateList { of_services, is_corrected: Cell::new(false) };
        let planned = plan(&cluster, &ObjectKey::new("ns", "web"), NonZeroUsize::MIN);
        assert!(matches!(planned, Err(NothingToMirror::Withheld)));
    }

    // MI-11, EC-52
    #[rstest]
    #[case::none(0, 0, 0, &[])]
    #[case::invalid(2, 2, 0, &[INVALID])]
    #[case::too_many(5, 0, 0, &[TOO_MANY])]
    #[case::both(5, 2, 0, &[INVALID, TOO_MANY])]
    #[case::ports(0, 0, 7, &[PORTS])]
    fn events_about_skipped_addresses_and_ports(
        #[case] skipped: usize,
        #[case] invalid: usize,
        #[case] ports: usize,
        #[case] expected: &[(&str, &str)],
    ) {
        let events = skip_events(NonZeroUsize::new(1_000).expect("not zero"), skipped, invalid, ports);
        let shown: Vec<(&str, &str)> = events.iter().map(|event| (event.reason, event.message.as_str())).collect();
        assert_eq!(shown, expected);
    }
}

//! Input of a plan.

use std::collections::BTreeSet;
use std::sync::Arc;

use kube_endpoint_model::{AddressType, Endpoint, EndpointSlice, Labels, ObjectKey, TriggerTime};
use kube_topology::{HintPolicy, HintsOutcome, SliceSet, ZoneRatios};

use crate::desired_endpoint::DesiredEndpoint;
use crate::desired_group::DesiredGroup;
use crate::owner::Owner;
use crate::slice_labels::SliceLabels;

/// Desired endpoints and existing slices of one owner. The order of groups, endpoints and slices does not change the
/// plan.
///
/// Endpoints are [`Endpoint`]s, or of another type that implements [`DesiredEndpoint`](crate::DesiredEndpoint).
#[derive(Debug)]
#[non_exhaustive]
pub struct Input<'a, E = Endpoint> {
    /// Object that owns the slices.
    pub owner: &'a Owner,
    /// Address types of the owner. Slices of other types are deleted.
    pub address_types: &'a [AddressType],
    /// Desired endpoints. Groups of an address type that the owner does not have are ignored. Groups with equal ports are
    /// combined, so that a group may be as small as one endpoint.
    pub desired: Vec<DesiredGroup<E>>,
    /// Existing slices: those with the [key](Input::key) of the owner that this controller manages. Slices of other
    /// controllers are ignored. The slice controller leaves out slices that are being deleted (ES-5), the mirroring
    /// controller does not (MI-4).
    pub existing: &'a [Arc<EndpointSlice>],
    /// Name under which the slices are found by [`Options::owner_label`](crate::Options::owner_label); `None` for that of
    /// the owner.
    pub tracked_as: Option<&'a str>,
    /// Labels of the slices; `None` for only those that every slice has.
    pub labels: Option<&'a SliceLabels>,
    /// Annotations of the slices with [`Packing::Single`](crate::Packing::Single). With other packings, slices keep the
    /// annotations that they have.
    pub annotations: Option<&'a Labels>,
    /// Treatment of the trigger time annotation of slices that are written.
    pub trigger_time: TriggerTime,
}

impl<'a, E> Input<'a, E> {
    /// Creates an input without labels and annotations, and with [`TriggerTime::Leave`].
    pub fn new(
        owner: &'a Owner,
        address_types: &'a [AddressType],
        desired: Vec<DesiredGroup<E>>,
        existing: &'a [Arc<EndpointSlice>],
    ) -> Input<'a, E> {
        Input {
            owner,
            address_types,
            desired,
            existing,
            tracked_as: None,
            labels: None,
            annotations: None,
            trigger_time: TriggerTime::Leave,
        }
    }

    /// Returns the key under which the slices are found: namespace and name of the owner, or the name of
    /// [`tracked_as`](Self::tracked_as).
    pub fn key(&self) -> ObjectKey {
        let name = self.tracked_as.map_or_else(|| self.owner.name.clone(), Into::into);
        ObjectKey { namespace: self.owner.namespace.clone(), name }
    }

    /// Sets another name than that of the owner under which the slices are found, for example if an owner has several
    /// sets of slices. No other owner in the namespace may have slices under it.
    #[must_use]
    pub fn tracked_as(mut self, name: &'a str) -> Self {
        self.tracked_as = Some(name);
        self
    }

    /// Sets the labels of the slices.
    #[must_use]
    pub fn labels(mut self, labels: &'a SliceLabels) -> Self {
        self.labels = Some(labels);
        self
    }

    /// Sets the annotations of the slices with [`Packing::Single`](crate::Packing::Single).
    #[must_use]
    pub fn annotations(mut self, annotations: &'a Labels) -> Self {
        self.annotations = Some(annotations);
        self
    }

    /// Sets the treatment of the trigger time annotation.
    #[must_use]
    pub fn trigger_time(mut self, trigger_time: TriggerTime) -> Self {
        self.trigger_time = trigger_time;
        self
    }
}

impl<'a, E: DesiredEndpoint> Input<'a, E> {
    /// Keeps each existing endpoint for which `is_kept` returns `true`, with the ports of its slice, unless an endpoint of
    /// its identity is desired.
    ///
    /// For endpoints whose objects may exist although a cache lacks them
    /// ([withheld](https://docs.rs/kube-informer/latest/kube_informer/struct.Lister.html#method.is_withheld)): only their
    /// removal waits.
    #[must_use]
    pub fn keep(self, is_kept: impl Fn(&Endpoint) -> bool) -> Input<'a> {
        let Input { owner, address_types, desired, existing, tracked_as, labels, annotations, trigger_time } = self;
        // Before the desired ones: of two endpoints with the same identity, the later one counts.
        let kept = existing.iter().map(|slice| DesiredGroup {
            address_type: slice.address_type.clone(),
            ports: slice.ports.clone(),
            endpoints: slice.endpoints.iter().filter(|it| is_kept(it)).cloned().collect(),
        });
        let kept = kept.filter(|group| !group.endpoints.is_empty());
        let desired = desired.into_iter().map(|DesiredGroup { address_type, ports, endpoints }| DesiredGroup {
            address_type,
            ports,
            endpoints: endpoints.iter().map(E::endpoint).collect(),
        });
        let desired = kept.chain(desired).collect();
        Input { owner, address_types, desired, existing, tracked_as, labels, annotations, trigger_time }
    }
}

/// Treatment of topology hints by a plan: taken from the desired endpoints, or computed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Hints<'a> {
    /// Writes endpoints with the hints of the desired endpoints. A difference in hints alone causes no write.
    Leave,
    /// Computes hints as the slice controller does for a Service (RC-29 to RC-34).
    Decide(ServiceHints<'a>),
}

/// Policy, CPU ratios and previous state from which the hints of a Service are computed.
#[derive(Clone, Debug)]
pub struct ServiceHints<'a> {
    /// Hint policy of the Service.
    pub policy: HintPolicy,
    /// CPU ratios of the zones.
    pub ratios: &'a ZoneRatios,
    /// Address types that have topology hints already, from
    /// [`TopologyCache::enabled_types`](kube_topology::TopologyCache::enabled_types).
    pub enabled: BTreeSet<AddressType>,
}

/// Returns the address types whose slices have hints for zones: what a controller without a
/// [topology cache](kube_topology::TopologyCache) can derive of [`ServiceHints::enabled`].
pub fn hinted_types(slices: &[Arc<EndpointSlice>]) -> BTreeSet<AddressType> {
    let has_hints = |slice: &&Arc<EndpointSlice>| {
        slice.endpoints.iter().filter_map(|endpoint| endpoint.hints.as_ref()).any(|hints| !hints.for_zones.is_empty())
    };
    slices.iter().filter(has_hints).map(|slice| slice.address_type.clone()).collect()
}

impl Hints<'_> {
    /// Computes the hints of all slices of one address type (RC-32 to RC-34), and updates the set of enabled types, so
    /// that the next type does not repeat the event that hints were enabled or disabled (EC-18).
    pub(crate) fn decide(&mut self, address_type: &AddressType, slices: &mut SliceSet) -> HintsOutcome {
        let Hints::Decide(rule) = self else { return HintsOutcome::default() };
        let outcome = rule.policy.apply(rule.ratios, !rule.enabled.is_empty(), address_type, slices);
        if outcome.allocated.is_some() {
            rule.enabled.insert(address_type.clone());
        } else if rule.policy == HintPolicy::Topology {
            rule.enabled.remove(address_type);
        } else {
            rule.enabled.clear();
        }
        outcome
    }
}

//! What a plan is made from.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;
use kube_endpoint_model::{AddressType, Endpoint, EndpointSlice, Labels, ObjectKey};
use kube_topology::{HintPolicy, HintsOutcome, SliceSet, ZoneRatios};

use crate::desired::DesiredGroup;
use crate::owner::Owner;
use crate::slice_labels::SliceLabels;

/// Desired endpoints and existing slices of an owner. Equal input gives equal plans, in whatever order endpoints, groups and slices come.
///
/// Endpoints are [`Endpoint`]s, or anything else that is [desired](crate::DesiredEndpoint).
#[derive(Debug)]
#[non_exhaustive]
pub struct Input<'a, E = Endpoint> {
    /// Who owns the slices.
    pub owner: &'a Owner,
    /// The address types the owner has. Slices of other types are deleted.
    pub address_types: &'a [AddressType],
    /// The endpoints there should be.
    pub desired: Vec<DesiredGroup<E>>,
    /// The slices there are: those of this owner's name and this controller that are not being deleted.
    pub existing: &'a [Arc<EndpointSlice>],
    /// The labels slices get; without any they name the owner as their Service.
    pub labels: Option<&'a SliceLabels>,
    /// The annotations slices get with [`Packing::Single`](crate::Packing::Single); otherwise they keep what they have.
    pub annotations: Option<&'a Labels>,
    /// What to do about the annotation that says which change a write is for.
    pub trigger_time: TriggerTime,
}

impl<'a, E> Input<'a, E> {
    /// Input without labels and annotations to carry, that leaves trigger times alone.
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
            labels: None,
            annotations: None,
            trigger_time: TriggerTime::Leave,
        }
    }

    /// The Service that the slices name.
    pub fn service(&self) -> ObjectKey {
        let name = self.labels.map_or(&self.owner.name, SliceLabels::service_name);
        ObjectKey { namespace: self.owner.namespace.clone(), name: name.clone() }
    }

    /// Sets the labels slices get.
    #[must_use]
    pub fn labels(mut self, labels: &'a SliceLabels) -> Self {
        self.labels = Some(labels);
        self
    }

    /// Sets the annotations slices get with [`Packing::Single`](crate::Packing::Single).
    #[must_use]
    pub fn annotations(mut self, annotations: &'a Labels) -> Self {
        self.annotations = Some(annotations);
        self
    }

    /// Sets what to do about the annotation that says which change a write is for.
    #[must_use]
    pub fn trigger_time(mut self, trigger_time: TriggerTime) -> Self {
        self.trigger_time = trigger_time;
        self
    }
}

/// What to do about the annotation `endpoints.kubernetes.io/last-change-trigger-time` of what is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TriggerTime {
    /// Leave it alone.
    Leave,
    /// Write the time, or remove the annotation where there is none.
    Write(Option<Timestamp>),
}

/// What to do about hints.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Hints<'a> {
    /// Leave them alone.
    Leave,
    /// Decide them as the slice controller does for a Service (RC-29 to RC-34).
    Decide(ServiceHints<'a>),
}

/// What decides the hints of a Service.
#[derive(Clone, Debug)]
pub struct ServiceHints<'a> {
    /// What the Service asks for.
    pub policy: HintPolicy,
    /// The CPU of the zones.
    pub ratios: &'a ZoneRatios,
    /// The address types that have hints from the topology cache.
    pub enabled: BTreeSet<AddressType>,
}

impl Hints<'_> {
    /// Decides the hints of all slices of one address type (RC-32 to RC-34), and remembers which types have hints by
    /// now: a Service tells only once that they were enabled or disabled (EC-18).
    pub(crate) fn decide(&mut self, address_type: &AddressType, slices: &mut SliceSet) -> HintsOutcome {
        let Hints::Decide(rule) = self else { return HintsOutcome::default() };
        let outcome = rule.policy.apply(rule.ratios, !rule.enabled.is_empty(), address_type, slices);
        match (&outcome.allocated, rule.policy) {
            (Some(_), _) => drop(rule.enabled.insert(address_type.clone())),
            (None, HintPolicy::Topology) => drop(rule.enabled.remove(address_type)),
            (None, _) => rule.enabled.clear(),
        }
        outcome
    }
}

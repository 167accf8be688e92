//! Explanations of plans.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use kube_endpoint_model::{AddressType, Addresses, Code, Endpoint, EndpointSlice, TargetRef, Text, Write};

use crate::desired_endpoint::DesiredEndpoint;
use crate::identity::Identity;
use crate::input::{Hints, Input};
use crate::options::Options;
use crate::plan::{Plan, TypePlan, plan};

/// Returns the same plan as [`plan`], and the reason why each endpoint is in its slice.
///
/// For logs and support: it takes several times as long as the plan alone.
pub fn plan_explained<E: DesiredEndpoint>(
    input: Input<'_, E>,
    hints: Hints<'_>,
    options: &Options,
) -> (Plan, Explanation) {
    let existing = input.existing;
    let plan = plan(input, hints, options);
    let explanation = Explanation::of(existing, &options.controller, &plan);
    (plan, explanation)
}

/// Placement of every endpoint by a plan, with reasons.
///
/// Displayed as one line, with the number of endpoints by slice and reason.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Explanation {
    /// All endpoints, existing, added and removed: by address type, first those of existing slices, then those of
    /// slices to create. Endpoints of address types that the owner does not have come last.
    pub placements: Vec<Placement>,
}

/// Slice of one endpoint, and the reason for it. Displayed as one line.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Placement {
    /// Address type of the slice.
    pub address_type: AddressType,
    /// Addresses of the endpoint.
    pub addresses: Addresses,
    /// Object behind the endpoint, usually a Pod.
    pub target: Option<TargetRef>,
    /// Slice that contains the endpoint; if it is removed, the slice that contained it.
    pub slice: SliceName,
    /// Why the endpoint is in this slice, or was removed from it.
    pub reason: PlacementReason,
}

/// Name of a slice, or its number if it does not exist yet.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SliceName {
    /// Name of an existing slice.
    Known(Text),
    /// Slice to create, which has no name yet: its position among those of its address type, from 1.
    New(usize),
}

/// Why an endpoint is in its slice, or was removed from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum PlacementReason {
    /// The endpoint was in this slice before and does not change, apart from its hints.
    Kept,
    /// The endpoint was in this slice before, and its Node, zone, conditions or target change.
    UpdatedInPlace,
    /// The endpoint is added to a slice that is updated anyway (RC-18).
    FilledIn,
    /// The endpoint is added to the unchanged slice that is fullest with all added endpoints (RC-19).
    FilledFullest,
    /// The endpoint is in a new slice, since no existing one can take it.
    NewSlice,
    /// The endpoint is in a new slice that takes over the name of a deleted one (RC-41).
    RecycledName,
    /// The endpoint is no longer desired with these ports, or another slice contains it already.
    Removed,
}

impl PlacementReason {
    /// Returns the stable code of the reason.
    pub fn code(self) -> Code {
        match self {
            PlacementReason::Kept => Code::PlacementKept,
            PlacementReason::UpdatedInPlace => Code::PlacementUpdated,
            PlacementReason::FilledIn => Code::PlacementFilledIn,
            PlacementReason::FilledFullest => Code::PlacementFilledFullest,
            PlacementReason::NewSlice => Code::PlacementNewSlice,
            PlacementReason::RecycledName => Code::PlacementRecycledName,
            PlacementReason::Removed => Code::PlacementRemoved,
        }
    }

    fn as_str(self) -> &'static str {
        match self {
            PlacementReason::Kept => "kept",
            PlacementReason::UpdatedInPlace => "updated in place",
            PlacementReason::FilledIn => "added to a slice that is updated anyway",
            PlacementReason::FilledFullest => "added to the fullest slice with enough space",
            PlacementReason::NewSlice => "in a new slice",
            PlacementReason::RecycledName => "in a new slice under a recycled name",
            PlacementReason::Removed => "removed",
        }
    }
}

impl fmt::Display for PlacementReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for SliceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SliceName::Known(name) => f.write_str(name),
            SliceName::New(number) => write!(f, "new slice {number}"),
        }
    }
}

impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Placement { address_type: _, addresses, target, slice, reason } = self;
        for (at, address) in addresses.iter().enumerate() {
            write!(f, "{}{address}", if at == 0 { "" } else { " " })?;
        }
        if let Some(target) = target {
            write!(f, " ({} {}/{})", target.kind(), target.namespace(), target.name())?;
        }
        write!(f, ", {slice}: {reason}")
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut counts: BTreeMap<(&str, &SliceName), BTreeMap<PlacementReason, usize>> = BTreeMap::new();
        for Placement { address_type, slice, reason, .. } in &self.placements {
            *counts.entry((address_type.as_str(), slice)).or_default().entry(*reason).or_default() += 1;
        }
        for (at, ((address_type, slice), reasons)) in counts.iter().enumerate() {
            write!(f, "{}{address_type} {slice}: ", if at == 0 { "" } else { "; " })?;
            for (at, (reason, count)) in reasons.iter().enumerate() {
                write!(f, "{}{count} {reason}", if at == 0 { "" } else { ", " })?;
            }
        }
        Ok(())
    }
}

impl Explanation {
    /// Explains a plan by comparing it with the slices that it was computed from.
    pub(crate) fn of(existing: &[Arc<EndpointSlice>], controller: &str, plan: &Plan) -> Explanation {
        let mut explanation = Explanation::default();
        let existing = || existing.iter().filter(|slice| slice.is_managed_by(controller));
        for plan in &plan.types {
            let of_type = existing().filter(|slice| slice.address_type == plan.address_type);
            explanation.explain_type(&of_type.map(|slice| &**slice).collect::<Vec<_>>(), plan);
        }
        for slice in plan.unsupported.iter().filter_map(Write::before) {
            explanation.add(slice, &slice.endpoints, &name(slice), PlacementReason::Removed);
        }
        explanation
    }

    fn explain_type(&mut self, existing: &[&EndpointSlice], plan: &TypePlan) {
        let updated: BTreeMap<&str, &EndpointSlice> =
            plan.updates().map(|slice| (&*slice.metadata.name, slice)).collect();
        let deleted: BTreeSet<&str> = plan.deletes().map(|slice| &*slice.metadata.name).collect();
        for before in existing {
            match updated.get(&*before.metadata.name) {
                Some(after) => self.explain_update(before, after),
                None if deleted.contains(&*before.metadata.name) => {
                    self.add(before, &before.endpoints, &name(before), PlacementReason::Removed);
                }
                None => self.add(before, &before.endpoints, &name(before), PlacementReason::Kept),
            }
        }
        for (number, slice) in (1..).zip(plan.creates()) {
            self.add(slice, &slice.endpoints, &SliceName::New(number), PlacementReason::NewSlice);
        }
    }

    fn explain_update(&mut self, before: &EndpointSlice, after: &EndpointSlice) {
        let name = name(after);
        if is_recycled(before, after) {
            self.add(after, &after.endpoints, &name, PlacementReason::RecycledName);
            self.add(before, &before.endpoints, &name, PlacementReason::Removed);
            return;
        }
        let mut left: BTreeMap<Identity<'_>, &Endpoint> =
            before.endpoints.iter().map(|endpoint| (Identity::of(endpoint), endpoint)).collect();
        let (mut changed, mut added) = (false, Vec::new());
        for endpoint in &after.endpoints {
            let Some(was) = left.remove(&Identity::of(endpoint)) else {
                added.push(endpoint);
                continue;
            };
            let same = endpoint.equal_beyond_identity(was);
            changed |= !same;
            let reason = if same { PlacementReason::Kept } else { PlacementReason::UpdatedInPlace };
            self.add(after, [endpoint], &name, reason);
        }
        let written_anyway = changed || !left.is_empty() || before.metadata.labels != after.metadata.labels;
        let reason = if written_anyway { PlacementReason::FilledIn } else { PlacementReason::FilledFullest };
        self.add(after, added, &name, reason);
        self.add(before, left.into_values(), &name, PlacementReason::Removed);
    }

    fn add<'a>(
        &mut self,
        slice: &EndpointSlice,
        endpoints: impl IntoIterator<Item = &'a Endpoint>,
        name: &SliceName,
        reason: PlacementReason,
    ) {
        self.placements.extend(endpoints.into_iter().map(|endpoint| Placement {
            address_type: slice.address_type.clone(),
            addresses: endpoint.addresses.clone(),
            target: endpoint.target_ref.clone(),
            slice: name.clone(),
            reason,
        }));
    }
}

fn name(slice: &EndpointSlice) -> SliceName {
    SliceName::Known(slice.metadata.name.clone())
}

/// Returns whether an update only takes over the name of a slice: it replaces the slice as a whole, and has other ports
/// or no common endpoint.
fn is_recycled(before: &EndpointSlice, after: &EndpointSlice) -> bool {
    let sorted = |slice: &EndpointSlice| {
        let mut ports = slice.ports.clone();
        ports.sort();
        ports
    };
    let had: BTreeSet<Identity<'_>> = before.endpoints.iter().map(Identity::of).collect();
    after.metadata.uid.is_empty()
        && (sorted(before) != sorted(after) || !after.endpoints.iter().any(|it| had.contains(&Identity::of(it))))
}

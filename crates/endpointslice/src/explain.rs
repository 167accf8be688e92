//! Explanations of plans.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kube_endpoint_model::{AddressType, Addresses, Code, Endpoint, EndpointSlice, TargetRef, Text, Write};

use crate::identity::Identity;
use crate::plan::{Plan, TypePlan};

/// Placement of every endpoint by a plan, with reasons.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Explanation {
    /// All endpoints, existing, added and removed: by address type, first those of existing slices, then those of
    /// slices to create. Endpoints of address types that the owner does not have come last.
    pub placements: Vec<Placement>,
}

/// Slice of one endpoint, and the reason for it.
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
    /// Why the endpoint is in this slice, or was removed from it: one of the codes `EP701` to `EP707`.
    pub reason: Code,
}

/// Name of a slice, or its number if it does not exist yet.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SliceName {
    /// Name of an existing slice.
    Known(Text),
    /// Slice to create, which has no name yet: its position among those of its address type, from 1.
    New(usize),
}

impl Explanation {
    /// Explains a plan by comparing it with the slices that it was computed from. `controller` is that of the
    /// [`Options`](crate::Options) of the plan.
    ///
    /// For logs and support: it takes several times as long as the plan.
    pub fn of(existing: &[Arc<EndpointSlice>], controller: &str, plan: &Plan) -> Explanation {
        let mut explanation = Explanation::default();
        let existing = || existing.iter().filter(|slice| slice.is_managed_by(controller));
        for plan in &plan.types {
            let of_type = existing().filter(|slice| slice.address_type == plan.address_type);
            explanation.explain_type(&of_type.map(|slice| &**slice).collect::<Vec<_>>(), plan);
        }
        for slice in plan.unsupported.iter().filter_map(Write::before) {
            explanation.add(slice, &slice.endpoints, &name(slice), Code::PlacementRemoved);
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
                    self.add(before, &before.endpoints, &name(before), Code::PlacementRemoved);
                }
                None => self.add(before, &before.endpoints, &name(before), Code::PlacementKept),
            }
        }
        for (number, slice) in (1..).zip(plan.creates()) {
            self.add(slice, &slice.endpoints, &SliceName::New(number), Code::PlacementNewSlice);
        }
    }

    fn explain_update(&mut self, before: &EndpointSlice, after: &EndpointSlice) {
        let name = name(after);
        if is_recycled(before, after) {
            self.add(after, &after.endpoints, &name, Code::PlacementRecycledName);
            self.add(before, &before.endpoints, &name, Code::PlacementRemoved);
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
            let reason = if same { Code::PlacementKept } else { Code::PlacementUpdated };
            self.add(after, [endpoint], &name, reason);
        }
        let written_anyway = changed || !left.is_empty() || before.metadata.labels != after.metadata.labels;
        let reason = if written_anyway { Code::PlacementFilledIn } else { Code::PlacementFilledFullest };
        self.add(after, added, &name, reason);
        self.add(before, left.into_values(), &name, Code::PlacementRemoved);
    }

    fn add<'a>(
        &mut self,
        slice: &EndpointSlice,
        endpoints: impl IntoIterator<Item = &'a Endpoint>,
        name: &SliceName,
        reason: Code,
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

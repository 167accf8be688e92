//! The writes that the controllers would send now.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kube_endpoint::Write;
use kube_endpoint_model::well_known::MIRRORING_CONTROLLER;
use kube_endpoint_model::{Code, EndpointSlice, ObjectKey};
use kube_endpointslice::{Explanation, Placement, PlacementReason, Plan, SliceName};
use kube_wire::Object as _;
use serde_json::Value;

use crate::plans::{Mirroring, SelectorPlans, are_known};
use crate::report::{Change, Kind, ObjectRef, Reason};
use crate::world::World;

/// Number of endpoints that a reason names.
const NAMED_ENDPOINTS: usize = 3;
/// Reason for the delete of a slice that has no endpoint.
const SUPERFLUOUS: &str = "no endpoint needs the slice";

impl World {
    /// Returns the writes that the three controllers would send now, by Service. None of what depends on kinds that
    /// could not be read.
    pub fn changes(&self) -> Vec<Change> {
        let ratios = self.ratios();
        let mut changes = Vec::new();
        // Endpoints without a Service may leave slices that mirror them.
        let keys: BTreeSet<ObjectKey> = self.services().map(|service| service.key()).chain(self.mirrored()).collect();
        for key in keys {
            let plans = self.service_of(&key).and_then(|service| SelectorPlans::new(self, &ratios, service));
            if are_known(self, Kind::EndpointSlice) {
                if let Some(plans) = &plans {
                    self.add_slices_changes(&mut changes, &plans.slices, Some(&plans.explanation));
                }
                match Mirroring::new(self, &key) {
                    Mirroring::Mirrored(mirror) => self.add_slices_changes(&mut changes, &mirror.plan, None),
                    not_mirrored => {
                        let deletes = not_mirrored.superfluous().iter();
                        changes.extend(deletes.map(|slice| deleted(slice, vec![differs(SUPERFLUOUS)])));
                    }
                }
            }
            if are_known(self, Kind::Endpoints)
                && let Some(write) = plans.and_then(|plans| plans.endpoints)
            {
                changes.push(self.endpoints_change(&key, write));
            }
        }
        changes
    }

    /// Returns the keys of Services with slices that mirror Endpoints.
    fn mirrored(&self) -> impl Iterator<Item = ObjectKey> {
        let slices = self.all_slices().filter(|slice| slice.is_managed_by(MIRRORING_CONTROLLER));
        slices.filter_map(|slice| Some(ObjectKey::new(slice.metadata.namespace.clone(), slice.service_name()?)))
    }

    fn add_slices_changes(&self, changes: &mut Vec<Change>, plan: &Plan, explanation: Option<&Explanation>) {
        for plan in &plan.types {
            let placed = |slice: SliceName, otherwise: &str| {
                let placements = explanation.into_iter().flat_map(|it| &it.placements);
                let of_slice = placements.filter(|it| it.address_type == plan.address_type && it.slice == slice);
                let reasons = placement_reasons(of_slice);
                if reasons.is_empty() { vec![differs(otherwise)] } else { reasons }
            };
            let existing = |slice: &EndpointSlice| SliceName::Known(slice.metadata.name.clone());
            for (number, slice) in (1..).zip(&plan.create) {
                let generated = slice.metadata.generate_name.as_deref().unwrap_or_default();
                let key = ObjectKey::new(slice.metadata.namespace.clone(), format!("{generated}..."));
                let object = ObjectRef::new(Kind::EndpointSlice, &key);
                let reasons = placed(SliceName::New(number), "no slice has these endpoints");
                changes.push(Change { object, before: None, after: Some(value(slice)), reasons });
            }
            for slice in &plan.update {
                let key = slice.key();
                let before = self.slice_of(&key).map(|it| value(&**it));
                let object = ObjectRef::new(Kind::EndpointSlice, &key);
                let reasons = placed(existing(slice), "metadata, hints or ports differ");
                changes.push(Change { object, before, after: Some(value(slice)), reasons });
            }
            for slice in &plan.delete {
                changes.push(deleted(slice, placed(existing(slice), SUPERFLUOUS)));
            }
        }
        let unsupported = "the Service has no addresses of this type";
        changes.extend(plan.unsupported.iter().map(|slice| deleted(slice, vec![differs(unsupported)])));
    }

    fn endpoints_change(&self, key: &ObjectKey, write: Write) -> Change {
        let before = self.endpoints_of(key).map(|it| value(&**it));
        let (after, message) = match write {
            Write::Create(after) => (after, "the Service has no Endpoints object"),
            Write::Update(after) => (after, "addresses, ports, labels or annotations differ"),
        };
        let reasons = vec![Reason { code: Code::EndpointsDiffer, message: message.to_owned() }];
        Change { object: ObjectRef::new(Kind::Endpoints, key), before, after: Some(value(&after)), reasons }
    }
}

fn deleted(slice: &Arc<EndpointSlice>, reasons: Vec<Reason>) -> Change {
    let object = ObjectRef::new(Kind::EndpointSlice, &slice.key());
    Change { object, before: Some(value(&**slice)), after: None, reasons }
}

fn differs(message: &str) -> Reason {
    Reason { code: Code::SlicesDiffer, message: message.to_owned() }
}

fn value(object: &impl serde::Serialize) -> Value {
    serde_json::to_value(object).expect("objects of the model are valid JSON: their keys are text")
}

/// Returns one reason for all placements with the same code, without endpoints that stay as they are.
fn placement_reasons<'a>(placements: impl Iterator<Item = &'a Placement>) -> Vec<Reason> {
    let mut by_code: BTreeMap<Code, Vec<String>> = BTreeMap::new();
    for placement in placements.filter(|it| it.reason != PlacementReason::Kept) {
        let address = placement.addresses.first().map(ToString::to_string).unwrap_or_default();
        let name = placement.target.as_ref().map_or(address, |target| target.name().to_string());
        by_code.entry(placement.reason.code()).or_default().push(name);
    }
    let reason = |(code, names): (Code, Vec<String>)| {
        let more = names.len().saturating_sub(NAMED_ENDPOINTS);
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        let named = names.iter().take(NAMED_ENDPOINTS).map(String::as_str).collect::<Vec<_>>().join(", ");
        let title = code.title();
        Reason { code, message: format!("{title}: {named}{more}") }
    };
    by_code.into_iter().map(reason).collect()
}

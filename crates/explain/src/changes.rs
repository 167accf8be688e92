//! The writes that the controllers would send now.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kube_endpoint_model::well_known::{MIRRORING_CONTROLLER, SLICE_CONTROLLER};
use kube_endpoint_model::{Cluster as _, Code, EndpointSlice, Endpoints, ObjectKey, Write};
use kube_endpointslice::{Explanation, Placement, Plan, SliceName};
use kube_wire::Object as _;
use serde_json::Value;

use crate::classes::classify;
use crate::counts::named;
use crate::mirror::Mirroring;
use crate::plans::{SelectorPlans, are_known, endpoints_write};
use crate::report::{Change, Kind, ObjectRef, Reason};
use crate::world::World;

/// Reason for the delete of a slice that has no endpoint.
const SUPERFLUOUS: &str = "no endpoint needs the slice";

impl World {
    /// Returns the writes that the three controllers would send now, by Service. None of what depends on kinds that
    /// could not be read.
    pub fn changes(&self) -> Vec<Change> {
        let ratios = self.ratios();
        let mut changes = Vec::new();
        // Endpoints without a Service may leave slices that mirror them.
        let keys: BTreeSet<ObjectKey> =
            self.services().map(|service| service.key()).chain(self.mirrored()).chain(self.left_over()).collect();
        for key in keys {
            let plans = SelectorPlans::new(self, &ratios, &key);
            if are_known(self, Kind::EndpointSlice) {
                if let Some(SelectorPlans { slices, .. }) = &plans {
                    let writes = self.slices_writes(
                        &slices.plan,
                        Some(&Explanation::of(&slices.existing, SLICE_CONTROLLER, &slices.plan)),
                    );
                    changes.extend(classified(writes, &slices.existing));
                }
                let mirroring = Mirroring::new(self, &key);
                let superfluous = mirroring.superfluous().iter().filter(|slice| has_effect(slice));
                let mut writes: Vec<_> = superfluous.map(|slice| deleted(slice, vec![differs(SUPERFLUOUS)])).collect();
                if let Some(mirror) = mirroring.plan() {
                    writes.extend(self.slices_writes(&mirror.slices.plan, None));
                }
                changes.extend(classified(writes, &self.slices(&key, MIRRORING_CONTROLLER)));
            }
            if are_known(self, Kind::Endpoints) {
                let write = match plans {
                    Some(plans) => plans.endpoints,
                    None => endpoints_write(self, &key, |_| {}),
                };
                let write = write.map(|write| endpoints_change(&key, &write));
                changes.extend(classified(write.into_iter().collect(), &[]));
            }
        }
        changes
    }

    /// Returns the keys of Endpoints objects without a Service. The Endpoints controller deletes them when it starts
    /// (EP-H6), except locks of old leader election clients.
    fn left_over(&self) -> impl Iterator<Item = ObjectKey> {
        let endpoints = self.endpoints.values().map(|endpoints| endpoints.key());
        endpoints.filter(|key| !self.services.contains_key(key))
    }

    /// Returns the keys of Services with slices that mirror Endpoints.
    fn mirrored(&self) -> impl Iterator<Item = ObjectKey> {
        let slices = self.slices.values().filter(|slice| slice.is_managed_by(MIRRORING_CONTROLLER));
        slices.filter_map(|slice| Some(ObjectKey::new(slice.metadata.namespace.clone(), slice.service_name()?)))
    }

    fn slices_writes(&self, plan: &Plan, explanation: Option<&Explanation>) -> Vec<Change> {
        let mut changes = Vec::new();
        for plan in &plan.types {
            let placed = |slice: SliceName, otherwise: &str| {
                let placements = explanation.into_iter().flat_map(|it| &it.placements);
                let of_slice = placements.filter(|it| it.address_type == plan.address_type && it.slice == slice);
                let reasons = placement_reasons(of_slice);
                if reasons.is_empty() { vec![differs(otherwise)] } else { reasons }
            };
            let existing = |slice: &EndpointSlice| SliceName::Known(slice.metadata.name.clone());
            for (number, slice) in (1..).zip(plan.creates()) {
                let generated = slice.metadata.generate_name.as_deref().unwrap_or_default();
                let key = ObjectKey::new(slice.metadata.namespace.clone(), format!("{generated}..."));
                let object = ObjectRef::new(Kind::EndpointSlice, &key);
                let reasons = placed(SliceName::New(number), "no slice has these endpoints");
                changes.push(change(object, None, Some(value(slice)), reasons));
            }
            for slice in plan.updates() {
                let key = slice.key();
                let before = self.slices.get(&key).map(|it| value(&**it));
                let object = ObjectRef::new(Kind::EndpointSlice, &key);
                let reasons = placed(existing(slice), "metadata, hints or ports differ");
                changes.push(change(object, before, Some(value(slice)), reasons));
            }
            for slice in plan.deletes().filter(|slice| has_effect(slice)) {
                changes.push(deleted(slice, placed(existing(slice), SUPERFLUOUS)));
            }
        }
        let unsupported = "the Service has no addresses of this type";
        changes.extend(
            plan.unsupported
                .iter()
                .filter_map(Write::before)
                .filter(|slice| has_effect(slice))
                .map(|slice| deleted(slice, vec![differs(unsupported)])),
        );
        changes
    }
}

fn endpoints_change(key: &ObjectKey, write: &Write<Endpoints>) -> Change {
    let (before, after) = (write.before().map(value), write.after().map(value));
    let message = match write {
        Write::Create(_) => "the Service has no Endpoints object",
        Write::Update { .. } => "addresses, ports, labels or annotations differ",
        Write::Delete(_) => "the Service does not exist",
    };
    let reasons = vec![Reason { code: Code::EndpointsDiffer, message: message.to_owned() }];
    change(ObjectRef::new(Kind::Endpoints, key), before, after, reasons)
}

/// Returns a change without its classes, which depend on all writes of the plan.
fn change(object: ObjectRef, before: Option<Value>, after: Option<Value>, reasons: Vec<Reason>) -> Change {
    Change { object, before, after, classes: BTreeSet::new(), reasons }
}

/// Returns all writes of one controller for one Service with their classes. `stored` are the slices that the plan is
/// based on.
fn classified(mut writes: Vec<Change>, stored: &[Arc<EndpointSlice>]) -> Vec<Change> {
    let is_written = |slice: &EndpointSlice| writes.iter().any(|write| *write.object.name == *slice.metadata.name);
    let unchanged = stored.iter().filter(|slice| !is_written(slice)).map(|slice| slice.address_type.as_str()).collect();
    classify(&mut writes, &unchanged);
    writes
}

/// Returns whether a delete of this slice changes anything: not if finalizers keep a slice that is being deleted.
fn has_effect(slice: &EndpointSlice) -> bool {
    slice.metadata.deletion_timestamp.is_none()
}

fn deleted(slice: &EndpointSlice, reasons: Vec<Reason>) -> Change {
    let object = ObjectRef::new(Kind::EndpointSlice, &slice.key());
    change(object, Some(value(slice)), None, reasons)
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
    for placement in placements.filter(|it| it.reason != Code::PlacementKept) {
        let address = placement.addresses.first().map(ToString::to_string).unwrap_or_default();
        let name = placement.target.as_ref().map_or(address, |target| target.name().to_string());
        by_code.entry(placement.reason).or_default().push(name);
    }
    let reason = |(code, names): (Code, Vec<String>)| {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        Reason { code, message: format!("{}: {}", code.title(), named(&names)) }
    };
    by_code.into_iter().map(reason).collect()
}

//! The plan: computes the writes for the slices of one owner, without I/O.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use kube_endpoint_model::{
    AddressType, Endpoint, EndpointPort, EndpointSlice, Labels, ObjectMeta, Text, TriggerTime, Write, sort_slice_ports,
    well_known,
};
use kube_topology::{HintsOutcome, SliceSet, TopologyEvent};

use crate::desired_endpoint::DesiredEndpoint;
use crate::desired_group::DesiredGroup;
use crate::groups;
use crate::input::{Hints, Input};
use crate::options::{Options, Packing};
use crate::owner::Owner;
use crate::packing::{Packed, in_stable_order, pack};
use crate::recycle::recycle;
use crate::single::single;
use crate::slice_labels::{SliceLabels, WrittenLabels};

/// Writes for the slices of one owner, by address type: a failure in one type does not stop the others (RC-44).
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Plan {
    /// Writes for each address type of the owner, in the order of [`Input::address_types`].
    pub types: Vec<TypePlan>,
    /// Deletes of slices of address types that the owner does not have. They are sent last, whether or not earlier writes
    /// failed (RC-4).
    pub unsupported: Vec<Write<EndpointSlice>>,
}

impl Plan {
    /// Returns a plan that deletes these slices; a failed delete does not stop the others.
    pub fn delete(slices: Vec<Arc<EndpointSlice>>) -> Plan {
        Plan { types: Vec::new(), unsupported: slices.into_iter().map(Write::Delete).collect() }
    }

    /// Returns whether the plan has no writes.
    pub fn is_empty(&self) -> bool {
        self.unsupported.is_empty() && self.types.iter().all(TypePlan::is_empty)
    }

    /// Returns all writes, in the order in which they are sent.
    pub fn writes(&self) -> impl Iterator<Item = &Write<EndpointSlice>> {
        self.types.iter().flat_map(|plan| &plan.writes).chain(&self.unsupported)
    }

    /// Returns the number of writes.
    pub fn len(&self) -> usize {
        self.unsupported.len() + self.types.iter().map(TypePlan::len).sum::<usize>()
    }
}

/// Writes for one address type.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TypePlan {
    /// Address type of all these slices.
    pub address_type: AddressType,
    /// Creates, then updates, then deletes. Slices to create have no name yet, only a prefix for it in `generate_name`.
    pub writes: Vec<Write<EndpointSlice>>,
    /// Events about hints, emitted after the writes, failed or not (RC-35).
    pub events: Vec<TopologyEvent>,
    /// Number of endpoints with a hint for each zone, for the topology cache; `None` removes the address type from it.
    pub hints: Option<BTreeMap<Text, usize>>,
    /// Number of endpoints and slices for each set of ports, after the writes.
    pub groups: Vec<GroupCount>,
    /// Number of slices that are not created because the owner is being deleted (RC-42).
    pub withheld: usize,
    /// Number of endpoints that no slice with their ports contains yet (RC-16).
    pub added: usize,
    /// Number of endpoints that stay in their slice and change; a change of hints does not count.
    pub updated: usize,
    /// Number of endpoints that are removed from their slice. Those whose set of ports is no longer desired do not
    /// count (RC-28).
    pub removed: usize,
}

/// Number of endpoints and slices of one address type and set of ports (MT-4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupCount {
    /// Number of desired endpoints.
    pub endpoints: usize,
    /// Number of slices after the writes.
    pub slices: usize,
}

impl TypePlan {
    /// Returns a plan without writes.
    pub fn empty(address_type: AddressType) -> TypePlan {
        TypePlan {
            address_type,
            writes: Vec::new(),
            events: Vec::new(),
            hints: None,
            groups: Vec::new(),
            withheld: 0,
            added: 0,
            updated: 0,
            removed: 0,
        }
    }

    /// Returns whether the plan has no writes.
    pub fn is_empty(&self) -> bool {
        self.writes.is_empty()
    }

    /// Returns the number of writes.
    pub fn len(&self) -> usize {
        self.writes.len()
    }

    /// Returns the slices to create.
    pub fn creates(&self) -> impl Iterator<Item = &EndpointSlice> {
        self.writes.iter().filter_map(|write| if let Write::Create(slice) = write { Some(slice) } else { None })
    }

    /// Returns the slices to update, in their new state.
    pub fn updates(&self) -> impl Iterator<Item = &EndpointSlice> {
        self.writes.iter().filter_map(|write| match write {
            Write::Update { desired, .. } => Some(desired),
            _ => None,
        })
    }

    /// Returns the slices to delete.
    pub fn deletes(&self) -> impl Iterator<Item = &Arc<EndpointSlice>> {
        self.writes.iter().filter_map(|write| if let Write::Delete(slice) = write { Some(slice) } else { None })
    }
}

/// Returns the writes that turn the existing slices of an owner into its desired endpoints. A
/// [`Reconciler`](crate::Reconciler) also sends them.
pub fn plan<E: DesiredEndpoint>(input: Input<'_, E>, mut hints: Hints<'_>, options: &Options) -> Plan {
    let Input { owner, address_types, desired, existing, tracked_as, labels, annotations, trigger_time } = input;
    let default_labels;
    let labels = if let Some(labels) = labels {
        labels
    } else {
        default_labels = SliceLabels::carry(&Labels::default());
        &default_labels
    };
    let no_annotations = Labels::default();
    let annotations = annotations.unwrap_or(&no_annotations);
    let build =
        Builder { owner, labels: labels.written_by(options, tracked_as.unwrap_or(&owner.name)), annotations, options };

    // Slices of other controllers must not be written, even if the caller passes them.
    let existing: Vec<_> = existing.iter().filter(|slice| slice.is_managed_by(&options.controller)).collect();
    let mut desired_of: Vec<Vec<DesiredGroup<E>>> = address_types.iter().map(|_| Vec::new()).collect();
    for group in desired {
        if let Some(at) = address_types.iter().position(|it| *it == group.address_type) {
            desired_of[at].push(group);
        }
    }
    let types = address_types.iter().zip(desired_of).map(|(address_type, groups)| {
        let of_type: Vec<_> = existing.iter().copied().filter(|it| it.address_type == *address_type).collect();
        let mut changes = build.changes(address_type, groups::merge(groups), &of_type);
        let HintsOutcome { allocated, events } = hints.decide(address_type, &mut changes.slices);

        let Changes { slices, mut delete, groups, added, updated, removed } = changes;
        let SliceSet { mut create, mut update, unchanged: _ } = slices;
        recycle(owner, options, &mut create, &mut update, &mut delete);
        let withheld = if owner.terminating { std::mem::take(&mut create).len() } else { 0 };
        for slice in &mut update {
            sort_slice_ports(&mut slice.ports);
        }
        for slice in create.iter_mut().chain(&mut update) {
            stamp(slice, trigger_time);
        }
        TypePlan {
            address_type: address_type.clone(),
            writes: in_order(create, update, delete, &of_type),
            events,
            hints: allocated,
            groups,
            withheld,
            added,
            updated,
            removed,
        }
    });
    let types = types.collect();
    let unsupported: Vec<_> =
        existing.into_iter().filter(|slice| !address_types.contains(&slice.address_type)).collect();
    Plan { types, ..Plan::delete(in_stable_order(&unsupported).into_iter().cloned().collect()) }
}

/// Returns the writes of one address type in the order in which they are sent. `existing` contains the slices to update.
fn in_order(
    create: Vec<EndpointSlice>,
    update: Vec<EndpointSlice>,
    delete: Vec<Arc<EndpointSlice>>,
    existing: &[&Arc<EndpointSlice>],
) -> Vec<Write<EndpointSlice>> {
    let mut writes = Vec::with_capacity(create.len() + update.len() + delete.len());
    writes.extend(create.into_iter().map(Write::Create));
    if !update.is_empty() {
        let stored: HashMap<&str, &Arc<EndpointSlice>> =
            existing.iter().map(|slice| (&*slice.metadata.name, *slice)).collect();
        writes.extend(update.into_iter().map(|desired| {
            let stored =
                stored.get(&*desired.metadata.name).expect("only existing slices are updated, under their names");
            Write::Update { stored: Arc::clone(stored), desired }
        }));
    }
    writes.extend(delete.into_iter().map(Write::Delete));
    writes
}

/// Changes of one address type, before deletes and creates are paired into updates.
#[derive(Default)]
struct Changes {
    slices: SliceSet,
    delete: Vec<Arc<EndpointSlice>>,
    groups: Vec<GroupCount>,
    added: usize,
    updated: usize,
    removed: usize,
}

/// Fields that all new slices of a plan share.
pub(crate) struct Builder<'a> {
    pub(crate) owner: &'a Owner,
    pub(crate) labels: WrittenLabels<'a>,
    pub(crate) annotations: &'a Labels,
    pub(crate) options: &'a Options,
}

impl Builder<'_> {
    fn changes<E: DesiredEndpoint>(
        &self,
        address_type: &AddressType,
        groups: Vec<DesiredGroup<E>>,
        existing: &[&Arc<EndpointSlice>],
    ) -> Changes {
        let mut changes = Changes::default();
        let is_ours = |slice: &&Arc<EndpointSlice>| !self.options.enforce_ownership || self.owner.owns(slice);
        let (ours, foreign): (Vec<_>, Vec<_>) = existing.iter().copied().partition(is_ours);
        let (slices_of, orphaned) = groups::assign(&groups, ours);
        for (group, slices) in groups.into_iter().zip(slices_of) {
            let DesiredGroup { address_type: _, mut ports, endpoints } = group;
            // Only new slices need upstream's order of ports, and most plans have none.
            let mut new_slice = |endpoints| {
                sort_slice_ports(&mut ports);
                self.new_slice(address_type, &ports, endpoints)
            };
            let packed = match self.options.packing {
                Packing::Incremental => {
                    pack(&slices, &endpoints, &self.labels, self.options.max_endpoints_per_slice.get())
                }
                Packing::Single => single(&slices, &endpoints, self, &mut new_slice),
            };
            let Packed { create, update, delete, unchanged, desired, added, updated, removed } = packed;
            changes.groups.push(GroupCount {
                endpoints: desired,
                slices: (slices.len() + create.len()).saturating_sub(delete.len()),
            });
            changes.slices.create.extend(create.into_iter().map(new_slice));
            changes.slices.update.extend(update);
            changes.slices.unchanged.extend(unchanged);
            changes.delete.extend(delete);
            changes.added += added;
            changes.updated += updated;
            changes.removed += removed;
        }

        let to_delete: Vec<_> = changes.delete.iter().chain(foreign).chain(orphaned).collect();
        changes.delete = in_stable_order(&to_delete).into_iter().cloned().collect();
        if self.options.placeholder {
            self.keep_one(address_type, existing.len(), &mut changes);
        }
        changes
    }

    /// Leaves one empty slice if all slices are to be deleted and none is created (RC-25): the only one to be deleted
    /// if it equals the placeholder, otherwise a new one.
    fn keep_one(&self, address_type: &AddressType, existing: usize, changes: &mut Changes) {
        if existing != changes.delete.len() || !changes.slices.create.is_empty() {
            return;
        }
        if let [last] = &changes.delete[..]
            && self.is_placeholder(last)
        {
            changes.slices.unchanged.append(&mut changes.delete);
        } else {
            changes.slices.create.push(self.new_slice(address_type, &[], Vec::new()));
        }
        changes.groups.push(GroupCount { endpoints: 0, slices: 1 });
    }

    /// Returns whether a slice equals the placeholder (RC-26). Name, annotations and owner references are not compared.
    fn is_placeholder(&self, slice: &EndpointSlice) -> bool {
        slice.endpoints.is_empty()
            && slice.ports.is_empty()
            && slice.metadata.namespace == self.owner.namespace
            && self.labels.same_but_for_empty(slice)
    }

    fn new_slice(&self, address_type: &AddressType, ports: &[EndpointPort], endpoints: Vec<Endpoint>) -> EndpointSlice {
        let annotations = match self.options.packing {
            Packing::Incremental => Labels::default(),
            Packing::Single => self.annotations.clone(),
        };
        EndpointSlice {
            metadata: ObjectMeta {
                namespace: self.owner.namespace.clone(),
                generate_name: Some(self.owner.generate_name()),
                owner_references: vec![self.owner.reference()],
                labels: self.labels.written.clone(),
                annotations,
                ..ObjectMeta::default()
            },
            address_type: address_type.clone(),
            endpoints,
            ports: ports.to_vec(),
        }
    }
}

/// Sets or removes the trigger time annotation of a slice to be written.
fn stamp(slice: &mut EndpointSlice, trigger_time: TriggerTime) {
    let TriggerTime::Write(time) = trigger_time else { return };
    let annotations = &mut slice.metadata.annotations;
    let key = well_known::TRIGGER_TIME_ANNOTATION;
    match time {
        Some(time) => *annotations = annotations.with_fitting([(key, &*time.to_string())]),
        None if annotations.contains_key(key) => *annotations = annotations.without(|it| it == key),
        None => {}
    }
}

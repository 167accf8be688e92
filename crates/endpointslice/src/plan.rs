//! From what is and what should be to what must be written: pure and deterministic.

use std::collections::{BTreeMap, BTreeSet, HashMap, btree_map};
use std::num::NonZeroUsize;
use std::sync::Arc;

use jiff::Timestamp;
use kube_endpoint_model::{AddressType, Endpoint, EndpointPort, EndpointSlice, Labels, ObjectMeta, Text, well_known};
use kube_topology::{HintPolicy, HintsOutcome, SliceSet, TopologyEvent, ZoneRatios};

use crate::desired::DesiredGroup;
use crate::owner::Owner;
use crate::packing::{Packed, by_identity, in_stable_order, pack};
use crate::recycle::recycle;
use crate::slice_labels::SliceLabels;

/// How a controller keeps its slices.
#[derive(Clone, Debug)]
pub struct Options {
    /// The most endpoints a slice is filled with; the API server accepts up to 1,000.
    pub max_endpoints_per_slice: NonZeroUsize,
    /// Whether an owner without endpoints has one empty slice for each address type.
    pub placeholder: bool,
    /// How endpoints share slices.
    pub packing: Packing,
}

/// How endpoints of the same address type and ports share slices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// As the slice controller: slices are filled up to the maximum, endpoints stay where they are, and what others
    /// wrote on a slice survives. Slices that do not refer to the owner are deleted (RC-6).
    Incremental,
    /// As the mirroring controller: one slice, written anew as a whole whenever it changes, with exactly the carried
    /// annotations. Endpoints beyond the maximum are not written. Slices left by an earlier owner are taken over (MI-15).
    Single,
}

/// What a plan is made from. Equal input gives equal plans.
#[derive(Debug)]
pub struct Input<'a> {
    /// Who owns the slices.
    pub owner: &'a Owner,
    /// Whether the owner is being deleted: nothing is created for it any more (EC-29).
    pub owner_terminating: bool,
    /// The address types the owner has. Slices of other types are deleted.
    pub address_types: &'a [AddressType],
    /// The endpoints there should be.
    pub desired: Vec<DesiredGroup>,
    /// The slices there are: those of this owner's name and this controller that are not being deleted.
    pub existing: &'a [Arc<EndpointSlice>],
    /// The labels slices get.
    pub labels: &'a SliceLabels,
    /// The annotations slices get with [`Packing::Single`]; otherwise they keep what they have.
    pub annotations: &'a Labels,
    /// What to do about the annotation that says which change a write is for.
    pub trigger_time: TriggerTime,
    /// What to do about hints.
    pub hints: Hints<'a>,
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
    fn decide(&mut self, address_type: &AddressType, slices: &mut SliceSet) -> HintsOutcome {
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

/// What must be written, for each address type apart: a failure in one is no reason to leave out another (EC-45).
#[derive(Debug, Default, PartialEq)]
pub struct Plan {
    /// One for each address type of the owner.
    pub types: Vec<TypePlan>,
    /// Slices of address types the owner does not have, to be deleted last, each whatever becomes of the others (RC-4).
    pub unsupported: Vec<Arc<EndpointSlice>>,
}

impl Plan {
    /// Whether there is nothing to write.
    pub fn is_empty(&self) -> bool {
        self.unsupported.is_empty() && self.types.iter().all(TypePlan::is_empty)
    }
}

/// What must be written for one address type: creates first, then updates, then deletes.
#[derive(Debug, PartialEq)]
pub struct TypePlan {
    /// The address type.
    pub address_type: AddressType,
    /// Slices to create; the server makes their names.
    pub create: Vec<EndpointSlice>,
    /// Slices to update. One without a resource version replaces whatever has its name.
    pub update: Vec<EndpointSlice>,
    /// Slices to delete.
    pub delete: Vec<Arc<EndpointSlice>>,
    /// What to tell about hints, once the rest is written or has failed (RC-35).
    pub events: Vec<TopologyEvent>,
    /// How many endpoints are hinted to each zone, for the topology cache; `None` takes the address type out of it.
    pub hints: Option<BTreeMap<Text, usize>>,
    /// Endpoints that are in no slice yet.
    pub added: usize,
    /// Endpoints that will be in no slice any more.
    pub removed: usize,
}

impl TypePlan {
    /// Whether there is nothing to write.
    pub fn is_empty(&self) -> bool {
        self.create.is_empty() && self.update.is_empty() && self.delete.is_empty()
    }
}

/// Plans the writes that turn the existing slices into the desired ones.
pub fn plan(input: Input<'_>, options: &Options) -> Plan {
    let Input {
        owner,
        owner_terminating,
        address_types,
        desired,
        existing,
        labels,
        annotations,
        trigger_time,
        mut hints,
    } = input;
    let build = Builder { owner, labels, annotations, options };

    let (supported, unsupported): (Vec<_>, Vec<_>) =
        existing.iter().cloned().partition(|slice| address_types.contains(&slice.address_type));
    let mut desired_of: HashMap<AddressType, Vec<DesiredGroup>> = HashMap::new();
    for group in desired {
        desired_of.entry(group.address_type.clone()).or_default().push(group);
    }

    let types = address_types.iter().map(|address_type| {
        let of_type: Vec<_> = supported.iter().filter(|it| it.address_type == *address_type).cloned().collect();
        let groups = desired_of.remove(address_type).unwrap_or_default();
        let mut changes = build.changes(address_type, groups, &of_type);
        let HintsOutcome { allocated, events } = hints.decide(address_type, &mut changes.slices);

        let Changes { slices: SliceSet { mut create, mut update, unchanged: _ }, mut delete, added, removed } = changes;
        recycle(owner, options.packing, &mut create, &mut update, &mut delete);
        if owner_terminating {
            create.clear();
        }
        for slice in create.iter_mut().chain(&mut update) {
            stamp(slice, trigger_time);
        }
        TypePlan {
            address_type: address_type.clone(),
            create,
            update,
            delete,
            events,
            hints: allocated,
            added,
            removed,
        }
    });
    Plan { types: types.collect(), unsupported: in_stable_order(&unsupported) }
}

/// The changes for one address type before slices to delete are turned into updates.
struct Changes {
    slices: SliceSet,
    delete: Vec<Arc<EndpointSlice>>,
    added: usize,
    removed: usize,
}

struct Builder<'a> {
    owner: &'a Owner,
    labels: &'a SliceLabels,
    annotations: &'a Labels,
    options: &'a Options,
}

impl Builder<'_> {
    fn changes(
        &self,
        address_type: &AddressType,
        groups: Vec<DesiredGroup>,
        existing: &[Arc<EndpointSlice>],
    ) -> Changes {
        let slices = SliceSet { create: Vec::new(), update: Vec::new(), unchanged: Vec::new() };
        let mut changes = Changes { slices, delete: Vec::new(), added: 0, removed: 0 };
        let mut by_ports: HashMap<Vec<EndpointPort>, Vec<Arc<EndpointSlice>>> = HashMap::new();
        for slice in existing {
            if self.options.packing == Packing::Incremental && !self.owner.owns(slice) {
                changes.delete.push(Arc::clone(slice));
            } else {
                by_ports.entry(ports_key(&slice.ports)).or_default().push(Arc::clone(slice));
            }
        }

        for (ports, group) in merge_groups(groups) {
            let of_ports = by_ports.remove(&ports_key(&ports)).unwrap_or_default();
            let packed = match self.options.packing {
                Packing::Incremental => {
                    let max = self.options.max_endpoints_per_slice.get();
                    pack(&of_ports, by_identity(group.endpoints), self.labels, max)
                }
                Packing::Single => self.single(address_type, &ports, group, &of_ports),
            };
            let Packed { create, update, delete, unchanged, added, removed } = packed;
            let create = create.into_iter().map(|endpoints| self.new_slice(address_type, &ports, endpoints));
            changes.slices.create.extend(create);
            changes.slices.update.extend(update);
            changes.slices.unchanged.extend(unchanged);
            changes.delete.extend(delete);
            changes.added += added;
            changes.removed += removed;
        }

        // Slices of ports that nothing has any more (RC-24). What remains of a map has no order of its own.
        let orphaned: Vec<_> = by_ports.into_values().flatten().collect();
        changes.delete.extend(orphaned);
        changes.delete = in_stable_order(&changes.delete);
        if self.options.placeholder {
            self.keep_one(address_type, existing.len(), &mut changes);
        }
        changes
    }

    /// An owner without endpoints keeps one empty slice (RC-25): the last to be deleted if it is one, otherwise a new
    /// one.
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
    }

    /// Whether a slice equals a placeholder (RC-26): its owner, name and annotations do not matter.
    fn is_placeholder(&self, slice: &EndpointSlice) -> bool {
        slice.endpoints.is_empty()
            && slice.ports.is_empty()
            && slice.metadata.namespace == self.owner.namespace
            && self.labels.same_but_for_empty(slice)
    }

    /// One slice for all endpoints of a group, written anew when anything about it differs (MI-13 to MI-16).
    fn single(
        &self,
        address_type: &AddressType,
        ports: &[EndpointPort],
        group: DesiredGroup,
        existing: &[Arc<EndpointSlice>],
    ) -> Packed {
        let max = self.options.max_endpoints_per_slice.get();
        let desired = by_identity(group.endpoints);
        let mut ordered = in_stable_order(existing).into_iter();
        let mut packed = Packed::default();
        if desired.is_empty() {
            packed.delete = ordered.collect();
            packed.removed = packed.delete.iter().map(|slice| slice.endpoints.len()).sum();
            return packed;
        }

        let first = ordered.next();
        packed.delete = ordered.collect();
        let mut endpoints: Vec<_> = desired.into_iter().collect();
        endpoints.sort_by(|(a, _), (b, _)| a.cmp(b));
        endpoints.truncate(max);
        let Some(first) = first else {
            packed.added = endpoints.len();
            packed.create.push(endpoints.into_iter().map(|(_, endpoint)| endpoint).collect());
            return packed;
        };

        let before = by_identity(first.endpoints.clone());
        let kept = endpoints.iter().filter(|(identity, _)| before.contains_key(identity)).count();
        packed.added = endpoints.len() - kept;
        packed.removed = before.len() - kept;
        let same_endpoints = packed.added == 0
            && packed.removed == 0
            && first.endpoints.len() == endpoints.len()
            && endpoints.iter().all(|(identity, wanted)| {
                before.get(identity).is_some_and(|endpoint| endpoint.equal_beyond_identity(wanted))
            });
        if same_endpoints
            && !self.labels.differ_from(&first)
            && first.metadata.annotations == *self.annotations
            && !self.owner.predecessor_owns(&first)
        {
            packed.unchanged.push(first);
        } else {
            let endpoints = endpoints.into_iter().map(|(_, endpoint)| endpoint).collect();
            let mut replacement = self.new_slice(address_type, ports, endpoints);
            replacement.metadata.name = first.metadata.name.clone();
            packed.update.push(replacement);
        }
        packed
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
                labels: self.labels.written().clone(),
                annotations,
                ..ObjectMeta::default()
            },
            address_type: address_type.clone(),
            endpoints,
            ports: ports.to_vec(),
        }
    }
}

/// Ports as the key of a group: order does not tell groups apart, and no ports is one group however it is written.
fn ports_key(ports: &[EndpointPort]) -> Vec<EndpointPort> {
    let mut key = ports.to_vec();
    key.sort();
    key
}

/// Groups with the same ports become one; groups come out in the order of their ports, whatever order they came in.
fn merge_groups(groups: Vec<DesiredGroup>) -> Vec<(Vec<EndpointPort>, DesiredGroup)> {
    let mut merged: BTreeMap<Vec<EndpointPort>, (Vec<EndpointPort>, DesiredGroup)> = BTreeMap::new();
    for group in groups {
        match merged.entry(ports_key(&group.ports)) {
            btree_map::Entry::Occupied(mut same) => same.get_mut().1.endpoints.extend(group.endpoints),
            btree_map::Entry::Vacant(place) => {
                let mut ports = group.ports.clone();
                kube_endpoint_model::sort_slice_ports(&mut ports);
                place.insert((ports, group));
            }
        }
    }
    merged.into_values().collect()
}

/// Sets or removes the annotation that says which change a write is for.
fn stamp(slice: &mut EndpointSlice, trigger_time: TriggerTime) {
    let TriggerTime::Write(time) = trigger_time else { return };
    let annotations = &mut slice.metadata.annotations;
    let key = well_known::TRIGGER_TIME_ANNOTATION;
    match time {
        Some(time) => *annotations = annotations.with([(key, &*time.to_string())]),
        None if annotations.contains_key(key) => *annotations = annotations.without(|it| it == key),
        None => {}
    }
}

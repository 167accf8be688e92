//! Properties of plans for arbitrary slices and endpoints, with 2,000 cases each.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kube_endpoint_model::well_known::{SERVICE_NAME_LABEL, SLICE_CONTROLLER, SLICE_MANAGED_BY_LABEL};
use kube_endpoint_model::{AddressType, EndpointPort, EndpointSlice, Labels, ObjectMeta};
use kube_endpointslice::{DesiredGroup, Owner, Plan};
use proptest::prelude::*;

use crate::reference::{Desired, Slice, fewest_writes};
use crate::world::{carry_out, endpoint_of, options, plan_for, ports, service};

const TYPES: [AddressType; 2] = [AddressType::IPv4, AddressType::IPv6];

/// Existing slices and desired endpoints of one address type.
#[derive(Clone, Debug)]
struct Family {
    existing: Vec<Slice>,
    desired: Desired,
}

impl Family {
    /// Keeps each endpoint in the first slice of its port only, as a controller leaves the slices. If an endpoint is in
    /// two slices, the number of writes depends on which of them is visited first, and the plan does not search for the
    /// best order.
    fn at_rest(&mut self) {
        let mut seen = BTreeSet::new();
        for slice in &mut self.existing {
            slice.endpoints.retain(|number, _| seen.insert((slice.port, *number)));
        }
    }
}

fn endpoints(count: usize) -> impl Strategy<Value = BTreeMap<usize, bool>> {
    prop::collection::btree_map(0usize..24, any::<bool>(), 0..count)
}

/// Returns arbitrary slices: with one of three ports or none, endpoints that are in several slices, other owners, wrong
/// labels.
fn family(max: usize) -> impl Strategy<Value = Family> {
    let slice = (prop::sample::select(vec![0, 80, 81, 82]), endpoints(max + 1), 0..8u8, 0..8u8);
    let slice = slice.prop_map(|(port, endpoints, owned, labels)| Slice {
        port,
        owned: owned > 0,
        right_labels: labels > 0,
        endpoints,
    });
    let desired = prop::collection::btree_map(prop::sample::select(vec![80, 81]), endpoints(24), 0..3);
    (prop::collection::vec(slice, 0..5), desired).prop_map(|(existing, desired)| Family { existing, desired })
}

fn families() -> impl Strategy<Value = (usize, [Family; 2])> {
    (1usize..8).prop_flat_map(|max| (Just(max), [family(max), family(max)]))
}

fn ports_of(port: i32) -> Vec<EndpointPort> {
    if port == 0 { Vec::new() } else { ports(port) }
}

fn slices(families: &[Family; 2], controller: &str) -> Vec<Arc<EndpointSlice>> {
    let slice = |address_type: &AddressType, number: usize, slice: &Slice| {
        let extra = (!slice.right_labels).then_some(("team", "a"));
        let labels = [(SERVICE_NAME_LABEL, "web"), (SLICE_MANAGED_BY_LABEL, controller)];
        let mut owner = Owner::service(&service()).reference();
        if !slice.owned {
            owner.uid = "earlier".into();
        }
        let name = format!("{controller}-{}-{number}", address_type.as_str());
        EndpointSlice {
            metadata: ObjectMeta {
                namespace: "ns".into(),
                uid: name.as_str().into(),
                name: name.into(),
                resource_version: 1.into(),
                labels: labels.into_iter().chain(extra).collect::<Labels>(),
                owner_references: vec![owner],
                ..ObjectMeta::default()
            },
            address_type: address_type.clone(),
            endpoints: slice.endpoints.iter().map(|(at, ready)| endpoint_of(address_type, *at, *ready)).collect(),
            ports: ports_of(slice.port),
        }
    };
    let of_type = |(address_type, family): (&AddressType, &Family)| -> Vec<_> {
        family.existing.iter().enumerate().map(|(at, it)| Arc::new(slice(address_type, at, it))).collect()
    };
    TYPES.iter().zip(families).flat_map(of_type).collect()
}

fn desired(families: &[Family; 2]) -> Vec<DesiredGroup> {
    let group = |address_type: &AddressType, port: i32, endpoints: &BTreeMap<usize, bool>| DesiredGroup {
        address_type: address_type.clone(),
        ports: ports_of(port),
        endpoints: endpoints.iter().map(|(at, ready)| endpoint_of(address_type, *at, *ready)).collect(),
    };
    let of_type = |(address_type, family): (&AddressType, &Family)| -> Vec<_> {
        family.desired.iter().map(|(port, endpoints)| group(address_type, *port, endpoints)).collect()
    };
    TYPES.iter().zip(families).flat_map(of_type).collect()
}

fn plan_of(families: &[Family; 2], existing: &[Arc<EndpointSlice>], max: usize) -> Plan {
    plan_for(&service(), &TYPES, desired(families), existing, &options(max))
}

/// Returns the number of occurrences of each endpoint, as (address type, port, address, ready).
fn shown(slices: &[Arc<EndpointSlice>]) -> BTreeMap<(String, i32, String, bool), usize> {
    let mut all = BTreeMap::new();
    for slice in slices {
        let port = slice.ports.first().and_then(|port| port.port).unwrap_or_default();
        for endpoint in &slice.endpoints {
            let address_type = slice.address_type.as_str().to_owned();
            let it = (address_type, port, endpoint.addresses[0].to_string(), endpoint.is_ready());
            *all.entry(it).or_default() += 1;
        }
    }
    all
}

fn expected(families: &[Family; 2]) -> BTreeMap<(String, i32, String, bool), usize> {
    shown(
        &desired(families)
            .into_iter()
            .map(|DesiredGroup { address_type, ports, endpoints }| {
                Arc::new(EndpointSlice { metadata: ObjectMeta::default(), address_type, endpoints, ports })
            })
            .collect::<Vec<_>>(),
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_plan_carried_out_leaves_nothing_to_do((max, families) in families()) {
        let existing = slices(&families, SLICE_CONTROLLER);
        let first = plan_of(&families, &existing, max);
        let after = carry_out(&existing, &first, &mut 0);
        let second = plan_of(&families, &after, max);
        prop_assert!(second.is_empty(), "{second:?}");
    }

    #[test]
    fn every_desired_endpoint_is_in_exactly_one_slice((max, families) in families()) {
        let existing = slices(&families, SLICE_CONTROLLER);
        let after = carry_out(&existing, &plan_of(&families, &existing, max), &mut 0);
        prop_assert_eq!(shown(&after), expected(&families));
    }

    #[test]
    fn no_slice_exceeds_the_maximum((max, families) in families()) {
        let existing = slices(&families, SLICE_CONTROLLER);
        let after = carry_out(&existing, &plan_of(&families, &existing, max), &mut 0);
        prop_assert!(after.iter().all(|slice| slice.endpoints.len() <= max));
    }

    #[test]
    fn slices_never_mix_ports_or_address_types((max, families) in families()) {
        let existing = slices(&families, SLICE_CONTROLLER);
        let plan = plan_of(&families, &existing, max);
        let known: BTreeSet<_> = [0, 80, 81, 82].map(ports_of).into();
        for plan in &plan.types {
            for slice in plan.creates().chain(plan.updates()) {
                prop_assert_eq!(&slice.address_type, &plan.address_type);
                prop_assert!(known.contains(&slice.ports));
                let families: BTreeSet<_> = slice.endpoints.iter().map(|it| it.addresses[0].family()).collect();
                prop_assert!(families.len() <= 1);
                for family in families {
                    prop_assert_eq!(family.map(AddressType::from), Some(plan.address_type.clone()));
                }
            }
        }
    }

    #[test]
    fn slices_of_other_controllers_are_never_touched((max, families) in families(), (_, others) in families()) {
        let ours = slices(&families, SLICE_CONTROLLER);
        let both = [ours.clone(), slices(&others, "others.example.com")].concat();
        prop_assert_eq!(plan_of(&families, &both, max), plan_of(&families, &ours, max));
    }

    #[test]
    fn there_are_never_more_writes_than_upstream_may_come_to((max, mut families) in families()) {
        families.iter_mut().for_each(Family::at_rest);
        let existing = slices(&families, SLICE_CONTROLLER);
        for (plan, Family { existing, desired }) in plan_of(&families, &existing, max).types.iter().zip(&families) {
            let fewest = fewest_writes(existing, desired, max);
            prop_assert!(plan.len() <= fewest, "{} instead of {fewest}", plan.len());
        }
    }

    #[test]
    fn order_does_not_matter((max, families) in families(), seed in any::<u64>()) {
        let existing = slices(&families, SLICE_CONTROLLER);
        let plan = plan_of(&families, &existing, max);
        let mut groups = desired(&families);
        for group in &mut groups {
            shuffle(&mut group.endpoints, seed);
            shuffle(&mut group.ports, seed);
        }
        shuffle(&mut groups, seed);
        let mut other = existing.clone();
        shuffle(&mut other, seed);
        prop_assert_eq!(plan_for(&service(), &TYPES, groups, &other, &options(max)), plan);
    }

    #[test]
    fn two_histories_give_the_same_slices_but_for_names(steps in prop::collection::vec(family(5), 1..5), max in 1usize..8) {
        let walk = |first_name: usize, backwards: bool| {
            let (mut slices, mut next) = (Vec::new(), first_name);
            for step in &steps {
                let families = [step.clone(), Family { existing: Vec::new(), desired: Desired::new() }];
                let plan = plan_of(&families, &slices, max);
                slices = carry_out(&slices, &plan, &mut next);
                if backwards {
                    slices.reverse();
                }
            }
            let mut contents: Vec<_> = slices.iter().map(|slice| format!("{:?} {:?}", slice.ports, slice.endpoints)).collect();
            contents.sort();
            contents
        };
        // The names of the two runs sort in opposite order.
        prop_assert_eq!(walk(10_000, false), walk(500, true));
    }
}

fn shuffle<T>(list: &mut [T], mut seed: u64) {
    for at in (1..list.len()).rev() {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        list.swap(at, (seed >> 33) as usize % (at + 1));
    }
}

//! A summary says the same as the states one by one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;
use kube_endpoint_model::{EndpointSlice, ObjectKey};
use kube_endpoints_explain::{Settings, World};
use kube_endpoints_history::summary::{Options, Outage, Summary};
use kube_endpoints_history::{Archive, Kind, Recorded, Select};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;

use crate::recording::{Recording, State, Step, author, record, recorded, time};

const SERVICES: [&str; 2] = ["web", "api"];

fn object() -> impl Strategy<Value = Recorded> {
    let condition = |is_true: bool| if is_true { "True" } else { "False" };
    let flag = any::<bool>;
    let pods = (0..4_usize, 0..2_usize, 0..3_usize, flag(), prop::bool::weighted(0.2), 0..3_usize);
    let pods = pods.prop_map(move |(at, app, ip, ready, terminating, node)| {
        let ip = format!("10.1.0.{ip}");
        let deletion = terminating.then_some("2026-11-27T14:00:00Z");
        json!({"kind": "Pod",
            "metadata": {"namespace": "shop", "name": format!("web-{at}"), "uid": format!("u{at}"),
                "labels": {"app": SERVICES[app]}, "deletionTimestamp": deletion},
            "spec": {"nodeName": (["n1", "n1", "n2"][node])},
            "status": {"podIP": ip, "podIPs": [{"ip": ip}], "conditions": [{"type": "Ready", "status": condition(ready)}]}})
    });
    let services = (0..2_usize, 0..4_usize, prop::bool::weighted(0.1)).prop_map(|(name, app, is_alias)| {
        let selector = SERVICES.get(app.min(2)).map(|app| json!({"app": app}));
        json!({"kind": "Service", "metadata": {"namespace": "shop", "name": SERVICES[name]},
            "spec": {"clusterIP": "10.96.0.1", "ipFamilies": ["IPv4"], "selector": selector,
                "type": if is_alias { "ExternalName" } else { "ClusterIP" }}})
    });
    let slices = (0..3_usize, 0..2_usize, vec((0..3_usize, flag()), 0..3)).prop_map(|(name, service, endpoints)| {
                let endpoint = |(ip, ready): &(usize, bool)| {
            json!({"addresses": [format!("10.1.0.{ip}")], "conditions": {"ready": ready, "serving": ready}})
        };
        let endpoints: Vec<_> = endpoints.iter().map(endpoint).collect();
        let manager = ["endpointslice-controller.k8s.io", "endpointslicemirroring-controller.k8s.io", "other"][name];
        json!({"kind": "EndpointSlice", "addressType": "IPv4", "endpoints": endpoints,
            "metadata": {"namespace": "shop", "name": format!("slice-{name}"),
                "labels": {"kubernetes.io/service-name": SERVICES[service], "endpointslice.kubernetes.io/managed-by": manager}}})
    });
    let endpoints = (0..2_usize, 0..3_usize, flag()).prop_map(|(service, ip, ready)| {
        let addresses = if ready { "addresses" } else { "notReadyAddresses" };
        json!({"kind": "Endpoints", "metadata": {"namespace": "shop", "name": SERVICES[service]},
            "subsets": [{addresses: [{"ip": format!("10.1.0.{ip}")}]}]})
    });
    let nodes = (1..3_usize, flag()).prop_map(move |(at, ready)| {
        json!({"kind": "Node", "metadata": {"name": format!("n{at}")},
            "status": {"conditions": [{"type": "Ready", "status": condition(ready)}]}})
    });
    prop_oneof![5 => pods, 2 => services, 4 => slices, 1 => endpoints, 2 => nodes].prop_map(|it| recorded(&it))
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    vec(
        prop_oneof![
            16 => object().prop_map(Step::Put),
            3 => object().prop_map(|object| Step::Remove(object.kind(), object.key())),
            1 => Just(Step::Next),
            1 => Just(Step::Restart),
        ],
        0..60,
    )
}

/// Returns whether a Service exists, and the addresses that are ready and that a slice shows as ready.
fn reachable(state: &State, key: &ObjectKey) -> (bool, BTreeSet<String>) {
    let Some(Recorded::Service(service)) = state.get(&(Kind::Service, key.clone())) else {
        return (false, BTreeSet::new());
    };
    if service.external_name {
        return (false, BTreeSet::new());
    }
    let mut world = World::new(Settings::default());
    for object in state.values() {
        match object.clone() {
            Recorded::Service(it) => world.add_services([it]),
            Recorded::Pod(it) => world.add_pods([it]),
            Recorded::Node(it) => world.add_nodes([it]),
            Recorded::Endpoints(it) => world.add_endpoints([it]),
            Recorded::EndpointSlice(it) => world.add_slices([it]),
        }
    }
    let ready = ready(world.planned_slices(key).iter());
    (true, ready.intersection(&self::ready(world.slices_of(key))).cloned().collect())
}

fn ready<'a>(slices: impl Iterator<Item = &'a Arc<EndpointSlice>>) -> BTreeSet<String> {
    let endpoints = slices.flat_map(|slice| &slice.endpoints).filter(|it| it.conditions.counts_as_ready());
    endpoints.filter_map(|endpoint| endpoint.addresses.first()).map(ToString::to_string).collect()
}

/// Service, beginning and end of an outage.
type Interval = (String, Timestamp, Option<Timestamp>);

/// Returns the outages of a Service by its states: those after it was reachable, and those before.
fn outages(states: &[State], from: usize, name: &str) -> [Vec<Interval>; 2] {
    let (mut found, mut begun, mut was_reachable) = ([Vec::new(), Vec::new()], None, false);
    for (at, state) in states.iter().enumerate().skip(from) {
        let (exists, reachable) = reachable(state, &ObjectKey::new("shop", name));
        match (exists && reachable.is_empty(), begun) {
            (true, None) => begun = Some(at),
            (false, Some(from)) => {
                found[usize::from(!was_reachable)].push((name.to_owned(), time(from), Some(time(at))));
                begun = None;
            }
            _ => {}
        }
        was_reachable = exists && (was_reachable || !reachable.is_empty());
    }
    found[usize::from(!was_reachable)].extend(begun.map(|from| (name.to_owned(), time(from), None)));
    found
}

/// Returns how often slices and Endpoints of each Service changed after it was there, by whether a manager is known.
fn writes(steps: &[Step], states: &[State], from: usize) -> BTreeMap<(String, bool), [u64; 2]> {
    let mut writes = BTreeMap::new();
    let mut known: BTreeSet<String> = BTreeSet::new();
    for (at, state) in states.iter().enumerate().skip(from) {
        // The changes of a restart have no order: `Summary` sees new Services before the rest of them.
        let services = state.keys().filter(|(kind, _)| *kind == Kind::Service);
        known.extend(services.map(|(_, key)| key.name.to_string()));
        let Some(before) = (at > from).then(|| &states[at - 1]) else { continue };
        for key in before.keys().chain(state.keys().filter(|key| !before.contains_key(key))) {
            let (old, new) = (before.get(key), state.get(key));
            let service = match new.or(old) {
                Some(Recorded::EndpointSlice(slice)) if old != new => slice.service_name().map(str::to_owned),
                Some(Recorded::Endpoints(endpoints)) if old != new => Some(endpoints.metadata.name.to_string()),
                _ => None,
            };
            if let Some(service) = service.filter(|it| known.contains(it)) {
                let has_manager = matches!(steps[at - 1], Step::Put(_));
                let counts: &mut [u64; 2] = writes.entry((service, has_manager)).or_default();
                counts[usize::from(key.0 == Kind::Endpoints)] += 1;
            }
        }
    }
    writes
}

fn intervals(outages: &[Outage]) -> BTreeSet<Interval> {
    outages.iter().map(|it| (it.service.name.clone(), it.from, it.until)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_summary_is_that_of_all_states(steps in steps(), from in 0..60_usize) {
        let from = from.min(steps.len()) / 2;
        let Recording { files, states, .. } = record(&steps);
        let mut archive = Archive::from_buffers(files).unwrap();
        let mut replay = archive.replay(Select::All, time(from)).unwrap();
        let mut options = Options::default();
        options.top = 1_000;
        let summary = Summary::of(&mut replay, None, time(from), &options).unwrap();

        let found = [intervals(&summary.outages.items), intervals(&summary.not_yet_ready.items)];
        let expected = SERVICES.map(|name| outages(&states, from, name));
        for (at, found) in found.iter().enumerate() {
            let expected: BTreeSet<Interval> = expected.iter().flat_map(|it| it[at].clone()).collect();
            prop_assert_eq!(found, &expected);
        }
        let managers = |it: &kube_endpoints_history::summary::Writes| {
            let name = it.service.name.clone();
            let of_manager = it.managers.iter().map(|by| ((name.clone(), by.manager.is_some()), [by.slices, by.endpoints]));
            of_manager.collect::<Vec<_>>()
        };
        let found: BTreeMap<_, _> = summary.writes.items.iter().flat_map(managers).collect();
        prop_assert_eq!(found, writes(&steps, &states, from));
        for by in summary.writes.items.iter().flat_map(|it| &it.managers) {
            prop_assert!(by.manager.is_none() || by.manager == Some(author().manager));
        }
        for timeline in &summary.timelines.items {
            prop_assert!(timeline.points.is_sorted_by_key(|point| point.time));
            let last = states.last().unwrap();
            let (exists, reachable) = reachable(last, &ObjectKey::new("shop", timeline.service.name.as_str()));
            let counts = timeline.points.last().unwrap().counts;
            prop_assert_eq!((counts.exists, counts.reachable), (exists, if exists { reachable.len() } else { counts.reachable }));
        }
    }
}

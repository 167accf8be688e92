use std::collections::BTreeMap;
use std::sync::Arc;

use kube_informer::{Event, ManualSource};
use rstest::rstest;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::*;
use crate::controllers::ENDPOINTSLICE;

/// Caches of a Service `shop/web` whose slice at version 100 has the Pods `web-0` and `web-1` on Node `n1`. All inputs
/// are at version 10.
struct World {
    inputs: Inputs,
    services: ManualSource<Service, ServiceIndex>,
    pods: ManualSource<Pod, PodIndex>,
    nodes: ManualSource<Node>,
    endpoints: ManualSource<Endpoints>,
    slices: ManualSource<EndpointSlice, SliceIndex>,
    changes: RecentChanges,
}

fn decoded<T: serde::de::DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).expect("an object")
}

fn metadata(name: &str, version: u64) -> Value {
    json!({"namespace": "shop", "name": name, "resourceVersion": version.to_string(), "uid": format!("uid-{name}")})
}

fn service(version: u64) -> Service {
    decoded(json!({"metadata": metadata("web", version), "spec": {"selector": {"app": "web"}}}))
}

fn pod(name: &str, app: &str, version: u64) -> Pod {
    let mut metadata = metadata(name, version);
    metadata["labels"] = json!({"app": app});
    decoded(json!({"metadata": metadata, "spec": {"nodeName": "n1"}}))
}

fn node(name: &str, version: u64) -> Node {
    Node { name: name.into(), resource_version: version.into(), ..Node::default() }
}

fn endpoints(version: u64, pods: &[&str]) -> Endpoints {
    let address = |pod: &&str| json!({"ip": "10.1.0.1", "targetRef": target(pod)});
    let addresses: Vec<Value> = pods.iter().map(address).collect();
    decoded(json!({"metadata": metadata("web", version), "subsets": [{"addresses": addresses}]}))
}

fn target(pod: &str) -> Value {
    json!({"kind": "Pod", "namespace": "shop", "name": pod, "uid": format!("uid-{pod}")})
}

fn slice(name: &str, version: u64, manager: &str, pods: &[&str]) -> EndpointSlice {
    let mut metadata = metadata(name, version);
    let labels = [("kubernetes.io/service-name", "web"), ("endpointslice.kubernetes.io/managed-by", manager)];
    metadata["labels"] = json!(BTreeMap::from(labels));
    let endpoint = |pod: &&str| json!({"addresses": ["10.1.0.1"], "zone": "a", "targetRef": target(pod)});
    let endpoints: Vec<Value> = pods.iter().map(endpoint).collect();
    decoded(json!({"metadata": metadata, "addressType": "IPv4", "endpoints": endpoints}))
}

impl World {
    fn new() -> World {
        let (service_cache, services) = ManualSource::with_index(ServiceIndex::default());
        let (pod_cache, pods) = ManualSource::with_index(PodIndex::default());
        let (node_cache, nodes) = ManualSource::new();
        let (endpoints_cache, endpoints_source) = ManualSource::new();
        let (slice_cache, slices) = ManualSource::with_index(SliceIndex::default());
        let inputs = Inputs {
            services: service_cache.lister(),
            pods: pod_cache.lister(),
            nodes: node_cache.lister(),
            endpoints: endpoints_cache.lister(),
            slices: slice_cache.lister(),
        };
        services.replace([service(10)], "100");
        pods.replace([pod("web-0", "web", 10), pod("web-1", "web", 10)], "100");
        nodes.replace([node("n1", 10), node("n2", 10)], "100");
        endpoints_source.replace([endpoints(100, &["web-0", "web-1"])], "100");
        slices.replace([slice("web-a", 100, SLICE_CONTROLLER, &["web-0", "web-1"])], "100");
        let endpoints = endpoints_source;
        World { inputs, services, pods, nodes, endpoints, slices, changes: RecentChanges::default() }
    }

    /// Records an event of a watch.
    fn seen<T: kube_wire::Object>(&mut self, input: Input, object: T, deleted: bool) {
        let object = Arc::new(object);
        self.changes.record_all();
        let event = if deleted {
            Event::Deleted { object, tombstone: false }
        } else {
            Event::Added { object, initial: false, relisted: false }
        };
        self.changes.observe(Instant::now(), input, &event);
    }

    fn facts<T: WrittenObject>(&self, controller: &str, writes: &[PlannedWrite<'_, T>], acted: Option<u64>) -> Facts {
        self.inputs.facts(controller, &ObjectKey::new("shop", "web"), writes, &self.changes, acted)
    }

    /// Returns whether an update of the stored slice that drops its endpoints is explained.
    fn explains_update(&self) -> bool {
        let stored = slice("web-a", 100, SLICE_CONTROLLER, &["web-0", "web-1"]);
        let desired = EndpointSlice { endpoints: Vec::new(), ..stored.clone() };
        self.facts(ENDPOINTSLICE, &[PlannedWrite::Update { stored: &stored, desired: &desired }], Some(100)).explain()
    }
}

type Change = fn(&mut World);

#[rstest]
#[case::nothing(|_: &mut World| {}, false)]
#[case::newer_service(|world: &mut World| world.services.apply(service(101)), true)]
#[case::older_service(|world: &mut World| world.services.apply(service(99)), false)]
#[case::newer_pod(|world: &mut World| world.pods.apply(pod("web-0", "web", 101)), true)]
#[case::new_pod(|world: &mut World| world.pods.apply(pod("web-2", "web", 101)), true)]
#[case::pod_no_longer_selected(|world: &mut World| world.pods.apply(pod("web-0", "other", 101)), true)]
#[case::other_pod(|world: &mut World| world.pods.apply(pod("other-0", "other", 101)), false)]
// Heartbeats change Nodes all the time.
#[case::newer_node(|world: &mut World| world.nodes.apply(node("n1", 101)), false)]
#[case::newer_endpoints(|world: &mut World| world.endpoints.apply(endpoints(101, &[])), false)]
// The write of the previous writer was based on an older cache.
#[case::event_of_an_older_pod(|world: &mut World| world.seen(Input::Pod, pod("web-0", "web", 99), false), true)]
#[case::event_of_the_service(|world: &mut World| world.seen(Input::Service, service(99), false), true)]
#[case::event_of_another_pod(|world: &mut World| world.seen(Input::Pod, pod("other-0", "web", 99), false), false)]
fn an_update_is_explained_by_a_newer_input(#[case] change: Change, #[case] expected: bool) {
    let mut world = World::new();
    change(&mut world);
    assert_eq!(world.explains_update(), expected);
}

/// A Pod that is missing in the cache explains nothing, whatever else is newer, unless its deletion was seen.
#[rstest]
#[case::all_missing(|world: &mut World| world.pods.replace([], "200"), false)]
#[case::one_missing(|world: &mut World| world.pods.replace([pod("web-0", "web", 10)], "200"), false)]
#[case::with_newer_service(
    |world: &mut World| {
        world.pods.replace([], "200");
        world.services.apply(service(150));
    },
    false
)]
#[case::with_newer_pod(|world: &mut World| world.pods.replace([pod("web-0", "web", 150)], "200"), false)]
#[case::deletion_seen(
    |world: &mut World| {
        world.pods.replace([pod("web-0", "web", 10)], "200");
        world.seen(Input::Pod, pod("web-1", "web", 10), true);
    },
    true
)]
#[case::one_of_two_deletions_seen(
    |world: &mut World| {
        world.pods.replace([], "200");
        world.seen(Input::Pod, pod("web-1", "web", 10), true);
    },
    false
)]
fn a_missing_pod_is_no_explanation(#[case] change: Change, #[case] expected: bool) {
    let mut world = World::new();
    change(&mut world);
    assert_eq!(world.explains_update(), expected);
}

/// A change of zones and hints: explained by the Node of an endpoint, and with the topology annotation by any Node.
#[rstest]
#[case::none("", None, false)]
#[case::own_node("", Some("n1"), true)]
#[case::other_node("", Some("n2"), false)]
#[case::other_node_with_hints("Auto", Some("n2"), true)]
fn nodes_explain_zones_and_hints(#[case] mode: &str, #[case] newer: Option<&str>, #[case] expected: bool) {
    let world = World::new();
    let annotation = Some(mode).filter(|it| !it.is_empty()).map(Into::into);
    world.services.apply(Service { topology_annotation: annotation, ..service(20) });
    if let Some(name) = newer {
        world.nodes.apply(node(name, 101));
    }
    let stored = slice("web-a", 100, SLICE_CONTROLLER, &["web-0", "web-1"]);
    let mut desired = stored.clone();
    desired.endpoints[0].zone = Some("b".into());
    let writes = [PlannedWrite::Update { stored: &stored, desired: &desired }];
    assert_eq!(world.facts(ENDPOINTSLICE, &writes, None).explain(), expected);
}

/// Creates are compared with the newest slice of the Service. Without one they are compared with all objects of the
/// previous writer, if one of them is the Endpoints object of the Service.
#[rstest]
#[case::nothing_stored(10, None, 40, None, true)]
#[case::older_than_others(10, None, 40, Some(50), false)]
#[case::newer_than_others(60, None, 40, Some(50), true)]
#[case::without_a_writer(10, None, 60, Some(50), true)]
#[case::older_than_own_slice(60, Some(70), 40, Some(50), false)]
#[case::newer_than_own_slice(60, Some(55), 40, Some(90), true)]
fn a_create_is_explained_by_an_input_that_the_previous_writer_has_not_seen(
    #[case] version: u64,
    #[case] own: Option<u64>,
    #[case] endpoints_version: u64,
    #[case] acted: Option<u64>,
    #[case] expected: bool,
) {
    let world = World::new();
    world.endpoints.replace([endpoints(endpoints_version, &[])], "100");
    let own = own.map(|version| slice("web-a", version, SLICE_CONTROLLER, &[]));
    let foreign = slice("web-f", 95, "other", &[]);
    world.slices.replace(own.into_iter().chain([foreign]), "100");
    world.services.replace([service(version)], "100");
    let created = slice("", 0, SLICE_CONTROLLER, &["web-0"]);
    assert_eq!(world.facts(ENDPOINTSLICE, &[PlannedWrite::Create(&created)], acted).explain(), expected);
}

/// The delete of the Endpoints of a Service that does not exist.
#[rstest]
#[case::not_seen(false, false)]
#[case::seen(true, true)]
fn a_missing_service_is_no_explanation(#[case] seen: bool, #[case] expected: bool) {
    let mut world = World::new();
    world.services.replace([], "200");
    if seen {
        world.seen(Input::Service, service(10), true);
    }
    let stored = endpoints(100, &["web-0", "web-1"]);
    assert_eq!(world.facts(ENDPOINTS, &[PlannedWrite::Delete(&stored)], Some(100)).explain(), expected);
}

#[rstest]
#[case::nothing(|_: &mut World| {}, false)]
#[case::newer_endpoints(|world: &mut World| world.endpoints.apply(endpoints(151, &[])), true)]
#[case::newer_service(|world: &mut World| world.services.apply(service(151)), true)]
#[case::newer_pod(|world: &mut World| world.pods.apply(pod("web-0", "web", 151)), false)]
#[case::missing_endpoints(|world: &mut World| world.endpoints.replace([], "200"), false)]
#[case::missing_endpoints_of_a_newer_service(
    |world: &mut World| {
        world.endpoints.replace([], "200");
        world.services.apply(service(151));
    },
    false
)]
#[case::deletion_seen(
    |world: &mut World| {
        world.endpoints.replace([], "200");
        world.seen(Input::Endpoints, endpoints(100, &[]), true);
    },
    true
)]
fn a_mirrored_slice_is_explained_by_its_endpoints(#[case] change: Change, #[case] expected: bool) {
    let mut world = World::new();
    change(&mut world);
    let stored = slice("web-m", 150, MIRRORING_CONTROLLER, &["web-0"]);
    assert_eq!(world.facts(MIRRORING, &[PlannedWrite::Delete(&stored)], Some(150)).explain(), expected);
}

/// A slice that another client has changed since is newer than all inputs.
#[test]
fn a_repair_is_not_explained() {
    let world = World::new();
    let (a, b) = (slice("web-a", 100, SLICE_CONTROLLER, &[]), slice("web-b", 300, SLICE_CONTROLLER, &["web-0"]));
    world.pods.apply(pod("web-0", "web", 200));
    let desired = EndpointSlice { endpoints: Vec::new(), ..b.clone() };
    let repair = PlannedWrite::Update { stored: &b, desired: &desired };
    assert!(!world.facts(ENDPOINTSLICE, &[repair], None).explain());
    // A plan that replaces an older slice, too, follows from the change.
    let desired = EndpointSlice { endpoints: Vec::new(), ..b.clone() };
    let writes = [PlannedWrite::Delete(&a), PlannedWrite::Update { stored: &b, desired: &desired }];
    assert!(world.facts(ENDPOINTSLICE, &writes, None).explain());
}

#[test]
fn versions_that_are_not_numbers_are_not_judged() {
    let world = World::new();
    let mut stored = slice("web-a", 100, SLICE_CONTROLLER, &["web-0"]);
    stored.metadata.resource_version = "v100".into();
    let desired = EndpointSlice { endpoints: Vec::new(), ..stored.clone() };
    world.slices.replace([], "100");
    let writes = [PlannedWrite::Update { stored: &stored, desired: &desired }];
    assert!(world.facts(ENDPOINTSLICE, &writes, None).explain());
}

#[test]
fn newest_objects_are_those_of_the_controllers() {
    let world = World::new();
    world.slices.replace([slice("a", 7, SLICE_CONTROLLER, &[]), slice("b", 8, MIRRORING_CONTROLLER, &[])], "100");
    world.slices.apply(slice("c", 900, "other", &[]));
    assert_eq!((world.inputs.newest_slice(), world.inputs.newest_endpoints()), (Some(8), Some(100)));
    world.services.apply(Service { selector: None, ..service(11) });
    assert_eq!(world.inputs.newest_endpoints(), None, "Endpoints that a user writes");
}

#[rstest]
#[case::none(0, 0, false)]
#[case::few(50, 50, false)]
#[case::all(51, 51, true)]
#[case::a_tenth(100, 1_000, false)]
#[case::more(101, 1_000, true)]
fn many_missing_inputs_may_be_wrong_caches(#[case] missing: usize, #[case] all: usize, #[case] expected: bool) {
    assert_eq!(Vanished { missing, all }.are_many(), expected);
}

#[test]
fn missing_inputs_are_counted() {
    let world = World::new();
    assert_eq!(world.inputs.vanished(), Vanished { missing: 0, all: 2 });
    world.pods.replace([pod("web-0", "web", 10)], "200");
    assert_eq!(world.inputs.vanished(), Vanished { missing: 1, all: 2 });
}

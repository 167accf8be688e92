//! A Service with a given number of Pods, their Nodes, and its slices.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use k8s_openapi::api::core::v1::{self as core, PodCondition, PodIP, PodSpec, PodStatus};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube_endpoint_model::{
    Cluster, EndpointSlice, Interner, IpFamily, Labels, Node, ObjectKey, Pod, Service, ServicePort, ServiceState,
    TargetPort, Text, project, well_known::SLICE_CONTROLLER,
};
use kube_endpointslice::{HintState, Options, Plan, service_plan};
use kube_topology::ZoneRatios;
use kube_wire::Decode as _;

/// State that a sync of the slice controller reads.
pub(crate) struct World {
    service: Arc<Service>,
    pods: Vec<Arc<Pod>>,
    nodes: HashMap<Text, Arc<Node>, hashbrown::DefaultHashBuilder>,
    pub(crate) slices: Vec<Arc<EndpointSlice>>,
    options: Options,
}

const ZONES: [&str; 3] = ["region-1a", "region-1b", "region-1c"];

impl World {
    /// Returns Pods on 500 Nodes in three zones, without slices.
    pub(crate) fn new(pods: usize) -> World {
        let port = ServicePort {
            name: "http".into(),
            protocol: "TCP".into(),
            target: TargetPort::Number(8080),
            ..ServicePort::default()
        };
        let service = Service {
            namespace: "shop".into(),
            name: "web".into(),
            uid: "0e6b7a2c-35f4-4ca7-8a2d-5b1c8f0d9e11".into(),
            cluster_ip: "10.96.0.1".into(),
            ip_families: vec![IpFamily::V4],
            ports: vec![port],
            selector: Some(Labels::default()),
            ..Service::default()
        };
        let node =
            |at: usize| Node { name: node_name(at).into(), zone: ZONES[at % 3].into(), ready: true, ..Node::default() };
        World {
            service: Arc::new(service),
            pods: Interner::default().run(|| (0..pods).map(|at| Arc::new(pod(at))).collect()),
            nodes: (0..500).map(|at| (node_name(at).into(), Arc::new(node(at)))).collect(),
            slices: Vec::new(),
            options: Options::for_services(SLICE_CONTROLLER),
        }
    }

    /// Returns the state after a first sync. The slices are decoded as from the API server, so they share no text with
    /// the Pods.
    pub(crate) fn settled(pods: usize) -> World {
        let mut world = World::new(pods);
        let created = world.sync().types.remove(0).writes.into_iter().filter_map(|write| write.after().cloned());
        let read_back = |(at, mut slice): (usize, EndpointSlice)| {
            slice.metadata.name = format!("web-{at:05}").into();
            slice.metadata.resource_version = 1.into();
            let written = serde_json::to_vec(&slice).expect("JSON");
            Arc::new(EndpointSlice::from_json(&written).expect("a slice"))
        };
        world.slices = created.enumerate().map(read_back).collect();
        assert!(world.sync().is_empty(), "a sync in the steady state writes nothing");
        world
    }

    /// Returns the state after a first sync, with one Pod that is no longer ready.
    pub(crate) fn changed(pods: usize) -> World {
        let mut world = World::settled(pods);
        Arc::make_mut(&mut world.pods[pods / 2]).ready = false;
        assert_eq!(world.sync().len(), 1, "one changed Pod causes one write");
        world
    }

    /// Plans as a sync of the slice controller does, without the history of earlier syncs.
    pub(crate) fn sync(&self) -> Plan {
        let (key, ratios) = (ObjectKey::new("shop", "web"), ZoneRatios::default());
        let hints = HintState { ratios: &ratios, enabled: Some(BTreeSet::new()) };
        let planned = service_plan(self, &key, &mut ServiceState::unknown(), &self.options, hints, |_| {});
        planned.slices.expect("the Service selects Pods").plan
    }
}

impl Cluster for World {
    fn service(&self, _: &ObjectKey) -> Option<Arc<Service>> {
        Some(Arc::clone(&self.service))
    }

    fn pods(&self, _: &str, _: &Labels) -> Vec<Arc<Pod>> {
        self.pods.clone()
    }

    fn node(&self, name: &str) -> Option<Arc<Node>> {
        self.nodes.get(name).cloned()
    }

    fn slices(&self, _: &ObjectKey, _: &str) -> Vec<Arc<EndpointSlice>> {
        self.slices.clone()
    }
}

fn node_name(at: usize) -> String {
    format!("ip-10-0-{}-{}.region-1.example", at / 256, at % 256)
}

/// Returns a Pod as in an informer's store: with interned texts.
fn pod(at: usize) -> Pod {
    let ip = format!("10.{}.{}.{}", 128 + at / 65_536, at / 256 % 256, at % 256);
    let ready = PodCondition { type_: "Ready".into(), status: "True".into(), ..PodCondition::default() };
    project(&core::Pod {
        metadata: ObjectMeta {
            namespace: Some("shop".into()),
            name: Some(format!("web-5d8f7c9b6-{at:05}")),
            uid: Some(format!("{at:08x}-35f4-4ca7-8a2d-5b1c8f0d9e11")),
            ..ObjectMeta::default()
        },
        spec: Some(PodSpec { node_name: Some(node_name(at % 500)), ..PodSpec::default() }),
        status: Some(PodStatus {
            phase: Some("Running".into()),
            pod_ip: Some(ip.clone()),
            pod_ips: Some(vec![PodIP { ip }]),
            conditions: Some(vec![ready]),
            ..PodStatus::default()
        }),
    })
    .expect("an object of the API")
}

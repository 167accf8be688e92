//! A busy cluster: Pods become ready and cease to be, and the controllers write what follows.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use kube_endpoint_model::{
    Endpoint, EndpointAddress, EndpointConditions, EndpointPort, EndpointSlice, EndpointSubset, Endpoints, Labels,
    Node, ObjectMeta, Pod, ResourceVersion, Service, TargetRef, Text, Uid, well_known,
};
use kube_endpoints_history::{Author, Recorded};
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use uuid::Builder;

/// Number of changes of Pods in a second.
const FLIPS: i64 = 160;
/// Number of namespaces, among which the Services are divided.
const NAMESPACES: usize = 40;
/// Number of Nodes.
const NODES: u64 = 1_000;
/// Time in which each kubelet posts the unchanged status of its Node, in seconds.
const HEARTBEAT: u64 = 300;

/// The objects of a cluster, and the time.
pub(crate) struct Cluster {
    apps: Vec<App>,
    nodes: Vec<Node>,
    numbers: StdRng,
    now: Timestamp,
    version: u64,
}

impl Cluster {
    /// Returns a cluster of Services with this number of Pods each.
    pub(crate) fn new(services: usize, pods: usize) -> Cluster {
        let mut numbers = StdRng::seed_from_u64(1);
        let apps = (0..services).map(|at| App::new(at, pods, &mut numbers)).collect();
        let node = |at: u64| Node {
            name: node_name(at),
            uid: uid(&mut numbers),
            resource_version: version(&mut numbers),
            ready: true,
            cpu_milli: 8_000,
            ..Node::default()
        };
        let nodes = (0..NODES).map(node).collect();
        Cluster { apps, nodes, numbers, now: start(), version: 1 << 30 }
    }

    /// Returns all objects.
    pub(crate) fn objects(&self) -> impl Iterator<Item = Recorded> {
        let pods = |app: &App| app.pods.clone().into_iter().map(|pod| Arc::new(pod).into());
        let others = |app: &App| -> [Recorded; 3] {
            [Arc::new(app.service()).into(), Arc::new(app.slice.clone()).into(), Arc::new(app.endpoints.clone()).into()]
        };
        let nodes = self.nodes.iter().map(|node| Arc::new(node.clone()).into());
        nodes.chain(self.apps.iter().flat_map(move |app| others(app).into_iter().chain(pods(app))))
    }

    /// Passes the changes of a second to `record`.
    pub(crate) fn second(&mut self, mut record: impl FnMut(Timestamp, &Author, Recorded)) {
        let second = (self.now.as_second() - start().as_second()).cast_unsigned();
        for at in (0..NODES).filter(|at| at % HEARTBEAT == second % HEARTBEAT) {
            let resource_version = self.next_version();
            let node = &mut self.nodes[usize::try_from(at).expect("small")];
            node.resource_version = resource_version;
            record(self.now, &author("kubelet", self.now), Arc::new(node.clone()).into());
        }
        for _ in 0..FLIPS {
            self.flip(&mut record);
        }
    }

    /// A Pod becomes ready or ceases to be, and its slice and its Endpoints follow.
    fn flip(&mut self, mut record: impl FnMut(Timestamp, &Author, Recorded)) {
        self.now += SignedDuration::from_micros(1_000_000 / FLIPS - 40 + self.numbers.random_range(0..80));
        let [of_pod, of_slice, of_endpoints] = [(); 3].map(|()| self.next_version());
        let app = self.numbers.random_range(0..self.apps.len());
        let (app, now) = (&mut self.apps[app], self.now);
        let pod = self.numbers.random_range(0..app.pods.len());
        let pod = &mut app.pods[pod];
        pod.ready = !pod.ready;
        pod.resource_version = of_pod;
        let (kubelet, controller) = (author("kubelet", now), author("kube-controller-manager", now));
        pod.ready_changed = kubelet.time.map(Into::into);
        record(now, &kubelet, Arc::new(pod.clone()).into());
        app.publish(now);
        app.slice.metadata.resource_version = of_slice;
        app.endpoints.metadata.resource_version = of_endpoints;
        record(now, &controller, Arc::new(app.slice.clone()).into());
        record(now, &controller, Arc::new(app.endpoints.clone()).into());
    }

    fn next_version(&mut self) -> ResourceVersion {
        self.version += self.numbers.random_range(1..10);
        self.version.into()
    }
}

fn node_name(at: u64) -> Text {
    format!("node-{at}").as_str().into()
}

fn author(manager: &str, now: Timestamp) -> Author {
    let time = Timestamp::from_second(now.as_second()).ok();
    Author { manager: manager.into(), user: Text::new(), time }
}

/// Returns a version before all changes.
fn version(numbers: &mut StdRng) -> ResourceVersion {
    numbers.random_range(0..1_u64 << 29).into()
}

fn suffix(numbers: &mut StdRng, length: usize) -> String {
    (0..length).map(|_| char::from(b"bcdfghjklmnpqrstvwxz2456789"[numbers.random_range(0..27)])).collect()
}

fn uid(numbers: &mut StdRng) -> Uid {
    Builder::from_random_bytes(numbers.random()).into_uuid().hyphenated().to_string().into()
}

/// A Service with its Pods, its slice and its Endpoints.
struct App {
    pods: Vec<Pod>,
    slice: EndpointSlice,
    endpoints: Endpoints,
}

impl App {
    fn new(at: usize, pods: usize, numbers: &mut StdRng) -> App {
        let name = format!("app-{at}");
        let (namespace, set): (Text, String) =
            (format!("team-{}", at % NAMESPACES).as_str().into(), suffix(numbers, 9));
        let labels: Labels = [("app", name.as_str()), ("pod-template-hash", set.as_str())].into_iter().collect();
        let meta = |labels: Labels, name: String, numbers: &mut StdRng| ObjectMeta {
            namespace: namespace.clone(),
            name: name.as_str().into(),
            uid: uid(numbers),
            labels,
            resource_version: version(numbers),
            ..ObjectMeta::default()
        };
        let pod = |number: usize, numbers: &mut StdRng| Pod {
            namespace: namespace.clone(),
            name: format!("{name}-{set}-{}", suffix(numbers, 5)).as_str().into(),
            uid: uid(numbers),
            labels: labels.clone(),
            node_name: node_name(numbers.random_range(0..NODES)),
            pod_ips: [format!("10.{}.{}.{number}", at / 250, at % 250).as_str()].into(),
            ready: true,
            ready_changed: Some(start().into()),
            ..Pod::default()
        };
        let pods: Vec<Pod> = (0..pods).map(|number| pod(number, numbers)).collect();
        let slice_labels = [
            (well_known::SERVICE_NAME_LABEL, name.as_str()),
            (well_known::SLICE_MANAGED_BY_LABEL, "endpointslice-controller.k8s.io"),
        ];
        let slice = EndpointSlice {
            metadata: meta(slice_labels.into_iter().collect(), format!("{name}-{}", suffix(numbers, 5)), numbers),
            address_type: "IPv4".into(),
            endpoints: Vec::new(),
            ports: vec![EndpointPort { port: Some(8080), ..EndpointPort::default() }],
        };
        let endpoints = Endpoints { metadata: meta(Labels::default(), name, numbers), subsets: Vec::new() };
        let mut app = App { pods, slice, endpoints };
        app.publish(start());
        app
    }

    fn service(&self) -> Service {
        let ObjectMeta { namespace, name, .. } = &self.endpoints.metadata;
        let selector = Some([("app", name.as_str())].into_iter().collect());
        Service { namespace: namespace.clone(), name: name.clone(), selector, ..Service::default() }
    }

    /// Writes the slice and the Endpoints, as the controllers do.
    fn publish(&mut self, now: Timestamp) {
        let target = |pod: &Pod| Some(TargetRef::pod(pod.namespace.clone(), pod.name.clone(), pod.uid.clone()));
        let endpoint = |pod: &Pod| Endpoint {
            addresses: pod.pod_ips.clone(),
            conditions: EndpointConditions {
                ready: Some(pod.ready),
                serving: Some(pod.ready),
                terminating: Some(false),
            },
            node_name: Some(pod.node_name.clone()),
            target_ref: target(pod),
            ..Endpoint::default()
        };
        self.slice.endpoints = self.pods.iter().map(endpoint).collect();
        let address = |pod: &Pod| EndpointAddress {
            ip: pod.pod_ips[0].clone(),
            node_name: Some(pod.node_name.clone()),
            target_ref: target(pod),
            ..EndpointAddress::default()
        };
        let (ready, not_ready): (Vec<&Pod>, Vec<&Pod>) = self.pods.iter().partition(|pod| pod.ready);
        self.endpoints.subsets = vec![EndpointSubset {
            addresses: ready.into_iter().map(address).collect(),
            not_ready_addresses: not_ready.into_iter().map(address).collect(),
            ports: Vec::new(),
        }];
        let trigger = now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        for meta in [&mut self.slice.metadata, &mut self.endpoints.metadata] {
            meta.annotations =
                [("endpoints.kubernetes.io/last-change-trigger-time", trigger.as_str())].into_iter().collect();
            meta.generation += 1;
        }
    }
}

/// Returns the time at which the first second begins.
pub(crate) fn start() -> Timestamp {
    "2026-11-27T14:00:00Z".parse().expect("a time")
}

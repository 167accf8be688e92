//! Lists that lack most Pods, Nodes or Services: wrong ones remove no endpoint.

use std::time::Duration;

use endpoint_controller_manager::{LeaderElection, Settings};
use kube_controller_client::{Client, ClientOptions, Config};
use kube_dev_apiserver::{Effect, Fault, On, Server};
use kube_endpoints_testing::eventually;
use rstest::rstest;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::program::Program;

/// Two thirds of them are more than a list may lack unchecked.
const SERVICES: usize = 90;
/// Two Pods per Service, and one Node per Service.
const PODS: usize = 2 * SERVICES;
/// Resources whose lists are wrong.
const RESOURCES: [&str; 3] = ["nodes", "pods", "services"];

const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// Nodes, Services and their Pods.
fn objects() -> impl Iterator<Item = Value> {
    let metadata = |name: String, at: usize| {
        let labels = json!({"app": format!("app-{}", at % SERVICES)});
        json!({"name": name, "namespace": "default", "labels": labels})
    };
    let of_service = move |at: usize| {
        let mut node = metadata(format!("node-{at}"), at);
        node["namespace"] = Value::Null;
        let spec = json!({"selector": {"app": format!("app-{at}")}, "ports": [{"port": 80}]});
        [
            json!({"apiVersion": "v1", "kind": "Node", "metadata": node}),
            json!({"apiVersion": "v1", "kind": "Service", "metadata": metadata(format!("app-{at}"), at), "spec": spec}),
        ]
    };
    let pod = move |at: usize| {
        let ip = format!("10.1.{}.{}", at / 200, at % 200 + 1);
        let container = json!({"name": "main", "image": "registry.example/app:1"});
        let spec = json!({"nodeName": format!("node-{}", at % SERVICES), "containers": [container]});
        let conditions = json!([{"type": "Ready", "status": "True"}]);
        let status = json!({"phase": "Running", "podIP": ip, "podIPs": [{"ip": ip}], "conditions": conditions});
        let metadata = metadata(format!("pod-{at}"), at);
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status})
    };
    (0..SERVICES).flat_map(of_service).chain((0..PODS).map(pod))
}

/// The program on an API server whose lists may be wrong, in virtual time.
struct World {
    server: Server,
    client: Client,
    program: Program,
}

impl World {
    /// Starts the program and waits until it has published every Pod.
    async fn start() -> World {
        let server = Server::in_process(kube_dev_apiserver::Config::default()).expect("a server");
        server.load(objects()).expect("objects");
        let options = ClientOptions { qps: 0.0, ..ClientOptions::default() };
        let client = Client::new(&Config::from_service(server.service()), options).expect("a client");
        let mut settings = Settings { leader_election: Some(LeaderElection::default()), ..Settings::default() };
        settings.client.qps = 0.0;
        let program = Program::start_paused(Config::from_service(server.service()), settings);
        let world = World { server, client, program };
        eventually("addresses", &(PODS, PODS), || world.addresses()).await;
        // The last writes, and the events that follow them.
        sleep(seconds(10)).await;
        world
    }

    async fn list(&self, path: &str) -> Vec<Value> {
        let list = self.client.get_json(path).await.expect("a list");
        list["items"].as_array().cloned().unwrap_or_default()
    }

    /// Number of ready addresses in all Endpoints and in all EndpointSlices.
    async fn addresses(&self) -> (usize, usize) {
        let length = |it: &Value| it.as_array().map_or(0, Vec::len);
        let endpoints = self.list("/api/v1/endpoints").await;
        let subsets = endpoints.iter().flat_map(|it| it["subsets"].as_array().into_iter().flatten());
        let slices = self.list("/apis/discovery.k8s.io/v1/endpointslices").await;
        (subsets.map(|it| length(&it["addresses"])).sum(), slices.iter().map(|it| length(&it["endpoints"])).sum())
    }

    fn writes(&self) -> usize {
        let of = |plural| self.server.requests().count(&On::writes().resource(plural));
        of("endpoints") + of("endpointslices")
    }

    /// Ends the watches of a resource so that the program lists it again.
    fn relist(&self, plural: &str) {
        let watches = On::any().verb("watch").resource(plural);
        self.server.faults().inject(Fault::expired().on(watches.clone()).times(1));
        assert!(self.server.faults().cut_watches(&watches) > 0, "no watch of {plural}");
    }

    /// Resource in the message of each event about a held list, and the number of its repetitions.
    async fn held(&self) -> Vec<(String, Value)> {
        let lease = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/endpoint-controller-manager";
        let lease = self.client.get_json(lease).await.expect("the Lease");
        let mut held: Vec<_> = self
            .list("/api/v1/namespaces/kube-system/events")
            .await
            .into_iter()
            .filter(|it| it["reason"] == "ListHeld")
            .inspect(|it| {
                assert_eq!((&it["type"], &it["involvedObject"]["kind"]), (&json!("Warning"), &json!("Lease")));
                assert_eq!(it["involvedObject"]["uid"], lease["metadata"]["uid"]);
            })
            .map(|it| {
                let words = it["message"].as_str().expect("a message").split(' ').nth(3);
                (words.expect("a resource").to_owned(), it["count"].clone())
            })
            .collect();
        held.sort_by(|one, other| one.0.cmp(&other.0));
        held
    }

    async fn end(self) {
        self.program.stop().await;
        self.server.shutdown().await;
    }
}

/// A list that lacks fewer Services than are checked. Each read delays other requests of the controller.
#[tokio::test(start_paused = true)]
async fn services_that_a_list_lacks_are_read_ever_more_rarely() {
    const LACKED: usize = SERVICES / 2;
    let world = World::start().await;
    let (reads, writes) = (On::any().verb("get").resource("services"), world.writes());
    let before = world.server.requests().count(&reads);
    let fault = Fault::from(Effect::OmitObjects { namespace: None, keep: SERVICES - LACKED });
    world.server.faults().inject(fault.on(On::any().verb("list").verb("watch").resource("services")));
    world.relist("services");
    sleep(seconds(600)).await;
    let reads = world.server.requests().count(&reads) - before;
    assert!((LACKED * 20..LACKED * 40).contains(&reads), "{reads} reads of {LACKED} Services in 10 min");
    assert_eq!((world.addresses().await, world.writes()), ((PODS, PODS), writes));
    world.end().await;
}

/// `keep`: number of Nodes, of Pods and of Services in a list.
#[rstest]
#[case::all([0, 0, 0])]
#[case::most_are_hidden([SERVICES / 3, PODS / 3, SERVICES / 3])]
#[tokio::test(start_paused = true)]
async fn wrong_lists_remove_no_endpoint(#[case] keep: [usize; 3]) {
    let world = World::start().await;
    let writes = world.writes();
    let faults = world.server.faults();
    let mut injected = Vec::new();
    for (resource, keep) in RESOURCES.into_iter().zip(keep) {
        let fault = Fault::from(Effect::OmitObjects { namespace: None, keep });
        injected.push(faults.inject(fault.on(On::any().verb("list").verb("watch").resource(resource))));
        world.relist(resource);
    }
    // Without a write, every address stays.
    sleep(seconds(300)).await;
    assert_eq!((world.addresses().await, world.writes()), ((PODS, PODS), writes));
    assert_eq!(world.held().await, RESOURCES.map(|resource| (resource.to_owned(), json!(1))));

    for fault in injected {
        faults.remove(fault);
    }
    sleep(seconds(15)).await;
    assert_eq!((world.addresses().await, world.writes()), ((PODS, PODS), writes));
    world.client.delete::<k8s_openapi::api::core::v1::Service>("default", "app-0", None).await.expect("deleted");
    eventually("addresses in Endpoints", &(PODS - 2), async || world.addresses().await.0).await;
    world.end().await;
}

//! The API server accepts each planned object, whatever Pods, Nodes, Services and Endpoints it has accepted.

use std::collections::BTreeSet;
use std::sync::Arc;

use http::Method;
use kube_controller_client::Client;
use kube_dev_apiserver::{Config as ServerConfig, Server};
use kube_endpoint::Legacy;
use kube_endpoint_model::well_known::SLICE_CONTROLLER;
use kube_endpoint_model::{Endpoints, IpFamily, Node, Pod, Service, Write};
use kube_endpointslice::{Hints, Input, Options, Owner, SliceLabels, TypePlan, desired_endpoints_from_service_pods};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use crate::rig::client;
use crate::server::read;

/// Addresses that differ in what Pods, slices and Endpoints may have.
const ADDRESSES: &[&str] = &[
    "10.0.0.1",
    "10.0.0.2",
    "127.0.0.1",
    "127.8.8.8",
    "169.254.9.9",
    "0.0.0.0",
    "224.0.0.1",
    "224.0.1.1",
    "010.0.0.3",
    "255.255.255.255",
    "::ffff:10.0.0.4",
    "::ffff:127.0.0.1",
    "::1",
    "::",
    "fe80::1",
    "ff02::1",
    "ff12::1",
    "ff05::2",
    "fd00::1",
    "FD00:0:0::2",
    "::1.2.3.4",
    "2001:db8:0:1:0:0:0:1",
    "bad",
];

/// Returns texts of these lengths, and seldom others that some fields may not have.
fn text(lengths: &[usize], seldom: &[usize]) -> BoxedStrategy<String> {
    let of = |lengths: &[usize]| lengths.iter().map(|length| "x".repeat(*length)).collect::<Vec<_>>();
    let odd = [&["a.b", "UP", "a_b"].map(str::to_owned)[..], &of(seldom)].concat();
    let usual = [&["0-0".to_owned()][..], &of(lengths)].concat();
    prop_oneof![15 => prop::sample::select(usual), 1 => prop::sample::select(odd)].boxed()
}

fn address() -> impl Strategy<Value = &'static str> {
    prop::sample::select(ADDRESSES)
}

fn pod() -> impl Strategy<Value = Value> {
    let node =
        prop_oneof![Just("node".to_owned()), Just("missing".to_owned()), Just(String::new()), text(&[253], &[254])];
    let hostname = prop::option::of(text(&[1, 63], &[64]));
    let named = prop::option::of(text(&[1, 15], &[16]));
    let ips = prop::collection::vec(address(), 0..3);
    (ips, node, hostname, named, any::<bool>()).prop_map(|(ips, node, hostname, named, ready)| {
        let port = json!({"name": named.unwrap_or_else(|| "http".to_owned()), "containerPort": 8080});
        let ips: Vec<Value> = ips.iter().map(|ip| json!({ "ip": ip })).collect();
        json!({
            "metadata": {"labels": {"app": "web"}},
            "spec": {"nodeName": node, "hostname": hostname, "subdomain": "web",
                "containers": [{"name": "main", "image": "i", "ports": [port]}]},
            "status": {"phase": "Running", "podIP": ips.first().map(|it| it["ip"].clone()), "podIPs": ips,
                "conditions": [{"type": "Ready", "status": if ready { "True" } else { "False" }}]},
        })
    })
}

fn app_protocol() -> impl Strategy<Value = Option<String>> {
    prop::option::of(prop_oneof![
        text(&[63], &[64]),
        Just("kubernetes.io/h2c".to_owned()),
        Just(format!("{}/{}", "d".repeat(253), "n".repeat(63))),
    ])
}

fn service() -> impl Strategy<Value = Value> {
    let target = prop_oneof![Just(json!(8080)), Just(json!("http")), Just(json!("x"))];
    let port = (text(&[1, 2, 63], &[0, 64]), app_protocol(), target);
    let ports = prop::collection::vec(port, 1..4);
    let policy = prop::sample::select(vec!["SingleStack", "PreferDualStack"]);
    let label = prop_oneof![text(&[0, 63], &[64]), Just("v".to_owned())];
    (ports, policy, label, any::<bool>(), any::<bool>()).prop_map(|(ports, policy, label, publish, headless)| {
        let ports = ports.into_iter().enumerate().map(|(at, (name, app_protocol, target))| {
            json!({"name": name, "port": 80 + at, "targetPort": target, "appProtocol": app_protocol})
        });
        let ports: Vec<Value> = ports.collect();
        let mut spec = json!({"selector": {"app": "web"}, "ports": ports, "ipFamilyPolicy": policy,
            "publishNotReadyAddresses": publish});
        if headless {
            spec["clusterIP"] = "None".into();
        }
        json!({"metadata": {"name": "web", "labels": {"label": label}}, "spec": spec})
    })
}

fn endpoints() -> impl Strategy<Value = Value> {
    let usable = prop::sample::select(vec!["10.0.0.1", "10.0.0.2", "224.0.1.1", "fd00::1", "FD00:0:0::2"]);
    let address = (
        prop_oneof![15 => usable, 1 => address()],
        prop::option::of(text(&[1, 63], &[64])),
        prop::option::of(text(&[253], &[254])),
    )
        .prop_map(|(ip, hostname, node)| json!({"ip": ip, "hostname": hostname, "nodeName": node}));
    let port = (text(&[1, 63], &[0]), 1..4_u16, app_protocol())
        .prop_map(|(name, port, app_protocol)| json!({"name": name, "port": port, "appProtocol": app_protocol}));
    let subset = (prop::collection::vec(address, 1..3), prop::collection::vec(port, 0..4))
        .prop_map(|(addresses, ports)| json!({"addresses": addresses, "ports": ports}));
    prop::collection::vec(subset, 1..4).prop_map(|subsets| json!({"metadata": {"name": "own"}, "subsets": subsets}))
}

struct Cluster {
    client: Client,
    namespace: String,
    _server: Server,
}

impl Cluster {
    async fn start() -> Cluster {
        let server = Server::start(ServerConfig::default()).await.expect("server starts");
        Cluster { client: client(&server, "test"), namespace: String::new(), _server: server }
    }

    async fn send(&self, method: Method, path: &str, object: &Value) -> (u16, Value) {
        let body = serde_json::to_vec(object).expect("JSON");
        let sent = self.client.raw(method, path, Some("application/json"), body).await;
        let (status, body) = sent.expect("response");
        (status.as_u16(), serde_json::from_slice(&body).expect("JSON"))
    }

    async fn create(&self, group: &str, resource: &str, object: &Value) -> (u16, Value) {
        let path = format!("/{group}/namespaces/{}/{resource}", self.namespace);
        self.send(Method::POST, &path, object).await
    }

    /// Creates a Pod with its status. Returns it if the server accepts both.
    async fn pod(&self, number: usize, mut pod: Value) -> Option<Pod> {
        pod["metadata"]["name"] = format!("p{number}").into();
        let (201, created) = self.create("api/v1", "pods", &pod).await else { return None };
        let status = json!({"metadata": created["metadata"], "status": pod["status"]});
        let path = format!("/api/v1/namespaces/{}/pods/p{number}/status", self.namespace);
        let (200, updated) = self.send(Method::PUT, &path, &status).await else { return None };
        Some(read(&updated))
    }

    /// Checks what the controllers write for a Service and its Pods. Returns the number of Pods with an address that no
    /// endpoint can have.
    async fn check_pods(&self, service: &Value, pods: Vec<Value>, zone: &str) -> Result<usize, TestCaseError> {
        let (201, service) = self.create("api/v1", "services", service).await else { return Ok(0) };
        let service: Service = read(&service);
        let mut accepted = Vec::new();
        for (number, pod) in pods.into_iter().enumerate() {
            accepted.extend(self.pod(number, pod).await.map(Arc::new));
        }
        let node = |name: &str| {
            (name == "node").then(|| Arc::new(Node { name: name.into(), zone: zone.into(), ..Node::default() }))
        };

        let planned = kube_endpoint::planned_write(&service, &accepted, None, None, Legacy::default());
        let Some(Write::Create(planned)) = planned else { return Err(TestCaseError::fail("Endpoints are created")) };
        let (status, answer) = self.create("api/v1", "endpoints", &json!(planned)).await;
        prop_assert_eq!(status, 201, "{}", answer["message"]);

        let (owner, types, labels) =
            (Owner::service(&service), service.address_types(), SliceLabels::for_service(&service));
        let desired = desired_endpoints_from_service_pods(&service, &accepted, node);
        let input = Input::new(&owner, &types, desired.groups, &[]).labels(&labels);
        let plan = kube_endpointslice::plan(input, Hints::Leave, &Options::for_services(SLICE_CONTROLLER));
        let mut served = BTreeSet::new();
        for slice in plan.types.iter().flat_map(TypePlan::creates) {
            let (status, answer) = self.create("apis/discovery.k8s.io/v1", "endpointslices", &json!(slice)).await;
            prop_assert_eq!(status, 201, "{}", answer["message"]);
            served.extend(slice.endpoints.iter().flat_map(|it| &it.addresses).map(ToString::to_string));
        }

        let usable = |pod: &&Arc<Pod>| &*pod.node_name == "node" || service.publish_not_ready_addresses;
        for pod in accepted.iter().filter(usable) {
            for address in pod.pod_ips.iter().filter_map(|address| address.usable().ok()) {
                let family = address.family().map(Into::into);
                let wanted = types.iter().any(|it| Some(it) == family.as_ref());
                prop_assert_eq!(served.contains(&address.to_string()), wanted, "{}", address);
            }
        }
        Ok(accepted.iter().filter(|pod| pod.pod_ips.iter().any(|it| it.usable().is_err())).count())
    }

    /// Checks the slices of Endpoints that a user wrote. Returns whether the server accepts these.
    async fn check_mirrored(&self, endpoints: &Value) -> Result<bool, TestCaseError> {
        let (201, stored) = self.create("api/v1", "endpoints", endpoints).await else { return Ok(false) };
        let endpoints: Endpoints = read(&stored);
        let mirrored = crate::server::mirror(&endpoints, &[], 1_000);
        let mut ports = BTreeSet::new();
        for slice in mirrored.plan.types.iter().flat_map(TypePlan::creates) {
            let (status, answer) = self.create("apis/discovery.k8s.io/v1", "endpointslices", &json!(slice)).await;
            prop_assert_eq!(status, 201, "{}", answer["message"]);
            ports.extend(slice.ports.iter().map(|it| (it.name.clone(), it.port)));
        }
        for port in endpoints.subsets.iter().flat_map(|it| &it.ports) {
            prop_assert!(ports.contains(&(Some(port.name.clone()), Some(port.port))), "{:?}", port);
        }
        Ok(true)
    }
}

// EC-50 to EC-52
#[test]
fn the_server_accepts_what_is_planned_for_all_that_it_accepts() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    let mut cluster = runtime.block_on(Cluster::start());
    let (mut unusable, mut mirrored, mut cases) = (0, 0, 0);
    let zone = prop::sample::select(vec![String::new(), "a.b_c-d".to_owned(), "z".repeat(63)]);
    let pods = prop::collection::vec(pod(), 1..8);
    let strategy = (service(), pods, zone, endpoints());
    let mut runner = TestRunner::new(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(96) });
    let cells = std::cell::RefCell::new((&mut cluster, &mut unusable, &mut mirrored, &mut cases));
    let result = runner.run(&strategy, |(service, pods, zone, endpoints)| {
        let mut cells = cells.borrow_mut();
        *cells.3 += 1;
        cells.0.namespace = format!("ns-{}", *cells.3);
        let (found, accepted) = runtime.block_on(async {
            let namespace = json!({"metadata": {"name": cells.0.namespace}});
            cells.0.send(Method::POST, "/api/v1/namespaces", &namespace).await;
            Ok::<_, TestCaseError>((
                cells.0.check_pods(&service, pods, &zone).await?,
                cells.0.check_mirrored(&endpoints).await?,
            ))
        })?;
        *cells.1 += found;
        *cells.2 += usize::from(accepted);
        Ok(())
    });
    assert!(result.is_ok(), "{}", result.unwrap_err());
    assert!(unusable > 10 && mirrored > 10, "{unusable} Pods with unusable addresses, {mirrored} mirrored");
}

/// A Pod of either family with each of the addresses, so that none is left to chance.
#[tokio::test(flavor = "multi_thread")]
async fn each_address_of_a_pod_leads_to_objects_that_the_server_accepts() {
    let mut cluster = Cluster::start().await;
    let mut left_out = Vec::new();
    for (number, address) in ADDRESSES.iter().enumerate() {
        cluster.namespace = format!("ns-{number}");
        cluster.send(Method::POST, "/api/v1/namespaces", &json!({"metadata": {"name": cluster.namespace}})).await;
        let pod = |ip: &str| {
            json!({
                "metadata": {"labels": {"app": "web"}},
                "spec": {"nodeName": "node", "containers": [{"name": "main", "image": "i"}]},
                "status": {"phase": "Running", "podIP": ip, "podIPs": [{ "ip": ip }]},
            })
        };
        let family = if address.contains(':') { IpFamily::V6 } else { IpFamily::V4 };
        let good = if family == IpFamily::V6 { "fd00::99" } else { "10.0.0.99" };
        let spec = json!({"selector": {"app": "web"}, "ports": [{"port": 80}], "clusterIP": "None",
            "ipFamilies": [if family == IpFamily::V6 { "IPv6" } else { "IPv4" }]});
        let service = json!({"metadata": {"name": "web"}, "spec": spec});
        let checked = cluster.check_pods(&service, vec![pod(address), pod(good)], "").await;
        match checked {
            Ok(0) => {}
            Ok(_) => left_out.push(*address),
            Err(error) => panic!("{address}: {error}"),
        }
    }
    let expected =
        ["127.0.0.1", "127.8.8.8", "169.254.9.9", "0.0.0.0", "224.0.0.1", "::1", "::", "fe80::1", "ff02::1", "ff12::1"];
    assert_eq!(left_out, expected, "addresses that the server accepts in Pods only");
}

//! A large cluster in its settled state: the objects that its controllers and kubelets have written.

use kube_dev_apiserver::{Population, Server};
use kube_endpoints_testing::pods;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::Error;

const PODS_PER_SERVICE: usize = 15;
const PODS_PER_NODE: usize = 30;
const SERVICES_PER_NAMESPACE: usize = 40;

/// Loads `pods` Pods and the objects that belong to them into a server.
pub(crate) fn load(server: &Server, pods: usize) -> Result<(), Error> {
    let template = Population::template(pods::template());
    let all = Population {
        pods,
        services: pods.div_ceil(PODS_PER_SERVICE),
        nodes: pods.div_ceil(PODS_PER_NODE),
        services_of_a_namespace: SERVICES_PER_NAMESPACE,
    };
    let start = Instant::now();
    server.load(all.objects(&template))?;
    server.load((0..all.services).map(|at| slice(all, at)))?;
    server.load((0..all.services).map(|at| endpoints(all, at)))?;
    println!(
        "{pods} Pods of {} bytes, {} Services with a slice and an Endpoints each, {} Nodes, loaded in {:.0} s",
        all.pod(&template, 0).to_string().len(),
        all.services,
        all.nodes,
        start.elapsed().as_secs_f64()
    );
    Ok(())
}

fn slice(all: Population, service: usize) -> Value {
    let endpoint = |pod: usize| {
        let node = all.node_of(pod);
        json!({
            "addresses": [Population::pod_ip(pod)],
            "conditions": {"ready": true, "serving": true, "terminating": false},
            "targetRef": target(all, pod),
            "nodeName": Population::node_name(node),
            "zone": Population::zone(node),
            "hints": {"forZones": [{"name": Population::zone(node)}]},
        })
    };
    let name = Population::service_name(service);
    json!({
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {
            "name": format!("{name}-p4wvn"),
            "namespace": all.namespace(service),
            "generateName": format!("{name}-"),
            "labels": {
                "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
                "kubernetes.io/service-name": name,
            },
            "annotations": {"endpoints.kubernetes.io/last-change-trigger-time": "2026-02-03T04:00:01Z"},
            "ownerReferences": [{
                "apiVersion": "v1", "kind": "Service", "name": name, "uid": uid(2, service),
                "controller": true, "blockOwnerDeletion": true,
            }],
        },
        "addressType": "IPv4",
        "endpoints": all.pods_of(service).map(endpoint).collect::<Vec<_>>(),
        "ports": [{"name": "http", "protocol": "TCP", "port": 8080}],
    })
}

fn endpoints(all: Population, service: usize) -> Value {
    let address = |pod: usize| {
        let node = Population::node_name(all.node_of(pod));
        json!({"ip": Population::pod_ip(pod), "nodeName": node, "targetRef": target(all, pod)})
    };
    json!({
        "apiVersion": "v1",
        "kind": "Endpoints",
        "metadata": {
            "name": Population::service_name(service),
            "namespace": all.namespace(service),
            "labels": {"endpoints.kubernetes.io/managed-by": "endpoint-controller"},
            "annotations": {"endpoints.kubernetes.io/last-change-trigger-time": "2026-02-03T04:00:01Z"},
        },
        "subsets": [{
            "addresses": all.pods_of(service).map(address).collect::<Vec<_>>(),
            "ports": [{"name": "http", "protocol": "TCP", "port": 8080}],
        }],
    })
}

fn uid(kind: usize, at: usize) -> String {
    let scrambled = at.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    format!("{:08x}-{:04x}-4{kind:03x}-8{:03x}-{at:012x}", scrambled >> 32, scrambled & 0xffff, at & 0xfff)
}

fn target(all: Population, pod: usize) -> Value {
    let namespace = all.namespace(all.service_of(pod));
    json!({"kind": "Pod", "namespace": namespace, "name": all.pod_name(pod), "uid": uid(1, pod)})
}

//! A large cluster, as its controllers and kubelets would have left it.

use std::sync::Arc;

use http::Method;
use kube_controller_client::{Client, ClientOptions, Config};
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::{Error, pods};

const PODS_OF_A_SERVICE: usize = 15;
const PODS_OF_A_NODE: usize = 30;
const SERVICES_OF_A_NAMESPACE: usize = 40;
const WRITERS: usize = 16;

/// How much there is of everything, and a Pod of a real cluster.
pub(crate) struct Cluster {
    pods: usize,
    pod: Value,
}

/// One write.
struct Write {
    method: Method,
    path: String,
    body: Value,
}

fn create(path: String, body: Value) -> Write {
    Write { method: Method::POST, path, body }
}

impl Cluster {
    pub(crate) fn of(pods: usize) -> Self {
        let mut pod = pods::template();
        let metadata = pod["metadata"].as_object_mut().expect("metadata");
        // The server does not keep it; so that what is listed is as long as in production, variables take its place.
        let managed = metadata.remove("managedFields").map_or(0, |it| it.to_string().len());
        for key in ["uid", "resourceVersion", "creationTimestamp", "generation"] {
            metadata.remove(key);
        }
        let variables = pod["spec"]["containers"][0]["env"].as_array_mut().expect("an environment");
        let variable =
            json!({"name": "FEATURE_FLAGS_SERVICE_BASE_URL", "value": "http://feature-flags.platform.svc:8080/v2"});
        let count = managed / variable.to_string().len();
        variables.extend((0..count).map(|at| {
            let mut variable = variable.clone();
            variable["name"] = json!(format!("FEATURE_FLAGS_SERVICE_{at:02}"));
            variable
        }));
        Self { pods, pod }
    }

    fn services(&self) -> usize {
        self.pods.div_ceil(PODS_OF_A_SERVICE)
    }

    fn nodes(&self) -> usize {
        self.pods.div_ceil(PODS_OF_A_NODE)
    }

    /// Writes all of it to a server.
    pub(crate) async fn write(self, url: &str) -> Result<(), Error> {
        let client = Client::new(&Config::from_url(url)?, ClientOptions { qps: 0.0, ..ClientOptions::default() })?;
        let cluster = Arc::new(self);
        let begun = Instant::now();
        let namespaces = cluster.services().div_ceil(SERVICES_OF_A_NAMESPACE);
        in_parallel(&client, &cluster, namespaces, |_, at| {
            create("/api/v1/namespaces".to_owned(), json!({"metadata": {"name": format!("team-{at}")}}))
        })
        .await?;
        in_parallel(&client, &cluster, cluster.nodes(), |_, at| create("/api/v1/nodes".to_owned(), node(at))).await?;
        in_parallel(&client, &cluster, cluster.services(), |_, at| {
            create(format!("/api/v1/namespaces/{}/services", namespace(at)), service(at))
        })
        .await?;
        // A new Pod has no status.
        in_parallel(&client, &cluster, cluster.pods, |cluster, at| {
            create(format!("/api/v1/namespaces/{}/pods", namespace(service_of(at))), cluster.pod(at))
        })
        .await?;
        in_parallel(&client, &cluster, cluster.pods, |cluster, at| Write {
            method: Method::PUT,
            path: format!("/api/v1/namespaces/{}/pods/{}/status", namespace(service_of(at)), pod_name(at)),
            body: cluster.pod(at),
        })
        .await?;
        in_parallel(&client, &cluster, cluster.services(), |cluster, at| {
            let path = format!("/apis/discovery.k8s.io/v1/namespaces/{}/endpointslices", namespace(at));
            create(path, cluster.slice(at))
        })
        .await?;
        in_parallel(&client, &cluster, cluster.services(), |cluster, at| {
            create(format!("/api/v1/namespaces/{}/endpoints", namespace(at)), cluster.endpoints(at))
        })
        .await?;
        println!(
            "{} Pods of {} bytes, {} Services with a slice and an Endpoints each, {} Nodes, written in {:.0} s",
            cluster.pods,
            cluster.pod(0).to_string().len(),
            cluster.services(),
            cluster.nodes(),
            begun.elapsed().as_secs_f64()
        );
        Ok(())
    }

    fn pod(&self, at: usize) -> Value {
        let mut pod = self.pod.clone();
        let metadata = &mut pod["metadata"];
        metadata["name"] = json!(pod_name(at));
        metadata["namespace"] = json!(namespace(service_of(at)));
        metadata["labels"]["app"] = json!(service_name(service_of(at)));
        metadata["labels"]["pod-template-hash"] = json!(template_hash(service_of(at)));
        pod["spec"]["nodeName"] = json!(node_name(self.node_of(at)));
        pod["status"]["podIP"] = json!(ip(at));
        pod["status"]["podIPs"] = json!([{"ip": ip(at)}]);
        pod
    }

    /// The Pods of a Service run on different Nodes.
    fn node_of(&self, pod: usize) -> usize {
        pod % self.nodes()
    }

    fn pods_of(&self, service: usize) -> impl Iterator<Item = usize> {
        (service * PODS_OF_A_SERVICE..self.pods).take(PODS_OF_A_SERVICE)
    }

    fn slice(&self, service: usize) -> Value {
        let endpoint = |pod: usize| {
            json!({
                "addresses": [ip(pod)],
                "conditions": {"ready": true, "serving": true, "terminating": false},
                "targetRef": target(pod),
                "nodeName": node_name(self.node_of(pod)),
                "zone": zone(self.node_of(pod)),
                "hints": {"forZones": [{"name": zone(self.node_of(pod))}]},
            })
        };
        let name = service_name(service);
        json!({
            "metadata": {
                "name": format!("{name}-p4wvn"),
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
            "endpoints": self.pods_of(service).map(endpoint).collect::<Vec<_>>(),
            "ports": [{"name": "http", "protocol": "TCP", "port": 8080}],
        })
    }

    fn endpoints(&self, service: usize) -> Value {
        let address =
            |pod: usize| json!({"ip": ip(pod), "nodeName": node_name(self.node_of(pod)), "targetRef": target(pod)});
        json!({
            "metadata": {
                "name": service_name(service),
                "labels": {"endpoints.kubernetes.io/managed-by": "endpoint-controller"},
                "annotations": {"endpoints.kubernetes.io/last-change-trigger-time": "2026-02-03T04:00:01Z"},
            },
            "subsets": [{
                "addresses": self.pods_of(service).map(address).collect::<Vec<_>>(),
                "ports": [{"name": "http", "protocol": "TCP", "port": 8080}],
            }],
        })
    }
}

/// Sends so many writes, several at a time.
async fn in_parallel(
    client: &Client,
    cluster: &Arc<Cluster>,
    count: usize,
    write: impl Fn(&Cluster, usize) -> Write + Copy + Send + 'static,
) -> Result<(), Error> {
    let mut tasks: JoinSet<Result<(), Error>> = JoinSet::new();
    for writer in 0..WRITERS {
        let (client, cluster) = (client.clone(), Arc::clone(cluster));
        tasks.spawn(async move {
            for at in (writer..count).step_by(WRITERS) {
                let Write { method, path, body } = write(&cluster, at);
                let body = body.to_string().into_bytes();
                let (status, answer) = client.raw(method, &path, Some("application/json"), body).await?;
                if !status.is_success() {
                    return Err(format!("{path}: {status}: {}", String::from_utf8_lossy(&answer)).into());
                }
            }
            Ok(())
        });
    }
    while let Some(ended) = tasks.join_next().await {
        ended??;
    }
    Ok(())
}

fn service_of(pod: usize) -> usize {
    pod / PODS_OF_A_SERVICE
}

fn namespace(service: usize) -> String {
    format!("team-{}", service / SERVICES_OF_A_NAMESPACE)
}

fn service_name(service: usize) -> String {
    format!("checkout-{service}")
}

fn template_hash(service: usize) -> String {
    format!("{:010x}", service.wrapping_mul(0x9E37_79B9) & 0xff_ffff_ffff)
}

fn pod_name(pod: usize) -> String {
    format!("{}-{}-{:05x}", service_name(service_of(pod)), template_hash(service_of(pod)), pod & 0xf_ffff)
}

fn ip(pod: usize) -> String {
    format!("10.{}.{}.{}", pod >> 16, (pod >> 8) & 255, pod & 255)
}

fn node_name(node: usize) -> String {
    format!("ip-10-{}-{}-{}.eu-central-1.compute.internal", node >> 16, (node >> 8) & 255, node & 255)
}

fn zone(node: usize) -> String {
    format!("eu-central-1{}", ["a", "b", "c"][node % 3])
}

fn uid(kind: usize, at: usize) -> String {
    let scrambled = at.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    format!("{:08x}-{:04x}-4{kind:03x}-8{:03x}-{at:012x}", scrambled >> 32, scrambled & 0xffff, at & 0xfff)
}

fn target(pod: usize) -> Value {
    json!({"kind": "Pod", "namespace": namespace(service_of(pod)), "name": pod_name(pod), "uid": uid(1, pod)})
}

fn service(at: usize) -> Value {
    json!({
        "metadata": {"name": service_name(at), "labels": {"team": format!("team-{}", at % 100)}},
        "spec": {
            "ports": [{"name": "http", "protocol": "TCP", "port": 80, "targetPort": "http"}],
            "selector": {"app": service_name(at)},
        },
    })
}

fn node(at: usize) -> Value {
    json!({
        "metadata": {
            "name": node_name(at),
            "labels": {
                "kubernetes.io/hostname": node_name(at),
                "topology.kubernetes.io/zone": zone(at),
                "topology.kubernetes.io/region": "eu-central-1",
            },
        },
        "status": {
            "allocatable": {"cpu": "7910m", "memory": "29Gi", "pods": "110"},
            "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "ok",
                "lastHeartbeatTime": "2026-01-01T00:00:00Z", "lastTransitionTime": "2026-01-01T00:00:00Z"}],
        },
    })
}

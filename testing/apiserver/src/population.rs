//! Generated objects of large clusters, for [`Server::load`](crate::Server::load).

use serde_json::{Value, json};

/// Size of a generated cluster of Nodes, Services and Pods.
///
/// Every Pod belongs to one Service. Pods are assigned to Nodes round-robin, and Nodes to three zones. Equal numbers
/// and templates yield equal objects.
///
/// ```
/// use kube_dev_apiserver::Population;
///
/// let pod = serde_json::json!({"metadata": {}, "spec": {"containers": [{"name": "main", "image": "app:1"}]}});
/// let two = Population { pods: 8, services: 2, nodes: 3, services_of_a_namespace: 1 };
/// let kinds: Vec<_> = two.objects(&pod).map(|object| object["kind"].as_str().unwrap().to_owned()).collect();
/// assert_eq!(kinds.len(), 2 + 3 + 2 + 8);
/// assert_eq!((two.service_of(4), two.pods_of(1)), (1, 4..8));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Population {
    /// Number of Pods.
    pub pods: usize,
    /// Number of Services. Pods are distributed evenly among them.
    pub services: usize,
    /// Number of Nodes.
    pub nodes: usize,
    /// Number of Services per namespace; 0 is treated as 1.
    pub services_of_a_namespace: usize,
}

impl Population {
    /// Returns Namespaces, Nodes, Services and Pods, in this order. Pods are copies of the template `pod`, see
    /// [`pod`](Self::pod).
    pub fn objects<'a>(&self, pod: &'a Value) -> impl Iterator<Item = Value> + use<'a> {
        let all = *self;
        let namespaces = (0..all.namespaces())
            .map(|at| json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": format!("team-{at}")}}));
        let nodes = (0..all.nodes).map(node);
        let services = (0..all.services).map(move |at| all.service(at));
        namespaces.chain(nodes).chain(services).chain((0..all.pods).map(move |at| all.pod(pod, at)))
    }

    /// Returns the number of namespaces.
    pub fn namespaces(&self) -> usize {
        self.services.div_ceil(self.services_of_a_namespace.max(1))
    }

    /// Returns the name of the Service with this index.
    pub fn service_name(service: usize) -> String {
        format!("checkout-{service}")
    }

    /// Returns the name of the Node with this index.
    pub fn node_name(node: usize) -> String {
        format!("ip-10-{}-{}-{}.eu-central-1.compute.internal", node >> 16, (node >> 8) & 255, node & 255)
    }

    /// Returns the zone of the Node with this index.
    pub fn zone(node: usize) -> String {
        format!("eu-central-1{}", ["a", "b", "c"][node % 3])
    }

    /// Returns the IP address of the Pod with this index.
    pub fn pod_ip(pod: usize) -> String {
        format!("10.{}.{}.{}", pod >> 16, (pod >> 8) & 255, pod & 255)
    }

    /// Returns the namespace of a Service and its Pods.
    pub fn namespace(&self, service: usize) -> String {
        format!("team-{}", service / self.services_of_a_namespace.max(1))
    }

    /// Returns the index of the Service that a Pod belongs to.
    pub fn service_of(&self, pod: usize) -> usize {
        pod * self.services / self.pods.max(1)
    }

    /// Returns the indexes of the Pods of a Service.
    pub fn pods_of(&self, service: usize) -> std::ops::Range<usize> {
        let first = |service: usize| (service * self.pods).div_ceil(self.services.max(1));
        first(service)..first(service + 1)
    }

    /// Returns the index of the Node of a Pod.
    pub fn node_of(&self, pod: usize) -> usize {
        pod % self.nodes.max(1)
    }

    /// Returns the name of the Pod with this index, in the format of a `ReplicaSet` named after its Service.
    pub fn pod_name(&self, pod: usize) -> String {
        let service = self.service_of(pod);
        format!("{}-{}-{pod:05x}", Population::service_name(service), template_hash(service))
    }

    fn service(&self, at: usize) -> Value {
        json!({
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {
                "name": Population::service_name(at),
                "namespace": self.namespace(at),
                "labels": {"team": format!("team-{}", at % 100)},
            },
            "spec": {
                "ports": [{"name": "http", "protocol": "TCP", "port": 80, "targetPort": "http"}],
                "selector": {"app": Population::service_name(at)},
            },
        })
    }

    /// Returns a copy of `template` with the name, namespace, labels, Node and IP address of a Pod.
    pub fn pod(&self, template: &Value, at: usize) -> Value {
        let service = self.service_of(at);
        let mut pod = template.clone();
        (pod["apiVersion"], pod["kind"]) = (json!("v1"), json!("Pod"));
        let metadata = &mut pod["metadata"];
        (metadata["name"], metadata["namespace"]) = (json!(self.pod_name(at)), json!(self.namespace(service)));
        metadata["labels"]["app"] = json!(Population::service_name(service));
        metadata["labels"]["pod-template-hash"] = json!(template_hash(service));
        pod["spec"]["nodeName"] = json!(Population::node_name(self.node_of(at)));
        let ip = Population::pod_ip(at);
        (pod["status"]["podIP"], pod["status"]["podIPs"]) = (json!(ip), json!([{"ip": ip}]));
        pod
    }

    /// Turns a recorded Pod into a template: removes the metadata that a server sets, and keeps the encoded size.
    /// Environment variables of the first container replace `managedFields`, which a server does not always store, see
    /// [`FieldTracking`](crate::FieldTracking).
    pub fn template(mut recorded: Value) -> Value {
        let mut managed = 0;
        if let Some(metadata) = recorded["metadata"].as_object_mut() {
            managed = metadata.remove("managedFields").map_or(0, |it| it.to_string().len());
            for field in
                ["uid", "resourceVersion", "creationTimestamp", "generation", "ownerReferences", "generateName"]
            {
                metadata.remove(field);
            }
        }
        let variable = |at: usize| {
            json!({
                "name": format!("FEATURE_FLAGS_SERVICE_{at:02}"),
                "value": "http://feature-flags.platform.svc:8080/v2",
            })
        };
        let missing = managed / variable(0).to_string().len();
        if let Some(container) = recorded["spec"]["containers"].get_mut(0) {
            let mut variables = container["env"].as_array().cloned().unwrap_or_default();
            variables.extend((0..missing).map(variable));
            container["env"] = json!(variables);
        }
        recorded
    }
}

fn template_hash(service: usize) -> String {
    format!("{:010x}", service.wrapping_mul(0x9E37_79B9) & 0xff_ffff_ffff)
}

fn node(at: usize) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": Population::node_name(at),
            "labels": {
                "kubernetes.io/hostname": Population::node_name(at),
                "topology.kubernetes.io/zone": Population::zone(at),
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

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::even(20, 4)]
    #[case::odd(10, 3)]
    #[case::more_services(2, 5)]
    #[case::none(0, 2)]
    fn each_pod_matches_one_service(#[case] pods: usize, #[case] services: usize) {
        let all = Population { pods, services, nodes: 3, services_of_a_namespace: 2 };
        let found: Vec<(usize, usize)> =
            (0..services).flat_map(|service| all.pods_of(service).map(move |pod| (pod, service))).collect();
        let expected: Vec<(usize, usize)> = (0..pods).map(|pod| (pod, all.service_of(pod))).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn template_has_the_size_of_the_recorded_object() {
        let recorded = json!({
            "metadata": {"uid": "u", "managedFields": [{"fieldsV1": "x".repeat(1_000)}]},
            "spec": {"containers": [{"name": "main"}]},
        });
        let (before, template) = (recorded.to_string().len(), Population::template(recorded));
        let after = template.to_string().len();
        assert!(template["metadata"].get("uid").is_none() && before.abs_diff(after) < 150, "{before} {after}");
    }
}

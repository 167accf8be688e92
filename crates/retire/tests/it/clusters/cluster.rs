//! The seeded clusters.

use std::sync::Arc;

use jiff::SignedDuration;
use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding, RoleBinding};
use kube_endpoint_model::{Endpoints, Pod, Service, With};
use kube_endpoints_explain::{Kind, Settings, World};
use kube_endpoints_retire::{Accounts, Cluster, Facts, FoundEndpoints, PodProgram, Rights, Unread, Written};
use kube_wire::Decode;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::log::{Log, now};

/// A cluster that is put together step by step, beginning with [`Seed::shop`].
#[derive(Clone, Debug)]
pub(super) struct Seed {
    services: Vec<Value>,
    pods: Vec<Value>,
    /// Endpoints besides those that the controller writes.
    endpoints: Vec<Value>,
    /// Changes of the Endpoints that the controller writes, by name; null removes one.
    changes: Vec<(&'static str, Value)>,
    roles: Vec<Value>,
    bindings: Vec<Value>,
    log: Option<Log>,
    denied: Vec<&'static str>,
    api_servers: usize,
    is_merged_log: bool,
}

pub(super) fn service(namespace: &str, name: &str, spec: &Value) -> Value {
    json!({"metadata": {"namespace": namespace, "name": name, "labels": {"app": name}}, "spec": spec})
}

/// The specification of a Service with a selector, without one, or with another one.
pub(super) fn spec(selector: Option<&str>) -> Value {
    let mut spec = json!({"clusterIP": "10.96.0.10", "ipFamilies": ["IPv4"],
        "ports": [{"name": "http", "port": 80, "targetPort": 8080, "protocol": "TCP"}]});
    if let Some(app) = selector {
        spec["selector"] = json!({"app": app});
    }
    spec
}

/// A running Pod with a service account of its own name, and a program.
pub(super) fn pod(namespace: &str, name: &str, image: &str, arguments: &[&str]) -> Value {
    json!({"metadata": {"namespace": namespace, "name": format!("{name}-0"), "labels": {"app": name},
            "creationTimestamp": "2026-10-01T00:00:00Z"},
        "spec": {"nodeName": "n1", "serviceAccountName": name, "containers": [{"name": "main", "image": image, "args": arguments}]},
        "status": {"phase": "Running", "podIP": "10.1.0.1", "podIPs": [{"ip": "10.1.0.1"}],
            "conditions": [{"type": "Ready", "status": "True"}]}})
}

/// Endpoints that a program has written.
pub(super) fn custom(namespace: &str, name: &str, manager: &str, metadata: &Value) -> Value {
    let mut object = json!({"metadata": {"namespace": namespace, "name": name, "uid": format!("u-{name}"), "resourceVersion": "7",
            "managedFields": [{"manager": manager, "time": "2026-11-20T00:00:00Z"}]},
        "subsets": [{"addresses": [{"ip": "192.0.2.1"}], "ports": [{"port": 1, "protocol": "TCP"}]}]});
    merge(&mut object["metadata"], metadata);
    object
}

/// Applies a merge patch.
fn merge(target: &mut Value, patch: &Value) {
    match patch {
        Value::Object(fields) if target.is_object() => {
            fields.iter().for_each(|(name, value)| merge(&mut target[name], value));
        }
        _ => *target = patch.clone(),
    }
}

fn decoded<T: DeserializeOwned>(value: &Value) -> T {
    serde_json::from_value(value.clone()).unwrap_or_else(|error| panic!("{error}: {value}"))
}

impl Seed {
    /// The Services `web` and `api` in namespace `shop`, and `tool` in `lab`, each with a Pod, and `default/kubernetes`. Their
    /// Endpoints are what the controller writes. There is no audit log.
    pub(super) fn shop() -> Seed {
        let pod_of = |namespace: &str, name: &str| pod(namespace, name, "registry.example/app:1", &[]);
        let with_selector = |namespace: &str, name: &str| service(namespace, name, &spec(Some(name)));
        Seed {
            services: vec![
                with_selector("shop", "web"),
                with_selector("shop", "api"),
                with_selector("lab", "tool"),
                service("default", "kubernetes", &spec(None)),
            ],
            pods: vec![pod_of("shop", "web"), pod_of("shop", "api"), pod_of("lab", "tool")],
            endpoints: vec![custom("default", "kubernetes", "kube-apiserver", &json!({}))],
            changes: Vec::new(),
            roles: Vec::new(),
            bindings: Vec::new(),
            log: None,
            denied: Vec::new(),
            api_servers: 1,
            is_merged_log: false,
        }
    }

    pub(super) fn service(mut self, service: Value) -> Seed {
        self.services.retain(|it| it["metadata"]["name"] != service["metadata"]["name"]);
        self.services.push(service);
        self
    }

    pub(super) fn without_service(mut self, name: &str) -> Seed {
        self.services.retain(|it| it["metadata"]["name"] != name);
        self
    }

    pub(super) fn pod(mut self, pod: Value) -> Seed {
        self.pods.push(pod);
        self
    }

    pub(super) fn endpoints(mut self, endpoints: Value) -> Seed {
        self.endpoints.push(endpoints);
        self
    }

    /// Removes Endpoints that no controller has written.
    pub(super) fn without_endpoints(mut self, name: &str) -> Seed {
        self.endpoints.retain(|it| it["metadata"]["name"] != name);
        self
    }

    /// Changes Endpoints that the controller has written.
    pub(super) fn change(mut self, name: &'static str, change: Value) -> Seed {
        self.changes.push((name, change));
        self
    }

    /// Gives a service account the right to do something with Endpoints, in a namespace or with an empty one in all.
    pub(super) fn right(mut self, account: &str, namespace: &str, rule: &Value) -> Seed {
        let (of, name) = account.split_once('/').expect("namespace and name");
        let role = format!("role-{}", self.roles.len());
        self.roles.push(json!({"metadata": {"name": role}, "rules": [rule]}));
        self.bindings.push(json!({"metadata": {"namespace": namespace, "name": role},
            "roleRef": {"kind": "ClusterRole", "name": role},
            "subjects": [{"kind": "ServiceAccount", "namespace": of, "name": name}]}));
        self
    }

    /// A program in a Pod, with the right to read all Endpoints.
    pub(super) fn program(self, namespace: &str, name: &str, image: &str, arguments: &[&str]) -> Seed {
        let rule =
            json!({"apiGroups": [""], "resources": ["endpoints", "services"], "verbs": ["get", "list", "watch"]});
        self.pod(pod(namespace, name, image, arguments)).right(&format!("{namespace}/{name}"), "", &rule)
    }

    pub(super) fn log(mut self, log: Log) -> Seed {
        self.log = Some(log);
        self
    }

    pub(super) fn api_servers(mut self, api_servers: usize, is_merged_log: bool) -> Seed {
        (self.api_servers, self.is_merged_log) = (api_servers, is_merged_log);
        self
    }

    pub(super) fn denied(mut self, kind: &'static str) -> Seed {
        self.denied.push(kind);
        self
    }

    /// Returns what a controller has written for the Services and Pods, without the changes.
    fn written(&self) -> Vec<Value> {
        let mut world = World::new(Settings::default());
        world.add_services(self.services.iter().map(decoded::<Service>).map(Arc::new));
        world.add_pods(self.pods.iter().map(decoded::<Pod>).map(Arc::new));
        let written = world.changes().into_iter().filter(|it| it.object.kind == Kind::Endpoints);
        let managed = json!([{"manager": "kube-controller-manager", "time": "2026-11-27T10:00:00Z"}]);
        let stored = |mut object: Value| {
            let uid = format!("u-{}", object["metadata"]["name"].as_str().expect("a name"));
            merge(&mut object["metadata"], &json!({"uid": uid, "resourceVersion": "5", "managedFields": managed}));
            object
        };
        written.filter_map(|it| it.after).map(stored).collect()
    }

    /// Returns the facts of the cluster as it is, and of its Endpoints as the controller has written them for `before`.
    pub(super) fn facts_after(&self, before: &Seed) -> Facts {
        let mut objects = before.written();
        for (name, change) in &self.changes {
            if change.is_null() {
                objects.retain(|it| it["metadata"]["name"] != *name);
            }
            objects.iter_mut().filter(|it| it["metadata"]["name"] == *name).for_each(|it| merge(it, change));
        }
        objects.extend(self.endpoints.iter().cloned());
        let is_denied = |kind: &str| self.denied.contains(&kind);
        let found = |object: &Value| {
            let bytes = object.to_string().into_bytes();
            let With { object: endpoints, part: written } =
                With::<Endpoints, Written>::from_json(&bytes).expect("Endpoints");
            FoundEndpoints { endpoints: Arc::new(endpoints), written }
        };
        let mut accounts = Accounts::default();
        let mut pods = Vec::new();
        for pod in &self.pods {
            let With { object: pod, part } =
                With::<Pod, PodProgram>::from_json(pod.to_string().as_bytes()).expect("a Pod");
            accounts.add(&pod.namespace, &pod.name, &part);
            pods.push(Arc::new(pod));
        }
        let roles: Vec<ClusterRole> = self.roles.iter().map(decoded).collect();
        let (of_cluster, of_namespaces): (Vec<&Value>, Vec<&Value>) =
            self.bindings.iter().partition(|it| it["metadata"]["namespace"] == "");
        let cluster_bindings: Vec<ClusterRoleBinding> = of_cluster.into_iter().map(decoded).collect();
        let bindings: Vec<RoleBinding> = of_namespaces.into_iter().map(decoded).collect();
        Facts {
            now: now(),
            cluster: Cluster { uid: "c".to_owned() },
            namespace: None,
            endpoints: if is_denied("endpoints") { Vec::new() } else { objects.iter().map(found).collect() },
            services: if is_denied("services") {
                Vec::new()
            } else {
                self.services.iter().map(decoded::<Service>).map(Arc::new).collect()
            },
            pods: if is_denied("pods") { Vec::new() } else { pods },
            accounts: if is_denied("pods") { Accounts::default() } else { accounts },
            rights: (!is_denied("clusterroles")).then(|| Rights::new(&roles, &cluster_bindings, &[], &bindings)),
            unread: self
                .denied
                .iter()
                .map(|kind| Unread { kind: (*kind).to_owned(), because: "forbidden".to_owned() })
                .collect(),
            is_comparable: !is_denied("services") && !is_denied("pods"),
            reads: self.log.as_ref().map(Log::reads),
            asked: SignedDuration::from_hours(7 * 24),
            api_servers: Some(self.api_servers),
            is_merged_log: self.is_merged_log,
            writes: None,
        }
    }

    pub(super) fn facts(&self) -> Facts {
        self.facts_after(self)
    }
}

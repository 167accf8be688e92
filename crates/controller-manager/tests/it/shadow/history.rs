//! Random changes of objects in a namespace.
//!
//! Changes that no sync follows or reverts are left out:
//!
//! - removing a selector, and changing a Service to `ExternalName` (EP-4, ES-2),
//! - a Pod that finishes while it is not ready, which enqueues no Service (EC-2),
//! - writes to Endpoints of a Service with a selector, which are not reverted (EC-26).

use std::collections::BTreeSet;

use http::Method;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use serde_json::{Value, json};

use crate::cluster::{Cluster, text};

pub(super) struct History {
    pub(super) namespace: String,
    rng: StdRng,
    services: BTreeSet<&'static str>,
    /// Services created without a selector that have one now.
    selecting: BTreeSet<&'static str>,
    pods: BTreeSet<&'static str>,
    ready: BTreeSet<&'static str>,
    terminating: BTreeSet<&'static str>,
    seconds: u32,
}

const MIRRORING: &str = "endpointslicemirroring-controller.k8s.io";
/// Services created with a selector; the second is headless.
const SELECTING: [&str; 2] = ["web", "headless"];
/// Services created without a selector; it may be added later.
const PLAIN: [&str; 2] = ["db", "cache"];
const PODS: [&str; 5] = ["p0", "p1", "p2", "p3", "p4"];
const APPS: [&str; 2] = ["a", "b"];

impl History {
    pub(super) fn new(seed: u64) -> History {
        History {
            namespace: format!("history-{seed}"),
            rng: StdRng::seed_from_u64(seed),
            services: BTreeSet::new(),
            selecting: BTreeSet::new(),
            pods: BTreeSet::new(),
            ready: BTreeSet::new(),
            terminating: BTreeSet::new(),
            seconds: 0,
        }
    }

    fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        *list.choose(&mut self.rng).expect("not empty")
    }

    pub(super) async fn change(&mut self, cluster: &Cluster) {
        match self.rng.random_range(0..10) {
            0 | 1 => self.change_service(cluster).await,
            2 | 3 => self.change_plain_service(cluster).await,
            4..=6 => self.change_pod(cluster).await,
            7 | 8 => self.change_endpoints(cluster).await,
            _ => self.tamper(cluster).await,
        }
    }

    /// Sends one request. It may fail with 404 or 409, since controllers change objects at the same time.
    async fn send(&mut self, cluster: &Cluster, method: Method, path: &str, body: &Value) {
        let prefix = if path.starts_with("endpointslices") { "/apis/discovery.k8s.io/v1" } else { "/api/v1" };
        let path = format!("{prefix}/namespaces/{}/{path}", self.namespace);
        let status = cluster.try_call(method.clone(), &path, body).await;
        assert!(status.is_success() || [404, 409].contains(&status.as_u16()), "{method} {path} {body}: {status}");
    }

    async fn change_service(&mut self, cluster: &Cluster) {
        let name = self.pick(&SELECTING);
        if !self.services.contains(name) {
            let app = self.pick(&APPS);
            let mut spec =
                json!({"selector": {"app": app}, "ports": [{"name": "http", "port": 80, "targetPort": 8080}]});
            if name == "headless" {
                spec["clusterIP"] = "None".into();
            }
            self.services.insert(name);
            let object = json!({"metadata": {"name": name, "labels": {"team": "x"}}, "spec": spec});
            return self.send(cluster, Method::POST, "services", &object).await;
        }
        let app = self.pick(&APPS);
        let headless = name == "headless";
        let patch = match self.rng.random_range(0..6) {
            0 => {
                self.services.remove(name);
                return self.send(cluster, Method::DELETE, &format!("services/{name}"), &Value::Null).await;
            }
            1 => {
                json!({"metadata": {"labels": {"team": self.pick(&["x", "y"]), "tier": self.pick(&[None, Some("t")])}}})
            }
            2 => json!({"spec": {"publishNotReadyAddresses": self.rng.random_bool(0.5)}}),
            3 => json!({"spec": {"selector": {"app": app}}}),
            4 if headless => json!({"spec": {"ports": []}}),
            4 => {
                json!({"spec": {"ports": [{"name": "named", "port": 81, "targetPort": "web", "appProtocol": "http"}]}})
            }
            _ => json!({"spec": {"ports": [{"name": "http", "port": 80, "targetPort": 8080},
                {"name": "named", "port": 81, "targetPort": "web"}]}}),
        };
        self.send(cluster, Method::PATCH, &format!("services/{name}"), &patch).await;
    }

    async fn change_plain_service(&mut self, cluster: &Cluster) {
        let name = self.pick(&PLAIN);
        let port = json!({"name": "sql", "port": 5432, "targetPort": 5432});
        if self.services.insert(name) {
            self.selecting.remove(name);
            let object = json!({"metadata": {"name": name}, "spec": {"ports": [port]}});
            return self.send(cluster, Method::POST, "services", &object).await;
        }
        match self.rng.random_range(0..4) {
            0 => {
                self.services.remove(name);
                self.send(cluster, Method::DELETE, &format!("services/{name}"), &Value::Null).await;
            }
            1 => {
                self.selecting.insert(name);
                let patch = json!({"spec": {"selector": {"app": self.pick(&APPS)}}});
                self.send(cluster, Method::PATCH, &format!("services/{name}"), &patch).await;
            }
            _ => {
                let patch = json!({"metadata": {"labels": {"team": self.pick(&["x", "y"])}}});
                self.send(cluster, Method::PATCH, &format!("services/{name}"), &patch).await;
            }
        }
    }

    async fn change_pod(&mut self, cluster: &Cluster) {
        let name = self.pick(&PODS);
        let number = &name[1..];
        let mut ips = vec![json!({"ip": format!("10.1.{}.{number}", self.rng.random_range(0..3))})];
        if self.rng.random_bool(0.3) {
            ips.push(json!({"ip": format!("fd00::{number}")}));
        }
        let addresses = json!({"podIP": ips[0]["ip"], "podIPs": ips});
        if !self.pods.contains(name) {
            let ports = json!([{"name": "web", "containerPort": 9000}]);
            let container = json!({"name": "main", "image": "registry.example/app:1",
                "ports": if self.rng.random_bool(0.7) { ports } else { json!([]) }});
            let mut spec = json!({"nodeName": "n1", "containers": [container]});
            if self.rng.random_bool(0.3) {
                (spec["hostname"], spec["subdomain"]) = (name.into(), self.pick(&["headless", "other"]).into());
            }
            let object = json!({"metadata": {"name": name, "labels": {"app": self.pick(&APPS)}}, "spec": spec});
            self.pods.insert(name);
            self.terminating.remove(name);
            self.send(cluster, Method::POST, "pods", &object).await;
            let mut status = addresses;
            status["phase"] = "Running".into();
            let ready = self.rng.random_bool(0.7);
            return self.pod_status(cluster, name, ready, status).await;
        }
        match self.rng.random_range(0..6) {
            0 => {
                let patch = json!({"metadata": {"labels": {"app": self.pick(&APPS)}}});
                self.send(cluster, Method::PATCH, &format!("pods/{name}"), &patch).await;
            }
            1 if self.terminating.insert(name) => {
                self.send(cluster, Method::DELETE, &format!("pods/{name}?gracePeriodSeconds=600"), &Value::Null).await;
            }
            1 | 2 => {
                self.pods.remove(name);
                self.ready.remove(name);
                self.send(cluster, Method::DELETE, &format!("pods/{name}?gracePeriodSeconds=0"), &Value::Null).await;
            }
            3 if self.ready.contains(name) => {
                let phase = self.pick(&["Failed", "Succeeded"]);
                self.pod_status(cluster, name, false, json!({"phase": phase})).await;
            }
            4 => {
                let ready = self.ready.contains(name);
                self.pod_status(cluster, name, ready, addresses).await;
            }
            _ => {
                let ready = !self.ready.contains(name);
                self.pod_status(cluster, name, ready, json!({})).await;
            }
        }
    }

    async fn pod_status(&mut self, cluster: &Cluster, name: &'static str, ready: bool, mut status: Value) {
        self.seconds += 1;
        let since = format!("2026-01-01T00:00:{:02}Z", self.seconds);
        let state = if ready { "True" } else { "False" };
        status["conditions"] = json!([{"type": "Ready", "status": state, "lastTransitionTime": since}]);
        if ready {
            self.ready.insert(name);
        } else {
            self.ready.remove(name);
        }
        self.send(cluster, Method::PATCH, &format!("pods/{name}/status"), &json!({"status": status})).await;
    }

    async fn change_endpoints(&mut self, cluster: &Cluster) {
        let name = self.pick(&PLAIN);
        if !self.services.contains(name) {
            return;
        }
        let path = format!("endpoints/{name}");
        if self.selecting.contains(name) || self.rng.random_bool(0.15) {
            return self.send(cluster, Method::DELETE, &path, &Value::Null).await;
        }
        let annotations =
            json!({"note": self.pick(&["x", "y"]), "kubectl.kubernetes.io/last-applied-configuration": "{}"});
        let skip = self.pick(&["true", "false", "false", "maybe"]);
        let labels = json!({"team": self.pick(&["x", "y"]), "endpointslice.kubernetes.io/skip-mirror": skip});
        let metadata = json!({"name": name, "labels": labels, "annotations": annotations});
        let object = json!({"metadata": metadata, "subsets": self.subsets()});
        self.send(cluster, Method::POST, "endpoints", &object).await;
        self.send(cluster, Method::PATCH, &path, &object).await;
    }

    /// Random subsets. Either all or none have ports, since repacking merges a subset without ports into one with ports
    /// and the same addresses.
    fn subsets(&mut self) -> Value {
        let portless = self.rng.random_bool(0.1);
        let count = self.rng.random_range(0..4);
        (0..count)
            .map(|_| {
                let ports: Value = ["sql", "http"]
                    .iter()
                    .zip([5432, 80])
                    .filter(|_| !portless && self.rng.random_bool(0.7))
                    .map(|(name, port)| json!({"name": name, "port": port, "protocol": "TCP"}))
                    .collect();
                let ports = if portless || ports != json!([]) {
                    ports
                } else {
                    json!([{"name": "sql", "port": 5432, "protocol": "TCP"}])
                };
                json!({"addresses": self.addresses(), "notReadyAddresses": self.addresses(), "ports": ports})
            })
            .filter(|subset| subset["addresses"] != json!([]) || subset["notReadyAddresses"] != json!([]))
            .collect()
    }

    /// Random addresses. Each IP always has the same hostname and Node; if they differed, the first occurrence would
    /// win.
    fn addresses(&mut self) -> Value {
        let count = self.rng.random_range(0..4);
        let numbers: BTreeSet<u8> = (0..count).map(|_| self.rng.random_range(1..9)).collect();
        let address = |number: u8| match number % 4 {
            0 => json!({"ip": format!("2001:db8::{number}")}),
            1 => json!({"ip": format!("192.0.2.{number}"), "nodeName": "n1"}),
            2 => json!({"ip": format!("192.0.2.{number}"), "hostname": format!("h{number}")}),
            _ => json!({"ip": format!("192.0.2.{number}")}),
        };
        numbers.into_iter().map(address).collect()
    }

    /// Changes or deletes a random slice of the mirroring controller, as another client would.
    async fn tamper(&mut self, cluster: &Cluster) {
        let path = format!("/apis/discovery.k8s.io/v1/namespaces/{}/endpointslices", self.namespace);
        let slices = cluster.list(&path).await;
        let is_mirrored = |it: &&Value| it["metadata"]["labels"]["endpointslice.kubernetes.io/managed-by"] == MIRRORING;
        let names: Vec<String> = slices.iter().filter(is_mirrored).map(|it| text(&it["metadata"]["name"])).collect();
        let Some(name) = names.choose(&mut self.rng) else { return };
        let path = format!("endpointslices/{name}");
        let patch = match self.rng.random_range(0..3) {
            0 => return self.send(cluster, Method::DELETE, &path, &Value::Null).await,
            1 => json!({"endpoints": []}),
            _ => json!({"metadata": {"labels": {"extra": "label"}}}),
        };
        self.send(cluster, Method::PATCH, &path, &patch).await;
    }
}

//! Metrics of propagation latency: every kind of change is observed once, by each controller that writes for it.

use std::collections::BTreeMap;

use http::Method;
use kube_endpoints_testing::eventually;
use kube_endpoints_testing::https::HttpsClient;
use serde_json::{Value, json};

use crate::cluster::Cluster;
use crate::serving::start;

const ENDPOINTS: &str = "endpoints-controller";
const SLICES: &str = "endpointslice-controller";
const MIRRORING: &str = "endpointslice-mirroring-controller";

const TOTAL: &str = "endpoint_controllers_propagation_duration_seconds_count";
const STAGES: &str = "endpoint_controllers_propagation_stage_duration_seconds_count";
const SYNCED: &str = "endpoint_slice_controller_syncs{result=\"success\"}";
const MIRRORED: &str = "endpoint_slice_mirroring_controller_endpoints_sync_duration_count";

const PODS: &str = "/api/v1/namespaces/default/pods";
const SERVICES: &str = "/api/v1/namespaces/default/services";
const ALL_ENDPOINTS: &str = "/api/v1/namespaces/default/endpoints";
const ALL_SLICES: &str = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";

/// Counts by controller, cause and stage; the stage is empty if the metric has none.
type Counts = BTreeMap<(String, String, String), u64>;

fn counts(text: &str, metric: &str) -> Counts {
    let of_metric = |line: &str| {
        let (labels, value) = line.strip_prefix(metric)?.strip_prefix('{')?.split_once("} ")?;
        let label = |name: &str| {
            let found = labels.split(',').find_map(|it| it.strip_prefix(name)?.strip_prefix("=\""));
            found.unwrap_or_default().trim_end_matches('"').to_owned()
        };
        Some(((label("controller"), label("cause"), label("stage")), value.parse().expect("a count")))
    };
    text.lines().filter_map(of_metric).collect()
}

struct Scene {
    cluster: Cluster,
    master: HttpsClient,
    expected: Counts,
    /// Number of syncs of the slice controller.
    syncs: u64,
}

impl Scene {
    async fn totals(&self) -> Counts {
        counts(&self.scrape().await, TOTAL)
    }

    async fn scrape(&self) -> String {
        self.master.get("/metrics").await.text
    }

    /// Waits until each of these controllers has observed one more change with this cause, and nothing else has
    /// changed; and until the slice controller has synced once more, as it does a second after each write: that sync could take
    /// up the next change before its event is recorded.
    async fn expect_observed(&mut self, cause: &str, controllers: &[&str]) {
        for controller in controllers {
            *self.expected.entry(((*controller).to_owned(), cause.to_owned(), String::new())).or_default() += 1;
        }
        eventually(cause, &self.expected, async || self.totals().await).await;
        if controllers.contains(&SLICES) {
            self.syncs += 2;
            eventually("syncs of the slice controller", &Some(self.syncs), || self.syncs(SYNCED)).await;
        }
    }

    /// Returns the number of syncs of a controller, by the name of its metric.
    async fn syncs(&self, metric: &str) -> Option<u64> {
        let text = self.scrape().await;
        text.lines().find_map(|line| line.strip_prefix(metric)?.trim().parse().ok())
    }

    async fn patch(&self, path: &str, patch: &Value) {
        self.cluster.call(Method::PATCH, path, patch).await;
    }

    async fn delete(&self, path: &str) {
        self.cluster.call(Method::DELETE, path, &Value::Null).await;
    }

    async fn delete_slices(&self, service: &str) {
        for slice in self.cluster.list(ALL_SLICES).await {
            if slice["metadata"]["labels"]["kubernetes.io/service-name"] == service {
                self.delete(&format!("{ALL_SLICES}/{}", slice["metadata"]["name"].as_str().expect("a name"))).await;
            }
        }
    }

    async fn node(&self, name: &str, zone: &str, cpu: &str) {
        let labels = json!({"topology.kubernetes.io/zone": zone});
        let status = json!({"allocatable": {"cpu": cpu}, "conditions": [{"type": "Ready", "status": "True"}]});
        let node = json!({"metadata": {"name": name, "labels": labels}, "status": status});
        self.cluster.create("/api/v1/nodes", &node).await;
    }

    /// Changes that make the mirroring controller write: Endpoints and a Service without selector, in either order.
    async fn mirrored(&mut self) {
        let ports = json!([{"name": "http", "port": 80}]);
        let service = |name: &str| json!({"metadata": {"name": name}, "spec": {"ports": ports}});
        let subsets = json!([{"addresses": [{"ip": "192.0.2.1"}], "ports": ports}]);
        let endpoints = |name: &str| json!({"metadata": {"name": name}, "subsets": subsets});
        // Each lacks its counterpart, so that its sync writes nothing.
        self.cluster.create(ALL_ENDPOINTS, &endpoints("late")).await;
        self.cluster.create(SERVICES, &service("mine")).await;
        eventually("syncs of the mirroring controller", &Some(2), || self.syncs(MIRRORED)).await;
        self.cluster.create(SERVICES, &service("late")).await;
        self.expect_observed("services", &[MIRRORING]).await;
        self.cluster.create(ALL_ENDPOINTS, &endpoints("mine")).await;
        self.expect_observed("endpoints", &[MIRRORING]).await;
        self.delete_slices("mine").await;
        self.expect_observed("slices", &[MIRRORING]).await;
    }

    /// Every kind of change of a Service and its only Pod.
    async fn selected(&mut self) {
        const BOTH: &[&str] = &[ENDPOINTS, SLICES];
        // Those of the Services above, which have no selector.
        self.syncs = self.syncs(SYNCED).await.expect("syncs");
        // Ready before a Service selects it, so that each following step is a single change.
        self.cluster.ready_pod("default", "web-0", "other", "10.1.0.1").await;
        self.cluster.service("default", "web").await;
        self.expect_observed("services", BOTH).await;
        let pod = format!("{PODS}/web-0");
        self.patch(&pod, &json!({"metadata": {"labels": {"app": "web"}}})).await;
        self.expect_observed("pods", BOTH).await;
        self.cluster.readiness("default", "web-0", "False", "2026-01-01T00:00:01Z").await;
        self.expect_observed("pods", BOTH).await;
        self.cluster.readiness("default", "web-0", "True", "2026-01-01T00:00:02Z").await;
        self.expect_observed("pods", BOTH).await;
        let status = json!({"podIP": "10.1.0.2", "podIPs": [{"ip": "10.1.0.2"}]});
        self.patch(&format!("{pod}/status"), &json!({"status": status})).await;
        self.expect_observed("pods", BOTH).await;
        let ports = json!([{"name": "http", "port": 80, "targetPort": 9090}]);
        self.patch(&format!("{SERVICES}/web"), &json!({"spec": {"ports": ports}})).await;
        self.expect_observed("services", BOTH).await;
        self.delete_slices("web").await;
        self.expect_observed("slices", &[SLICES]).await;
        self.delete(&format!("{ALL_ENDPOINTS}/web")).await;
        self.expect_observed("endpoints", &[ENDPOINTS]).await;
        self.delete(&pod).await;
        self.expect_observed("pods", BOTH).await;
        // The garbage collector deletes the slices.
        self.delete(&format!("{SERVICES}/web")).await;
        self.expect_observed("services", &[ENDPOINTS]).await;
    }

    /// A new Node that changes hints.
    async fn hinted(&self) {
        self.node("n2", "b", "1").await;
        let metadata = json!({"name": "near", "annotations": {"service.kubernetes.io/topology-mode": "Auto"}});
        let spec = json!({"selector": {"app": "near"}, "ports": [{"name": "http", "port": 80}]});
        self.cluster.create(SERVICES, &json!({"metadata": metadata, "spec": spec})).await;
        for (at, node) in ["n1", "n1", "n2", "n2"].into_iter().enumerate() {
            let spec = json!({"nodeName": node, "containers": [{"name": "main", "image": "registry.example/app:1"}]});
            let metadata = json!({"name": format!("near-{at}"), "labels": {"app": "near"}});
            self.cluster.create(PODS, &json!({"metadata": metadata, "spec": spec})).await;
            let address = format!("10.1.1.{at}");
            let ready = json!([{"type": "Ready", "status": "True"}]);
            let status =
                json!({"phase": "Running", "podIP": address, "podIPs": [{"ip": address}], "conditions": ready});
            self.patch(&format!("{PODS}/near-{at}/status"), &json!({"status": status})).await;
        }
        let hinted = async || {
            let slices = self.cluster.list(ALL_SLICES).await;
            let of_service =
                slices.iter().filter(|it| it["metadata"]["labels"]["kubernetes.io/service-name"] == "near");
            let endpoints = of_service.flat_map(|it| it["endpoints"].as_array().cloned().unwrap_or_default());
            endpoints.filter(|endpoint| endpoint["hints"]["forZones"].is_array()).count()
        };
        eventually("endpoints with hints", &4, hinted).await;
        self.node("n3", "b", "8").await;
        let key = (SLICES.to_owned(), "nodes".to_owned(), String::new());
        let observed = async || self.totals().await.get(&key).copied();
        eventually("nodes", &Some(1), observed).await;
    }
}

#[tokio::test]
async fn each_change_is_observed_once_per_writer() {
    let cluster = Cluster::start().await;
    let process = start(&cluster, &["--leader-elect=false"]);
    let master = process.master(&cluster).await;
    let mut scene = Scene { cluster, master, expected: Counts::new(), syncs: 0 };
    // Objects of the initial list are not observed as changes: wait until the controllers run.
    process.until("/healthz?verbose", |reply| reply.text.contains(MIRRORING)).await;
    process.until("/readyz", |reply| reply.code == 200).await;
    scene.node("n1", "a", "1").await;
    scene.mirrored().await;
    scene.selected().await;

    let stages = counts(&scene.scrape().await, STAGES);
    for ((controller, cause, _), count) in &scene.expected {
        let of = |stage: &str| stages.get(&(controller.clone(), cause.clone(), stage.to_owned())).copied();
        for stage in ["queue", "sync"] {
            assert_eq!(of(stage), Some(*count), "{controller} {cause} {stage}");
        }
    }
    scene.hinted().await;
    scene.cluster.server.shutdown().await;
}

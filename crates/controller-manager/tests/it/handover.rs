//! A process takes over from another one whose objects are up to date: it writes nothing.

use std::collections::BTreeMap;
use std::time::Duration;

use kube_dev_apiserver::{On, Population, User};
use kube_endpoints_testing::until;
use serde_json::json;
use tokio::process::Child;
use tokio::time::sleep;

use crate::cluster::Cluster;
use crate::process::{start_with_kubeconfig, stop};

/// Time for writes that are not expected: longer than a renewal of the Lease and the first syncs.
const QUIET: Duration = Duration::from_secs(5);

fn start(cluster: &Cluster, user: &str) -> Child {
    start_with_kubeconfig(&cluster.kubeconfig_for(User::new(user).group("system:masters")), &[])
}

#[tokio::test]
async fn a_handover_writes_nothing_in_either_direction() {
    let cluster = Cluster::start_with_tls().await;
    let population = Population { pods: 2_000, services: 200, nodes: 5, services_of_a_namespace: 50 };
    let ports = json!([{"name": "http", "containerPort": 8080}]);
    let template = json!({
        "metadata": {"labels": {}},
        "spec": {"containers": [{"name": "main", "image": "registry.example/app:1", "ports": ports}]},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
    });
    cluster.server.load(population.objects(&template)).expect("loaded");
    cluster.node().await;
    let services = 0..population.services;
    let expected: BTreeMap<String, usize> =
        services.map(|it| (Population::service_name(it), population.pods_of(it).len())).collect();
    let writer = start(&cluster, "writer");
    cluster.wait_for_addresses(&expected).await;
    stop(writer).await;

    for user in ["there", "back"] {
        let process = start(&cluster, user);
        let writes = |resource| cluster.server.requests().count(&On::writes().user(user).resource(resource));
        until("lease", async || writes("leases"), |it| *it > 0).await;
        sleep(QUIET).await;
        let log = stop(process).await;
        assert_eq!((writes("endpointslices"), writes("endpoints")), (0, 0), "{log}");
    }
    cluster.server.shutdown().await;
}

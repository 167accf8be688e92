//! Failing writes, one at a time: whatever the API server answers, the objects converge to the expected state.

use std::collections::BTreeMap;
use std::time::Duration;

use endpoint_controller_manager::Settings;
use kube_controller_client::Config;
use kube_dev_apiserver::{Fault, On};
use kube_endpoints_testing::eventually;
use serde_json::json;
use tokio::task::JoinSet;

use crate::cluster::{Cluster, text};
use crate::program::Program;

/// Faults of one write: rejected, or applied with a lost or failed response.
fn faults() -> Vec<(&'static str, Fault)> {
    vec![
        ("conflict", Fault::reject(409)),
        ("not-found", Fault::reject(404)),
        ("forbidden", Fault::reject(403)),
        ("invalid", Fault::reject(422)),
        ("broken", Fault::internal_error()),
        ("unavailable", Fault::unavailable()),
        ("too-many", Fault::too_many_requests(Duration::from_secs(1))),
        ("reset", Fault::reset()),
        ("applied-timeout", Fault::apply_then_timeout()),
        ("applied-reset", Fault::apply_then_reset()),
    ]
}

/// Number of writes of one kind of object in [`walk`]: the creation and the updates.
const POSITIONS: u32 = 3;

/// Counts of each address with its readiness, in the EndpointSlices and in the Endpoints of a namespace.
async fn published(cluster: &Cluster, namespace: &str) -> (BTreeMap<String, usize>, BTreeMap<String, usize>) {
    let mut in_slices = BTreeMap::new();
    for slice in cluster.list(&format!("/apis/discovery.k8s.io/v1/namespaces/{namespace}/endpointslices")).await {
        for endpoint in slice["endpoints"].as_array().into_iter().flatten() {
            let address = format!("{} {}", text(&endpoint["addresses"][0]), endpoint["conditions"]["ready"]);
            *in_slices.entry(address).or_default() += 1;
        }
    }
    let mut in_endpoints = BTreeMap::new();
    for endpoints in cluster.list(&format!("/api/v1/namespaces/{namespace}/endpoints")).await {
        for subset in endpoints["subsets"].as_array().into_iter().flatten() {
            for (list, ready) in [("addresses", true), ("notReadyAddresses", false)] {
                for address in subset[list].as_array().into_iter().flatten() {
                    *in_endpoints.entry(format!("{} {ready}", text(&address["ip"]))).or_default() += 1;
                }
            }
        }
    }
    (in_slices, in_endpoints)
}

/// Creates a namespace with a Service and Pods and changes them, checking the published addresses after each step.
async fn walk(cluster: &Cluster, namespace: &str) {
    let check = async |expected: &[&str]| {
        let expected: BTreeMap<String, usize> = expected.iter().map(|it| ((*it).to_owned(), 1)).collect();
        let both = (expected.clone(), expected);
        eventually(namespace, &both, || published(cluster, namespace)).await;
    };
    cluster.create("/api/v1/namespaces", &json!({"metadata": {"name": namespace}})).await;
    cluster.ready_pod(namespace, "a", "web", "10.1.0.1").await;
    cluster.ready_pod(namespace, "b", "web", "10.1.0.2").await;
    cluster.service(namespace, "web").await;
    check(&["10.1.0.1 true", "10.1.0.2 true"]).await;
    cluster.readiness(namespace, "a", "False", "2026-01-01T00:01:00Z").await;
    check(&["10.1.0.1 false", "10.1.0.2 true"]).await;
    cluster.ready_pod(namespace, "c", "web", "10.1.0.3").await;
    cluster.readiness(namespace, "a", "True", "2026-01-01T00:02:00Z").await;
    check(&["10.1.0.1 true", "10.1.0.2 true", "10.1.0.3 true"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn objects_converge_after_any_failed_write() {
    let cluster = std::sync::Arc::new(Cluster::start().await);
    cluster.node().await;
    let mut settings = Settings::default();
    settings.client.qps = 0.0;
    let config = Config::from_url(&cluster.server.url()).expect("a configuration");
    let program = Program::start(config, settings);

    let mut walks = JoinSet::new();
    for (name, fault) in faults() {
        for (resource, position) in
            ["endpoints", "endpointslices"].into_iter().flat_map(|it| (0..POSITIONS).map(move |at| (it, at)))
        {
            let namespace = format!("{name}-{resource}-{position}");
            let writes = On::writes().resource(resource).namespace(&namespace);
            cluster.server.faults().inject(fault.clone().on(writes).after(position).times(1));
            let cluster = std::sync::Arc::clone(&cluster);
            walks.spawn(async move { walk(&cluster, &namespace).await });
        }
    }
    while let Some(ended) = walks.join_next().await {
        if let Err(error) = ended {
            std::panic::resume_unwind(error.into_panic());
        }
    }
    let unused: Vec<_> = cluster.server.faults().states().into_iter().filter(|state| state.hits == 0).collect();
    program.stop().await;
    assert!(unused.is_empty(), "faults that were never triggered: {unused:?}");
}

//! Slice controllers that do not start: disabled by a feature gate, or the server does not serve EndpointSlices.

use std::collections::BTreeMap;

use kube_dev_apiserver::{Fault, On};
use kube_endpoints_testing::{LIMIT, eventually};
use rstest::rstest;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::time::timeout;

use crate::cluster::Cluster;
use crate::process::{start_controllers, stop};
use crate::serving::start;

/// Discovery requests of the binary: its only requests without a resource.
fn discovery() -> On {
    On::any().verb("get").resource("").user_agent("controller-manager")
}

#[rstest]
#[case::gate(&["--feature-gates=EndpointSlice=false"], None, "EndpointSlice feature gate is disabled")]
#[case::server(&[], Some(Fault::reject(404)), "discovery.k8s.io/v1 resources are not available")]
#[tokio::test]
async fn endpoints_are_written_without_slice_controllers(
    #[case] arguments: &[&str],
    #[case] fault: Option<Fault>,
    #[case] why: &str,
) {
    let cluster = Cluster::start().await;
    if let Some(fault) = fault {
        cluster.server.faults().inject(fault.on(discovery()));
    }
    let mut child = start_controllers(&cluster, arguments);
    cluster.web().await;
    let expected = BTreeMap::from([("web".to_owned(), 1)]);
    eventually("Endpoints", &expected, async || cluster.addresses().await.0).await;

    let mut log = BufReader::new(child.stderr.take().expect("piped")).lines();
    let mut told = ["endpointslice-controller", "endpointslice-mirroring-controller"]
        .map(|name| format!("Not starting {name} since {why}"))
        .to_vec();
    while !told.is_empty() {
        let line = timeout(LIMIT, log.next_line()).await.expect("a line").expect("a log").expect("not its end");
        told.retain(|it| !line.contains(it));
    }
    stop(child).await;
    // The informer is not started either.
    let slices = On::any().resource("endpointslices").user_agent("controller-manager");
    assert_eq!(cluster.server.requests().count(&slices), 0);
    cluster.server.shutdown().await;
}

/// An aggregated or restarting API server may lack the group for a short time.
#[tokio::test]
async fn slice_controllers_start_when_the_api_appears() {
    let cluster = Cluster::start().await;
    let fault = cluster.server.faults().inject(Fault::reject(404).on(discovery()));
    let process = start(&cluster, &["--leader-elect=false"]);
    cluster.web().await;
    let expected = BTreeMap::from([("web".to_owned(), 1)]);
    eventually("Endpoints", &expected, async || cluster.addresses().await.0).await;
    let missing =
        "[-]api/discovery.k8s.io/v1 failed: the API server does not serve endpointslices of discovery.k8s.io/v1\n";
    let waiting = "[-]informer-endpointslices failed: not started\n";
    let reply = process.until("/readyz?verbose", |reply| reply.text.contains("[+]informer-nodes ok")).await;
    assert!(reply.code == 500 && reply.text.contains(missing) && reply.text.contains(waiting), "{reply:?}");
    let gauge = "endpoint_controllers_api_available{group_version=\"discovery.k8s.io/v1\",resource=\"endpointslices\"}";
    let master = process.master(&cluster).await;
    assert!(master.get("/metrics").await.text.contains(&format!("\n{gauge} 0\n")));

    cluster.server.faults().remove(fault);
    cluster.wait_for_addresses(&expected).await;
    let reply = process.until("/readyz?verbose", |reply| reply.code == 200).await;
    assert!(reply.text.contains("[+]api/discovery.k8s.io/v1 ok\n"), "{reply:?}");
    assert!(master.get("/metrics").await.text.contains(&format!("\n{gauge} 1\n")));
    cluster.server.shutdown().await;
}

/// Answers that do not show that EndpointSlices are missing: failures, and 403 for an identity that may not read
/// discovery.
#[rstest]
#[case::away(Fault::unavailable().times(2))]
#[case::empty_handed(Fault::reset().times(1))]
#[case::forbidden(Fault::reject(403))]
#[tokio::test]
async fn inconclusive_discovery_is_retried_or_assumed_served(#[case] fault: Fault) {
    let cluster = Cluster::start().await;
    cluster.server.faults().inject(fault.on(discovery()));
    let child = start_controllers(&cluster, &[]);
    cluster.web().await;
    cluster.wait_for_web().await;
    assert!(cluster.server.faults().states().iter().all(|state| state.hits > 0), "expected the fault to be triggered");
    stop(child).await;
    cluster.server.shutdown().await;
}

#[tokio::test]
async fn no_discovery_without_slice_controllers() {
    let cluster = Cluster::start().await;
    // Discovery would be retried without end.
    cluster.server.faults().inject(Fault::unavailable().on(discovery()));
    let child = start_controllers(&cluster, &["--controllers=endpoints-controller"]);
    cluster.web().await;
    let expected = BTreeMap::from([("web".to_owned(), 1)]);
    eventually("Endpoints", &expected, async || cluster.addresses().await.0).await;
    stop(child).await;
    let process = start(&cluster, &["--leader-elect=false", "--controllers=endpoints-controller"]);
    let reply = process.until("/readyz?verbose", |reply| reply.code == 200).await;
    assert!(!reply.text.contains("api/"), "{reply:?}");
    let metrics = process.master(&cluster).await.get("/metrics").await.text;
    assert!(!metrics.contains("endpoint_controllers_api_available{"), "EndpointControllersAPIMissing would fire");
    cluster.server.shutdown().await;
}

#[tokio::test]
async fn process_stops_while_discovery_is_retried() {
    let cluster = Cluster::start().await;
    cluster.server.faults().inject(Fault::unavailable().on(discovery()));
    let child = start_controllers(&cluster, &[]);
    let retried = || async { cluster.server.requests().count(&discovery()) > 1 };
    eventually("discovery", &true, retried).await;
    let log = timeout(LIMIT, stop(child)).await.expect("an end");
    assert!(log.contains("Discovery of discovery.k8s.io/v1 failed, retrying"), "{log}");
    cluster.server.shutdown().await;
}

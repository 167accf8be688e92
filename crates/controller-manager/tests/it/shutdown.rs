//! Shutdown of the binary: requests in flight are finished, the lease is released, and the exit code shows the result.

use std::time::Duration;

use kube_dev_apiserver::{Fault, On};
use tokio::process::Command;
use tokio::time::timeout;

use crate::cluster::{Cluster, eventually};
use crate::serving::{Served, start};

/// Time limit from SIGTERM to the end of the process.
const BOUND: Duration = Duration::from_secs(5);
const SLICES: &str = "/apis/discovery.k8s.io/v1/endpointslices";
const LEASE: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/endpoint-controller-manager";

async fn terminate(served: &Served) {
    let pid = served.child.id().expect("still running").to_string();
    let sent = Command::new("sh").args(["-c", &format!("kill -TERM {pid}")]).status().await;
    assert!(sent.expect("a shell").success());
}

async fn exit_code(mut served: Served) -> Option<i32> {
    timeout(BOUND, served.child.wait()).await.expect("ends in time").expect("a status").code()
}

/// Starts a leader and waits until it has a write of an EndpointSlice in flight, which takes `takes`.
async fn busy_leader(cluster: &Cluster, takes: Duration) -> Served {
    let served = start(cluster, &["--controllers=endpointslice-controller"]);
    served.until("/healthz?verbose", |reply| reply.text.contains("endpointslice-controller")).await;
    let id =
        cluster.server.faults().inject(Fault::delay_request(takes, takes).on(On::writes().resource("endpointslices")));
    cluster.service("default", "web").await;
    let hit = async || cluster.server.faults().states().iter().any(|state| state.id == id && state.hits > 0);
    eventually("a write under way", &true, hit).await;
    served
}

#[tokio::test]
async fn a_write_under_way_is_finished_and_the_lease_given_back() {
    let cluster = Cluster::start().await;
    let served = busy_leader(&cluster, Duration::from_secs(2)).await;
    terminate(&served).await;
    // During shutdown the process is alive and not ready.
    served.until("/readyz", |reply| reply.code == 500).await;
    assert_eq!(served.stranger().await.get("/livez").await.text, "ok");
    assert_eq!(exit_code(served).await, Some(0));
    assert_eq!(cluster.list(SLICES).await.len(), 1, "expected the write in flight to be completed");
    let lease = cluster.document(LEASE).await.expect("a lease");
    assert_eq!(lease["spec"]["holderIdentity"], "", "{lease}");
    cluster.server.shutdown().await;
}

/// Writes wait for the rate limiter for longer than the shutdown may take: those not sent by then are left to the next
/// leader.
#[tokio::test]
async fn writes_that_wait_for_the_limit_on_requests_are_not_waited_for() {
    const SERVICES: usize = 12;
    let cluster = Cluster::start().await;
    let slow = ["--controllers=endpointslice-controller", "--kube-api-qps=1", "--kube-api-burst=2"];
    let served = start(&cluster, &slow);
    served.until("/healthz?verbose", |reply| reply.text.contains("endpointslice-controller")).await;
    for number in 0..SERVICES {
        cluster.service("default", &format!("web-{number}")).await;
    }
    eventually("the first write", &true, async || !cluster.list(SLICES).await.is_empty()).await;
    terminate(&served).await;
    assert_eq!(exit_code(served).await, Some(0));
    assert!(cluster.list(SLICES).await.len() < SERVICES, "expected some writes to be unsent");
    let lease = cluster.document(LEASE).await.expect("a lease");
    assert_eq!(lease["spec"]["holderIdentity"], "", "{lease}");
    cluster.server.shutdown().await;
}

#[tokio::test]
async fn work_that_does_not_end_keeps_the_lease() {
    let cluster = Cluster::start().await;
    let served = busy_leader(&cluster, Duration::from_secs(60)).await;
    terminate(&served).await;
    assert_eq!(exit_code(served).await, Some(1));
    // The server may still apply the write, so that no other instance may lead before the lease expires.
    let lease = cluster.document(LEASE).await.expect("a lease");
    assert_ne!(lease["spec"]["holderIdentity"], "", "{lease}");
    cluster.server.shutdown().await;
}

#[tokio::test]
async fn a_second_signal_is_not_waited_for() {
    let cluster = Cluster::start().await;
    let served = busy_leader(&cluster, Duration::from_secs(60)).await;
    terminate(&served).await;
    served.until("/readyz", |reply| reply.code == 500).await;
    terminate(&served).await;
    assert_eq!(exit_code(served).await, Some(1));
    cluster.server.shutdown().await;
}

#[tokio::test]
async fn a_standby_ends_at_once_and_leaves_the_lease_alone() {
    let cluster = Cluster::start().await;
    let leader = start(&cluster, &[]);
    leader.until("/healthz?verbose", |reply| reply.text.contains("endpoints-controller")).await;
    let before = cluster.document(LEASE).await.expect("a lease");
    let standby = start(&cluster, &[]);
    // A standby is ready: its caches are synced and no controller runs.
    standby.until("/readyz", |reply| reply.code == 200).await;
    assert_eq!(
        standby.stranger().await.get("/healthz?verbose").await.text,
        "[+]leaderElection ok\nhealthz check passed\n"
    );
    terminate(&standby).await;
    assert_eq!(exit_code(standby).await, Some(0));
    let after = cluster.document(LEASE).await.expect("a lease");
    assert_eq!(after["spec"]["holderIdentity"], before["spec"]["holderIdentity"]);
    cluster.server.shutdown().await;
}

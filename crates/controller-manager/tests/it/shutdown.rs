//! Shutdown of the binary: requests in flight are finished, the lease is released, and the exit code shows the result.

use std::time::Duration;

use kube_dev_apiserver::{Fault, On};
use kube_endpoints_testing::{LIMIT, eventually};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Child;
use tokio::time::timeout;

use crate::cluster::Cluster;
use crate::process::{signal, start_with_kubeconfig};
use crate::serving::start;

const SLICES: &str = "/apis/discovery.k8s.io/v1/endpointslices";
const LEASE: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/endpoint-controller-manager";

async fn exit_code(mut child: Child) -> Option<i32> {
    timeout(LIMIT, child.wait()).await.expect("an end").expect("a status").code()
}

/// Starts a leader and waits until it has a write of an EndpointSlice in flight, which takes `delay`.
async fn busy_leader(cluster: &Cluster, delay: Duration) -> Child {
    let slices = On::writes().resource("endpointslices");
    let id = cluster.server.faults().inject(Fault::delay_request(delay, delay).on(slices));
    let leader = start_with_kubeconfig(&cluster.kubeconfig(), &["--controllers=endpointslice-controller"]);
    cluster.service("default", "web").await;
    let hit = async || cluster.server.faults().states().iter().any(|state| state.id == id && state.hits > 0);
    eventually("a write under way", &true, hit).await;
    leader
}

#[tokio::test]
async fn write_in_flight_is_finished_and_the_lease_released() {
    let cluster = Cluster::start().await;
    let leader = busy_leader(&cluster, Duration::from_secs(1)).await;
    signal(&leader, "TERM").await;
    assert_eq!(exit_code(leader).await, Some(0));
    assert_eq!(cluster.list(SLICES).await.len(), 1, "expected the write in flight to be completed");
    let lease = cluster.document(LEASE).await.expect("a lease");
    assert_eq!(lease["spec"]["holderIdentity"], "", "{lease}");
    cluster.server.shutdown().await;
}

/// Writes wait for the rate limiter for longer than the shutdown may take: those not sent by then are left to the next
/// leader.
#[tokio::test]
async fn shutdown_does_not_wait_for_rate_limited_writes() {
    // They take more than a minute at one write per second.
    const SERVICES: usize = 100;
    let cluster = Cluster::start().await;
    let slow = ["--controllers=endpointslice-controller", "--kube-api-qps=1", "--kube-api-burst=2"];
    let process = start(&cluster, &slow);
    process.until("/healthz?verbose", |reply| reply.text.contains("endpointslice-controller")).await;
    for number in 0..SERVICES {
        cluster.service("default", &format!("web-{number}")).await;
    }
    eventually("the first write", &true, async || !cluster.list(SLICES).await.is_empty()).await;
    signal(&process.child, "TERM").await;
    assert_eq!(exit_code(process.child).await, Some(0));
    assert!(cluster.list(SLICES).await.len() < SERVICES, "expected some writes to be unsent");
    let lease = cluster.document(LEASE).await.expect("a lease");
    assert_eq!(lease["spec"]["holderIdentity"], "", "{lease}");
    cluster.server.shutdown().await;
}

#[tokio::test]
async fn lease_is_not_released_while_a_write_is_stuck() {
    let cluster = Cluster::start().await;
    let leader = busy_leader(&cluster, Duration::from_secs(60)).await;
    signal(&leader, "TERM").await;
    assert_eq!(exit_code(leader).await, Some(1));
    // The server may still apply the write, so that no other instance may lead before the lease expires.
    let lease = cluster.document(LEASE).await.expect("a lease");
    assert_ne!(lease["spec"]["holderIdentity"], "", "{lease}");
    cluster.server.shutdown().await;
}

#[tokio::test]
async fn second_signal_exits_at_once() {
    let cluster = Cluster::start().await;
    let mut leader = busy_leader(&cluster, Duration::from_secs(60)).await;
    let mut lines = BufReader::new(leader.stderr.take().expect("piped")).lines();
    signal(&leader, "TERM").await;
    while !lines.next_line().await.expect("a log").expect("a line").contains("Stopping") {}
    signal(&leader, "TERM").await;
    assert_eq!(exit_code(leader).await, Some(1));
    let mut last = String::new();
    while let Some(line) = lines.next_line().await.expect("a log") {
        last = line;
    }
    assert_eq!(last, "controller-manager: SIGTERM received again, exiting");
    cluster.server.shutdown().await;
}

#[tokio::test]
async fn standby_exits_at_once_without_writing_the_lease() {
    let cluster = Cluster::start().await;
    let leader = start(&cluster, &[]);
    leader.until("/healthz?verbose", |reply| reply.text.contains("endpoints-controller")).await;
    let before = cluster.document(LEASE).await.expect("a lease");
    let standby = start(&cluster, &[]);
    // A standby is ready: its caches are synced and no controller runs.
    standby.until("/readyz", |reply| reply.code == 200).await;
    assert_eq!(
        standby.anonymous().await.get("/healthz?verbose").await.text,
        "[+]leaderElection ok\nhealthz check passed\n"
    );
    signal(&standby.child, "TERM").await;
    assert_eq!(exit_code(standby.child).await, Some(0));
    let after = cluster.document(LEASE).await.expect("a lease");
    assert_eq!(after["spec"]["holderIdentity"], before["spec"]["holderIdentity"]);
    cluster.server.shutdown().await;
}

//! Two instances of the binary and one Lease: failover, and no writes of a leader after its term.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::PathBuf;
use std::time::Duration;

use k8s_openapi::jiff::Timestamp;
use kube_dev_apiserver::{History, LoggedRequest, On, User};
use kube_endpoints_testing::{LIMIT, until};
use tokio::process::Child;
use tokio::time::{sleep, timeout};

use crate::cluster::{Cluster, text};
use crate::process::{binary, signal};

/// Times of the Lease in a test.
#[derive(Clone, Copy)]
struct Times {
    lease: Duration,
    deadline: Duration,
}

/// Interval of renewals, and of the attempts of a standby.
const RETRY: Duration = Duration::from_secs(2);
/// The leader keeps its Lease, and a standby does not wait for its end, however slow the machine is. Nor does the test fail if the
/// Lease is not released within the second that it may take.
const LONG: Times = Times { lease: Duration::from_secs(240), deadline: Duration::from_secs(180) };
/// The Lease expires in the test. Long enough for a busy machine to renew it in time.
const SHORT: Times = Times { lease: Duration::from_secs(15), deadline: Duration::from_secs(10) };
const LEASE_PATH: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/endpoint-controller-manager";

/// A process with its own user, by which the server's request log identifies it.
struct Instance {
    name: &'static str,
    times: Times,
    child: Child,
    log: PathBuf,
}

impl Instance {
    fn start(cluster: &Cluster, name: &'static str, times: Times) -> Instance {
        let kubeconfig = cluster.kubeconfig_for(User::new(name).group("system:masters"));
        let mut command = binary();
        command.arg("--kubeconfig").arg(kubeconfig).args([
            "--secure-port=0",
            "--kube-api-qps=2000",
            "--kube-api-burst=4000",
        ]);
        for (flag, duration) in
            [("lease-duration", times.lease), ("renew-deadline", times.deadline), ("retry-period", RETRY)]
        {
            command.arg(format!("--leader-elect-{flag}={}s", duration.as_secs()));
        }
        // Tests stop it. In the group of the tests, the kernel would continue it when the shell that has started them exits,
        // as after `cargo test &`. If the tests are killed, it ends by itself, for lack of a server.
        command.process_group(0);
        let log = cluster.folder().join(format!("{name}.log"));
        command.stderr(File::create(&log).expect("a log file"));
        Instance { name, times, child: command.spawn().expect("the binary starts"), log }
    }

    fn log(&self) -> String {
        std::fs::read_to_string(&self.log).expect("a log file")
    }

    async fn exit_code(&mut self) -> Option<i32> {
        let status = timeout(LIMIT, self.child.wait()).await.expect("an end");
        status.expect("a status").code()
    }

    /// Writes of Endpoints and EndpointSlices. Without the Lease, and without events, which may be written after the
    /// term.
    fn writes(&self, cluster: &Cluster) -> Vec<LoggedRequest> {
        let requests = cluster.server.requests();
        let mut writes = requests.matching(&On::writes().user(self.name).resource("endpoints"));
        writes.extend(requests.matching(&On::writes().user(self.name).resource("endpointslices")));
        writes.sort_by_key(|request| request.started);
        writes
    }

    /// Time at which the server received the last successful renewal. The term started earlier, when the request was
    /// sent.
    fn last_renewal(&self, cluster: &Cluster) -> Timestamp {
        let renewals = cluster.server.requests().matching(&On::writes().user(self.name).resource("leases"));
        let done = renewals.iter().filter(|request| request.status.is_some_and(|status| status < 300));
        done.map(|request| request.started).max().expect("it has led")
    }

    #[track_caller]
    fn assert_no_writes_after_term(&self, cluster: &Cluster) {
        let end = self.last_renewal(cluster) + self.times.deadline;
        let late: Vec<_> = self.writes(cluster).into_iter().filter(|request| request.started > end).collect();
        assert!(late.is_empty(), "{}'s term ended at {end}: {late:?}", self.name);
    }
}

struct Pair {
    cluster: Cluster,
    expected: BTreeMap<String, usize>,
    leader: Instance,
    standby: Instance,
}

impl Pair {
    /// Starts a leader that has written objects, and a standby with synced caches.
    async fn start(times: Times) -> Pair {
        let cluster = Cluster::start_with_tls().await;
        cluster.node().await;
        let leader = Instance::start(&cluster, "leader", times);
        until("leader", || holder(&cluster), |it| !it.is_empty()).await;
        let standby = Instance::start(&cluster, "standby", times);
        let mut pair = Pair { cluster, expected: BTreeMap::new(), leader, standby };
        pair.add("before").await;
        pair.cluster.wait_for_addresses(&pair.expected).await;
        let watches = async || pair.cluster.server.faults().open_watches(&On::any().user("standby"));
        until("six watches of the standby", watches, |it| *it >= 6).await;
        assert!(pair.standby.writes(&pair.cluster).is_empty(), "a standby writes nothing");
        pair
    }

    async fn add(&mut self, name: &str) {
        self.cluster.service("default", name).await;
        let address = format!("10.1.0.{}", self.expected.len() + 1);
        self.cluster.ready_pod("default", &format!("{name}-0"), name, &address).await;
        self.expected.insert(name.to_owned(), 1);
    }

    /// Waits for the first write of the successor; returns its time, by the server's request log.
    async fn successor_writes(&self) -> Timestamp {
        let writes = async || self.standby.writes(&self.cluster);
        until("write of the successor", writes, |it| !it.is_empty()).await[0].started
    }

    /// Requests of the standby for the Lease after a time, oldest first, up to the write that made it the leader.
    fn attempts(&self, since: Timestamp) -> Vec<LoggedRequest> {
        let of_standby = On::any().user("standby").resource("leases");
        let mut attempts = self.cluster.server.requests().matching(&of_standby);
        attempts.sort_by_key(|request| request.started);
        let acquired =
            attempts.iter().position(|it| it.verb == "update" && it.applied).expect("it has become the leader");
        attempts.truncate(acquired + 1);
        attempts.retain(|it| it.started > since);
        attempts
    }
}

async fn holder(cluster: &Cluster) -> String {
    cluster.document(LEASE_PATH).await.map(|lease| text(&lease["spec"]["holderIdentity"])).unwrap_or_default()
}

#[expect(clippy::disallowed_methods, reason = "compared with times in the server's log")]
fn now() -> Timestamp {
    Timestamp::now()
}

#[tokio::test]
async fn sigterm_hands_over_at_the_next_attempt() {
    let mut pair = Pair::start(LONG).await;
    let signalled = now();
    signal(&pair.leader.child, "TERM").await;
    pair.add("after").await;
    assert_eq!(pair.leader.exit_code().await, Some(0));
    pair.successor_writes().await;
    // The first attempt after the release succeeds. Attempts are two seconds apart.
    let released = pair.leader.last_renewal(&pair.cluster);
    let attempts: Vec<_> = pair.attempts(released).into_iter().map(|it| it.verb).collect();
    assert!(matches!(attempts.as_slice(), [.., get, update] if get == "get" && update == "update"), "{attempts:?}");
    assert!(attempts.len() <= 3, "{attempts:?}");
    pair.cluster.wait_for_addresses(&pair.expected).await;
    pair.leader.assert_no_writes_after_term(&pair.cluster);
    let written = pair.standby.writes(&pair.cluster).into_iter().filter(|it| it.name.starts_with("before")).count();
    assert_eq!(written, 0, "what the leader has written is up to date");
    let mut reads = pair.cluster.server.requests().matching(&On::any().user("standby"));
    // Lists, and watches that start with the initial events.
    reads.retain(|it| it.verb == "list" || it.path.contains("sendInitialEvents=true"));
    assert!(reads.iter().any(|it| it.started < signalled), "expected initial lists of the standby");
    // To catch up, the new leader lists one object of each kind for its resource version, and lists or streams each
    // kind at most once from there on.
    let late: Vec<_> = reads.iter().filter(|it| it.started > signalled).collect();
    let version_reads = late.iter().filter(|it| it.path.ends_with("?limit=1")).count();
    let streams = late.iter().filter(|it| it.path.contains("resourceVersionMatch=NotOlderThan")).count();
    assert!(version_reads == 5 && streams <= 5 && version_reads + streams == late.len(), "{late:?}");
    // The last instance releases the lease, too.
    signal(&pair.standby.child, "TERM").await;
    assert_eq!(pair.standby.exit_code().await, Some(0));
    assert_eq!(holder(&pair.cluster).await, "");
    let log = pair.standby.log();
    assert!(log.contains("Leader seen") && !log.contains("leader=\"\""), "{log}");
}

/// Stops a process, and waits until no thread of it runs: all stop when one of them takes the signal, which a busy machine
/// delays. Without `/proc`, it does not wait.
async fn suspend(child: &Child) {
    signal(child, "STOP").await;
    let threads = format!("/proc/{}/task", child.id().expect("still running"));
    let is_stopped = |stat: &str| stat.rsplit_once(") ").is_none_or(|(_, state)| state.starts_with('T'));
    let are_stopped = async || {
        let threads = std::fs::read_dir(&threads).into_iter().flatten().flatten();
        let mut stats = threads.map(|thread| std::fs::read_to_string(thread.path().join("stat")).unwrap_or_default());
        stats.all(|stat| is_stopped(&stat))
    };
    until("stopped threads", are_stopped, |it| *it).await;
}

#[tokio::test]
async fn stopped_leader_writes_nothing_after_a_takeover() {
    let mut pair = Pair::start(SHORT).await;
    suspend(&pair.leader.child).await;
    // A change that the stopped leader has not seen, and would write when it continues.
    pair.add("meanwhile").await;
    pair.successor_writes().await;
    pair.cluster.wait_for_addresses(&pair.expected).await;
    signal(&pair.leader.child, "CONT").await;
    pair.add("after").await;
    assert_eq!(pair.leader.exit_code().await, Some(1), "a lost lease ends the process, as upstream");
    pair.cluster.wait_for_addresses(&pair.expected).await;
    pair.leader.assert_no_writes_after_term(&pair.cluster);
}

/// The leader is stopped for longer than its renew deadline, and the standby for longer than the leader. No other instance
/// leads, and the leader still writes nothing after its term.
#[tokio::test]
async fn stopped_leader_writes_nothing_after_its_term() {
    let mut pair = Pair::start(SHORT).await;
    suspend(&pair.standby.child).await;
    suspend(&pair.leader.child).await;
    pair.add("meanwhile").await;
    sleep(SHORT.deadline + Duration::from_millis(500)).await;
    signal(&pair.leader.child, "CONT").await;
    assert_eq!(pair.leader.exit_code().await, Some(1));
    pair.leader.assert_no_writes_after_term(&pair.cluster);
    let log = pair.leader.log();
    assert!(log.contains("The lease was not renewed in time"), "{log}");
    signal(&pair.standby.child, "CONT").await;
    pair.cluster.wait_for_addresses(&pair.expected).await;
}

#[tokio::test]
async fn api_server_restart_keeps_the_leader() {
    let mut pair = Pair::start(LONG).await;
    pair.cluster.server.restart(History::Lost);
    // The connection of the test's client is closed as well.
    until("response of the server", || pair.cluster.document("/version"), Option::is_some).await;
    pair.add("after").await;
    pair.cluster.wait_for_addresses(&pair.expected).await;
    assert!(pair.standby.writes(&pair.cluster).is_empty(), "the leader is still the leader");
}

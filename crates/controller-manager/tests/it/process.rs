//! The binary as a separate process, against an API server over HTTP.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Output, Stdio};

use kube_dev_apiserver::On;
use kube_endpoints_testing::{LIMIT, eventually};
use rstest::rstest;
use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::net::TcpListener;
use tokio::process::{Child, Command};
use tokio::time::timeout;

use crate::cluster::Cluster;

pub(crate) fn start_controllers(cluster: &Cluster, arguments: &[&str]) -> Child {
    // Leader election and serving are tested separately.
    let defaults = ["--leader-elect=false"];
    start_with_kubeconfig(&cluster.kubeconfig(), &[&defaults, arguments].concat())
}

/// Terms that no busy machine outlasts: by default, a process exits if it cannot renew its Lease for 10 s. If it ends without
/// releasing its Lease, for which it takes at most a second, the next one leads within the limit of waits.
pub(crate) const LONG_TERMS: [&str; 2] = ["--leader-elect-lease-duration=4m", "--leader-elect-renew-deadline=3m"];

/// Starts the binary with a kubeconfig, without serving; with leader election unless `arguments` disable it.
pub(crate) fn start_with_kubeconfig(kubeconfig: &Path, arguments: &[&str]) -> Child {
    let mut command = binary();
    command.arg("--kubeconfig").arg(kubeconfig).args(LONG_TERMS).args(arguments);
    command.args(["--secure-port=0", "--kube-api-qps=2000", "--kube-api-burst=4000"]).stderr(Stdio::piped());
    command.spawn().expect("the binary starts")
}

/// Sends SIGTERM and waits for a successful exit; returns the log.
pub(crate) async fn stop(child: Child) -> String {
    signal(&child, "TERM").await;
    let output = child.wait_with_output().await.expect("its output");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

pub(crate) async fn signal(child: &Child, signal: &str) {
    let pid = child.id().expect("still running");
    let sent = Command::new("sh").args(["-c", &format!("kill -{signal} {pid}")]).status().await;
    assert!(sent.expect("a shell").success());
}

pub(crate) fn binary() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_controller-manager"));
    command.kill_on_drop(true).stdin(Stdio::null());
    command
}

#[tokio::test]
async fn disabled_endpoints_controller_writes_nothing() {
    let cluster = Cluster::start().await;
    cluster.node().await;
    // Two objects that the controller would write: the first gets a Service below, the second has none and would be
    // deleted.
    for name in ["web", "gone"] {
        let subsets = json!([{"addresses": [{"ip": "192.0.2.1"}]}]);
        cluster
            .create("/api/v1/namespaces/default/endpoints", &json!({"metadata": {"name": name}, "subsets": subsets}))
            .await;
    }
    let before = cluster.list("/api/v1/endpoints").await;
    let own_writes = On::writes().resource("endpoints").user_agent("controller-manager");
    let _child = start_controllers(&cluster, &["--controllers=*,-endpoints-controller"]);
    for name in ["web", "new"] {
        cluster.service("default", name).await;
        cluster.ready_pod("default", &format!("{name}-0"), name, "10.1.0.1").await;
    }
    let expected = BTreeMap::from([("web".to_owned(), 1), ("new".to_owned(), 1)]);
    eventually("slices", &expected, async || cluster.addresses().await.1).await;
    assert_eq!(cluster.server.requests().count(&own_writes), 0);
    assert_eq!(cluster.list("/api/v1/endpoints").await, before);
    let slices = On::writes().resource("endpointslices").user_agent("controller-manager");
    assert!(cluster.server.requests().count(&slices) > 0, "expected writes with the binary's user agent");
    cluster.server.shutdown().await;
}

#[tokio::test]
async fn legacy_feature_gate_changes_the_endpoints() {
    let cluster = Cluster::start().await;
    cluster.node().await;
    let _child = start_controllers(&cluster, &["--feature-gates=LegacyTolerateUnreadyEndpoints=true"]);
    cluster.ready_pod("default", "web-0", "web", "10.1.0.1").await;
    cluster.readiness("default", "web-0", "False", "2026-01-01T00:01:00Z").await;
    let metadata = json!({"name": "web",
        "annotations": {"service.alpha.kubernetes.io/tolerate-unready-endpoints": "true"}});
    let spec = json!({"selector": {"app": "web"}, "ports": [{"name": "http", "port": 80, "targetPort": 8080}]});
    cluster.create("/api/v1/namespaces/default/services", &json!({"metadata": metadata, "spec": spec})).await;
    let ready = BTreeMap::from([("web".to_owned(), 1)]);
    eventually("a ready address", &ready, async || cluster.addresses().await.0).await;
    cluster.server.shutdown().await;
}

/// `--master` with a kubeconfig for another address, and without a kubeconfig.
#[rstest]
#[case::over_the_kubeconfig(true)]
#[case::alone(false)]
#[tokio::test]
async fn master_flag_overrides_the_kubeconfig_address(#[case] with_kubeconfig: bool) {
    let cluster = Cluster::start().await;
    let mut arguments = vec![format!("--master={}", cluster.server.url())];
    if with_kubeconfig {
        let other_kubeconfig = cluster.server.kubeconfig().replace(&cluster.server.url(), "http://127.0.0.1:1");
        let path = cluster.folder().join("elsewhere");
        std::fs::write(&path, other_kubeconfig).expect("a kubeconfig");
        arguments.push(format!("--kubeconfig={}", path.display()));
    }
    let mut command = binary();
    command.args(arguments).args(["--leader-elect=false", "--secure-port=0"]);
    let child = command.stderr(Stdio::piped()).spawn().expect("the binary starts");
    cluster.web().await;
    cluster.wait_for_web().await;
    stop(child).await;
    cluster.server.shutdown().await;
}

/// Requests go through the proxy of the environment, unless `NO_PROXY` contains the host. The host does not exist.
#[rstest]
#[case::proxy("", true)]
#[case::excepted("192.0.2.0/24,.test", false)]
#[tokio::test]
async fn the_proxy_of_the_environment_is_used(#[case] no_proxy: &str, #[case] expected: bool) {
    let proxy = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let mut command = binary();
    command.env("https_proxy", format!("127.0.0.1:{}", proxy.local_addr().expect("bound").port()));
    command.env("HTTPS_PROXY", "").env("NO_PROXY", no_proxy);
    command.args(["--master=https://api.test:6443", "--leader-elect=false", "--secure-port=0"]);
    let mut child = command.stderr(Stdio::piped()).spawn().expect("the binary starts");
    let mut log = BufReader::new(child.stderr.take().expect("piped")).lines();
    let request_head = async {
        let (mut connection, _) = proxy.accept().await.expect("a connection");
        let mut head = vec![0; 34];
        connection.read_exact(&mut head).await.expect("a request");
        String::from_utf8(head).expect("text")
    };
    let discovery_failed = async {
        while let Ok(Some(line)) = log.next_line().await {
            if line.contains("Discovery of discovery.k8s.io/v1 failed") {
                return;
            }
        }
    };
    let request_head = async {
        tokio::select! { biased; head = request_head => Some(head), () = discovery_failed => None }
    };
    let request_head = timeout(LIMIT, request_head).await.expect("one or the other");
    assert_eq!(request_head.as_deref(), expected.then_some("CONNECT api.test:6443 HTTP/1.1\r\nHo"));
    child.kill().await.expect("killed");
}

async fn run_to_exit(arguments: &[&str]) -> Output {
    let output = timeout(LIMIT, binary().args(arguments).output()).await.expect("an end");
    output.expect("the binary runs")
}

#[rstest]
#[case::unknown_flag(&["--nonsense"], "--nonsense")]
#[case::unknown_controller(&["--controllers=nonsense"], "nonsense")]
#[case::unknown_feature_gate(&["--feature-gates=Nonsense=true"], "Nonsense")]
#[case::missing_kubeconfig(&["--kubeconfig=/nonexistent/kubeconfig"], "/nonexistent/kubeconfig")]
#[case::no_kubeconfig(&[], "no --kubeconfig given")]
#[case::bad_master(&["--master=ftp://api.example"], "neither http nor https")]
#[tokio::test]
async fn usage_errors_are_one_line_on_stderr(#[case] arguments: &[&str], #[case] expected: &str) {
    let output = run_to_exit(arguments).await;
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.lines().count() == 1 && stderr.contains(expected), "{stderr}");
    assert!(output.stdout.is_empty());
}

#[rstest]
#[case::no_yaml("{")]
#[case::no_clusters("apiVersion: v1\nkind: Config\n")]
#[tokio::test]
async fn malformed_kubeconfig_is_named_in_the_error(#[case] content: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("broken");
    std::fs::write(&path, content).expect("a file");
    let output = run_to_exit(&["--kubeconfig", Path::to_str(&path).expect("a path")]).await;
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.lines().count() == 1 && stderr.contains("broken"), "{stderr}");
}

#[tokio::test]
async fn help_goes_to_stdout() {
    let output = run_to_exit(&["--help"]).await;
    assert!(output.status.success() && output.stderr.is_empty());
    assert!(String::from_utf8_lossy(&output.stdout).contains("--endpointslice-updates-batch-period"));
}

//! The HTTPS server of the binary: health checks from the start, and authorization.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use kube_dev_apiserver::{Anonymous, Authorization, ReservedPort, Transport, User};
use kube_endpoints_testing::https::{HttpsClient, Reply};
use kube_endpoints_testing::{LIMIT, eventually, until};
use tokio::net::TcpStream;
use tokio::process::Child;
use tokio::time::timeout;

use crate::cluster::Cluster;
use crate::process::{LONG_TERMS, binary};

/// A running process and the address and certificate of its HTTPS server.
pub(crate) struct ServingProcess {
    pub(crate) child: Child,
    port: ReservedPort,
    certificate: PathBuf,
}

/// Starts the binary with an identity that has all rights, those for reviews included.
pub(crate) fn start(cluster: &Cluster, arguments: &[&str]) -> ServingProcess {
    start_in(cluster.folder(), arguments)
}

/// Starts the binary with the file `kubeconfig` in a directory.
pub(crate) fn start_in(folder: &Path, arguments: &[&str]) -> ServingProcess {
    let port = ReservedPort::new().expect("a free port");
    let kubeconfig = folder.join("kubeconfig");
    let mut command = binary();
    for flag in ["kubeconfig", "authentication-kubeconfig", "authorization-kubeconfig"] {
        command.arg(format!("--{flag}={}", kubeconfig.display()));
    }
    command.arg(format!("--cert-dir={}", folder.display())).arg(format!("--secure-port={}", port.port()));
    command.args(["--bind-address=127.0.0.1", "--kube-api-qps=2000", "--kube-api-burst=4000"]);
    command.args(LONG_TERMS).args(arguments);
    let child = command.stderr(Stdio::null()).spawn();
    let certificate = folder.join("kube-controller-manager.crt");
    ServingProcess { child: child.expect("the binary starts"), port, certificate }
}

impl ServingProcess {
    /// A client without credentials. Waits until the server accepts connections.
    pub(crate) async fn anonymous(&self) -> HttpsClient {
        until("connection", || TcpStream::connect(self.port.address()), Result::is_ok).await.expect("accepted");
        HttpsClient::anonymous(self.port.address(), std::fs::read(&self.certificate).expect("a certificate"))
    }

    pub(crate) async fn master(&self, cluster: &Cluster) -> HttpsClient {
        let token = cluster.server.token_for(User::new("master").group("system:masters"));
        HttpsClient { token: Some(token), ..self.anonymous().await }
    }

    /// Polls a path until `is` accepts the response; fails after [`LIMIT`].
    pub(crate) async fn until(&self, path: &str, accept: impl Fn(&Reply) -> bool) -> Reply {
        let anonymous = self.anonymous().await;
        until(&format!("such reply of {path}"), || anonymous.get(path), accept).await
    }
}

pub(crate) async fn rbac_cluster() -> Cluster {
    let (anonymous, authorization) = (Anonymous::Rejected, Authorization::Rbac);
    // Over plain HTTP, the program sends no credentials.
    let transport = Transport::Tls;
    Cluster::start_with(kube_dev_apiserver::Config { anonymous, authorization, transport, ..Default::default() }).await
}

#[tokio::test]
async fn verbose_health_lists_election_and_controllers() {
    let cluster = rbac_cluster().await;
    let process = start(&cluster, &[]);
    process.until("/readyz", |reply| reply.text == "ok").await;
    let healthy = "[+]leaderElection ok\n[+]endpoints-controller ok\n[+]endpointslice-controller ok\n\
                   [+]endpointslice-mirroring-controller ok\nhealthz check passed\n";
    process.until("/healthz?verbose", |reply| reply.text == healthy).await;
    let anonymous = process.anonymous().await;
    let ready = anonymous.get("/readyz?verbose").await;
    let all_ready = "[+]informer-sync ok\n[+]credentials ok\n[+]shutdown ok\n[+]api/discovery.k8s.io/v1 ok\n[+]informer-services ok\n[+]informer-pods ok\n\
                     [+]informer-nodes ok\n[+]informer-endpoints ok\n[+]informer-endpointslices ok\nreadyz check passed\n";
    assert_eq!((ready.code, ready.text.as_str()), (200, all_ready));
    assert_eq!(anonymous.get("/livez?verbose").await.text, "[+]leaderElection ok\nlivez check passed\n");
    cluster.server.shutdown().await;
}

#[tokio::test]
async fn other_paths_need_authorization() {
    let cluster = rbac_cluster().await;
    let process = start(&cluster, &["--leader-elect=false", "--controllers=endpoints-controller"]);
    let (anonymous, master) = (process.anonymous().await, process.master(&cluster).await);
    let invalid = HttpsClient { token: Some("garbage".to_owned()), ..process.anonymous().await };
    for path in ["/metrics", "/configz", "/flagz", "/statusz", "/healthz/ping"] {
        assert_eq!((anonymous.get(path).await.code, invalid.get(path).await.code), (403, 401), "{path}");
    }
    assert!(master.get("/flagz").await.text.contains("\nleader-elect=false\n"));
    let statusz = master.get_as("/statusz", "application/yaml;g=config.k8s.io;v=v1beta1;as=Statusz").await;
    assert_eq!((statusz.code, statusz.content_type.as_str()), (200, "application/yaml"));
    assert!(statusz.text.contains("\nkind: Statusz\n"), "{}", statusz.text);
    assert_eq!(master.get("/configz").await.content_type, "application/json");
    assert_eq!((master.get("/shadow").await.code, master.get("/nothing").await.code), (404, 404));
    // The server starts before the controllers.
    process.until("/healthz?verbose", |reply| reply.text.contains("endpoints-controller")).await;
    // As upstream, there is no other format than text.
    let metrics = master.get_as("/metrics", "application/openmetrics-text;version=1.0.0,text/plain;q=0.5").await;
    assert_eq!(metrics.content_type, "text/plain; version=0.0.4; charset=utf-8");
    assert!(metrics.text.contains("\nworkqueue_depth{name=\"endpoint\"} "));
    cluster.server.shutdown().await;
}

/// Without any change, a Service is synced once per resync period.
#[tokio::test]
async fn unchanged_service_is_synced_every_resync_period() {
    let cluster = Cluster::start().await;
    cluster.service("default", "web").await;
    let alone = ["--leader-elect=false", "--controllers=endpointslice-controller", "--min-resync-period=50ms"];
    let process = start(&cluster, &alone);
    let master = process.master(&cluster).await;
    let syncs = async || {
        let metrics = master.get("/metrics").await.text;
        let count =
            metrics.lines().find_map(|line| line.strip_prefix("workqueue_adds_total{name=\"endpoint_slice\"} "));
        count.and_then(|count| count.parse::<u32>().ok()).unwrap_or_default() >= 4
    };
    eventually("resyncs of an unchanged Service", &true, syncs).await;
    cluster.server.shutdown().await;
}

#[tokio::test]
async fn process_without_an_api_server_is_live_and_not_ready() {
    let port = ReservedPort::new().expect("a free port");
    let config = kube_dev_apiserver::Config { listen: port.address(), ..Default::default() };
    let cluster = Cluster::start_with(config.clone()).await;
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::copy(cluster.kubeconfig(), folder.path().join("kubeconfig")).expect("a kubeconfig");
    cluster.server.shutdown().await;
    let process = start_in(folder.path(), &[]);
    let anonymous = process.anonymous().await;
    let text = "[-]informer-sync failed: reason withheld\n[+]credentials ok\n[+]shutdown ok\n\
                [-]api/discovery.k8s.io/v1 failed: reason withheld\n[-]informer-services failed: reason withheld\n\
                [-]informer-pods failed: reason withheld\n[-]informer-nodes failed: reason withheld\n\
                [-]informer-endpoints failed: reason withheld\n[-]informer-endpointslices failed: reason withheld\n\
                readyz check failed\n";
    let ready = process.until("/readyz", |reply| reply.text.contains("informer-endpointslices")).await;
    assert_eq!((ready.code, ready.text.as_str()), (500, text));
    let why = anonymous.get("/readyz?verbose").await.text;
    assert!(why.contains("[-]api/discovery.k8s.io/v1 failed: the API server has not been reached yet\n"), "{why}");
    assert_eq!(anonymous.get("/livez").await.text, "ok");

    let cluster = Cluster::start_with(config).await;
    process.until("/readyz", |reply| reply.code == 200).await;
    cluster.service("default", "web").await;
    cluster.wait_for_addresses(&[("web".to_owned(), 0)].into()).await;
    cluster.server.shutdown().await;
}

#[tokio::test]
async fn serving_errors_are_one_line_on_stderr() {
    let cluster = Cluster::start().await;
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("an address").port();
    let run = |arguments: Vec<String>| {
        let mut command = binary();
        command.arg("--kubeconfig").arg(cluster.kubeconfig()).arg("--bind-address=127.0.0.1").args(arguments);
        async move {
            let output = timeout(LIMIT, command.output()).await.expect("ends");
            let output = output.expect("the binary runs");
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            (output.status.code(), text.lines().last().unwrap_or_default().to_owned())
        }
    };
    let (code, line) = run(vec![format!("--secure-port={port}")]).await;
    assert_eq!(code, Some(1));
    assert!(line.starts_with(&format!("controller-manager: cannot listen on 127.0.0.1:{port}: ")), "{line}");
    assert_eq!(line.matches("in use").count(), 1, "{line}");

    let pair = ["--tls-cert-file=/nowhere/a.crt", "--tls-private-key-file=/nowhere/a.key"].map(str::to_owned);
    let (code, line) = run(pair.to_vec()).await;
    assert_eq!(code, Some(1));
    assert!(line.starts_with("controller-manager: /nowhere/a.crt: No such file"), "{line}");
}

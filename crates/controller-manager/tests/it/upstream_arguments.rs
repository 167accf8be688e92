//! The program with the argument list that kubeadm writes for kube-controller-manager.

use kube_dev_apiserver::{Config, ReservedPort, Transport};
use kube_endpoints_testing::https::HttpsClient;

use crate::cluster::Cluster;
use crate::process::{LONG_TERMS, binary, start_with_kubeconfig, stop};

fn arguments(cluster: &Cluster) -> Vec<String> {
    let authority = cluster.folder().join("ca.crt");
    std::fs::write(&authority, cluster.server.ca_certificate().expect("of a server with TLS")).expect("a file");
    let kubeconfig = cluster.kubeconfig();
    let list = include_str!("../fixtures/kcm-args.txt").lines();
    list.map(|argument| {
        let (flag, value) = argument.split_once('=').expect("a value");
        match (flag, value) {
            ("--client-ca-file", _) => format!("{flag}={}", authority.display()),
            (_, "/etc/kubernetes/controller-manager.conf") => format!("{flag}={}", kubeconfig.display()),
            _ => argument.to_owned(),
        }
    })
    .collect()
}

#[tokio::test]
async fn kubeadm_arguments_start_the_program() {
    let cluster = Cluster::start_with(Config { transport: Transport::Tls, ..Config::default() }).await;
    cluster.web().await;

    let port = ReservedPort::new().expect("a free port");
    let mut command = binary();
    command
        .args(arguments(&cluster))
        .arg("--allow-upstream-flags")
        .args(LONG_TERMS)
        .arg(format!("--secure-port={}", port.port()));
    command.arg(format!("--cert-dir={}", cluster.folder().display()));
    let child = command.stderr(std::process::Stdio::piped()).spawn().expect("the binary starts");
    cluster.wait_for_web().await;
    let certificate = std::fs::read(cluster.folder().join("kube-controller-manager.crt")).expect("a certificate");
    let anonymous = HttpsClient::anonymous(port.address(), certificate);
    assert_eq!(anonymous.get("/healthz").await.text, "ok");
    let log = stop(child).await;
    assert_eq!(log.matches("has no effect here and is ignored").count(), 9, "{log}");
    cluster.server.shutdown().await;
}

/// The Lease of kube-controller-manager can be used explicitly; a warning is logged.
#[tokio::test]
async fn upstream_lease_name_is_used_with_a_warning() {
    let cluster = Cluster::start().await;
    let child = start_with_kubeconfig(&cluster.kubeconfig(), &["--leader-elect-resource-name=kube-controller-manager"]);
    cluster.web().await;
    cluster.wait_for_web().await;
    let lease = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-controller-manager";
    assert!(cluster.document(lease).await.is_some());
    let log = stop(child).await;
    assert!(log.contains("no controller of kube-controller-manager runs"), "{log}");
    cluster.server.shutdown().await;
}

#[tokio::test]
async fn kubeadm_arguments_without_allow_upstream_flags_are_rejected_with_a_hint() {
    let cluster = Cluster::start_with(Config { transport: Transport::Tls, ..Config::default() }).await;
    let output = binary().args(arguments(&cluster)).output().await.expect("the binary runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.lines().count() == 1, "{stderr}");
    for part in ["--allocate-node-cidrs", "--service-cluster-ip-range", "(--allow-upstream-flags ignores them)"] {
        assert!(stderr.contains(part), "{stderr}");
    }
    cluster.server.shutdown().await;
}

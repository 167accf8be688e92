//! Configuration in a Pod: the service account at the path where the kubelet mounts it.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;

use kube_dev_apiserver::{Authorization, Config, Transport, User};
use tokio::process::{Child, Command};

use crate::cluster::Cluster;
use crate::process::{LONG_TERMS, stop};

/// Shell script for a new mount namespace: links the directory `$0` to the path of the service account, then runs
/// `"$@"`.
const MOUNTED: &str = "mount -t tmpfs none /var/run && mkdir -p /var/run/secrets/kubernetes.io && \
                       ln -s \"$0\" /var/run/secrets/kubernetes.io/serviceaccount && exec \"$@\"";

fn in_a_pod(folder: &Path, server: SocketAddr, command: &[&str]) -> Command {
    let mut pod = Command::new("unshare");
    pod.args(["--map-root-user", "--mount", "sh", "-c", MOUNTED]).arg(folder).args(command);
    pod.env("KUBERNETES_SERVICE_HOST", server.ip().to_string());
    pod.env("KUBERNETES_SERVICE_PORT", server.port().to_string());
    pod.kill_on_drop(true).stdin(Stdio::null()).stderr(Stdio::piped());
    pod
}

#[tokio::test]
async fn the_service_account_of_the_pod_is_used() {
    let config = Config { transport: Transport::Tls, authorization: Authorization::Rbac, ..Config::default() };
    let cluster = Cluster::start_with(config).await;
    let folder = tempfile::tempdir().expect("a folder");
    let token = cluster.server.token_for(User::new("pod").group("system:masters"));
    let authority = cluster.server.ca_certificate().expect("of a server with TLS");
    for (file, content) in [("token", token.as_str()), ("ca.crt", &authority), ("namespace", "kube-system")] {
        fs::write(folder.path().join(file), content).expect("a file");
    }
    let address = cluster.server.address();
    match in_a_pod(folder.path(), address, &["true"]).status().await {
        Ok(status) if status.success() => {}
        other => {
            eprintln!("SKIPPED: cannot set up a mount namespace for the service account: {other:?}");
            return;
        }
    }
    let program = env!("CARGO_BIN_EXE_controller-manager");
    let [lease, deadline] = LONG_TERMS;
    let command = [program, "--secure-port=0", lease, deadline];
    let child: Child = in_a_pod(folder.path(), address, &command).spawn().expect("it starts");
    cluster.web().await;
    cluster.wait_for_web().await;
    let log = stop(child).await;
    assert!(log.contains("\"Stopped\""), "{log}");
    cluster.server.shutdown().await;
}

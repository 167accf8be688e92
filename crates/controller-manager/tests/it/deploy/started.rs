//! Each way of deploying starts the program with only the rights that it grants and only the files that it mounts.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kube_dev_apiserver::{Authorization, Config, On, ReservedPort, Transport, User};
use kube_endpoints_testing::https::HttpsClient;
use kube_endpoints_testing::{eventually, until};
use serde_json::{Value, json};
use tokio::net::TcpStream;

use super::chart::install_chart;
use super::container::{Container, Node, SERVICE_ACCOUNT, can_start};
use super::rights::{authentication_reader, grant, refused, use_all_rights};
use super::{BASE, NAME, deploy, documents, kustomized};
use crate::cluster::Cluster;
use crate::process::stop;

/// User and group of the image and of all manifests.
const USER: u32 = 65_532;

/// A server with TLS and RBAC that has only these roles and bindings, and the Role for the CA bundle.
async fn cluster_with(granted: impl IntoIterator<Item = &Value>) -> Cluster {
    let config = Config { transport: Transport::Tls, authorization: Authorization::Rbac, ..Config::default() };
    let cluster = Cluster::start_with(config).await;
    grant(&cluster, granted).await;
    grant(&cluster, [&authentication_reader()]).await;
    cluster
}

fn rights<'a>(objects: impl IntoIterator<Item = &'a Value>) -> impl Iterator<Item = &'a Value> {
    objects.into_iter().filter(|it| it["apiVersion"] == "rbac.authorization.k8s.io/v1")
}

/// Starts the Pod of a Deployment as the kubelet does, with the token of its `ServiceAccount`.
async fn start_deployed(node: &Node, cluster: &Cluster, deployment: &Value, port: &ReservedPort) -> Container {
    let pod = &deployment["spec"]["template"];
    let namespace = deployment["metadata"]["namespace"].as_str().expect("a namespace");
    let account = pod["spec"]["serviceAccountName"].as_str().expect("a ServiceAccount");
    let user = User::new(format!("system:serviceaccount:{namespace}:{account}"));
    let user = user.group("system:serviceaccounts").group("system:authenticated");
    let (token, authority) = (cluster.server.token_for(user), cluster.server.ca_certificate().expect("TLS"));
    let files = [("token", token.as_str()), ("ca.crt", authority.as_str()), ("namespace", namespace)];
    node.projected("service-account", &files, USER);
    let address = cluster.server.address();
    let environment = BTreeMap::from([
        ("KUBERNETES_SERVICE_HOST", address.ip().to_string()),
        ("KUBERNETES_SERVICE_PORT", address.port().to_string()),
    ]);
    node.start(pod, &["--bind-address=127.0.0.1".to_owned(), format!("--secure-port={}", port.port())], &environment)
        .await
}

/// Makes the controllers use all their rights, then stops the container; returns the files that are mounted into it. Panics if a
/// request was refused.
async fn works(cluster: &Cluster, container: Container) -> BTreeSet<String> {
    use_all_rights(cluster).await;
    let mounted = container.mounted_files();
    assert_eq!(container.image_without_libraries(), ["/LICENSE", "/NOTICE", "/controller-manager"]);
    let log = stop(container.child).await;
    let missing = refused(cluster);
    assert!(missing.is_empty(), "refused requests: {missing:#?}\n{log}");
    // Used only with the rights of the Role that each way of deploying binds.
    let lookup = On::any().verb("get").resource("configmaps").name("extension-apiserver-authentication");
    assert!(cluster.server.requests().count(&lookup) > 0, "no lookup of the CA bundle\n{log}");
    mounted
}

fn in_service_account(files: &[&str]) -> BTreeSet<String> {
    files.iter().map(|file| format!("{SERVICE_ACCOUNT}/{file}")).collect()
}

#[tokio::test]
async fn static_pod_reads_only_its_kubeconfig() {
    if !can_start().await {
        return;
    }
    let granted = documents(&deploy("static-pod/rights.yaml"));
    let cluster = cluster_with(rights(&granted)).await;
    let node = Node::new();
    let conf = "/etc/kubernetes/endpoint-controller-manager.conf";
    node.host_file(conf, &kubeconfig_with_certificate(&cluster, NAME), USER);
    let pod = &documents(&deploy("static-pod/endpoint-controller-manager.yaml"))[0];
    let port = ReservedPort::new().expect("a free port");
    let container = node.start(pod, &[format!("--secure-port={}", port.port())], &BTreeMap::new()).await;
    assert_eq!(works(&cluster, container).await, BTreeSet::from([conf.to_owned()]));
    let user = On::any().user(NAME).user_agent("controller-manager");
    assert!(cluster.server.requests().count(&user) > 0, "requests of the user of the certificate");
    cluster.server.shutdown().await;
}

/// A kubeconfig as `kubeadm kubeconfig user --client-name USER` prints it: with a client certificate of that common name.
fn kubeconfig_with_certificate(cluster: &Cluster, user: &str) -> String {
    let pair = cluster.server.client_certificate(user, None).expect("TLS").expect("a certificate");
    let of_admin = cluster.server.kubeconfig();
    let (clusters, _) = of_admin.split_once("users:").expect("users");
    format!(
        "{clusters}users:\n- name: dev\n  user:\n    client-certificate-data: {}\n    client-key-data: {}\n",
        STANDARD.encode(pair.certificate),
        STANDARD.encode(pair.key)
    )
}

#[tokio::test]
async fn kustomization_reads_only_its_token() {
    if !can_start().await {
        return;
    }
    let Some(objects) = kustomized(BASE) else { return };
    let cluster = cluster_with(rights(objects.values())).await;
    let node = Node::new();
    let port = ReservedPort::new().expect("a free port");
    let container = start_deployed(&node, &cluster, &objects[&format!("Deployment/{NAME}")], &port).await;
    assert_eq!(works(&cluster, container).await, in_service_account(&["ca.crt", "namespace", "token"]));
    cluster.server.shutdown().await;
}

/// In a namespace of its own and with a server certificate of a Secret.
#[tokio::test]
async fn chart_reads_only_its_token_and_certificate() {
    if !can_start().await {
        return;
    }
    let values = json!({"tls": {"secretName": "serving"}});
    let Some(objects) = install_chart("endpoints", &values).await else { return };
    let cluster = cluster_with(rights(objects.values())).await;
    let node = Node::new();
    let deployment = &objects[&format!("Deployment/{NAME}")];
    let pod = &deployment["spec"]["template"]["spec"];
    assert_eq!(pod["volumes"][0]["secret"]["defaultMode"], 0o440);
    let group = pod["securityContext"]["fsGroup"].as_u64().and_then(|it| u32::try_from(it).ok()).expect("a group");
    let pair = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    let (certificate, key) = (pair.cert.pem(), pair.signing_key.serialize_pem());
    node.projected("serving", &[("tls.crt", &certificate), ("tls.key", &key)], group);

    let port = ReservedPort::new().expect("a free port");
    let container = start_deployed(&node, &cluster, deployment, &port).await;
    until("a connection", || TcpStream::connect(port.address()), Result::is_ok).await.expect("accepted");
    let client = HttpsClient::anonymous(port.address(), certificate.into_bytes());
    eventually("readiness", &200, async || client.get("/readyz").await.code).await;
    let mut expected = in_service_account(&["ca.crt", "namespace", "token"]);
    expected.extend(["crt", "key"].map(|it| format!("/etc/endpoint-controller-manager/tls/tls.{it}")));
    assert_eq!(works(&cluster, container).await, expected);
    cluster.server.shutdown().await;
}

//! Each controller writes as its own service account, with the rights of upstream's roles only.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use http::Method;
use kube_dev_apiserver::{On, User};
use kube_endpoints_testing::eventually;
use serde_json::{Value, json};

use crate::cluster::Cluster;
use crate::deploy::rights::{rbac_cluster, refused};
use crate::deploy::split;
use crate::process::{start_with_kubeconfig, stop};

const OWN: &str = "endpoint-controller-manager";
const CONTROLLERS: [&str; 3] = ["endpoint-controller", "endpointslice-controller", "endpointslicemirroring-controller"];

/// A server with upstream's roles (CM-34) and the rules that the program itself needs, and a kubeconfig for the
/// program.
async fn cluster_with_upstream_roles() -> (Cluster, PathBuf) {
    let cluster = rbac_cluster(&split(include_str!("../../../../testing/conformance/rights.yaml"))).await;
    let kubeconfig = cluster.kubeconfig_for(User::new(OWN).group("system:authenticated"));
    (cluster, kubeconfig)
}

/// Creates a Service with a selector and one without, so that every controller writes.
async fn workload(cluster: &Cluster) {
    cluster.web().await;
    cluster.custom_endpoints("own").await;
}

fn expected() -> (BTreeMap<String, usize>, BTreeMap<String, usize>) {
    let both = BTreeMap::from([("web".to_owned(), 1), ("own".to_owned(), 1)]);
    (both.clone(), both)
}

/// Users that wrote objects of a resource with the binary's user agent, that is without the test's own writes.
fn writers(cluster: &Cluster, resource: &str) -> BTreeSet<String> {
    let writes = On::writes().resource(resource).user_agent("controller-manager");
    cluster.server.requests().matching(&writes).into_iter().map(|request| request.user).collect()
}

fn accounts(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| format!("system:serviceaccount:kube-system:{name}")).collect()
}

#[tokio::test]
async fn upstream_roles_and_listed_rules_are_sufficient() {
    let (cluster, kubeconfig) = cluster_with_upstream_roles().await;
    let child = start_with_kubeconfig(&kubeconfig, &["--use-service-account-credentials=true"]);
    workload(&cluster).await;
    eventually("addresses", &expected(), || cluster.addresses()).await;
    let service = json!({"metadata": {"labels": {"touched": "yes"}}});
    cluster.try_call(Method::PATCH, "/api/v1/namespaces/default/services/web", &service).await;
    cluster.try_call(Method::DELETE, "/api/v1/namespaces/default/services/own", &Value::Null).await;
    let left = BTreeMap::from([("web".to_owned(), 1)]);
    eventually("slices", &left, async || cluster.addresses().await.1).await;

    let log = stop(child).await;
    assert_eq!(writers(&cluster, "endpoints"), accounts(&["endpoint-controller"]));
    let both = ["endpointslice-controller", "endpointslicemirroring-controller"];
    assert_eq!(writers(&cluster, "endpointslices"), accounts(&both));
    let requests = cluster.server.requests().matching(&On::any().user_agent("controller-manager"));
    let refused = refused(&cluster);
    assert!(refused.is_empty(), "{refused:#?}\n{log}");
    // As upstream, the user agent ends with the account's user name.
    let agents: BTreeSet<&str> = requests
        .iter()
        .filter(|it| it.user.starts_with("system:serviceaccount"))
        .filter_map(|it| it.user_agent.split_once("kube-endpoints/").map(|(_, part)| part))
        .collect();
    assert_eq!(agents.into_iter().map(str::to_owned).collect::<BTreeSet<_>>(), accounts(&CONTROLLERS));
    cluster.server.shutdown().await;
}

#[tokio::test]
async fn recreated_service_account_gets_new_tokens() {
    let (cluster, kubeconfig) = cluster_with_upstream_roles().await;
    let child = start_with_kubeconfig(&kubeconfig, &["--use-service-account-credentials", "--leader-elect=false"]);
    workload(&cluster).await;
    eventually("addresses", &expected(), || cluster.addresses()).await;
    for name in CONTROLLERS {
        let path = format!("/api/v1/namespaces/kube-system/serviceaccounts/{name}");
        cluster.call(Method::DELETE, &path, &Value::Null).await;
    }
    cluster.ready_pod("default", "web-1", "web", "10.1.0.2").await;
    let both = BTreeMap::from([("web".to_owned(), 2), ("own".to_owned(), 1)]);
    eventually("addresses", &(both.clone(), both), || cluster.addresses()).await;
    stop(child).await;
    cluster.server.shutdown().await;
}

/// Without service accounts, the rights of the program are not sufficient, and the log has the API server's reason.
#[tokio::test]
async fn without_service_accounts_writes_are_forbidden() {
    let (cluster, kubeconfig) = cluster_with_upstream_roles().await;
    let child = start_with_kubeconfig(&kubeconfig, &["--leader-elect=false"]);
    workload(&cluster).await;
    let refused = On::writes().resource("endpointslices").user(OWN);
    eventually("a refusal", &true, async || cluster.server.requests().count(&refused) > 0).await;
    let log = stop(child).await;
    assert!(log.contains("cannot create resource") && log.contains("endpointslices"), "{log}");
    cluster.server.shutdown().await;
}

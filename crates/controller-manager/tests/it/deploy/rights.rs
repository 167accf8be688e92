//! The RBAC rules in `deploy/` grant what the binary uses, and nothing else.

use std::collections::{BTreeMap, BTreeSet};

use http::Method;
use kube_dev_apiserver::{Authorization, Config, Fault, LoggedRequest, On, Transport, User};
use kube_endpoints_testing::{eventually, until};
use serde_json::{Value, json};

use super::chart::install_chart;
use super::{NAME, arguments, base, by_name, deploy, documents, text};
use crate::cluster::Cluster;
use crate::process::{start_with_kubeconfig, stop};
use crate::serving::start_in;

/// A right: API group, resource with subresource, verb.
type Right = (String, String, String);

fn right(group: &str, resource: &str, verb: &str) -> Right {
    (group.to_owned(), resource.to_owned(), verb.to_owned())
}

fn granted(role: &Value) -> BTreeSet<Right> {
    let list = |rule: &Value, field: &str| -> Vec<String> {
        rule[field].as_array().expect("a list").iter().map(|it| text(it).to_owned()).collect()
    };
    let mut rights = BTreeSet::new();
    for rule in role["rules"].as_array().expect("rules") {
        for group in list(rule, "apiGroups") {
            for resource in list(rule, "resources") {
                rights.extend(list(rule, "verbs").iter().map(|verb| right(&group, &resource, verb)));
            }
        }
    }
    rights
}

/// Rights of the informers to read single objects, which confirm a list that would remove many objects of a cache. The tests of
/// the guard have such lists.
fn confirming_rights() -> BTreeSet<Right> {
    let core = ["services", "pods", "nodes", "endpoints"].map(|resource| right("", resource, "get"));
    core.into_iter().chain([right("discovery.k8s.io", "endpointslices", "get")]).collect()
}

/// Rights that are needed, although no request of [`use_all_rights`] uses them.
fn untested_rights() -> BTreeSet<Right> {
    let mut rights = BTreeSet::from([
        // The admission plugin OwnerReferencesPermissionEnforcement checks these for owner references with
        // `blockOwnerDeletion`.
        right("", "services/finalizers", "update"),
        right("", "endpoints/finalizers", "update"),
        // Admission (OpenShift's RestrictedEndpointsAdmission) checks this for addresses in the cluster's own networks.
        right("", "endpoints/restricted", "create"),
        // Used for requests to the HTTPS server; the test sends none.
        right("authentication.k8s.io", "tokenreviews", "create"),
        right("authorization.k8s.io", "subjectaccessreviews", "create"),
    ]);
    rights.extend(confirming_rights());
    rights
}

/// Starts a server with RBAC and these roles and bindings.
pub(crate) async fn rbac_cluster(granted: impl IntoIterator<Item = &Value>) -> Cluster {
    let config = Config { authorization: Authorization::Rbac, transport: Transport::Tls, ..Config::default() };
    let cluster = Cluster::start_with(config).await;
    grant(&cluster, granted).await;
    cluster
}

pub(super) async fn grant(cluster: &Cluster, granted: impl IntoIterator<Item = &Value>) {
    for object in granted {
        let plural = text(&object["kind"]).to_lowercase() + "s";
        let collection =
            if plural.starts_with("cluster") { plural } else { format!("namespaces/kube-system/{plural}") };
        cluster.create(&format!("/apis/rbac.authorization.k8s.io/v1/{collection}"), object).await;
    }
}

/// Requests of the binary that were answered with 401 or 403.
pub(crate) fn refused(cluster: &Cluster) -> Vec<LoggedRequest> {
    let mut requests = cluster.server.requests().matching(&On::any().user_agent("controller-manager"));
    requests.retain(|it| matches!(it.status, Some(401 | 403)));
    requests
}

/// Makes the controllers use all their rights: objects of each kind are created, changed and deleted, and an event is
/// repeated.
pub(super) async fn use_all_rights(cluster: &Cluster) {
    let failing = On::any().verb("update").resource("endpoints").name("web");
    cluster.server.faults().inject(Fault::reject(500).on(failing).times(3));
    cluster.web().await;
    let settled = |count| {
        let both = BTreeMap::from([("web".to_owned(), count)]);
        (both.clone(), both)
    };
    eventually("one address", &settled(1), || cluster.addresses()).await;
    cluster.ready_pod("default", "web-1", "web", "10.1.0.2").await;
    eventually("two addresses", &settled(2), || cluster.addresses()).await;
    let repeated = On::any().verb("patch").resource("events");
    eventually("a repeated event", &true, async || cluster.server.requests().count(&repeated) > 0).await;
    // The controller deletes mirrored slices; slices of Services are left to the garbage collector.
    cluster.custom_endpoints("own").await;
    let slices = async || cluster.addresses().await.1.get("own").copied();
    eventually("a mirrored slice", &Some(1), slices).await;
    cluster.try_call(Method::DELETE, "/api/v1/namespaces/default/endpoints/own", &Value::Null).await;
    eventually("no mirrored slice", &None, slices).await;
    cluster.try_call(Method::DELETE, "/api/v1/namespaces/default/services/web", &Value::Null).await;
    eventually("no Endpoints", &BTreeMap::new(), async || cluster.addresses().await.0).await;
}

fn used(cluster: &Cluster, user: &str) -> BTreeSet<Right> {
    let requests = cluster.server.requests().matching(&On::any().user(user).user_agent("controller-manager"));
    let of_resources = requests.iter().filter(|it| !it.resource.is_empty());
    let of = |it: &LoggedRequest| {
        let part = if it.subresource.is_empty() { String::new() } else { format!("/{}", it.subresource) };
        right(&it.group, &format!("{}{part}", it.resource), &it.verb)
    };
    of_resources.map(of).collect()
}

#[tokio::test]
async fn base_grants_the_rights_that_are_used() {
    let base = base();
    let kinds = ["ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"];
    let cluster = rbac_cluster(kinds.iter().map(|kind| &base[&format!("{kind}/{NAME}")])).await;
    let used = rights_used_by_deployment(&cluster, &base[&format!("Deployment/{NAME}")]).await;

    let mut granted_to_it = granted(&base[&format!("ClusterRole/{NAME}")]);
    granted_to_it.extend(granted(&base[&format!("Role/{NAME}")]));
    assert_eq!(unused_rights(&granted_to_it, &used), untested_rights(), "rights that are granted and never used");
    cluster.server.shutdown().await;
}

/// Runs the replicas of a Deployment in kube-system; returns the rights that they used.
async fn rights_used_by_deployment(cluster: &Cluster, deployment: &Value) -> BTreeSet<Right> {
    let arguments = arguments(&deployment["spec"]["template"]);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    rights_used_by_replicas(cluster, &format!("system:serviceaccount:kube-system:{NAME}"), &arguments).await
}

/// Runs a leader and a standby with these arguments as this user through [`use_all_rights`]; returns the rights that they
/// used. Panics if a request was refused.
async fn rights_used_by_replicas(cluster: &Cluster, user: &str, arguments: &[&str]) -> BTreeSet<Right> {
    let account = User::new(user).group("system:serviceaccounts").group("system:authenticated");
    let kubeconfig = cluster.kubeconfig_for(account);

    let replica = || start_with_kubeconfig(&kubeconfig, arguments);
    let leader = replica();
    use_all_rights(cluster).await;
    let (standby, watched) = (replica(), On::any().verb("watch").resource("leases"));
    eventually("a standby", &true, async || cluster.server.requests().count(&watched) > 0).await;
    let log = stop(standby).await + &stop(leader).await;

    let missing = refused(cluster);
    assert!(missing.is_empty(), "refused requests: {missing:#?}\n{log}");
    used(cluster, user)
}

/// Rights that are granted and were not used. `list` is ignored, since its use varies: a new leader lists the resources
/// that are synced by then, and servers without streaming lists are listed in pages.
fn unused_rights(granted: &BTreeSet<Right>, used: &BTreeSet<Right>) -> BTreeSet<Right> {
    granted.difference(used).filter(|(_, _, verb)| verb != "list").cloned().collect()
}

/// A Role that every API server creates.
pub(super) fn authentication_reader() -> Value {
    let rule = json!({"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list", "watch"],
        "resourceNames": ["extension-apiserver-authentication"]});
    json!({"kind": "Role", "metadata": {"name": "extension-apiserver-authentication-reader"}, "rules": [rule]})
}

#[tokio::test]
async fn ca_bundle_lookup_is_authorized() {
    let base = base();
    let cluster =
        rbac_cluster([&authentication_reader(), &base[&format!("RoleBinding/{NAME}-authentication-reader")]]).await;
    let folder = tempfile::tempdir().expect("a folder");
    let user = User::new(format!("system:serviceaccount:kube-system:{NAME}"));
    std::fs::write(folder.path().join("kubeconfig"), cluster.server.kubeconfig_for(user)).expect("a kubeconfig");
    let process = start_in(folder.path(), &[]);
    process.until("/livez", |reply| reply.code == 200).await;
    // The first lookup may take too long for the start, and be repeated.
    let lookups = On::any().verb("get").resource("configmaps");
    let answered = async || {
        let lookups = cluster.server.requests().matching(&lookups);
        lookups.iter().filter_map(|it| it.status).collect::<Vec<_>>()
    };
    let answers = until("a lookup", answered, |answers| !answers.is_empty()).await;
    assert!(answers.iter().all(|status| *status == 404), "authorized, and not found: {answers:?}");
    cluster.server.shutdown().await;
}

/// Roles and bindings of the controllers' service accounts in every cluster.
fn upstream_controller_roles() -> impl Iterator<Item = Value> {
    let all = documents(&deploy("../testing/conformance/rights.yaml")).into_iter();
    all.filter(|it| text(&it["metadata"]["name"]).starts_with("system:controller:"))
}

/// Rights and bindings of the static Pod by kind and name, without the `FlowSchemas`, which the embedded server does not have.
fn static_pod_rights() -> BTreeMap<String, Value> {
    let mut objects = by_name(documents(&deploy("static-pod/rights.yaml")));
    objects.retain(|name, _| !name.starts_with("FlowSchema/"));
    objects
}

#[tokio::test]
async fn static_pod_grants_the_rights_that_are_used() {
    let objects = static_pod_rights();
    let cluster = rbac_cluster(objects.values()).await;
    let arguments = arguments(&documents(&deploy("static-pod/endpoint-controller-manager.yaml"))[0]);
    let is_portable = |it: &&str| !it.contains("=/etc/");
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).filter(is_portable).collect();
    // The common name of the certificate in the kubeconfig.
    let used = rights_used_by_replicas(&cluster, NAME, &arguments).await;
    let granted: BTreeSet<Right> = objects.values().filter(|it| it["rules"].is_array()).flat_map(granted).collect();
    assert_eq!(unused_rights(&granted, &used), untested_rights(), "rights that are granted and never used");
    cluster.server.shutdown().await;
}

#[test]
fn static_pod_and_base_grant_the_same_rights() {
    let (base, static_pod) = (base(), static_pod_rights());
    for kind in ["ClusterRole", "Role"] {
        let of = |objects: &BTreeMap<String, Value>, name: &str| objects[&format!("{kind}/{name}")]["rules"].clone();
        assert_eq!(of(&static_pod, &format!("{NAME}-static-pod")), of(&base, NAME), "{kind}");
    }
    for (name, object) in static_pod.iter().filter(|(_, it)| it["subjects"].is_array()) {
        let user = json!([{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": NAME}]);
        assert_eq!(object["subjects"], user, "{name}");
        assert!(!base.contains_key(name), "{name} would replace the binding of the Deployment");
    }
}

#[tokio::test]
async fn chart_with_service_accounts_grants_the_rights_that_are_used() {
    let Some(chart) = install_chart("kube-system", &json!({"useServiceAccountCredentials": true})).await else {
        return;
    };
    let chart_objects =
        ["ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"].map(|kind| format!("{kind}/{NAME}"));
    let chart_objects =
        chart_objects.into_iter().chain([format!("Role/{NAME}-accounts"), format!("RoleBinding/{NAME}-accounts")]);
    let chart_objects: Vec<Value> = chart_objects.map(|name| chart[&name].clone()).collect();
    let granted_to_all: Vec<Value> = chart_objects.iter().cloned().chain(upstream_controller_roles()).collect();
    let cluster = rbac_cluster(&granted_to_all).await;
    let used = rights_used_by_deployment(&cluster, &chart[&format!("Deployment/{NAME}")]).await;

    let granted_to_it: BTreeSet<Right> =
        chart_objects.iter().filter(|it| it["rules"].is_array()).flat_map(granted).collect();
    let unused_rights = unused_rights(&granted_to_it, &used);
    let mut expected = untested_rights();
    // The rights in the core group are granted to the controllers' accounts instead, except those of the informers.
    expected.retain(|(group, _, _)| !group.is_empty());
    expected.extend(confirming_rights());
    // Used for a repeated event: an election that is won twice, which does not happen here.
    expected.insert(right("", "events", "patch"));
    assert_eq!(unused_rights, expected, "rights that are granted and never used");
    cluster.server.shutdown().await;
}

//! What may be done by those who are deployed: what the binary does, and nothing else.

use std::collections::{BTreeMap, BTreeSet};

use http::Method;
use kube_dev_apiserver::{Authorization, Config, Fault, On, User};
use serde_json::{Value, json};

use super::{BASE, NAME, arguments, base, deploy, text};
use crate::cluster::{Cluster, eventually};
use crate::process::{controllers_as, stop};

/// A right: group, resource with subresource, verb.
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

/// Rights that no call of the run below shows, each with its reason.
fn unseen() -> BTreeSet<Right> {
    let mut rights = BTreeSet::from([
        // Admission asks for these where owners have `blockOwnerDeletion` (OwnerReferencesPermissionEnforcement).
        right("", "services/finalizers", "update"),
        right("", "endpoints/finalizers", "update"),
        // Admission asks for this where Endpoints hold addresses of the cluster's own networks.
        right("", "endpoints/restricted", "create"),
        // The live read that ends a doubt about a cache, after 30 seconds.
        right("", "endpoints", "get"),
        // Who reads metrics is asked of the API server; nobody does here.
        right("authentication.k8s.io", "tokenreviews", "create"),
        right("authorization.k8s.io", "subjectaccessreviews", "create"),
    ]);
    // Servers that cannot stream lists are asked for pages.
    rights.extend(["services", "pods", "nodes", "endpoints"].map(|resource| right("", resource, "list")));
    rights.insert(right("discovery.k8s.io", "endpointslices", "list"));
    rights
}

const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1";

/// A server that enforces the rights of the base.
async fn guarded(base: &BTreeMap<String, Value>) -> Cluster {
    let cluster = Cluster::start_as(Config { authorization: Authorization::Rbac, ..Config::default() }).await;
    for (kind, path) in [
        ("ClusterRole", format!("{RBAC}/clusterroles")),
        ("ClusterRoleBinding", format!("{RBAC}/clusterrolebindings")),
        ("Role", format!("{RBAC}/namespaces/kube-system/roles")),
        ("RoleBinding", format!("{RBAC}/namespaces/kube-system/rolebindings")),
    ] {
        cluster.create(&path, &base[&format!("{kind}/{NAME}")]).await;
    }
    cluster
}

/// Everything the controllers do: an object of each kind that comes, changes and goes, and an event that is repeated.
async fn work(cluster: &Cluster) {
    let failing = On::any().verb("update").resource("endpoints").name("web");
    cluster.server.faults().inject(Fault::refuse(500).on(failing).times(3));
    cluster.node().await;
    cluster.service("default", "web").await;
    cluster.ready_pod("default", "web-0", "web", "10.1.0.1").await;
    let settled = |count| {
        let both = BTreeMap::from([("web".to_owned(), count)]);
        (both.clone(), both)
    };
    eventually("one address", &settled(1), || cluster.addresses()).await;
    cluster.ready_pod("default", "web-1", "web", "10.1.0.2").await;
    eventually("two addresses", &settled(2), || cluster.addresses()).await;
    let repeated = On::any().verb("patch").resource("events");
    eventually("a repeated event", &true, async || cluster.server.requests().count(&repeated) > 0).await;
    // Mirrored slices go with what they mirror; those of Services are left to the garbage collector.
    let ports = json!([{"name": "http", "port": 80}]);
    let own = json!({"metadata": {"name": "own"}, "spec": {"ports": ports}});
    cluster.create("/api/v1/namespaces/default/services", &own).await;
    let subsets = json!([{"addresses": [{"ip": "192.0.2.1"}], "ports": ports}]);
    let endpoints = json!({"metadata": {"name": "own"}, "subsets": subsets});
    cluster.create("/api/v1/namespaces/default/endpoints", &endpoints).await;
    let slices = async || cluster.addresses().await.1.get("own").copied();
    eventually("a mirrored slice", &Some(1), slices).await;
    cluster.try_call(Method::DELETE, "/api/v1/namespaces/default/endpoints/own", &Value::Null).await;
    eventually("no mirrored slice", &None, slices).await;
    cluster.try_call(Method::DELETE, "/api/v1/namespaces/default/services/web", &Value::Null).await;
    eventually("no Endpoints", &BTreeMap::new(), async || cluster.addresses().await.0).await;
}

#[tokio::test]
async fn the_rights_are_those_of_the_calls() {
    let base = base();
    let cluster = guarded(&base).await;
    let user = format!("system:serviceaccount:kube-system:{NAME}");
    let folder = tempfile::tempdir().expect("a folder");
    let kubeconfig = folder.path().join("kubeconfig");
    let user = User::new(&user).group("system:serviceaccounts").group("system:authenticated");
    std::fs::write(&kubeconfig, cluster.server.kubeconfig_for(user)).expect("a kubeconfig");

    let arguments = arguments(&base[&format!("Deployment/{NAME}")]["spec"]["template"]);
    let child = controllers_as(&kubeconfig, &arguments.iter().map(String::as_str).collect::<Vec<_>>());
    work(&cluster).await;
    let log = stop(child).await;

    let requests = cluster.server.requests().matching(&On::any().user_agent("controller-manager"));
    let refused: Vec<_> = requests.iter().filter(|it| matches!(it.status, Some(401 | 403))).collect();
    assert!(refused.is_empty(), "something is missing: {refused:#?}\n{log}");
    let used: BTreeSet<Right> = requests
        .iter()
        .filter(|it| !it.resource.is_empty())
        .map(|it| {
            let part = if it.subresource.is_empty() { String::new() } else { format!("/{}", it.subresource) };
            right(&it.group, &format!("{}{part}", it.resource), &it.verb)
        })
        .collect();
    let mut granted_to_it = granted(&base[&format!("ClusterRole/{NAME}")]);
    granted_to_it.extend(granted(&base[&format!("Role/{NAME}")]));
    let spare: BTreeSet<_> = granted_to_it.difference(&used).cloned().collect();
    assert_eq!(spare, unseen(), "what is granted and never used");
    cluster.server.shutdown().await;
}

/// Holds where Helm is not at hand, too.
#[test]
fn the_chart_grants_the_same() {
    let rules = |text: &str, after: &str| -> Vec<String> {
        let from = text.find(after).unwrap_or_else(|| panic!("no {after}"));
        let lines = text[from..].lines().skip_while(|line| *line != "rules:").skip(1);
        lines
            .take_while(|line| line.starts_with(' '))
            .filter(|line| !line.trim_start().starts_with('#'))
            .map(str::to_owned)
            .collect()
    };
    let chart = deploy("helm/endpoint-controller-manager/templates/rbac.yaml");
    let chart = std::fs::read_to_string(chart).expect("the chart's roles");
    for (kind, file) in [("kind: ClusterRole\n", "cluster-role.yaml"), ("kind: Role\n", "role.yaml")] {
        let base = std::fs::read_to_string(deploy(BASE).join(file)).expect("the role");
        let ours = rules(&base, kind);
        assert!(!ours.is_empty(), "{file}");
        assert_eq!(rules(&chart, kind), ours, "{file}");
    }
}

//! `retire plan`: who reads and writes Endpoints, and which of them can go.

use std::fs;
use std::path::PathBuf;

use jiff::SignedDuration;
use kube_dev_apiserver::Config;
use kube_endpoints_testing::book::assert_table;
use kube_endpoints_testing::{LIMIT, audit};
use rstest::rstest;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::cluster::{Cluster, Run};
use crate::rights::rules;

const PROMETHEUS: &str = "system:serviceaccount:shop:prometheus";

fn rbac(kind: &str, name: &str, more: &[(&str, Value)]) -> Value {
    let mut object = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": {"name": name}});
    for (field, value) in more {
        object[field] = value.clone();
    }
    object
}

fn endpoints(namespace: &str, name: &str, labels: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "Endpoints", "metadata": {"namespace": namespace, "name": name, "labels": labels},
        "subsets": [{"addresses": [{"ip": "192.0.2.1"}], "ports": [{"port": 6443, "protocol": "TCP"}]}]})
}

/// The shop, with Endpoints of a Service that does not exist, custom ones, and a Pod that may read all Endpoints.
async fn shop() -> Cluster {
    let managed = json!({"endpoints.kubernetes.io/managed-by": "endpoint-controller"});
    let service = |namespace: &str, name: &str| {
        json!({"apiVersion": "v1", "kind": "Service", "metadata": {"namespace": namespace, "name": name},
            "spec": {"ports": [{"port": 443, "protocol": "TCP"}]}})
    };
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": "shop", "name": "prometheus-0"},
        "spec": {"serviceAccountName": "prometheus", "nodeName": "n1",
            "containers": [{"name": "main", "image": "quay.io/prometheus/prometheus:v3.4.0"}]},
        "status": {"phase": "Running"}});
    let role = ("rules", rules(&["get,list,watch endpoints"]));
    let reference = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "prometheus"});
    let subject = json!([{"kind": "ServiceAccount", "namespace": "shop", "name": "prometheus"}]);
    let more = [
        service("default", "kubernetes"),
        service("shop", "db"),
        endpoints("default", "kubernetes", &json!({})),
        endpoints("shop", "db", &json!({})),
        endpoints("shop", "gone", &managed),
        pod,
        rbac("ClusterRole", "prometheus", &[role]),
        rbac("ClusterRoleBinding", "prometheus", &[("roleRef", reference), ("subjects", subject)]),
    ];
    Cluster::start_with(Config::default(), more).await
}

/// Writes an audit log of the last eight days, in which a controller reads Endpoints every hour, and others once.
fn log(cluster: &Cluster, readers: &[(&str, &str)]) -> PathBuf {
    // The program reads the clock, too.
    let now = kube_ambient::now();
    let event = |ago: SignedDuration, user: &str, namespace: &str| {
        let object = json!({"resource": "endpoints", "namespace": namespace});
        audit::event("watch", &json!({"user": {"username": user}, "objectRef": object, "stageTimestamp": now - ago}))
    };
    let hours =
        (0..8 * 24).rev().map(|ago| event(SignedDuration::from_hours(ago), "system:kube-controller-manager", ""));
    let readers = readers.iter().map(|(user, namespace)| event(SignedDuration::from_mins(90), user, namespace));
    let path = cluster.folder().join("audit.log");
    fs::write(&path, audit::lines(&hours.chain(readers).collect::<Vec<_>>())).expect("written");
    path
}

async fn plan(cluster: &Cluster, more: &str, readers: &[(&str, &str)]) -> Run {
    let log = log(cluster, readers);
    cluster.run(&format!("retire plan {more} --audit-log {}", log.display())).await
}

fn answers(plan: &Value) -> Vec<String> {
    let objects = plan["objects"].as_array().expect("objects");
    let shown = |it: &Value| format!("{} {} {}", it["name"], it["state"], it["verdict"]["answer"]).replace('"', "");
    objects.iter().map(shown).collect()
}

#[tokio::test]
async fn endpoints_that_nobody_reads_are_safe() {
    let cluster = shop().await;
    let run = plan(&cluster, "-A -o json", &[]).await;
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{run:?}");
    let plan = run.json();
    assert_eq!((&plan["apiVersion"], &plan["verdict"]["answer"]), (&json!("retire/v1"), &json!("safe")), "{plan}");
    assert_eq!(answers(&plan), ["gone leftOver safe"]);
    assert!(plan["cluster"]["uid"].as_str().is_some_and(|uid| !uid.is_empty()), "{plan}");
    let findings = &plan["findings"];
    let writers: Vec<&Value> = findings["writers"].as_array().expect("writers").iter().map(|it| &it["kind"]).collect();
    assert_eq!(writers, ["apiServer", "mirrored"]);
    let prometheus = &findings["readers"].as_array().expect("readers").last().expect("one");
    assert_eq!(
        (&prometheus["confidence"], &prometheus["programs"][0]["name"]),
        (&json!("known"), &json!("Prometheus"))
    );
    assert_eq!(findings["savings"]["objects"], 1);
}

#[rstest]
#[case::everywhere("-A", &[(PROMETHEUS, "")], "notSafe", 1)]
#[case::here("-n shop", &[("alice", "shop")], "notSafe", 1)]
#[case::in_another_namespace("-A", &[("alice", "quiet")], "safe", 0)]
#[case::too_short("-A --for=9d", &[], "unknown", 1)]
#[tokio::test]
async fn readers_decide(
    #[case] arguments: &str,
    #[case] readers: &[(&str, &str)],
    #[case] answer: &str,
    #[case] status: i32,
) {
    let run = plan(&shop().await, &format!("{arguments} -o json"), readers).await;
    let plan = run.json();
    assert_eq!((run.status, plan["verdict"]["answer"].as_str()), (status, Some(answer)), "{plan}");
}

/// One that is down is no address of `default/kubernetes`, and may have answered readers before.
#[tokio::test]
async fn each_pod_of_an_api_server_has_a_log() {
    let cluster = shop().await;
    let pod = |name: &str| {
        json!({"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [{"name": "main", "image": "x"}]}, "status": {"phase": "Running"},
            "metadata": {"namespace": "kube-system", "name": name, "labels": {"component": "kube-apiserver"}}})
    };
    cluster.server.load(["a", "b"].map(pod)).expect("valid objects");
    let found = plan(&cluster, "-A -o json", &[]).await.json();
    assert_eq!(found["verdict"]["answer"], "unknown", "{found}");
    assert_eq!(found["findings"]["evidence"]["apiServers"], 2, "{found}");
}

#[tokio::test]
async fn without_a_log_nothing_is_safe() {
    let run = shop().await.run("retire plan -A").await;
    assert_eq!((run.status, run.stderr.as_str()), (1, ""), "{run:?}");
    assert_table("retire", "plan", &format!("```console\n$ kubectl endpoints retire plan -A\n{}```\n", run.stdout));
}

#[rstest]
#[case::nothing(&[], "unknown")]
#[case::only_endpoints(&["get,list endpoints"], "unknown")]
#[case::without_roles(&["get,list endpoints,services,pods", "get namespaces"], "safe")]
#[tokio::test]
async fn what_may_not_be_read_is_unknown(#[case] allowed: &[&str], #[case] answer: &str) {
    let cluster = Cluster::with_rules(&rules(allowed)).await;
    let more = [endpoints("default", "kubernetes", &json!({}))];
    cluster.server.load(more).expect("valid objects");
    let run = plan(&cluster, "-A -o json", &[]).await;
    let plan = run.json();
    assert_eq!(plan["verdict"]["answer"], answer, "{plan}");
    let unread: Vec<&Value> =
        plan["findings"]["evidence"]["unread"].as_array().expect("a list").iter().map(|it| &it["kind"]).collect();
    assert!(unread.contains(&&json!("clusterroles")), "{plan}");
}

#[rstest]
#[case::selector("retire plan -l app=web", "-l is not for retire plan")]
#[case::names("retire plan -o name", "retire plan prints text, JSON or YAML")]
#[case::page("retire plan --url=http://127.0.0.1:1", "--url and --at are not for retire plan")]
#[case::merged("retire plan --merged-log", "--audit-log")]
#[case::file("retire plan --audit-log /nonexistent", "cannot read /nonexistent")]
#[tokio::test]
async fn wrong_arguments_exit_with_2(#[case] line: &str, #[case] expected: &str) {
    let run = shop().await.run(line).await;
    assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{run:?}");
    assert!(run.stderr.contains(expected), "{run:?}");
}

/// Reading an audit log can take an hour.
#[cfg(unix)]
#[tokio::test]
async fn an_error_does_not_wait_for_the_audit_log() {
    let cluster = Cluster::empty(Config::default()).await;
    let log = cluster.folder().join("audit.log");
    let made = tokio::process::Command::new("mkfifo").arg(&log).status().await.expect("mkfifo");
    assert!(made.success());
    let line = format!("retire plan --audit-log {} -s http://127.0.0.1:1", log.display());
    let run = timeout(LIMIT, cluster.run(&line)).await.expect("an end");
    assert!(run.status == 2 && run.stderr.starts_with("error: "), "{run:?}");
}

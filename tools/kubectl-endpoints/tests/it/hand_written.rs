//! Objects that a user wrote: the answer is about what clients see, and not about what was meant.

use kube_dev_apiserver::{Config, Transport};
use rstest::rstest;
use serde_json::{Value, json};

use crate::cluster::{Cluster, pod};

fn service(name: &str, spec: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "Service", "metadata": {"namespace": "shop", "name": name}, "spec": spec})
}

fn slice(service: &str, ports: &Value, endpoints: &Value) -> Value {
    let labels = json!({"kubernetes.io/service-name": service});
    json!({"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4",
        "metadata": {"namespace": "shop", "name": format!("{service}-own"), "labels": labels},
        "ports": ports, "endpoints": endpoints})
}

/// A slice whose port has a name, for a Service whose only port has none.
fn external_database() -> Vec<Value> {
    let ports = json!([{"name": "postgresql", "port": 5432, "protocol": "TCP"}]);
    vec![
        service("db", &json!({"ports": [{"port": 5432}]})),
        slice("db", &ports, &json!([{"addresses": ["192.0.2.10"]}])),
    ]
}

/// A port without a number, and conditions that are partly missing.
fn bare() -> Vec<Value> {
    let endpoints = json!([
        {"addresses": ["192.0.2.1"]},
        {"addresses": ["192.0.2.2"], "conditions": {}},
        {"addresses": ["192.0.2.3"], "conditions": {"serving": false}},
        {"addresses": ["192.0.2.4"], "conditions": {"terminating": true}},
    ]);
    vec![
        service("bare", &json!({"ports": [{"name": "http", "port": 80}]})),
        slice("bare", &json!([{"name": "http"}]), &endpoints),
    ]
}

/// Two ports of a Service that its only Pod does not have.
fn two_ports_too_many() -> Vec<Value> {
    let mut one = pod("one", "10.0.0.9", true);
    one["metadata"]["labels"] = json!({"app": "api"});
    one["spec"]["containers"][0]["ports"] = json!([{"name": "x", "containerPort": 8080}]);
    let port = |name: &str, port: u16, target: &str| json!({"name": name, "port": port, "targetPort": target});
    let ports = json!([port("a", 80, "x"), port("b", 81, "metrics"), port("c", 82, "admin")]);
    let target = json!({"kind": "Pod", "namespace": "shop", "name": "one"});
    vec![
        one,
        service("api", &json!({"selector": {"app": "api"}, "ports": ports})),
        slice(
            "api",
            &json!([{"name": "a", "port": 8080, "protocol": "TCP"}]),
            &json!([{"addresses": ["10.0.0.9"], "targetRef": target}]),
        ),
    ]
}

#[rstest]
#[case::port_of_another_name(external_database(), "explain svc/db", &[
    "✗ db  no selector, 1 slice (IPv4)",
    "EP204 no endpoint serves the TCP port without a name: the endpoints have port \"postgresql\" (5432/TCP)",
])]
#[case::check_of_the_port(external_database(), "check", &["✗ shop/db  EP204 no endpoint serves the TCP port without a name"])]
#[case::conditions(bare(), "explain endpointslice/bare-own", &["4 of 4 endpoints ready"])]
#[case::port_without_a_number(bare(), "explain svc/bare", &["✗ bare  no selector", "port \"http\" (TCP, no number)"])]
#[case::ports_of_no_pod(two_ports_too_many(), "explain svc/api", &[
    "✗ api  1 of 1 Pods serve",
    "EP204 no endpoint serves port \"b\" (TCP): the endpoints have port \"a\" (8080/TCP)",
    "EP204 no endpoint serves port \"c\" (TCP): the endpoints have port \"a\" (8080/TCP)",
])]
#[case::check_of_ports_of_no_pod(two_ports_too_many(), "check", &[
    "✗ shop/api  EP201 Pod one: targetPort \"metrics\" is not a port of any container (available: x=8080); targetPort \"admin\" is",
])]
#[tokio::test]
async fn answers(#[case] objects: Vec<Value>, #[case] command: &str, #[case] expected: &[&str]) {
    let cluster = Cluster::start().await;
    cluster.server.load(objects).expect("valid objects");
    let run = cluster.run(&format!("{command} -n shop")).await;
    for part in expected {
        assert!(run.stdout.contains(part), "no {part:?} in {run:#?}");
    }
}

#[tokio::test]
async fn a_service_in_deletion_serves_what_its_slices_have() {
    let cluster = Cluster::start().await;
    let mut held = service("held", &json!({"selector": {"app": "web"}, "ports": [{"name": "http", "port": 80}]}));
    held["metadata"]["finalizers"] = json!(["example.com/lb"]);
    let slice = slice("held", &json!([{"name": "http", "port": 80, "protocol": "TCP"}]), &json!([]));
    cluster.server.load([held, slice]).expect("valid objects");
    cluster.server.typed_as::<Value>("", "services").namespace("shop").delete("held").expect("deleted");
    let run = cluster.run("explain svc/held -n shop").await;
    for part in ["✗ held  0 of 2 Pods serve, 1 would", "EP006 being deleted", "EP508 ready, and in no slice"] {
        assert!(run.stdout.contains(part), "no {part:?} in {run:#?}");
    }
}

/// Libraries warn about connections whose server is not verified; the user has asked for that.
#[tokio::test]
async fn no_library_writes_to_the_terminal() {
    let cluster = Cluster::start_with(Config { transport: Transport::Tls, ..Config::default() }, []).await;
    let kubeconfig = cluster.server.kubeconfig();
    let insecure = kubeconfig.lines().map(|line| match line.find("certificate-authority-data:") {
        Some(at) => {
            let rest = line[at..].find([',', '}']).map_or("", |end| &line[at + end..]);
            format!("{}insecure-skip-tls-verify: true{rest}", &line[..at])
        }
        None => line.to_owned(),
    });
    cluster.write_kubeconfig(&insecure.collect::<Vec<_>>().join("\n"));
    let run = cluster.run("explain svc/web -n shop").await;
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{run:?}");
}

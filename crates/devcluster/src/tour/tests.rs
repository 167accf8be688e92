//! Consistency of the script, and evaluation of expectations.

use std::{collections::BTreeSet, sync::Arc};

use k8s_openapi::{Metadata, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use kube_wire::Object as _;
use rstest::rstest;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{
    expect::{Expectation, Family},
    script::{Step, stages},
};
use crate::{
    cluster::{Objects, Snapshot},
    manifest::{Syntax, objects},
    view::{EndpointCounts, SERVICE_NAME},
};

/// Pods are created once, deleted only after they were created, and run on Nodes that are up at that time.
#[test]
fn script_is_consistent() {
    let (mut pods, mut nodes) = (BTreeSet::new(), BTreeSet::new());
    for stage in stages() {
        assert!(!stage.expect.is_empty(), "{}: a stage without expectations checks nothing", stage.title);
        for step in stage.steps {
            match step {
                Step::Apply(embedded) => {
                    for object in objects(embedded.name, Syntax::Yaml, embedded.text).unwrap() {
                        let name = object.name.clone().unwrap();
                        match object.kind.as_str() {
                            "Node" => assert!(nodes.insert(name), "{object} twice"),
                            "Pod" => {
                                let node = object.fields["spec"]["nodeName"].as_str().unwrap();
                                assert!(nodes.contains(node), "{object} on {node}");
                                assert!(pods.insert(name), "{object} twice");
                            }
                            _ => {}
                        }
                    }
                }
                Step::DeletePods(names) => names.iter().for_each(|name| assert!(pods.remove(*name), "no {name}")),
                Step::LoseNode(name) => assert!(nodes.remove(name), "no {name}"),
                Step::DeleteNode(name) => assert!(!nodes.contains(name), "{name} is not lost yet"),
                Step::AwaitPodGone(name) => assert!(!pods.contains(name), "{name} is not deleted yet"),
                Step::Stopping(_) | Step::ApplyOwn => {}
            }
        }
    }
}

fn put<K>(objects: &mut Objects<K>, object: Value)
where
    K: DeserializeOwned + Metadata<Ty = ObjectMeta> + Send + Sync + 'static,
{
    let object = serde_json::from_value::<K>(object).unwrap();
    objects.insert(object.key(), Arc::new(object));
}

fn shop() -> Snapshot {
    let mut cluster = Snapshot::default();
    for (name, status) in [("a", "True"), ("b", "Unknown")] {
        let conditions = json!([{"type": "Ready", "status": status}]);
        put(&mut cluster.nodes, json!({"metadata": {"name": name}, "status": {"conditions": conditions}}));
    }
    let subsets = json!([{"addresses": [{"ip": "10.0.0.1"}]}]);
    put(&mut cluster.endpoints, json!({"metadata": {"name": "web", "namespace": "shop"}, "subsets": subsets}));
    let slice = |name: &str, namespace: &str, family: &str, hint: &str| {
        let labels = json!({SERVICE_NAME: "web", "endpointslice.kubernetes.io/managed-by": "tests"});
        let endpoint = json!({
            "addresses": [name],
            "hostname": "web-0",
            "zone": "zone-a",
            "hints": {"forZones": [{"name": hint}]},
        });
        json!({
            "metadata": {"name": name, "namespace": namespace, "labels": labels},
            "addressType": family,
            "endpoints": [endpoint],
        })
    };
    put(&mut cluster.slices, slice("one", "shop", "IPv4", "zone-a"));
    put(&mut cluster.slices, slice("two", "shop", "IPv4", "zone-a"));
    put(&mut cluster.slices, slice("three", "shop", "IPv6", "zone-b"));
    put(&mut cluster.slices, slice("four", "elsewhere", "IPv4", "zone-b"));
    cluster
}

const ONE: EndpointCounts = EndpointCounts { ready: 1, not_ready: 0, draining: 0, terminating: 0 };
const TWO: EndpointCounts = EndpointCounts { ready: 2, ..ONE };

#[rstest]
#[case(Expectation::ReadyNodes(1), None)]
#[case(Expectation::ReadyNodes(2), Some("ready nodes: expected 2, found 1"))]
#[case(Expectation::Endpoints("web", ONE), None)]
#[case(Expectation::Endpoints("web", TWO), Some("Endpoints shop/web: expected 2 ready, found 1 ready"))]
#[case(Expectation::Endpoints("db", ONE), Some("Endpoints shop/db: expected 1 ready, found no such object"))]
#[case(Expectation::Slices("web", Family::V4, TWO), None)]
#[case(Expectation::Slices("web", Family::V6, TWO), Some("IPv6 slices of shop/web: expected 2 ready, found 1 ready"))]
#[case(Expectation::Slices("db", Family::V4, ONE), Some("IPv4 slices of shop/db: expected 1 ready, found none"))]
#[case(Expectation::HostNames("web", &["web-0"]), None)]
#[case(Expectation::HostNames("web", &["web-1"]), Some("host names of shop/web: expected web-1, found web-0"))]
#[case(
    Expectation::OwnZones("web"),
    Some("endpoints of shop/web without a hint for exactly their own zone: expected none, found three")
)]
#[case(Expectation::ManagedBy("web", "tests"), None)]
#[case(Expectation::ManagedBy("web", "others"), Some("managed-by of slices of shop/web: expected others, found tests"))]
fn unmet_expectations_describe_the_difference(#[case] expectation: Expectation, #[case] expect: Option<&str>) {
    assert_eq!(expectation.unmet(&shop()).as_deref(), expect);
}

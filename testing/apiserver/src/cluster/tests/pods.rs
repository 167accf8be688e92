//! Pods and nodes.

use rstest::rstest;

use super::*;

#[test]
fn new_pod_is_pending_regardless_of_its_status() {
    let mut store = TestStore::new();
    let mut object = pod("p");
    object["status"] = json!({"phase": "Running", "podIP": "10.1.0.1"});
    object["spec"]["containers"][0]["ports"] = json!([{"containerPort": 80}]);
    let stored = store.create("pods", object);
    assert_eq!(stored["status"], json!({"phase": "Pending", "qosClass": "BestEffort"}));
    assert_eq!(stored["spec"]["restartPolicy"], "Always");
    assert_eq!(stored["spec"]["terminationGracePeriodSeconds"], 30);
    assert_eq!(stored["spec"]["containers"][0]["ports"][0]["protocol"], "TCP");
    assert_eq!(stored["metadata"]["generation"], 1);
}

#[test]
fn main_and_status_updates_are_independent() {
    let mut store = TestStore::new();
    let stored = store.create("pods", pod_on("p", "n"));
    let mut changed = stored.clone();
    changed["status"]["phase"] = json!("Running");
    assert_eq!(store.try_update("pods", changed.clone(), Part::Main).unwrap(), stored);

    changed["spec"]["nodeName"] = json!("other");
    changed["metadata"]["labels"] = json!({"by": "status"});
    changed["metadata"]["ownerReferences"] = json!([{"apiVersion": "v1", "kind": "Pod", "name": "x", "uid": "1"}]);
    let stored = store.try_update("pods", changed, Part::Status).unwrap();
    assert_eq!((&stored["status"]["phase"], &stored["spec"]["nodeName"]), (&json!("Running"), &json!("n")));
    // An update of `/status` can change the labels of a pod, but not its owner references.
    assert_eq!(stored["metadata"]["labels"]["by"], "status");
    assert!(stored["metadata"].get("ownerReferences").is_none());
    assert_eq!(stored["metadata"]["generation"], 1);
    assert_eq!(stored["status"]["qosClass"], "BestEffort");
}

#[rstest]
#[case::single(json!({"podIP": "10.1.0.1"}), "10.1.0.1", &["10.1.0.1"])]
#[case::plural(json!({"podIPs": [{"ip": "10.1.0.1"}, {"ip": "fd00::1"}]}), "10.1.0.1", &["10.1.0.1", "fd00::1"])]
#[case::single_wins(json!({"podIP": "10.1.0.2", "podIPs": [{"ip": "10.1.0.1"}]}), "10.1.0.2", &["10.1.0.2"])]
#[case::text_is_kept(json!({"podIP": "fd00:0:0::9"}), "fd00:0:0::9", &["fd00:0:0::9"])]
fn pod_ip_and_pod_ips_are_kept_consistent(#[case] status: Value, #[case] single: &str, #[case] all: &[&str]) {
    let mut store = TestStore::new();
    store.create("pods", pod_on("p", "n"));
    let stored = store.merge_status("pods", "p", status);
    assert_eq!(stored["status"]["podIP"], single);
    let ips: Vec<&str> =
        stored["status"]["podIPs"].as_array().unwrap().iter().map(|ip| ip["ip"].as_str().unwrap()).collect();
    assert_eq!(ips, all);
}

#[rstest]
#[case(json!({"podIPs": [{"ip": "x"}]}), "status.podIPs[0]")]
#[case(json!({"podIPs": [{"ip": "10.0.0.1"}, {"ip": "10.0.0.2"}]}), "no more than one IP for each IP family")]
fn invalid_pod_ips_are_rejected(#[case] status: Value, #[case] message: &str) {
    let mut store = TestStore::new();
    store.create("pods", pod_on("p", "n"));
    let error = store.try_merge("pods", "p", json!({"status": status}), Part::Status).unwrap_err();
    assert!(error.to_string().contains(message), "{error}");
}

#[rstest]
#[case::image(json!({"containers": [{"name": "main", "image": "app:2"}]}), true)]
#[case::deadline(json!({"activeDeadlineSeconds": 5}), true)]
#[case::more_tolerations(json!({"tolerations": [{"key": "a", "operator": "Exists"}]}), true)]
#[case::other_tolerations(json!({"tolerations": [{"operator": "Exists"}]}), false)]
#[case::node(json!({"nodeName": "other"}), false)]
#[case::hostname(json!({"hostname": "h"}), false)]
#[case::container_name(json!({"containers": [{"name": "other", "image": "app:1"}]}), false)]
fn most_pod_spec_fields_are_immutable(#[case] spec: Value, #[case] allowed: bool) {
    let mut store = TestStore::new();
    store.create("pods", pod_on("p", "n"));
    let result = store.try_merge("pods", "p", json!({"spec": spec}), Part::Main);
    assert_eq!(result.is_ok(), allowed, "{result:?}");
    if let Ok(stored) = result {
        assert_eq!(stored["metadata"]["generation"], 2);
    }
}

#[rstest]
#[case(json!({"containers": []}), "spec.containers: Required value")]
#[case(json!({"containers": [{"name": "a", "image": "x"}, {"name": "a", "image": "x"}]}), "spec.containers[1].name: Duplicate value")]
#[case(json!({"containers": [{"name": "A", "image": "x"}]}), "spec.containers[0].name: Invalid value")]
#[case(json!({"containers": [{"name": "a"}]}), "spec.containers[0].image: Required value")]
#[case(json!({"containers": [{"name": "a", "image": "x", "ports": [{"containerPort": 0}]}]}), "ports[0].containerPort: Invalid value: 0")]
#[case(json!({"containers": [{"name": "a", "image": "x", "ports": [{"containerPort": 1, "protocol": "tcp"}]}]}), "Unsupported value: \"tcp\": supported values: \"SCTP\", \"TCP\", \"UDP\"")]
#[case(json!({"restartPolicy": "Maybe", "containers": [{"name": "a", "image": "x"}]}), "spec.restartPolicy: Unsupported value")]
#[case(json!({"hostname": "A.b", "containers": [{"name": "a", "image": "x"}]}), "spec.hostname: Invalid value")]
#[case(json!({"nodeName": "x".repeat(254), "containers": [{"name": "a", "image": "x"}]}), "must be no more than 253 bytes")]
fn invalid_pods_are_rejected(#[case] spec: Value, #[case] message: &str) {
    let error = TestStore::new().try_create("pods", json!({"metadata": {"name": "p"}, "spec": spec})).unwrap_err();
    assert_eq!(error.code, 422);
    assert!(error.to_string().contains(message), "{error}");
}

#[test]
fn created_node_keeps_its_status() {
    let mut store = TestStore::new();
    let node = json!({"metadata": {"name": "n"}, "status": {"capacity": {"cpu": "4"}, "conditions": [{"type": "Ready", "status": "True"}]}});
    let stored = store.create("nodes", node);
    assert_eq!(stored["status"]["allocatable"], json!({"cpu": "4"}));
    assert_eq!(stored["status"]["conditions"][0]["status"], "True");
    let changed = store.merge("nodes", "n", json!({"status": {"capacity": null}, "spec": {"unschedulable": true}}));
    assert_eq!(changed["status"], stored["status"]);
    assert_eq!(changed["spec"]["unschedulable"], true);
    let changed = store.merge_status("nodes", "n", json!({"conditions": []}));
    assert!(changed["status"].get("conditions").is_none());
    assert_eq!(changed["spec"]["unschedulable"], true);
}

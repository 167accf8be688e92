//! End-to-end syncs.

use http::Method;
use kube_endpoints_testing::eventually;
use rstest::rstest;
use serde_json::{Value, json};

use crate::rig::{Figures, Rig};

const SERVICES: &str = "/api/v1/namespaces/ns/services";
const ENDPOINTS: &str = "/api/v1/namespaces/ns/endpoints";
const SLICES: &str = "/apis/discovery.k8s.io/v1/namespaces/ns/endpointslices";

fn service(selector: &Value) -> Value {
    json!({"metadata": {"name": "db"}, "spec": {"selector": selector, "ports": [{"port": 80}]}})
}

fn endpoints(labels: &Value, ips: &[&str]) -> Value {
    let addresses: Vec<Value> = ips.iter().map(|ip| json!({"ip": ip})).collect();
    json!({"metadata": {"name": "db", "labels": labels},
        "subsets": if ips.is_empty() { json!([]) } else { subsets(&addresses) }})
}

fn subsets(addresses: &[Value]) -> Value {
    json!([{"addresses": addresses, "ports": [{"name": "http", "port": 80, "protocol": "TCP"}]}])
}

async fn database(rig: &Rig) {
    rig.send(Method::POST, SERVICES, &service(&Value::Null)).await;
    rig.send(Method::POST, ENDPOINTS, &endpoints(&Value::Null, &["192.0.2.1", "192.0.2.2"])).await;
    rig.settles(&["192.0.2.1 192.0.2.2"]).await;
}

// upstream: TestSyncEndpoints. `mirrored`: whether a slice is written.
#[rstest]
#[case::no_addresses(Some(json!(null)), json!({}), &[], false)]
#[case::skip_true(Some(json!(null)), json!({"endpointslice.kubernetes.io/skip-mirror": "true"}), &["192.0.2.1"], false)]
#[case::skip_false(Some(json!(null)), json!({"endpointslice.kubernetes.io/skip-mirror": "false"}), &["192.0.2.1"], true)]
#[case::no_service(None, json!({}), &["192.0.2.1"], false)]
#[case::selector(Some(json!({"app": "db"})), json!({}), &["192.0.2.1"], false)]
#[tokio::test]
async fn mirrored_or_not(
    #[case] selector: Option<Value>,
    #[case] labels: Value,
    #[case] ips: &[&str],
    #[case] mirrored: bool,
) {
    let rig = Rig::start().await;
    if let Some(selector) = selector {
        rig.send(Method::POST, SERVICES, &service(&selector)).await;
    }
    rig.send(Method::POST, ENDPOINTS, &endpoints(&labels, ips)).await;
    // The slice of a Service queued later shows that the first has been synced, apart from the overlap of two workers.
    let mut marker = endpoints(&json!({}), &["192.0.2.9"]);
    for object in [&mut marker, &mut service(&Value::Null)] {
        object["metadata"]["name"] = "marker".into();
        let path = if object["subsets"].is_null() { SERVICES } else { ENDPOINTS };
        rig.send(Method::POST, path, object).await;
    }
    let expected: &[&str] = if mirrored { &["192.0.2.1", "192.0.2.9"] } else { &["192.0.2.9"] };
    rig.settles(expected).await;
    assert_eq!(rig.writes(), expected.len(), "and nothing was written in between");
}

// MI-3
#[tokio::test]
async fn an_external_name_service_is_mirrored() {
    let rig = Rig::start().await;
    let spec = json!({"type": "ExternalName", "externalName": "db.example.com"});
    rig.send(Method::POST, SERVICES, &json!({"metadata": {"name": "db"}, "spec": spec})).await;
    rig.send(Method::POST, ENDPOINTS, &endpoints(&Value::Null, &["192.0.2.1"])).await;
    rig.settles(&["192.0.2.1"]).await;
}

// MI-2, MI-24: the mirrored slices are deleted whatever ends the mirroring; slices of other controllers remain.
#[rstest]
#[case::endpoints_deleted(Method::DELETE, ENDPOINTS, Value::Null)]
#[case::service_deleted(Method::DELETE, SERVICES, Value::Null)]
#[case::selector_gained(Method::PATCH, SERVICES, json!({"spec": {"selector": {"app": "db"}}}))]
#[case::marked_to_be_skipped(
    Method::PATCH, ENDPOINTS, json!({"metadata": {"labels": {"endpointslice.kubernetes.io/skip-mirror": "true"}}}))]
#[case::used_to_elect_a_leader(
    Method::PATCH, ENDPOINTS, json!({"metadata": {"annotations": {"control-plane.alpha.kubernetes.io/leader": ""}}}))]
// MI-17
#[case::all_addresses_gone(Method::PATCH, ENDPOINTS, json!({"subsets": null}))]
#[tokio::test]
async fn slices_are_deleted_when_mirroring_ends(
    #[case] method: Method,
    #[case] path: &str,
    #[case] body: Value,
    #[values(false, true)] stopped: bool,
) {
    let mut rig = Rig::start().await;
    database(&rig).await;
    let other = json!({"metadata": {"name": "other", "labels": {"kubernetes.io/service-name": "db",
        "endpointslice.kubernetes.io/managed-by": "someone"}}, "addressType": "IPv4",
        "endpoints": [{"addresses": ["198.51.100.1"], "conditions": {"ready": true}}]});
    rig.send(Method::POST, SLICES, &other).await;
    if stopped {
        rig.stop_controller().await;
    }
    rig.send(method, &format!("{path}/db"), &body).await;
    if stopped {
        // kubernetes/kubernetes#125359: slices written before the restart are deleted too.
        rig.start_controller();
    }
    rig.settles(&["198.51.100.1"]).await;
}

#[tokio::test]
async fn after_a_restart_nothing_is_written_and_changes_are_reverted() {
    let mut rig = Rig::start().await;
    database(&rig).await;
    rig.stop_controller().await;
    let before = rig.writes();
    let syncs = rig.metrics.0.lock().expect("no panic").syncs;
    rig.start_controller();
    eventually("a sync", &true, async || rig.metrics.0.lock().expect("no panic").syncs > syncs).await;
    assert_eq!(rig.writes(), before);
    let slice = rig.list(SLICES).await.remove(0);
    let path = format!("{SLICES}/{}", slice["metadata"]["name"].as_str().expect("a name"));
    rig.send(Method::PATCH, &path, &json!({"endpoints": []})).await;
    rig.settles(&["192.0.2.1 192.0.2.2"]).await;
    rig.send(Method::DELETE, &path, &Value::Null).await;
    rig.settles(&["192.0.2.1 192.0.2.2"]).await;
}

// MI-8, MI-11. There are no invalid addresses here: the API server rejects them.
#[tokio::test]
async fn addresses_beyond_the_limit_emit_an_event_and_are_counted() {
    let rig = Rig::start().await;
    rig.send(Method::POST, SERVICES, &service(&Value::Null)).await;
    let ips = ["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4", "2001:db8::1"];
    rig.send(Method::POST, ENDPOINTS, &endpoints(&Value::Null, &ips)).await;
    rig.settles(&["192.0.2.1 192.0.2.2 192.0.2.3"]).await;
    let expected = "TooManyAddressesToMirror A max of 3 addresses can be mirrored to EndpointSlices per Endpoints subset. \
        2 addresses were skipped";
    eventually("an event", &vec![expected.to_owned()], async || rig.events().await).await;
    let figures = rig.metrics.0.lock().expect("no panic").clone();
    assert_eq!((figures.skipped, figures.totals), (2, (3, 1, 1)));
}

// upstream: TestNumEndpointsAndSlices (mirroring metrics)
#[tokio::test]
async fn metrics_count_writes_endpoints_and_slices() {
    let rig = Rig::start().await;
    let figures = async || {
        let Figures { writes, totals, .. } = rig.metrics.0.lock().expect("no panic").clone();
        (writes, totals)
    };
    database(&rig).await;
    eventually("figures", &((1, 0, 0), (2, 1, 1)), figures).await;
    let both = [json!({"ip": "192.0.2.2"}), json!({"ip": "2001:db8::1"})];
    rig.send(Method::PATCH, &format!("{ENDPOINTS}/db"), &json!({"subsets": subsets(&both)})).await;
    rig.settles(&["192.0.2.2", "2001:db8::1"]).await;
    eventually("figures", &((2, 1, 0), (2, 2, 2)), figures).await;
    rig.send(Method::DELETE, &format!("{ENDPOINTS}/db"), &Value::Null).await;
    rig.settles(&[]).await;
    // MI-24: these deletions do not count.
    eventually("figures", &((2, 1, 0), (0, 0, 0)), figures).await;
}

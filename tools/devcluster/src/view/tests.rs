//! Views of clusters and their changes.

use kube_endpoint_model::well_known::SERVICE_NAME_LABEL;
use serde_json::{Value, json};

use super::{table::Style, *};
use crate::cluster::{Snapshot, put};

fn endpoint(address: &str, ready: bool, zone: Option<&str>) -> Value {
    let hints = zone.map(|zone| json!({"forZones": [{"name": zone}]}));
    json!({"addresses": [address], "conditions": {"ready": ready}, "hints": hints})
}

fn slice(cluster: &mut Snapshot, name: &str, service: &str, family: &str, endpoints: &[Value]) {
    let metadata = json!({"name": name, "namespace": "shop", "labels": {SERVICE_NAME_LABEL: service}});
    let ports = json!([{"name": "http", "port": 8080}, {"name": "", "port": 9100}]);
    let slice = json!({"metadata": metadata, "addressType": family, "ports": ports, "endpoints": endpoints});
    put(&mut cluster.slices, slice);
}

fn shop() -> Snapshot {
    let mut cluster = Snapshot::default();
    let services = [
        (
            "web",
            json!({"clusterIP": "10.96.0.7", "clusterIPs": ["10.96.0.7", "fd00::7"], "selector": {"app": "web"},
            "ports": [{"port": 80, "targetPort": "http"}, {"port": 9090, "targetPort": 9100}, {"port": 81, "targetPort": 81}]}),
        ),
        ("db", json!({"clusterIP": "None", "selector": {"app": "db"}, "ports": [{"port": 5432}]})),
        ("payments", json!({"type": "ClusterIP", "clusterIP": "10.96.0.8"})),
    ];
    for (name, spec) in services {
        put(&mut cluster.services, json!({"metadata": {"name": name, "namespace": "shop"}, "spec": spec}));
    }
    let subsets = json!([{"addresses": [{"ip": "10.0.0.1"}], "notReadyAddresses": [{"ip": "10.0.0.2"}]}]);
    put(&mut cluster.endpoints, json!({"metadata": {"name": "web", "namespace": "shop"}, "subsets": subsets}));
    slice(&mut cluster, "web-b", "web", "IPv6", &[endpoint("fd00::1", true, None)]);
    let endpoints = [endpoint("10.0.0.1", true, Some("a")), endpoint("10.0.0.2", false, Some("b"))];
    slice(&mut cluster, "web-a", "web", "IPv4", &endpoints);
    cluster
}

#[test]
fn tables_have_services_and_slices() {
    let expect = "  \
  SERVICE        TYPE         PORTS                   ENDPOINTS
  shop/db        headless     5432                    -
  shop/payments  no selector                          -
  shop/web       ClusterIP    80->http,9090->9100,81  1 ready, 1 not ready

  SLICE       IP    PORTS      ENDPOINTS             ZONE HINTS
  shop/web-a  IPv4  8080,9100  1 ready, 1 not ready  a:1 b:1
  shop/web-b  IPv6  8080,9100  1 ready               -
";
    // Column widths are tested in `table`; compare words only.
    let words = |text: &str| text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let got: Vec<String> = words(&Board::of(&shop()).render(None, Rows::All, Style::Plain));
    let expect: Vec<String> = words(expect);
    assert_eq!(got, expect);
}

#[test]
fn changes_are_described() {
    let before = shop();
    let mut after = shop();
    after.endpoints.clear();
    after.slices.retain(|key, _| &*key.name != "web-b");
    slice(&mut after, "web-a", "web", "IPv4", &[endpoint("10.0.0.1", true, None), endpoint("10.0.0.2", true, None)]);
    slice(&mut after, "web-c", "web", "IPv4", &[]);
    let changes = Board::of(&after).changes(&Board::of(&before), Style::Plain);
    let expect = [
        "Endpoints shop/web          1 ready, 1 not ready -> gone",
        "slice shop/web-a            1 ready, 1 not ready -> 2 ready",
        "slice shop/web-b            1 ready -> gone",
        "slice shop/web-c            none",
    ];
    assert_eq!(changes, expect);
    assert!(Board::of(&after).changes(&Board::of(&after), Style::Plain).is_empty());
}

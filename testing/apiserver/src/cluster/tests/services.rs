//! Services: defaults, IP families, cluster IPs and node ports.

use rstest::rstest;

use super::*;

fn families(service: &Value) -> String {
    let list: Vec<&str> =
        service["spec"]["ipFamilies"].as_array().into_iter().flatten().map(|family| family.as_str().unwrap()).collect();
    format!("{} {}", service["spec"]["ipFamilyPolicy"].as_str().unwrap_or("-"), list.join(","))
}

fn ips(service: &Value) -> Vec<String> {
    serde_json::from_value(service["spec"].get("clusterIPs").cloned().unwrap_or_else(|| json!([]))).unwrap()
}

#[test]
fn service_defaults_are_set() {
    let stored = TestStore::new().create("services", service("web", json!({"ports": [{"port": 80}]})));
    let mut spec = stored["spec"].clone();
    let ip = spec["clusterIP"].take();
    assert_eq!(spec["clusterIPs"].take(), json!([ip]));
    assert_eq!(
        spec,
        json!({
            "clusterIP": null, "clusterIPs": null, "internalTrafficPolicy": "Cluster", "ipFamilies": ["IPv4"],
            "ipFamilyPolicy": "SingleStack", "ports": [{"port": 80, "protocol": "TCP", "targetPort": 80}],
            "sessionAffinity": "None", "type": "ClusterIP"
        })
    );
    assert_eq!(stored["status"], json!({"loadBalancer": {}}));
}

#[rstest]
#[case::single(json!({}), "SingleStack IPv4", 1)]
#[case::v6(json!({"ipFamilies": ["IPv6"]}), "SingleStack IPv6", 1)]
#[case::prefer(json!({"ipFamilyPolicy": "PreferDualStack"}), "PreferDualStack IPv4,IPv6", 2)]
#[case::require_v6_first(json!({"ipFamilyPolicy": "RequireDualStack", "ipFamilies": ["IPv6"]}), "RequireDualStack IPv6,IPv4", 2)]
#[case::asked_for(json!({"clusterIP": "fd00:10:96::7"}), "SingleStack IPv6", 1)]
#[case::headless(json!({"clusterIP": "None", "selector": {"a": "b"}}), "SingleStack IPv4", 1)]
#[case::headless_dual(json!({"clusterIP": "None", "selector": {"a": "b"}, "ipFamilyPolicy": "PreferDualStack"}), "PreferDualStack IPv4,IPv6", 1)]
#[case::headless_selectorless(json!({"clusterIP": "None"}), "RequireDualStack IPv4,IPv6", 1)]
#[case::headless_selectorless_single(json!({"clusterIP": "None", "ipFamilyPolicy": "SingleStack"}), "SingleStack IPv4", 1)]
#[case::external(json!({"type": "ExternalName", "externalName": "example.com"}), "- ", 0)]
fn ip_families_on_create(#[case] spec: Value, #[case] expect: &str, #[case] addresses: usize) {
    let stored = TestStore::new().create("services", service("web", spec));
    assert_eq!(families(&stored), expect);
    let ips = ips(&stored);
    assert_eq!(ips.len(), addresses, "{ips:?}");
    assert_eq!(ips.first().map(String::as_str), stored["spec"]["clusterIP"].as_str());
    if ips.first().is_some_and(|ip| ip != "None") {
        for (ip, family) in ips.iter().zip(stored["spec"]["ipFamilies"].as_array().unwrap()) {
            assert_eq!(family == "IPv6", ip.contains(':'), "{ip}");
        }
    }
}

#[rstest]
#[case::upgrade(json!({}), json!({"ipFamilyPolicy": "PreferDualStack"}), "PreferDualStack IPv4,IPv6", 2)]
#[case::upgrade_with_families(json!({}), json!({"ipFamilyPolicy": "RequireDualStack", "ipFamilies": ["IPv4", "IPv6"]}), "RequireDualStack IPv4,IPv6", 2)]
#[case::downgrade(json!({"ipFamilyPolicy": "RequireDualStack"}), json!({"ipFamilyPolicy": "SingleStack"}), "SingleStack IPv4", 1)]
#[case::downgrade_with_families(json!({"ipFamilyPolicy": "RequireDualStack"}), json!({"ipFamilyPolicy": "SingleStack", "ipFamilies": ["IPv4"]}), "SingleStack IPv4", 1)]
#[case::nothing_of_it(json!({"ipFamilyPolicy": "RequireDualStack"}), json!({"selector": {"a": "b"}}), "RequireDualStack IPv4,IPv6", 2)]
#[case::headless_upgrade(json!({"clusterIP": "None", "selector": {"a": "b"}}), json!({"ipFamilyPolicy": "PreferDualStack"}), "PreferDualStack IPv4,IPv6", 1)]
#[case::to_external(json!({}), json!({"type": "ExternalName", "externalName": "example.com"}), "- ", 0)]
#[case::to_external_explicitly(json!({}), json!({"type": "ExternalName", "externalName": "example.com", "clusterIP": null, "clusterIPs": null, "ipFamilies": null, "ipFamilyPolicy": null}), "- ", 0)]
#[case::from_external(json!({"type": "ExternalName", "externalName": "example.com"}), json!({"type": "ClusterIP", "externalName": null, "ports": [{"port": 80}]}), "SingleStack IPv4", 1)]
fn ip_families_on_update(#[case] spec: Value, #[case] patch: Value, #[case] expect: &str, #[case] addresses: usize) {
    let mut store = TestStore::new();
    let before = store.create("services", service("web", spec));
    let after = store.merge("services", "web", json!({"spec": patch}));
    assert_eq!(families(&after), expect);
    assert_eq!(ips(&after).len(), addresses);
    if let (Some(old), Some(new)) = (ips(&before).first(), ips(&after).first()) {
        assert_eq!(old, new, "the first cluster IP does not change");
    }
}

#[test]
fn update_without_addresses_keeps_them() {
    let mut store = TestStore::new();
    let before =
        store.create("services", service("web", json!({"ipFamilyPolicy": "RequireDualStack", "type": "NodePort"})));
    let sparse =
        service("web", json!({"type": "NodePort", "ipFamilyPolicy": "RequireDualStack", "ports": [{"port": 80}]}));
    assert_eq!(store.try_update("services", sparse, Part::Main).unwrap(), before);
}

#[rstest]
#[case::other_address(json!({"clusterIP": "10.96.0.77", "clusterIPs": ["10.96.0.77"]}), "spec.clusterIPs[0]: Invalid value: [\"10.96.0.77\"]: may not change once set")]
#[case::headless(json!({"clusterIP": "None", "clusterIPs": null}), "may not change once set")]
#[case::first_family(json!({"ipFamilies": ["IPv6"]}), "spec.ipFamilies[0]: Invalid value: \"IPv6\": may not change once set")]
#[case::families_of_single(json!({"ipFamilies": ["IPv4", "IPv6"]}), "must be RequireDualStack or PreferDualStack when multiple ipFamilies are specified")]
fn invalid_service_updates_are_rejected(#[case] patch: Value, #[case] message: &str) {
    let mut store = TestStore::new();
    store.create("services", service("web", json!({"clusterIP": "10.96.0.10"})));
    let error = store.try_merge("services", "web", json!({"spec": patch}), Part::Main).unwrap_err();
    assert_eq!(error.code, 422);
    assert!(error.to_string().contains(message), "{error}");
}

#[rstest]
#[case(json!({"ports": []}), "spec.ports: Required value")]
#[case(json!({"ports": [{"port": 0}]}), "spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive")]
#[case(json!({"ports": [{"port": 80, "protocol": "HTTP"}]}), "spec.ports[0].protocol: Unsupported value: \"HTTP\"")]
#[case(json!({"ports": [{"port": 80}, {"port": 81, "name": "b"}]}), "spec.ports[0].name: Required value")]
#[case(json!({"ports": [{"port": 80, "name": "a"}, {"port": 81, "name": "a"}]}), "spec.ports[1].name: Duplicate value: \"a\"")]
#[case(json!({"ports": [{"port": 80, "name": "a"}, {"port": 80, "name": "b"}]}), "spec.ports[1]: Duplicate value")]
#[case(json!({"ports": [{"port": 80, "targetPort": "Not_A_Name"}]}), "spec.ports[0].targetPort: Invalid value")]
#[case(json!({"selector": {"a": "-"}}), "spec.selector: Invalid value: \"-\"")]
#[case(json!({"type": "Odd"}), "spec.type: Unsupported value: \"Odd\"")]
#[case(json!({"ipFamilies": ["IPv5"]}), "spec.ipFamilies[0]: Unsupported value: \"IPv5\"")]
#[case(json!({"clusterIP": "10.1.0.1"}), "the provided IP (10.1.0.1) is not in the valid range. The range of valid IPs is 10.96.0.0/16")]
#[case(json!({"clusterIP": "x"}), "spec.clusterIPs[0]: Invalid value: \"x\"")]
#[case(json!({"clusterIP": "010.96.0.9"}), "spec.clusterIPs[0]: Invalid value: \"010.96.0.9\": must not have leading 0s")]
#[case(json!({"trafficDistribution": "Near"}), "spec.trafficDistribution: Unsupported value: \"Near\"")]
#[case(json!({"type": "NodePort", "ports": [{"port": 80, "nodePort": 80}]}), "spec.ports[0].nodePort: Invalid value: 80")]
fn invalid_services_are_rejected(#[case] spec: Value, #[case] message: &str) {
    let error = TestStore::new().try_create("services", service("web", spec)).unwrap_err();
    assert_eq!(error.code, 422, "{error}");
    assert!(error.to_string().contains(message), "{error}");
}

#[rstest]
#[case::created(json!({"type": "ExternalName", "externalName": "example.com", "internalTrafficPolicy": "Local"}), json!({}))]
#[case::changed(json!({"internalTrafficPolicy": "Local"}), json!({"type": "ExternalName", "externalName": "example.com"}))]
fn external_names_have_no_internal_traffic_policy(#[case] spec: Value, #[case] patch: Value) {
    let mut store = TestStore::new();
    store.create("services", service("web", spec));
    let external = store.merge("services", "web", json!({"spec": patch}));
    assert_eq!(external["spec"].get("internalTrafficPolicy"), None);
    let back = json!({"type": "ClusterIP", "externalName": null, "ports": [{"port": 80}]});
    let internal = store.merge("services", "web", json!({"spec": back}));
    assert_eq!(internal["spec"]["internalTrafficPolicy"], "Cluster");
}

#[test]
fn deleted_services_release_addresses_and_ports() {
    let mut store = TestStore::new();
    let spec = json!({"clusterIP": "10.96.0.10", "type": "NodePort", "ports": [{"port": 80, "nodePort": 30_080}]});
    store.create("services", service("web", spec.clone()));
    let error = store.try_create("services", service("other", spec.clone())).unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("provided IP is already allocated") && text.contains("provided port is already allocated"),
        "{text}"
    );
    store.delete("services", "web", None);
    store.create("services", service("other", spec));
    store.merge("services", "other", json!({"spec": {"type": "ExternalName", "externalName": "example.com"}}));
    store.create("services", service("third", json!({"clusterIP": "10.96.0.10"})));
}

#[test]
fn node_ports_depend_on_the_service_type() {
    let mut store = TestStore::new();
    let stored = store.create("services", service("web", json!({"type": "LoadBalancer"})));
    let port = stored["spec"]["ports"][0]["nodePort"].as_i64().unwrap();
    assert!((30_000..=32_767).contains(&port));
    assert_eq!(stored["spec"]["allocateLoadBalancerNodePorts"], true);
    assert_eq!(stored["spec"]["externalTrafficPolicy"], "Cluster");
    let stored = store.merge("services", "web", json!({"spec": {"type": "ClusterIP"}}));
    assert!(stored["spec"]["ports"][0].get("nodePort").is_none());
    assert!(stored["spec"].get("allocateLoadBalancerNodePorts").is_none());
}

/// As upstream: earlier versions have accepted the address.
#[test]
fn stored_cluster_ip_in_an_old_form_is_accepted() {
    let mut store = TestStore::new();
    let old = service("web", json!({"clusterIP": "010.96.0.9", "selector": {"a": "b"}}));
    let (kind, options) = (store.kind("services"), store.options());
    let stored = store.cluster.load(&kind, "default", old, options).unwrap().value();
    assert_eq!(ips(&stored), ["010.96.0.9"]);
    let updated = store.merge("services", "web", json!({"spec": {"selector": {"a": "c"}}}));
    assert_eq!((ips(&updated), &updated["spec"]["selector"]["a"]), (ips(&stored), &json!("c")));
    let error = store.try_create("services", service("other", json!({"clusterIP": "010.96.0.8"}))).unwrap_err();
    assert!(error.to_string().contains("must not have leading 0s"), "{error}");
}

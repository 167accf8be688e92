//! `EndpointSlices`, Endpoints and Events.

use rstest::rstest;

use super::*;

#[test]
fn slice_encoding_matches_a_go_server() {
    let mut store = TestStore::new();
    let stored = store.create("endpointslices", slice("a", json!([{"addresses": ["10.0.0.1"]}])));
    assert_eq!(stored["endpoints"], json!([{"addresses": ["10.0.0.1"], "conditions": {}}]));
    assert_eq!(stored["ports"], json!([{"name": "", "port": 80, "protocol": "TCP"}]));
    let bare =
        store.create("endpointslices", json!({"metadata": {"name": "b"}, "addressType": "IPv6", "endpoints": []}));
    assert!(bare["endpoints"].is_null() && bare.get("endpoints").is_some());
    assert!(bare["ports"].is_null() && bare.get("ports").is_some());
}

#[rstest]
#[case::annotation(json!({"metadata": {"annotations": {"a": "b"}}}), 1)]
#[case::owner(json!({"metadata": {"ownerReferences": [{"apiVersion": "v1", "kind": "Service", "name": "s", "uid": "1"}]}}), 1)]
#[case::label(json!({"metadata": {"labels": {"a": "b"}}}), 2)]
#[case::endpoints(json!({"endpoints": []}), 2)]
#[case::ports(json!({"ports": [{"port": 81}]}), 2)]
fn generation_increases_unless_only_metadata_changes(#[case] patch: Value, #[case] expect: i64) {
    let mut store = TestStore::new();
    let before = store.create("endpointslices", slice("a", json!([{"addresses": ["10.0.0.1"]}])));
    assert_eq!(before["metadata"]["generation"], 1);
    let after = store.merge("endpointslices", "a", patch);
    assert_eq!(after["metadata"]["generation"], expect);
    assert!(revision(&after) > revision(&before));
}

#[rstest]
#[case::type_missing(json!({"addressType": null}), "addressType: Required value")]
#[case::no_address(json!({"endpoints": [{"addresses": []}]}), "endpoints[0].addresses: Required value: must contain at least 1 address")]
#[case::many_addresses(json!({"endpoints": [{"addresses": vec!["10.0.0.1"; 101]}]}), "endpoints[0].addresses: Too many: 101: must have at most 100 items")]
#[case::many_endpoints(json!({"endpoints": vec![json!({"addresses": ["10.0.0.1"]}); 1_001]}), "endpoints: Too many: 1001: must have at most 1000 items")]
#[case::family(json!({"endpoints": [{"addresses": ["fd00::1"]}]}), "endpoints[0].addresses: Invalid value: \"fd00::1\": must be an IPv4 address")]
#[case::leading_zeros(json!({"endpoints": [{"addresses": ["010.0.0.1"]}]}), "endpoints[0].addresses[0]: Invalid value: \"010.0.0.1\": must not have leading 0s")]
#[case::mapped(json!({"endpoints": [{"addresses": ["::ffff:10.0.0.1"]}]}), "must not be an IPv4-mapped IPv6 address")]
#[case::not_canonical(json!({"addressType": "IPv6", "endpoints": [{"addresses": ["FD00::1"]}]}), "must be in canonical form (\"fd00::1\")")]
#[case::node_name(json!({"endpoints": [{"addresses": ["10.0.0.1"], "nodeName": ""}]}), "endpoints[0].nodeName: Invalid value")]
#[case::zone(json!({"endpoints": [{"addresses": ["10.0.0.1"], "hints": {"forZones": [{"name": "a/b"}]}}]}), "hints.forZones[0].name: Invalid value")]
#[case::loopback(json!({"endpoints": [{"addresses": ["127.0.0.1"]}]}), "may not be in the loopback range")]
#[case::hostname(json!({"endpoints": [{"addresses": ["10.0.0.1"], "hostname": "A.b"}]}), "endpoints[0].hostname: Invalid value")]
#[case::protocol(json!({"ports": [{"protocol": "ICMP"}]}), "ports[0].protocol: Unsupported value: \"ICMP\"")]
#[case::port_names(json!({"ports": [{"port": 1}, {"port": 2}]}), "ports[1].name: Duplicate value: \"\"")]
#[case::zones(json!({"endpoints": [{"addresses": ["10.0.0.1"], "hints": {"forZones": [{"name": "a"}, {"name": "a"}]}}]}), "hints.forZones[1].name: Duplicate value: \"a\"")]
#[case::many_zones(json!({"endpoints": [{"addresses": ["10.0.0.1"], "hints": {"forZones": vec![json!({"name": "/"}); 9]}}]}), "invalid: endpoints[0].hints.forZones: Too many: 9: must have at most 8 items")]
#[case::many_nodes(json!({"endpoints": [{"addresses": ["10.0.0.1"], "hints": {"forNodes": vec![json!({"name": "n"}); 9]}}]}), "endpoints[0].hints.forNodes: Too many: 9: must have at most 8 items")]
#[case::nodes(json!({"endpoints": [{"addresses": ["10.0.0.1"], "hints": {"forNodes": [{"name": "n"}, {"name": "n"}]}}]}), "hints.forNodes[1].name: Duplicate value: \"n\"")]
#[case::node(json!({"endpoints": [{"addresses": ["10.0.0.1"], "hints": {"forNodes": [{"name": "N"}]}}]}), "hints.forNodes[0].name: Invalid value: \"N\"")]
#[case::one_label(json!({"addressType": "FQDN", "endpoints": [{"addresses": ["example"]}]}), "endpoints[0].addresses[0]: Invalid value: \"example\": should be a domain with at least two segments separated by dots")]
#[case::long_label(json!({"addressType": "FQDN", "endpoints": [{"addresses": [format!("{}.com", "a".repeat(64))]}]}), "must be no more than 63 bytes")]
#[case::domain(json!({"addressType": "FQDN", "endpoints": [{"addresses": ["a_b.com"]}]}), "a lowercase RFC 1123 subdomain must consist of")]
fn invalid_slices_are_rejected(#[case] patch: Value, #[case] message: &str) {
    let mut object = slice("a", json!([{"addresses": ["10.0.0.1"]}]));
    json_patch::merge(&mut object, &patch);
    let error = TestStore::new().try_create("endpointslices", object).unwrap_err();
    assert_eq!(error.code, 422);
    assert!(error.to_string().contains(message), "{error}");
}

#[test]
fn domain_may_end_with_a_dot() {
    let slice =
        json!({"metadata": {"name": "a"}, "addressType": "FQDN", "endpoints": [{"addresses": ["example.com."]}]});
    TestStore::new().create("endpointslices", slice);
}

#[test]
fn address_type_is_immutable() {
    let mut store = TestStore::new();
    store.create("endpointslices", slice("a", json!([])));
    let patch = json!({"addressType": "IPv6"});
    let error = store.try_merge("endpointslices", "a", patch, Part::Main).unwrap_err();
    assert!(error.to_string().contains("addressType: Invalid value: \"IPv6\": field is immutable"), "{error}");
}

#[rstest]
#[case(json!([{"ports": [{"port": 1}]}]), "subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`")]
#[case(json!([{"addresses": [{"ip": "x"}]}]), "subsets[0].addresses[0].ip: Invalid value: \"x\"")]
#[case(json!([{"notReadyAddresses": [{"ip": "169.254.0.1"}]}]), "may not be in the link-local range")]
#[case(json!([{"addresses": [{"ip": "10.0.0.1"}], "ports": [{"port": 1}, {"port": 2, "name": "b"}]}]), "subsets[0].ports[0].name: Required value")]
#[case(json!([{"addresses": [{"ip": "10.0.0.1"}], "ports": [{"port": 70_000}]}]), "subsets[0].ports[0].port: Invalid value: 70000")]
fn invalid_endpoints_are_rejected(#[case] subsets: Value, #[case] message: &str) {
    let object = json!({"metadata": {"name": "a"}, "subsets": subsets});
    let error = TestStore::new().try_create("endpoints", object).unwrap_err();
    assert!(error.to_string().contains(message), "{error}");
}

#[test]
fn empty_fields_of_endpoints_are_not_stored() {
    let subsets = json!([{"addresses": [{"ip": "10.0.0.1", "hostname": ""}], "notReadyAddresses": [], "ports": [{"name": "", "port": 1}]}]);
    let stored = TestStore::new().create("endpoints", json!({"metadata": {"name": "a"}, "subsets": subsets}));
    let expect = json!([{"addresses": [{"ip": "10.0.0.1"}], "ports": [{"port": 1, "protocol": "TCP"}]}]);
    assert_eq!(stored["subsets"], expect);
    let empty = TestStore::new().create("endpoints", json!({"metadata": {"name": "a"}, "subsets": []}));
    assert!(empty.get("subsets").is_none());
}

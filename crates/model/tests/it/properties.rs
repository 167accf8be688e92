//! Nothing but `managedFields` is lost: full type, compact type and both encodings agree for arbitrary fields.
//! `renderings.rs` checks the decoders.

use std::collections::BTreeMap;
use std::fmt::Debug;

use k8s_openapi::api::{core::v1 as core, discovery::v1 as discovery};
use k8s_openapi::apimachinery::pkg::apis::meta::v1 as meta;
use k8s_openapi::jiff::Timestamp;
use kube_endpoint_model::{EndpointSlice, Endpoints, project};
use kube_wire::protobuf::Writer;
use kube_wire::{Decode, Encode};
use prop::collection::{btree_map, vec};
use prop::option::of;
use proptest::prelude::*;
use serde::Serialize;

/// Text, sometimes with characters that JSON escapes.
pub(crate) fn text() -> impl Strategy<Value = String> {
    prop_oneof![8 => "[a-z0-9.-]{1,8}", 1 => "\\PC{1,4}", 1 => "[\"\\\\\n\t/]{1,3}"]
}

/// A field that Go omits if it is empty.
pub(crate) fn plain() -> impl Strategy<Value = Option<String>> {
    of(text())
}

/// A field for which Go distinguishes empty from absent.
pub(crate) fn pointer() -> impl Strategy<Value = Option<String>> {
    of(prop_oneof![4 => text(), 1 => Just(String::new())])
}

pub(crate) fn map() -> impl Strategy<Value = Option<BTreeMap<String, String>>> {
    btree_map(text(), prop_oneof![text(), Just(String::new())], 0..4)
        .prop_map(|map| Some(map).filter(|it| !it.is_empty()))
}

/// A list that Go omits if it is empty.
pub(crate) fn list<T: Debug>(item: impl Strategy<Value = T>) -> impl Strategy<Value = Option<Vec<T>>> {
    vec(item, 0..4).prop_map(|list| Some(list).filter(|it| !it.is_empty()))
}

pub(crate) fn uid() -> impl Strategy<Value = String> {
    prop_oneof!["[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", text()]
}

fn version() -> impl Strategy<Value = String> {
    prop_oneof!["[1-9][0-9]{0,9}", "0[0-9]{0,3}", text()]
}

pub(crate) fn address() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<std::net::Ipv4Addr>().prop_map(|it| it.to_string()),
        any::<std::net::Ipv6Addr>().prop_map(|it| it.to_string()),
        Just("2001:0db8:0:0::1".to_owned()),
        Just("010.0.0.1".to_owned()),
        Just("::ffff:10.0.0.1".to_owned()),
        "[a-z.]{0,9}",
    ]
}

pub(crate) fn time() -> impl Strategy<Value = meta::Time> {
    (-62_135_596_800i64..253_402_207_200)
        .prop_map(|second| meta::Time(Timestamp::from_second(second).expect("years 1 to 9999")))
}

/// Entries of `managedFields` with manager and time.
fn managed_fields() -> impl Strategy<Value = Option<Vec<meta::ManagedFieldsEntry>>> {
    let recent = (0i64..i64::from(u32::MAX))
        .prop_map(|second| meta::Time(Timestamp::from_second(second).expect("years 1970 to 2106")));
    let entry = (plain(), of(prop_oneof![recent, time()])).prop_map(|(manager, time)| meta::ManagedFieldsEntry {
        manager,
        time,
        ..Default::default()
    });
    list(entry)
}

pub(crate) fn metadata() -> impl Strategy<Value = meta::ObjectMeta> {
    let owner = (text(), of(any::<bool>()), of(any::<bool>()), text(), text(), uid()).prop_map(
        |(api_version, block_owner_deletion, controller, kind, name, uid)| meta::OwnerReference {
            api_version,
            block_owner_deletion,
            controller,
            kind,
            name,
            uid,
        },
    );
    (
        (plain(), plain(), plain(), plain(), of(uid()), of(version())),
        (of(1i64..9), of(time()), of(time()), of(-2i64..9)),
        (map(), map(), list(text()), list(owner), managed_fields()),
    )
        .prop_map(|((name, generate_name, namespace, self_link, uid, resource_version), times, lists)| {
            let (generation, creation_timestamp, deletion_timestamp, deletion_grace_period_seconds) = times;
            let (labels, annotations, finalizers, owner_references, managed_fields) = lists;
            meta::ObjectMeta {
                annotations,
                creation_timestamp,
                deletion_grace_period_seconds,
                deletion_timestamp,
                finalizers,
                generate_name,
                generation,
                labels,
                managed_fields,
                name,
                namespace,
                owner_references,
                resource_version,
                self_link,
                uid,
            }
        })
}

fn target() -> impl Strategy<Value = core::ObjectReference> {
    let pod = (plain(), plain(), of(uid())).prop_map(|(namespace, name, uid)| core::ObjectReference {
        kind: Some("Pod".to_owned()),
        namespace,
        name,
        uid,
        ..Default::default()
    });
    let any = (plain(), plain(), plain(), plain(), plain(), of(version()), of(uid())).prop_map(
        |(api_version, field_path, kind, name, namespace, resource_version, uid)| core::ObjectReference {
            api_version,
            field_path,
            kind,
            name,
            namespace,
            resource_version,
            uid,
        },
    );
    prop_oneof![pod, any]
}

pub(crate) fn slice() -> impl Strategy<Value = discovery::EndpointSlice> {
    let conditions = (of(any::<bool>()), of(any::<bool>()), of(any::<bool>()))
        .prop_map(|(ready, serving, terminating)| discovery::EndpointConditions { ready, serving, terminating });
    let hints = (list(text()), list(text())).prop_map(|(nodes, zones)| discovery::EndpointHints {
        for_nodes: nodes.map(|it| it.into_iter().map(|name| discovery::ForNode { name }).collect()),
        for_zones: zones.map(|it| it.into_iter().map(|name| discovery::ForZone { name }).collect()),
    });
    let endpoint = (vec(address(), 0..4), conditions, map(), of(hints), pointer(), pointer(), of(target()), pointer())
        .prop_map(|(addresses, conditions, deprecated_topology, hints, hostname, node_name, target_ref, zone)| {
            discovery::Endpoint {
                addresses,
                conditions: Some(conditions),
                deprecated_topology,
                hints,
                hostname,
                node_name,
                target_ref,
                zone,
            }
        });
    let port = (pointer(), pointer(), of(any::<i32>()), pointer()).prop_map(|(name, protocol, port, app_protocol)| {
        discovery::EndpointPort { app_protocol, name, port, protocol }
    });
    let address_type =
        prop_oneof![Just("IPv4".to_owned()), Just("IPv6".to_owned()), Just("FQDN".to_owned()), "[A-Za-z]{0,4}"];
    (metadata(), address_type, vec(endpoint, 0..5), vec(port, 0..4)).prop_map(
        |(metadata, address_type, endpoints, ports)| discovery::EndpointSlice {
            address_type,
            endpoints: Some(endpoints),
            metadata,
            ports: Some(ports),
        },
    )
}

pub(crate) fn endpoints() -> impl Strategy<Value = core::Endpoints> {
    let address = || {
        (plain(), address(), pointer(), of(target())).prop_map(|(hostname, ip, node_name, target_ref)| {
            core::EndpointAddress { hostname, ip, node_name, target_ref }
        })
    };
    let port = (plain(), any::<i32>(), plain(), pointer())
        .prop_map(|(name, port, protocol, app_protocol)| core::EndpointPort { app_protocol, name, port, protocol });
    let subset = (list(address()), list(address()), list(port)).prop_map(|(addresses, not_ready_addresses, ports)| {
        core::EndpointSubset { addresses, not_ready_addresses, ports }
    });
    (metadata(), list(subset)).prop_map(|(metadata, subsets)| core::Endpoints { metadata, subsets })
}

/// Checks that the object without `managedFields` is encoded to the JSON of the full type, and to protobuf that decodes to
/// an equal object.
fn check<T: Encode + PartialEq + Debug>(full: &impl Serialize) -> Result<(), TestCaseError> {
    let compact: T = project(full).expect("a projection");
    let mut expected = serde_json::to_value(full).expect("JSON");
    expected["metadata"].as_object_mut().expect("metadata").remove("managedFields");
    prop_assert_eq!(serde_json::to_value(&compact).expect("JSON"), expected);
    prop_assert_eq!(&T::from_protobuf(written(&compact).as_bytes()).expect("a good message"), &compact);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn endpoint_slices(full in slice()) {
        check::<EndpointSlice>(&full)?;
    }

    #[test]
    fn endpoints_objects(full in endpoints()) {
        check::<Endpoints>(&full)?;
    }

    // The metadata always comes from the response, the rest from the request only if the bytes are equal.
    #[test]
    fn responses_decode_as_without_the_request(sent in slice().boxed(), stored in slice().boxed(), same: bool) {
        let sent: EndpointSlice = project(&sent).unwrap();
        let mut stored: EndpointSlice = project(&stored).unwrap();
        if same {
            stored = EndpointSlice { metadata: stored.metadata, ..sent.clone() };
        }
        let response = written(&stored);
        let decoded = sent.response_from_protobuf(written(&sent).as_bytes(), response.as_bytes());
        prop_assert_eq!(decoded.as_ref(), Ok(&stored));
        prop_assert_eq!(decoded, EndpointSlice::from_protobuf(response.as_bytes()));
    }
}

fn written(object: &impl Encode) -> Writer {
    let mut message = Writer::default();
    assert!(object.to_protobuf(&mut message), "no protobuf encoder");
    message
}

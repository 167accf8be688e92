//! Properties of the plan, for random Services and Pods.

use std::collections::BTreeSet;
use std::sync::Arc;

use kube_endpoint::MAX_ADDRESSES;
use kube_endpoint_model::{Endpoints, Pod, Service, Write};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::rig::{planned_write, read};

fn service() -> impl Strategy<Value = Service> {
    let cluster_ip = prop::sample::select(vec!["10.96.0.1", "None", "", "fd00::1"]);
    let families = prop::sample::select(vec![json!([]), json!(["IPv4"]), json!(["IPv6"]), json!(["IPv6", "IPv4"])]);
    let port = (0..4u8, prop::bool::ANY, prop::option::of(Just("http")));
    let labels = prop::collection::btree_map("[ab]", "[xy]", 0..3);
    (cluster_ip, families, prop::collection::vec(port, 0..4), labels, prop::bool::ANY).prop_map(
        |(cluster_ip, families, ports, labels, publish)| {
            let ports: Vec<Value> = ports
                .into_iter()
                .enumerate()
                .map(|(number, (target, named, protocol))| {
                    let target = if named { json!(format!("p{target}")) } else { json!(8080 + u16::from(target)) };
                    json!({"name": format!("n{number}"), "targetPort": target, "protocol": "TCP", "appProtocol": protocol})
                })
                .collect();
            read(&json!({
                "metadata": {"namespace": "ns", "name": "web", "labels": labels},
                "spec": {"clusterIP": cluster_ip, "ipFamilies": families, "ports": ports,
                    "selector": {"app": "web"}, "publishNotReadyAddresses": publish}
            }))
        },
    )
}

fn pods(max: usize) -> impl Strategy<Value = Vec<Arc<Pod>>> {
    let ips = prop::collection::vec(prop::sample::select(vec!["10.0.0.", "fd00::", "bad", "010.0.0."]), 0..3);
    let phase = prop::sample::select(vec!["Running", "Pending", "Failed"]);
    let ready = prop::sample::select(vec!["True", "True", "False"]);
    let deleted = prop::option::weighted(0.1, Just("2026-02-03T05:00:00Z"));
    let pod = (ips, 0..6u8, ready, phase, deleted, prop::option::of(0..4u8)).prop_map(
        |(ips, host, ready, phase, deleted, port)| {
            let ips: Vec<Value> = ips.iter().map(|prefix| json!({"ip": format!("{prefix}{host}")})).collect();
            let port = port.map(|it| json!({"name": format!("p{it}"), "containerPort": 9000, "protocol": "TCP"}));
            json!({
                "metadata": {"namespace": "ns", "deletionTimestamp": deleted},
                "spec": {"containers": [{"ports": port.as_slice()}]},
                "status": {"phase": phase, "podIPs": ips, "conditions": [{"type": "Ready", "status": ready}]}
            })
        },
    );
    prop::collection::vec(pod, 0..max).prop_map(|mut pods| {
        for (number, pod) in pods.iter_mut().enumerate() {
            pod["metadata"]["name"] = format!("p{number}").into();
            pod["metadata"]["uid"] = format!("u{number}").into();
        }
        pods.iter().map(|pod| Arc::new(read(pod))).collect()
    })
}

fn written(change: Option<Write<Endpoints>>) -> Option<Endpoints> {
    change.and_then(|write| write.after().cloned())
}

/// Returns the contents of an object as tuples of address, Pod, port and readiness. A subset without ports has port 0.
fn entries(endpoints: &Endpoints) -> BTreeSet<(String, String, i32, bool)> {
    let mut entries = BTreeSet::new();
    for subset in &endpoints.subsets {
        let ports: Vec<i32> =
            if subset.ports.is_empty() { vec![0] } else { subset.ports.iter().map(|it| it.port).collect() };
        for (addresses, ready) in [(&subset.addresses, true), (&subset.not_ready_addresses, false)] {
            for address in addresses {
                let pod = address.target_ref.as_ref().map(|it| it.name().to_string()).unwrap_or_default();
                entries.extend(ports.iter().map(|port| (address.ip.to_string(), pod.clone(), *port, ready)));
            }
        }
    }
    entries
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_second_sync_writes_nothing(service in service(), pods in pods(12)) {
        let first = written(planned_write(&service, &pods, None, None)).expect("a create");
        prop_assert_eq!(planned_write(&service, &pods, Some(&first), None), None);
    }

    #[test]
    fn the_order_of_pods_does_not_matter(
        service in service(),
        (pods, shuffled) in pods(12).prop_flat_map(|pods| (Just(pods.clone()), Just(pods).prop_shuffle())),
    ) {
        prop_assert_eq!(planned_write(&service, &pods, None, None), planned_write(&service, &shuffled, None, None));
    }

    #[test]
    fn the_previous_object_does_not_affect_the_content(service in service(), other in service(), before in pods(12), pods in pods(12)) {
        let current = written(planned_write(&other, &before, None, None)).expect("a create");
        let fresh = written(planned_write(&service, &pods, None, None)).expect("a create");
        let after = written(planned_write(&service, &pods, Some(&current), None)).unwrap_or(current);
        prop_assert_eq!(entries(&after), entries(&fresh));
        prop_assert_eq!(planned_write(&service, &pods, Some(&after), None), None);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 50, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn at_most_1000_addresses_ready_ones_first(count in 900..1_200usize, ready in 0..1_200usize) {
        let pods: Vec<Arc<Pod>> = (0..count).map(|number| {
            let ready = if number < ready { "True" } else { "False" };
            Arc::new(read(&json!({
                "metadata": {"namespace": "ns", "name": format!("p{number}"), "uid": format!("u{number}")},
                "status": {"phase": "Running", "podIPs": [{"ip": format!("10.0.{}.{}", number / 250, number % 250)}],
                    "conditions": [{"type": "Ready", "status": ready}]}
            })))
        }).collect();
        let service: Service = read(&json!({
            "metadata": {"namespace": "ns", "name": "web"},
            "spec": {"clusterIP": "10.96.0.1", "ipFamilies": ["IPv4"], "ports": [{"targetPort": 80, "protocol": "TCP"}]}
        }));
        let endpoints = written(planned_write(&service, &pods, None, None)).expect("a create");
        let count_of = |ready: bool| entries(&endpoints).iter().filter(|it| it.3 == ready).count();
        let ready = ready.min(count);
        prop_assert_eq!(count_of(true), ready.min(MAX_ADDRESSES));
        prop_assert_eq!(count_of(false), (count - ready).min(MAX_ADDRESSES - ready.min(MAX_ADDRESSES)));
    }
}

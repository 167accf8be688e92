//! Several files, compressed ones, and such that no API server has written.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use kube_endpoints_history::audit::AuditLogs;
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::log::{described, event, lines, logs, pod, with};

fn flip(seconds: f64, version: u64) -> Value {
    event(seconds, "update", "pods/a", &json!({"responseObject": pod("a", version, version % 2 == 1)}))
}

fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

const FLIPS: &str = "00.000 ? unknown Pod shop/a changed by kubectl (alice)\n\
                     00.000 + Pod shop/a on n1 10.1.0.1 by kubectl (alice)\n\
                     01.000 ~ Pod shop/a ready on n1 10.1.0.1 by kubectl (alice)\n\
                     02.000 ~ Pod shop/a on n1 10.1.0.1 by kubectl (alice)\n\
                     03.000 ~ Pod shop/a ready on n1 10.1.0.1 by kubectl (alice)\n";

#[test]
fn files_are_merged_by_time() {
    let files = [vec![flip(2.0, 4), flip(3.0, 5)], vec![flip(0.0, 2)], vec![], vec![flip(1.0, 3)]];
    let mut logs = logs(files.map(|file| lines(&file)));
    assert_eq!(described(&mut logs), FLIPS);
    assert_eq!(logs.summary().late, 0);
}

#[test]
fn newest_first_is_put_in_order() {
    let mut logs = logs([lines(&[flip(3.0, 5), flip(2.0, 4), flip(1.0, 3), flip(0.0, 2)])]);
    assert_eq!(described(&mut logs), FLIPS);
}

#[test]
fn gzip_is_recognized_in_several_members() {
    let member = |flips: &[Value]| compressed(&lines(flips));
    let file = [member(&[flip(0.0, 2), flip(1.0, 3)]), member(&[flip(2.0, 4)])].concat();
    assert_eq!(described(&mut logs([file, lines(&[flip(3.0, 5)])])), FLIPS);
}

#[test]
fn a_file_that_is_cut_off_ends_there() {
    let mut file = compressed(&lines(&[flip(0.0, 2)]));
    file.extend(&compressed(&lines(&[flip(1.0, 3)]))[..20]);
    let mut logs = logs([file, lines(&[flip(2.0, 4)])]);
    assert_eq!(described(&mut logs).lines().count(), 3);
    let unreadable = &logs.summary().unreadable;
    assert_eq!(unreadable.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["1.log"]);
}

#[test]
fn what_kubectl_printed_is_the_state_before() {
    let service = json!({"kind": "Service", "apiVersion": "v1", "spec": {"selector": {"app": "web"}},
        "metadata": {"namespace": "shop", "name": "web", "resourceVersion": "3"}});
    let items = json!([service, pod("old", 4, true), pod("a", 9, true), pod("later", 7, true)]);
    let list = json!({"apiVersion": "v1", "items": items, "kind": "List", "metadata": {"resourceVersion": ""}});
    let mut logs = logs([lines(&[flip(1.0, 7), flip(2.0, 8)]), format!("{list:#}").into_bytes()]);
    let mut before: Vec<String> = logs.objects().map(|object| object.key().to_string()).collect();
    before.sort();
    assert_eq!(before, ["shop/old", "shop/web"]);
    assert_eq!((logs.summary().objects, logs.summary().foreign.count), ([4, 2], 0));
    assert_eq!(described(&mut logs).lines().count(), 3);
}

#[test]
fn only_a_namespace_and_all_nodes_are_read() {
    let elsewhere = with(flip(0.0, 2), "/objectRef/namespace", json!("other"));
    let node = json!({"kind": "Node", "metadata": {"name": "n1", "resourceVersion": "3"}});
    let node = event(1.0, "create", "nodes/n1", &json!({"responseObject": node}));
    let created = event(2.0, "create", "pods/a", &json!({"responseObject": pod("a", 4, false)}));
    let mut logs = AuditLogs::new(Some("shop"));
    logs.add("log", std::io::Cursor::new(lines(&[elsewhere, node, created]))).unwrap();
    let expected = "01.000 + Node n1 by kubectl (alice)\n02.000 + Pod shop/a on n1 10.1.0.1 by kubectl (alice)\n";
    assert_eq!(described(&mut logs), expected);
    assert_eq!(logs.summary().others, 1);
}

#[test]
fn long_names_are_cut_off_and_those_of_objects_refused() {
    let user = "é".repeat(9_000);
    let long =
        event(0.0, "create", "pods/a", &json!({"user": {"username": user}, "responseObject": pod("a", 2, true)}));
    let mut logs = logs([lines(&[long, event(1.0, "patch", &format!("pods/{}", "x".repeat(254)), &json!({}))])]);
    let expected = format!("00.000 + Pod shop/a ready on n1 10.1.0.1 by kubectl ({})\n", "é".repeat(128));
    assert_eq!(described(&mut logs), expected);
    assert_eq!(logs.summary().unnamed, 1);
}

/// A value of any length is skipped as it is unpacked.
#[test]
fn a_file_that_unpacks_to_much_takes_no_memory() {
    let member = compressed(&vec![b'{'; 12 << 20]);
    let file = [&member[..], &member[..]].concat();
    let mut logs = logs([file]);
    assert_eq!(logs.next_change(), None);
    assert_eq!(logs.summary().too_long.count, 1);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_logs_cause_no_panic(damage in vec((any::<prop::sample::Index>(), any::<u8>()), 1..8), pack: bool) {
        let patch = json!({"level": "Request", "requestObject": {"metadata": {"labels": {"a": null}}, "status": {"phase": "Failed",
            "podIPs": [{"ip": "10.1.0.1"}], "$setElementOrder/conditions": [], "conditions": [{"type": "Ready", "status": "True"}]}}});
        let list = json!({"responseObject": {"kind": "PodList", "items": [pod("a", 5, true)]}});
        let mut log = lines(&[
            flip(0.0, 2), event(1.0, "patch", "pods/a/status", &patch), event(2.0, "deletecollection", "pods", &list),
        ]);
        if pack {
            log = compressed(&log);
        }
        for (at, byte) in damage {
            let at = at.index(log.len());
            log[at] = byte;
        }
        let mut read = AuditLogs::new(None);
        if read.add("log", std::io::Cursor::new(log)).is_ok() {
            described(&mut read);
        }
    }
}

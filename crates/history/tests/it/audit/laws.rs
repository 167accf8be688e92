//! A log of all answers gives the states that the server had.

use std::collections::{BTreeMap, HashMap};

use jiff::Timestamp;
use kube_endpoint_model::ObjectKey;
use kube_endpoints_history::audit::AuditLogs;
use kube_endpoints_history::{Archive, Kind, Recorded, Select, What};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::log::{event, lines, pod, with};
use crate::recording::{begin, recorded};

/// A request about one of four Pods, or about one of two Nodes.
#[derive(Clone, Debug)]
enum Request {
    /// Creates the Pod, or changes it.
    Write {
        pod: u8,
        ready: bool,
        label: u8,
    },
    /// Begins a deletion, or ends it.
    Delete {
        pod: u8,
    },
    Node {
        node: u8,
        ready: bool,
    },
    DeleteNode {
        node: u8,
    },
}

fn request() -> impl Strategy<Value = Request> {
    prop_oneof![
        6 => (0..4_u8, any::<bool>(), 0..3_u8).prop_map(|(pod, ready, label)| Request::Write { pod, ready, label }),
        3 => (0..4_u8).prop_map(|pod| Request::Delete { pod }),
        2 => (0..2_u8, any::<bool>()).prop_map(|(node, ready)| Request::Node { node, ready }),
        1 => (0..2_u8).prop_map(|node| Request::DeleteNode { node }),
    ]
}

type States = BTreeMap<(Kind, ObjectKey), Vec<Option<Recorded>>>;

/// A server that has only Pods and Nodes, and logs its answers.
#[derive(Default)]
struct Server {
    objects: HashMap<String, Value>,
    version: u64,
    /// Verb, target and answer of each write.
    log: Vec<(&'static str, String, Value)>,
    states: States,
}

impl Server {
    fn serve(&mut self, request: &Request) {
        self.version += 1;
        match request {
            Request::Write { pod: number, ready, label } => {
                let target = format!("pods/p{number}");
                let verb = if self.objects.contains_key(&target) { "update" } else { "create" };
                let object = pod(&format!("p{number}"), self.version, *ready);
                let object = with(object, "/metadata/labels/app", json!(format!("l{label}")));
                self.put(verb, target, object);
            }
            Request::Delete { pod } => {
                let target = format!("pods/p{pod}");
                let Some(object) = self.objects.get(&target).cloned() else { return };
                let is_begun = object["metadata"].get("deletionTimestamp").is_some();
                let grace = if is_begun { 0 } else { 30 };
                let object = with(object, "/metadata/deletionTimestamp", json!("2026-11-27T14:00:30Z"));
                let object = with(object, "/metadata/deletionGracePeriodSeconds", json!(grace));
                let object = with(object, "/metadata/resourceVersion", json!(self.version.to_string()));
                if is_begun { self.remove(target, object) } else { self.put("delete", target, object) }
            }
            Request::Node { node, ready } => {
                let target = format!("nodes/n{node}");
                let verb = if self.objects.contains_key(&target) { "patch" } else { "create" };
                let conditions = json!([{"type": "Ready", "status": if *ready { "True" } else { "False" }}]);
                let metadata = json!({"name": format!("n{node}"), "resourceVersion": self.version.to_string()});
                self.put(
                    verb,
                    target,
                    json!({"kind": "Node", "metadata": metadata, "status": {"conditions": conditions}}),
                );
            }
            Request::DeleteNode { node } => {
                let target = format!("nodes/n{node}");
                let Some(object) = self.objects.get(&target) else { return };
                let uid = object["metadata"]["uid"].clone();
                self.remove(target, json!({"kind": "Status", "status": "Success", "details": {"uid": uid}}));
            }
        }
    }

    /// Stores an object. One that is new gets a UID of its own.
    fn put(&mut self, verb: &'static str, target: String, object: Value) {
        let uid = match self.objects.get(&target) {
            Some(before) => before["metadata"]["uid"].clone(),
            None => json!(format!("u{}", self.version)),
        };
        let mut object = with(object, "/metadata/uid", uid);
        if verb == "update"
            && let Some(deleted) = self.objects[&target]["metadata"].get("deletionTimestamp")
        {
            object["metadata"]["deletionTimestamp"] = deleted.clone();
            object["metadata"]["deletionGracePeriodSeconds"] = json!(30);
        }
        let recorded = recorded(&object);
        self.states.entry((recorded.kind(), recorded.key())).or_default().push(Some(recorded));
        self.log.push((verb, target.clone(), object.clone()));
        self.objects.insert(target, object);
    }

    fn remove(&mut self, target: String, answer: Value) {
        if let Some(object) = self.objects.remove(&target) {
            let recorded = recorded(&object);
            self.states.entry((recorded.kind(), recorded.key())).or_default().push(None);
        }
        self.log.push(("delete", target, answer));
    }
}

/// Records the logs, and returns the states of each object in the file.
fn replayed(logs: &mut AuditLogs) -> States {
    let start = "2026-11-27T13:00:00Z".parse().expect("a time");
    let (mut encoder, mut file) = begin(start, &[], []);
    while let Some(change) = logs.next_change() {
        change.record(&mut encoder);
    }
    encoder.end_segment(&mut file).expect("memory");
    let mut archive = Archive::from_buffers([file]).expect("a history");
    let mut replay = archive.replay(Select::All, start).expect("a state");
    let (mut states, mut last) = (States::new(), Timestamp::MIN);
    while let Some(change) = replay.next_change().expect("a history") {
        assert!(change.seen >= last, "times grow");
        last = change.seen;
        let (object, state) = match change.what {
            What::Put { after, .. } => (after.clone(), Some(after)),
            What::Removed(before) => (before, None),
            other => panic!("{other:?} is not certain"),
        };
        states.entry((object.kind(), object.key())).or_default().push(state);
    }
    states
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    /// Requests are answered up to 0.2 s after they were applied, and logged in any order among twenty.
    #[test]
    fn states_come_back(requests in vec((request(), 0..200_u32, any::<u32>()), 0..120), files in 1..4_usize) {
        let mut server = Server::default();
        let mut logged = Vec::new();
        for (at, (request, delay, order)) in requests.iter().enumerate() {
            server.serve(request);
            for (verb, target, answer) in server.log.drain(..) {
                let seconds = f64::from(u32::try_from(at).unwrap()) / 10.0 + f64::from(*delay) / 1_000.0;
                logged.push((at / 20, order, event(seconds, verb, &target, &json!({"responseObject": answer}))));
            }
        }
        logged.sort_by_key(|(window, order, _)| (*window, *order));
        let mut logs = AuditLogs::new(None);
        for file in 0..files {
            let events: Vec<Value> = logged.iter().skip(file).step_by(files).map(|(_, _, event)| event.clone()).collect();
            logs.add("log", std::io::Cursor::new(lines(&events))).unwrap();
        }
        prop_assert_eq!(replayed(&mut logs), server.states);
        prop_assert_eq!(logs.summary().foreign.count, 0);
    }
}

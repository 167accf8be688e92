//! Random changes of a small cluster, recorded.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use kube_endpoint_model::{EndpointSlice, Labels, Node, ObjectKey, ObjectMeta, Pod, Service, well_known};
use kube_endpoints_history::{Author, Encoder, Gap, Kind, Recorded};
use proptest::collection::vec;
use proptest::prelude::*;

/// What a recorder does.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Put(Recorded),
    Remove(Kind, ObjectKey),
    Gap,
    Flush,
    /// Records the time.
    Mark,
    /// Ends the segment and begins the next one.
    Next,
    /// The recorder is started again, with another state.
    Restart,
}

pub(crate) type State = BTreeMap<(Kind, ObjectKey), Recorded>;

fn labels(app: u8) -> Labels {
    [("app", ["web", "db", "web"][usize::from(app % 3)]), ("version", if app > 1 { "2" } else { "1" })]
        .into_iter()
        .collect()
}

fn object() -> impl Strategy<Value = Recorded> {
    let name = |at: u8| format!("web-{at}").as_str().into();
    prop_oneof![
        4 => (0..6_u8, 0..3_u8, any::<bool>(), 0..9_u64).prop_map(move |(at, app, ready, version)| {
            let (labels, resource_version) = (labels(app), version.into());
            let pod = Pod { namespace: "shop".into(), name: name(at), labels, ready, resource_version, ..Pod::default() };
            Recorded::from(Arc::new(pod))
        }),
        1 => (0..2_u8, 0..4_u8).prop_map(|(at, app)| {
            let selector = (app < 3).then(|| labels(app).without(|key| key == "version"));
            let name = ["web", "db"][usize::from(at)].into();
            Recorded::from(Arc::new(Service { namespace: "shop".into(), name, selector, ..Service::default() }))
        }),
        1 => (0..2_u8, 0..9_u64).prop_map(|(at, version)| {
            let service = ["web", "db"][usize::from(at)];
            let labels = [(well_known::SERVICE_NAME_LABEL, service)].into_iter().collect();
            let name = format!("{service}-x").as_str().into();
            let metadata = ObjectMeta {
                namespace: "shop".into(), name, labels, resource_version: version.into(), ..ObjectMeta::default()
            };
            Recorded::from(Arc::new(EndpointSlice { metadata, ..EndpointSlice::default() }))
        }),
        1 => any::<bool>().prop_map(|ready| {
            Recorded::from(Arc::new(Node { name: "node-1".into(), ready, ..Node::default() }))
        }),
    ]
}

pub(crate) fn steps() -> impl Strategy<Value = Vec<Step>> {
    vec(
        prop_oneof![
            12 => object().prop_map(Step::Put),
            4 => object().prop_map(|object| Step::Remove(object.kind(), object.key())),
            1 => Just(Step::Gap),
            4 => Just(Step::Flush),
            1 => Just(Step::Mark),
            1 => Just(Step::Next),
            1 => Just(Step::Restart),
        ],
        0..80,
    )
}

pub(crate) fn time(at: usize) -> Timestamp {
    let passed = SignedDuration::from_millis(250 * i64::try_from(at).expect("fits"));
    "2026-11-27T14:00:00Z".parse::<Timestamp>().expect("a time") + passed
}

/// Returns an object in the form of the API server.
#[cfg(any(feature = "audit", feature = "causes"))]
pub(crate) fn recorded(object: &serde_json::Value) -> Recorded {
    fn decoded<T: serde::de::DeserializeOwned>(object: &serde_json::Value) -> Arc<T> {
        Arc::new(serde_json::from_value(object.clone()).expect("an object"))
    }
    match object["kind"].as_str() {
        Some("Service") => decoded::<Service>(object).into(),
        Some("Pod") => decoded::<Pod>(object).into(),
        Some("Node") => decoded::<Node>(object).into(),
        Some("Endpoints") => decoded::<kube_endpoint_model::Endpoints>(object).into(),
        _ => decoded::<EndpointSlice>(object).into(),
    }
}

/// Begins to record a state, by a recorder that cannot read the kinds `unknown`.
pub(crate) fn begin(now: Timestamp, unknown: &[Kind], state: impl IntoIterator<Item = Recorded>) -> (Encoder, Vec<u8>) {
    let (mut encoder, mut file) = (Encoder::new("test", unknown.iter().copied()).expect("memory"), Vec::new());
    for object in state {
        encoder.put(now, None, object);
    }
    encoder.begin_segment(now, &mut file).expect("memory");
    (encoder, file)
}

/// A recording, and the states that it has to give back.
pub(crate) struct Recording {
    /// One file a run of the recorder, all complete but the last.
    pub(crate) files: Vec<Vec<u8>>,
    /// State after each step, by its time.
    pub(crate) states: Vec<State>,
    /// Length of the last file after each frame, with the number of steps that it then contains.
    pub(crate) frames: Vec<(usize, usize)>,
}

pub(crate) fn author() -> Author {
    Author { manager: "kubelet".into(), user: "system:node:node-1".into(), time: Some(time(0)) }
}

pub(crate) fn record(steps: &[Step]) -> Recording {
    let unknown = [Kind::Endpoints];
    let (mut encoder, file) = begin(time(0), &unknown, []);
    let mut state = State::new();
    let (mut frames, mut states) = (vec![(file.len(), 0)], vec![state.clone()]);
    let mut files = vec![file];
    for (at, step) in steps.iter().enumerate() {
        let now = time(at + 1);
        let file = files.last_mut().expect("a file");
        match step {
            Step::Put(object) => {
                encoder.put(now, Some(&author()), object.clone());
                state.insert((object.kind(), object.key()), object.clone());
            }
            Step::Remove(kind, key) => {
                encoder.remove(now, None, *kind, key);
                state.remove(&(*kind, key.clone()));
            }
            Step::Gap => encoder.gap(now, &Gap { since: time(at), reason: "the watch has ended".into() }),
            Step::Flush => {
                encoder.flush(file).expect("memory");
                frames.push((file.len(), at + 1));
            }
            Step::Mark => {
                encoder.flush(file).expect("memory");
                frames.push((file.len(), at + 1));
                encoder.mark_time(now, file).expect("memory");
                frames.push((file.len(), at + 1));
            }
            Step::Next => {
                encoder.flush(file).expect("memory");
                frames.push((file.len(), at + 1));
                encoder.end_segment(file).expect("memory");
                encoder.begin_segment(now, file).expect("memory");
                frames.push((file.len(), at + 1));
            }
            Step::Restart => {
                encoder.end_segment(file).expect("memory");
                state.retain(|(_, key), _| key.name != "web-1");
                let file;
                (encoder, file) = begin(now, &unknown, state.values().cloned());
                frames = vec![(file.len(), at + 1)];
                files.push(file);
            }
        }
        states.push(state.clone());
    }
    encoder.flush(files.last_mut().expect("a file")).expect("memory");
    frames.push((files.last().expect("a file").len(), steps.len()));
    Recording { files, states, frames }
}

//! Recordings of real clusters: what a recorder has written gives each of their states.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use kube_endpoint_model::{EndpointSlice, Endpoints, Node, Pod, Service};
use kube_endpoints_conformance::{Kind as Of, Recording, Scenario, Snapshot, State as Operated};
use kube_endpoints_history::{Archive, Encoder, Recorded, Replay, Select, What};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::recording::{State, author, time};

/// Returns an object of a snapshot, whose metadata is not nested.
fn of_snapshot(object: &Value, number: usize) -> Value {
    let mut object = object.clone();
    let fields = ["name", "labels", "annotations", "ownerReferences"];
    let mut metadata: Value = fields.iter().map(|field| ((*field).to_owned(), object[*field].take())).collect();
    metadata["namespace"] = json!("scenario");
    // Generated names are equal.
    if object.get("addressType").is_some() {
        metadata["name"] = json!(format!("{}-{number}", metadata["name"].as_str().unwrap_or_default()));
    }
    object["metadata"] = metadata;
    object
}

fn state_of(operated: &Operated, written: &Snapshot) -> State {
    fn recorded<T: DeserializeOwned>(object: &Value) -> Recorded
    where
        Recorded: From<Arc<T>>,
    {
        Arc::<T>::new(serde_json::from_value(object.clone()).expect("an object")).into()
    }
    let endpoints = written.endpoints.iter().map(|object| recorded::<Endpoints>(&of_snapshot(object, 0)));
    let slices = written.slices.iter().enumerate();
    let slices = slices.map(|(number, object)| recorded::<EndpointSlice>(&of_snapshot(object, number)));
    let objects = operated.objects(Of::Service).map(recorded::<Service>);
    let objects = objects.chain(operated.objects(Of::Pod).map(recorded::<Pod>));
    let objects = objects.chain(operated.objects(Of::Node).map(recorded::<Node>)).chain(endpoints).chain(slices);
    objects.map(|object| ((object.kind(), object.key()), object)).collect()
}

/// Returns the state after each operation, with the slices and Endpoints of its step.
fn states(recording: &Recording, scenario: &Scenario) -> Vec<State> {
    let (mut operated, mut written) = (Operated::default(), Snapshot::default());
    recording.nodes.iter().for_each(|node| operated.create(node));
    let mut states = vec![state_of(&operated, &written)];
    for step in &scenario.steps {
        for operation in &step.operations {
            operated.perform(operation);
            states.push(state_of(&operated, &written));
        }
        written = step.expect.clone();
        states.push(state_of(&operated, &written));
    }
    states
}

/// Records the states as changes, in frames and segments of different lengths.
fn record(states: &[State]) -> Vec<u8> {
    let mut encoder = Encoder::new("test", []).expect("memory");
    let (first, later) = states.split_first().expect("a state");
    for object in first.values() {
        encoder.put(time(0), None, object.clone());
    }
    let mut file = Vec::new();
    encoder.begin_segment(time(0), &mut file).expect("memory");
    for (at, (before, after)) in states.iter().zip(later).enumerate() {
        let now = time(at + 1);
        for (kind, key) in before.keys().filter(|key| !after.contains_key(*key)) {
            encoder.remove(now, None, *kind, key);
        }
        for object in after.values() {
            encoder.put(now, Some(&author()), object.clone());
        }
        if at % 3 == 1 {
            encoder.flush(&mut file).expect("memory");
        }
        if at % 7 == 6 {
            encoder.end_segment(&mut file).expect("memory");
            encoder.begin_segment(now, &mut file).expect("memory");
        }
    }
    encoder.end_segment(&mut file).expect("memory");
    file
}

fn state(replay: &Replay<'_>) -> State {
    replay.objects().map(|object| ((object.kind(), object.key()), object.clone())).collect()
}

/// Returns the state at each time of a change, while all changes are read in their order.
fn replayed(archive: &mut Archive) -> BTreeMap<Timestamp, State> {
    let mut replay = archive.replay(Select::All, time(0)).expect("a history");
    let mut states = BTreeMap::from([(time(0), state(&replay))]);
    while let Some(change) = replay.next_change().expect("a history") {
        assert!(!matches!(change.what, What::Gap(_)), "one recorder has written all of it");
        states.insert(change.seen, state(&replay));
    }
    states
}

#[test]
fn each_state_of_the_recordings_comes_back() {
    let mut count = 0;
    for (file, recording) in Recording::builtin().expect("the recordings") {
        for scenario in &recording.scenarios {
            let states = states(&recording, scenario);
            let mut archive = Archive::from_buffers([record(&states)]).expect("a history");
            let replayed = replayed(&mut archive);
            for (at, expected) in states.iter().enumerate() {
                let place = format!("{file}/{} after {at} changes", scenario.name);
                let (_, last) = replayed.range(..=time(at)).next_back().expect("the first state");
                assert!(last == expected, "{place}: in order");
                let sought = archive.replay(Select::All, time(at)).expect("a history");
                assert!(state(&sought) == *expected, "{place}: sought");
                count += 1;
            }
        }
    }
    assert!(count > 2_000, "{count} states");
}

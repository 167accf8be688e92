//! Recordings of real clusters: what a recorder has written gives each of their states.

use std::sync::Arc;

use kube_endpoint_model::{EndpointSlice, Endpoints, Node, Pod, Service};
use kube_endpoints_conformance::{Kind as Of, Recording, Scenario, Snapshot, State as Operated};
use kube_endpoints_history::{Archive, Recorded, Select};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::laws::state;
use crate::recording::{State, author, begin, time};

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

/// Returns the state before the first step and after each of them.
fn states(recording: &Recording, scenario: &Scenario) -> Vec<State> {
    let mut operated = Operated::default();
    recording.nodes.iter().for_each(|node| operated.create(node));
    let mut states = vec![state_of(&operated, &Snapshot::default())];
    for step in &scenario.steps {
        step.operations.iter().for_each(|operation| operated.perform(operation));
        states.push(state_of(&operated, &step.expect));
    }
    states
}

/// Records the states as changes, in frames and segments of different lengths.
fn record(states: &[State]) -> Vec<u8> {
    let (first, later) = states.split_first().expect("a state");
    let (mut encoder, mut file) = begin(time(0), &[], first.values().cloned());
    for (at, (before, after)) in states.iter().zip(later).enumerate() {
        let now = time(at + 1);
        for (kind, key) in before.keys().filter(|key| !after.contains_key(*key)) {
            encoder.remove(now, None, *kind, key);
        }
        for object in after.values() {
            encoder.put(now, Some(&author()), object.clone());
        }
        if at % 2 == 1 {
            encoder.flush(&mut file).expect("memory");
        }
        if at % 3 == 2 {
            encoder.end_segment(&mut file).expect("memory");
            encoder.begin_segment(now, &mut file).expect("memory");
        }
    }
    encoder.end_segment(&mut file).expect("memory");
    file
}

/// Returns the number of objects that differ.
fn differences(before: &State, after: &State) -> usize {
    let removed = before.keys().filter(|key| !after.contains_key(*key)).count();
    removed + after.iter().filter(|(key, object)| before.get(*key) != Some(*object)).count()
}

#[test]
fn each_state_of_the_recordings_comes_back() {
    let mut count = 0;
    for (file, recording) in Recording::builtin().expect("the recordings") {
        for scenario in &recording.scenarios {
            let states = states(&recording, scenario);
            let mut archive = Archive::from_buffers([record(&states)]).expect("a history");
            let place = |at: usize| format!("{file}/{} after {at} steps", scenario.name);
            for (at, expected) in states.iter().enumerate() {
                let sought = archive.replay(Select::All, time(at)).expect("a history");
                assert!(state(&sought) == *expected, "{}: sought", place(at));
            }
            let mut replay = archive.replay(Select::All, time(0)).expect("a history");
            for (at, (before, after)) in (1..).zip(states.iter().zip(&states[1..])) {
                for _ in 0..differences(before, after) {
                    let change = replay.next_change().expect("a history").expect("a change");
                    assert_eq!(change.seen, time(at), "{}: {change:?}", place(at));
                }
                assert!(state(&replay) == *after, "{}: in order", place(at));
                count += 1;
            }
            assert_eq!(replay.next_change().expect("a history"), None, "{}", scenario.name);
        }
    }
    assert!(count > 500, "{count} states");
}

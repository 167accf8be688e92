//! The law over the states of all recordings.

use std::collections::BTreeMap;

use kube_endpoint_model::{EndpointSlice, Endpoints, Node, ObjectKey, Pod, Service};
use kube_endpoints_conformance::{Kind, Recording, State};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::cluster::Cluster;
use crate::law;

fn of<T: DeserializeOwned + kube_wire::Object>(state: &State, kind: Kind) -> BTreeMap<ObjectKey, T> {
    state.objects(kind).map(|object| decoded(object.clone())).collect()
}

fn decoded<T: DeserializeOwned + kube_wire::Object>(value: Value) -> (ObjectKey, T) {
    let object: T = serde_json::from_value(value).expect("an object of the recording");
    (object.key(), object)
}

#[test]
fn endpoints_and_reasons_are_those_of_the_controllers() {
    let (mut states, mut pods) = (0, 0);
    for (_, recording) in Recording::builtin().expect("the recordings") {
        for scenario in &recording.scenarios {
            let mut state = State::default();
            recording.nodes.iter().for_each(|node| state.create(node));
            for step in &scenario.steps {
                step.operations.iter().for_each(|operation| state.perform(operation));
                let mut cluster = Cluster {
                    services: of::<Service>(&state, Kind::Service),
                    pods: of::<Pod>(&state, Kind::Pod),
                    nodes: of::<Node>(&state, Kind::Node).into_values().map(cluster_scoped).collect(),
                    endpoints: of::<Endpoints>(&state, Kind::Endpoints),
                    slices: of::<EndpointSlice>(&state, Kind::EndpointSlice),
                    ..Cluster::default()
                };
                pods += law::check_and_settle(&mut cluster);
                states += 1;
            }
        }
    }
    assert!(states > 500, "{states} states");
    assert!(pods > 5_000, "{pods} Pods");
}

fn cluster_scoped(node: Node) -> (ObjectKey, Node) {
    (ObjectKey::new("", node.name.clone()), node)
}

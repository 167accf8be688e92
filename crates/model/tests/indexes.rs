//! The indexes, compared with a linear search after random histories.

use std::collections::BTreeMap;
use std::sync::Arc;

use kube_endpoint_model::{Index as _, Labels, Pod, PodIndex, Service, ServiceIndex, Text};
use proptest::prelude::*;

const NAMESPACES: [&str; 2] = ["a", "b"];

fn labels() -> impl Strategy<Value = Labels> {
    prop::collection::btree_map(0u8..5, 0u8..4, 0..4)
        .prop_map(|pairs| pairs.into_iter().map(|(key, value)| (format!("k{key}"), format!("v{value}"))).collect())
}

/// Changes, each of the object with this namespace and number: a new value, or removal.
fn history<T: std::fmt::Debug>(value: impl Strategy<Value = T>) -> impl Strategy<Value = Vec<(usize, u8, T)>> {
    prop::collection::vec((0..NAMESPACES.len(), 0u8..40, value), 1..160)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pods(history in history(prop::option::of(labels())), selector in labels()) {
        let mut index = PodIndex::default();
        let mut pods: BTreeMap<(usize, u8), Arc<Pod>> = BTreeMap::new();
        for (namespace, number, labels) in history {
            let new = labels.map(|labels| Arc::new(Pod {
                namespace: NAMESPACES[namespace].into(), name: format!("p{number:02}").into(), labels, ..Pod::default()
            }));
            let old = match &new {
                Some(new) => pods.insert((namespace, number), Arc::clone(new)),
                None => pods.remove(&(namespace, number)),
            };
            index.update(old.as_ref(), new.as_ref());
        }
        for (at, namespace) in NAMESPACES.iter().enumerate() {
            let expected: Vec<&str> = pods
                .iter()
                .filter(|((of, _), pod)| *of == at && pod.labels.contains_all(&selector))
                .map(|(_, pod)| &*pod.name)
                .collect();
            let selected = index.select(namespace, &selector);
            prop_assert_eq!(selected.iter().map(|pod| &*pod.name).collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn services(
        history in history(prop::option::of(prop::option::of(labels()))),
        pod_labels in labels(),
    ) {
        let mut index = ServiceIndex::default();
        let mut services: BTreeMap<(usize, u8), Arc<Service>> = BTreeMap::new();
        for (namespace, number, selector) in history {
            let new = selector.map(|selector| Arc::new(Service {
                namespace: NAMESPACES[namespace].into(), name: format!("s{number:02}").into(), selector, ..Service::default()
            }));
            let old = match &new {
                Some(new) => services.insert((namespace, number), Arc::clone(new)),
                None => services.remove(&(namespace, number)),
            };
            index.update(old.as_ref(), new.as_ref());
        }
        for (at, namespace) in NAMESPACES.iter().enumerate() {
            let expected: Vec<Text> = services
                .iter()
                .filter(|((of, _), service)| {
                    *of == at && service.selector.as_ref().is_some_and(|selector| pod_labels.contains_all(selector))
                })
                .map(|(_, service)| service.name.clone())
                .collect();
            prop_assert_eq!(index.select(namespace, &pod_labels), expected);
        }
    }
}

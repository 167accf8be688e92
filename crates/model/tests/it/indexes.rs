//! The indexes, compared with a linear search after random histories.

use std::collections::BTreeMap;
use std::sync::Arc;

use kube_endpoint_model::{
    EndpointSlice, Index as _, Labels, ObjectMeta, Pod, PodIndex, Service, ServiceIndex, SliceIndex, Text,
};
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

#[test]
fn slices_are_indexed_by_the_chosen_label() {
    let slice = |name: &str, labels: &[(&str, &str)]| {
        let metadata = ObjectMeta {
            namespace: "a".into(),
            name: name.into(),
            labels: labels.iter().copied().collect(),
            ..ObjectMeta::default()
        };
        Arc::new(EndpointSlice { metadata, ..EndpointSlice::default() })
    };
    let of_both = slice("s1", &[("kubernetes.io/service-name", "web"), ("pools.example.com/owner", "edge")]);
    let of_pool = slice("s2", &[("pools.example.com/owner", "edge")]);
    let names = |index: &SliceIndex, owner: &str| {
        index.slices("a", owner).map(|it| it.metadata.name.to_string()).collect::<Vec<_>>()
    };
    let (mut services, mut pools) = (SliceIndex::default(), SliceIndex::by("pools.example.com/owner"));
    for slice in [&of_both, &of_pool] {
        services.update(None, Some(slice));
        pools.update(None, Some(slice));
    }
    assert_eq!((services.label(), pools.label()), ("kubernetes.io/service-name", "pools.example.com/owner"));
    assert_eq!((names(&services, "web"), names(&services, "edge")), (vec!["s1".to_owned()], vec![]));
    assert_eq!(names(&pools, "edge"), ["s1", "s2"]);
    pools.update(Some(&of_pool), Some(&slice("s2", &[("pools.example.com/owner", "other")])));
    assert_eq!((names(&pools, "edge"), names(&pools, "other")), (vec!["s1".to_owned()], vec!["s2".to_owned()]));
    assert_eq!(SliceIndex::by("kubernetes.io/service-name").label(), SliceIndex::default().label());
}

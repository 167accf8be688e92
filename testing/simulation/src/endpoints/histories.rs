//! Random histories: changes by users, kubelets and other controllers of the objects that the controllers watch.

mod author;
mod custom;
mod pods;
mod services;

use crate::Step;

/// Returns a random history of at least `operations` requests, after those that create its namespaces and Nodes. The
/// same seed gives the same history.
///
/// Most requests are valid for the embedded API server when they are sent in this order; a rejected request has no
/// effect. Any step can be removed: each request contains all its data, and a change that no sync reverts is marked on
/// the object itself, so [`differences`](super::differences) does not depend on the history. Paths of slices have the
/// format of [`resolve_slice`](super::resolve_slice).
pub fn random(seed: u64, operations: usize) -> Vec<Step> {
    let mut author = author::Author::new(seed);
    let begin = author.steps.len();
    while author.steps.len() < begin + operations {
        match author.below(100) {
            0..52 => author.pod(),
            52..76 => author.service(),
            76..86 => author.endpoints(),
            86..96 => author.slice(),
            _ => author.node(),
        }
    }
    author.steps
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::Operation;

    #[test]
    fn the_same_for_the_same_seed() {
        assert_eq!(random(7, 200), random(7, 200));
        assert_ne!(random(7, 200), random(8, 200));
    }

    /// Objects are created before they are patched or deleted, except for those that controllers create.
    #[test]
    fn objects_exist_before_they_change() {
        let (mut sent, mut late) = (0, Vec::new());
        for seed in 0..50 {
            let mut exists = BTreeSet::new();
            for step in random(seed, 100) {
                let (path, made) = match &step.operation {
                    Operation::Create { path, object } => {
                        (format!("{path}/{}", object["metadata"]["name"].as_str().unwrap()), true)
                    }
                    Operation::Patch { path, .. } => (path.trim_end_matches("/status").to_owned(), false),
                    Operation::Delete { path, .. } => (path.clone(), false),
                };
                sent += 1;
                if made {
                    exists.insert(path);
                } else if !exists.contains(&path) && !path.contains("/endpoint") {
                    late.push(step.operation.to_string());
                }
            }
        }
        assert!(late.is_empty(), "{} of {sent}: {}", late.len(), late[0]);
    }

    #[test]
    fn every_kind_of_request_occurs() {
        let text: Vec<_> = (0..50).flat_map(|seed| random(seed, 100)).map(|step| step.operation.to_string()).collect();
        for wanted in [
            "create namespaces/shop",
            "create pods/",
            "delete pods/",
            r#""gracePeriodSeconds":600"#,
            r#""phase":"Succeeded""#,
            r#""finalizers":null"#,
            r#"{"spec":{"selector":null}}"#,
            r#""publishNotReadyAddresses":true"#,
            r#""type":"ExternalName""#,
            r#""clusterIP":"None""#,
            "create endpoints/",
            "delete endpoints/",
            r#""endpointslice.kubernetes.io/skip-mirror":"true""#,
            "create endpointslices/",
            "delete endpointslices/",
            r#""endpointslice.kubernetes.io/managed-by":"other.example.com""#,
            "patch nodes/",
        ] {
            assert!(text.iter().any(|text| text.contains(wanted)), "no {wanted}");
        }
        assert!((0..50).flat_map(|seed| random(seed, 100)).filter(|step| step.after.is_zero()).count() > 1_000);
    }
}

//! The undecodable objects that were reported.

use std::collections::{HashMap, HashSet};

use kube_wire::{ObjectKey, ResourceVersion, Undecodable};

/// Undecodable objects by name, each with its last reported version.
#[derive(Debug, Default)]
pub(super) struct Reported {
    versions: HashMap<ObjectKey, ResourceVersion>,
    /// Error of the last object without a readable name, compared to recognize repetitions.
    unnamed: Option<String>,
}

impl Reported {
    /// Records an object; returns whether this version of it was not reported before.
    pub(super) fn record(&mut self, it: &Undecodable) -> bool {
        let Some(key) = &it.key else {
            let error = it.error.to_string();
            let new = self.unnamed.as_ref() != Some(&error);
            self.unnamed = Some(error);
            return new;
        };
        let before = self.versions.insert(key.clone(), it.resource_version.clone());
        before.is_none_or(|before| before.is_empty() || before != it.resource_version)
    }

    pub(super) fn remove(&mut self, key: impl FnOnce() -> ObjectKey) -> bool {
        !self.versions.is_empty() && self.versions.remove(&key()).is_some()
    }

    pub(super) fn retain(&mut self, keys: &HashSet<ObjectKey>) -> bool {
        let before = self.versions.len();
        self.versions.retain(|key, _| keys.contains(key));
        self.versions.len() != before
    }

    pub(super) fn len(&self) -> usize {
        self.versions.len()
    }
}

#[cfg(test)]
mod tests {
    use kube_wire::{DecodeError, DecodeProblem};
    use rstest::rstest;

    use super::*;

    fn undecodable(key: &str, version: &str, kind: &str) -> Undecodable {
        Undecodable {
            key: (!key.is_empty()).then(|| ObjectKey::new("shop", key)),
            uid: "u".into(),
            resource_version: version.into(),
            error: DecodeError::new(kind, DecodeProblem::MissingName),
        }
    }

    #[rstest]
    #[case::same_version(&[("a", "1", "Pod"), ("a", "1", "Pod")], &[true, false])]
    #[case::another_version(&[("a", "1", "Pod"), ("a", "2", "Pod"), ("a", "2", "Pod")], &[true, true, false])]
    #[case::another_object(&[("a", "1", "Pod"), ("b", "1", "Pod"), ("a", "1", "Pod")], &[true, true, false])]
    #[case::without_a_version(&[("a", "", "Pod"), ("a", "", "Pod")], &[true, true])]
    #[case::without_a_name(&[("", "", "Pod"), ("", "", "Pod"), ("", "", "Node")], &[true, false, true])]
    fn a_version_is_reported_once(#[case] objects: &[(&str, &str, &str)], #[case] expect: &[bool]) {
        let mut reported = Reported::default();
        let new: Vec<_> =
            objects.iter().map(|(key, version, kind)| reported.record(&undecodable(key, version, kind))).collect();
        assert_eq!(new, expect);
    }

    #[test]
    fn objects_decoded_again_or_deleted_are_removed() {
        let (a, b) = (ObjectKey::new("shop", "a"), ObjectKey::new("shop", "b"));
        let mut reported = Reported::default();
        reported.record(&undecodable("a", "1", "Pod"));
        reported.record(&undecodable("b", "1", "Pod"));
        assert!(reported.remove(|| a.clone()) && !reported.remove(|| a.clone()));
        assert!(!reported.retain(&HashSet::from([b])) && reported.retain(&HashSet::new()));
        assert!(reported.record(&undecodable("b", "1", "Pod")));
    }
}

//! Objects whose newest state cannot be decoded.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use kube_wire::{Decode, EventType, ObjectKey, ResourceVersion, Undecodable};

use super::{Reflector, error::ReflectorError, machine::Observation};
use crate::Index;

/// Undecodable objects by name, each with its last reported version.
#[derive(Debug, Default)]
pub(super) struct Reported {
    versions: HashMap<ObjectKey, ResourceVersion>,
    /// Error of the last object without a readable name, compared to recognize repetitions.
    unnamed: Option<String>,
}

impl Reported {
    /// Records an object; returns whether this version of it was not reported before.
    fn record(&mut self, it: &Undecodable) -> bool {
        let Some(key) = &it.key else {
            let error = it.error.to_string();
            let new = self.unnamed.as_ref() != Some(&error);
            self.unnamed = Some(error);
            return new;
        };
        let before = self.versions.insert(key.clone(), it.resource_version.clone());
        before.is_none_or(|before| before.is_empty() || before != it.resource_version)
    }

    fn remove(&mut self, key: impl FnOnce() -> ObjectKey) -> bool {
        !self.versions.is_empty() && self.versions.remove(&key()).is_some()
    }

    fn retain(&mut self, keys: &HashSet<ObjectKey>) -> bool {
        let before = self.versions.len();
        self.versions.retain(|key, _| keys.contains(key));
        self.versions.len() != before
    }
}

impl<T: Decode, X: Index<T>> Reflector<T, X> {
    /// Logs an undecodable object once per version, and counts it.
    fn report(&mut self, it: &Undecodable) {
        self.shared.meter().undecodable();
        if self.undecodable.record(it) {
            let (resource, version, err) = (T::RESOURCE, &it.resource_version, &it.error);
            match &it.key {
                Some(key) => tracing::warn!(
                    %resource, object = %key, %version, %err,
                    "cannot decode an object, its last known state is kept"
                ),
                None => {
                    tracing::warn!(%resource, %version, %err, "cannot decode an object without a readable name, it is skipped");
                }
            }
        }
        self.report_count();
    }

    fn report_count(&self) {
        self.shared.meter().undecodable_objects(self.undecodable.versions.len());
    }

    /// Removes an object that was decoded or deleted from the undecodable ones.
    pub(super) fn clear_undecodable(&mut self, key: impl FnOnce() -> ObjectKey) {
        if self.undecodable.remove(key) {
            self.report_count();
        }
    }

    /// Gathers an undecodable object of a list or streaming list.
    pub(super) fn gather_undecodable(&mut self, event: EventType, it: Undecodable) {
        self.report(&it);
        match (it.key, event) {
            (Some(key), EventType::Deleted) => self.gathered.remove(key),
            (Some(key), EventType::Added | EventType::Modified) => self.gathered.mark_undecodable(key, it.uid),
            (None, _) => self.gathered.skip(it.error),
        }
    }

    /// Applies an event of an undecodable object to the store. A deletion needs only the name. Otherwise the stored
    /// state is kept, unless its uid shows that it belongs to an earlier object of that name.
    pub(super) fn apply_undecodable(&mut self, event: EventType, it: Undecodable) -> Observation {
        let deleted = event == EventType::Deleted;
        if deleted && let Some(key) = &it.key {
            self.shared.remove_unknown(key, &it.resource_version);
            self.clear_undecodable(|| key.clone());
        } else {
            self.report(&it);
            if let Some(key) = &it.key
                && self.shared.stored(key).is_some_and(|stored| !uids_may_match(&stored.uid(), &it.uid))
            {
                self.shared.remove_unknown(key, &it.resource_version);
            }
        }
        if !it.resource_version.is_empty() {
            self.shared.bookmark(&it.resource_version);
        }
        Observation::Progress { version: it.resource_version, added: event == EventType::Added }
    }

    /// Returns the objects of the complete list, with the last decodable state of undecodable ones.
    ///
    /// # Errors
    ///
    /// [`ReflectorError::Unnamed`] if the list has items and none has a readable name. Something between the server and
    /// this process corrupts the list then, and storing it would remove every object.
    pub(super) fn take_complete(&mut self) -> Result<Vec<Arc<T>>, ReflectorError> {
        let shared = &self.shared;
        let stored = |key: &ObjectKey| shared.stored(key);
        let gathered = self.gathered.take(stored, |stored, uid| uids_may_match(&stored.uid(), uid));
        if let (true, true, Some(error)) =
            (gathered.objects.is_empty(), gathered.undecodable.is_empty(), gathered.skipped)
        {
            return Err(ReflectorError::Unnamed(Box::new(error)));
        }
        if self.undecodable.retain(&gathered.undecodable) {
            self.report_count();
        }
        Ok(gathered.objects)
    }
}

fn uids_may_match(one: &kube_wire::Uid, other: &kube_wire::Uid) -> bool {
    one.is_empty() || other.is_empty() || one == other
}

#[cfg(test)]
mod tests {
    use kube_wire::DecodeError;
    use rstest::rstest;

    use super::*;

    fn undecodable(key: &str, version: &str, kind: &str) -> Undecodable {
        Undecodable {
            key: (!key.is_empty()).then(|| ObjectKey::new("shop", key)),
            uid: "u".into(),
            resource_version: version.into(),
            error: DecodeError::MissingName { kind: kind.to_owned(), resource_version: None },
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

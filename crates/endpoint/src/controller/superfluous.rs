//! Endpoints that may be deleted.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex};

use kube_controller::locked;
use kube_endpoint_model::{Endpoints, ObjectKey, ResourceVersion, Uid};
use kube_wire::Object as _;

/// Maximum number of deleted objects that are remembered, the latest ones.
const REMEMBERED: usize = 10_000;

/// Endpoints that this process saw become superfluous; a sync without a Service deletes no others (EP-1).
///
/// That there is no Service is not enough: users and backup tools create Endpoints before their Service.
#[derive(Debug, Default)]
pub(super) struct Superfluous(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Deletions that no sync has completed yet.
    deletions: HashMap<ObjectKey, Deletion>,
    /// Number of the latest deletion.
    latest: Moment,
    past: Past,
    /// Version of the cache that the sweep at the start has read, until the server's versions are lower.
    swept: Option<ResourceVersion>,
}

/// Deletions that were recorded until a moment: the number of the latest.
///
/// A sync takes it before it reads the caches. Handlers run beside syncs, and a deletion that follows belongs to the next
/// sync, which the handler has queued.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Moment(u64);

/// Deletion of a Service.
#[derive(Debug, Default)]
struct Deletion {
    at: Moment,
    /// Version of the deletion, if it is known: older Endpoints existed before it.
    version: Option<ResourceVersion>,
    /// Endpoints of the Service.
    object: Option<Uid>,
}

/// Objects of Services whose deletion is complete, or that a list lacked. A restore of etcd or a later list can bring them
/// back; no other client can, since the server assigns a new UID to each object.
#[derive(Debug, Default)]
struct Past {
    objects: HashSet<Uid>,
    order: VecDeque<Uid>,
}

impl Superfluous {
    /// Returns the moment before a sync reads the caches.
    pub(super) fn now(&self) -> Moment {
        locked(&self.0).latest
    }

    /// Records that a Service is gone. `version` is that of the deletion, if it is known, and `cached` reads the object of
    /// that name. No [write](Self::written) is recorded in between: the object of one that ends at the same time is in
    /// the cache, or its record finds the deletion.
    pub(super) fn service_deleted(
        &self,
        service: ObjectKey,
        version: Option<ResourceVersion>,
        cached: impl FnOnce() -> Option<Arc<Endpoints>>,
    ) {
        let mut state = locked(&self.0);
        state.latest.0 += 1;
        let at = state.latest;
        let deletion = state.deletions.entry(service).or_default();
        deletion.at = at;
        deletion.version = version;
        // What another client created after the deletion is for a Service that follows.
        let is_claimed = |it: &Arc<Endpoints>| it.is_managed() || deletion.version.is_none() || deletion.follows(it);
        if let Some(endpoints) = cached().filter(is_claimed) {
            deletion.object = Some(endpoints.uid());
        }
    }

    /// Records that the cache at the start lacks the Service of these Endpoints.
    pub(super) fn service_missing(&self, endpoints: &Endpoints) {
        let mut state = locked(&self.0);
        state.latest.0 += 1;
        let deletion = Deletion { at: state.latest, version: None, object: Some(endpoints.uid()) };
        state.deletions.insert(endpoints.key(), deletion);
    }

    /// Returns whether the watch showed that the Service of these Endpoints was deleted after their last change. Otherwise
    /// only a read shows that there is no Service: a list lacks those that are younger, and may lack others, and a watch may
    /// be late.
    pub(super) fn precede_deletion(&self, endpoints: &Endpoints) -> bool {
        let state = locked(&self.0);
        state.deletions.get(&endpoints.key()).is_some_and(|deletion| deletion.follows(endpoints))
    }

    /// Records an object that this process created or changed. Its Service may have been deleted after the write was sent.
    pub(super) fn written(&self, service: &ObjectKey, uid: &Uid) {
        if let Some(deletion) = locked(&self.0).deletions.get_mut(service) {
            deletion.object = Some(uid.clone());
        }
    }

    /// Removes the deletion of a Service that exists again, unless it was deleted after `read`.
    pub(super) fn service_exists(&self, service: &ObjectKey, read: Moment) {
        locked(&self.0).take_until(service, read);
    }

    /// Records that the server has no superfluous Endpoints of a Service any more that was deleted until `read`.
    pub(super) fn removed(&self, service: &ObjectKey, read: Moment) {
        let mut state = locked(&self.0);
        if let Some(object) = state.take_until(service, read).and_then(|deletion| deletion.object) {
            state.past.insert(object);
        }
    }

    /// Records the version of the cache that the sweep at the start reads (EP-H6).
    pub(super) fn swept(&self, version: impl FnOnce() -> ResourceVersion) {
        let mut state = locked(&self.0);
        state.swept = Some(version());
    }

    /// Records that the server has a state of the version that `version` reads from the cache. If it is lower than that
    /// of the sweep, etcd was restored, and versions no longer tell what is older than the sweep.
    pub(super) fn version_seen(&self, version: impl FnOnce() -> ResourceVersion) {
        let mut state = locked(&self.0);
        // Read under the lock: a version from before the sweep would be lower as well.
        if state.swept.as_ref().is_some_and(|swept| version() < *swept) {
            state.swept = None;
        }
    }

    /// Records Endpoints that a later list adds. They count as swept if they are older than the sweep: the list that it
    /// read lacked them although they existed.
    pub(super) fn found_by_list(&self, endpoints: &Endpoints) {
        let mut state = locked(&self.0);
        if state.swept.as_ref().is_some_and(|swept| endpoints.resource_version() <= *swept) {
            state.past.insert(endpoints.uid());
        }
    }

    /// Records Endpoints of an existing Service that a list lacks: if the list is wrong, they come back, perhaps after the
    /// Service has been deleted.
    pub(super) fn missing(&self, endpoints: &Endpoints) {
        locked(&self.0).past.insert(endpoints.uid());
    }

    /// Returns whether the deletion of a Service was seen that no sync has completed yet.
    pub(super) fn is_service_deleted(&self, service: &ObjectKey) -> bool {
        locked(&self.0).deletions.contains_key(service)
    }

    /// Returns whether an object is superfluous if it has no Service.
    pub(super) fn contains(&self, endpoints: &Endpoints) -> bool {
        let state = locked(&self.0);
        let deletion = state.deletions.get(&endpoints.key());
        let by_deletion = deletion
            .is_some_and(|deletion| deletion.object.as_ref() == Some(&endpoints.uid()) || deletion.follows(endpoints));
        by_deletion || state.past.objects.contains(&endpoints.uid())
    }

    /// Returns whether a deleted or missing object has been brought back, by a restore of etcd or by a list.
    pub(super) fn is_brought_back(&self, endpoints: &Endpoints) -> bool {
        let state = locked(&self.0);
        !state.past.objects.is_empty() && state.past.objects.contains(&endpoints.uid())
    }
}

impl Deletion {
    /// Returns whether the version of the deletion is known, and higher than that of the last change of an object.
    fn follows(&self, endpoints: &Endpoints) -> bool {
        self.version.as_ref().is_some_and(|version| endpoints.resource_version() < *version)
    }
}

impl State {
    fn take_until(&mut self, service: &ObjectKey, moment: Moment) -> Option<Deletion> {
        self.deletions.get(service).filter(|deletion| deletion.at <= moment)?;
        self.deletions.remove(service)
    }
}

impl Past {
    fn insert(&mut self, object: Uid) {
        if !self.objects.insert(object.clone()) {
            return;
        }
        self.order.push_back(object);
        if self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.objects.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::json;

    fn endpoints(uid: &str, version: &str) -> Endpoints {
        let metadata = json!({"namespace": "ns", "name": "web", "uid": uid, "resourceVersion": version});
        serde_json::from_value(json!({ "metadata": metadata })).expect("valid object")
    }

    fn web() -> ObjectKey {
        ObjectKey::new("ns", "web")
    }

    #[rstest]
    #[case::cached(Some("a"), None, ("a", "9"), true)]
    #[case::another_object(Some("a"), None, ("b", "9"), false)]
    #[case::older(None, Some(8), ("b", "7"), true)]
    #[case::newer(None, Some(8), ("b", "9"), false)]
    #[case::cached_and_changed_since(Some("a"), Some(8), ("a", "9"), true)]
    #[case::unknown_version(None, None, ("b", "7"), false)]
    fn objects_of_a_deleted_service(
        #[case] cached: Option<&str>,
        #[case] version: Option<u64>,
        #[case] (uid, stored): (&str, &str),
        #[case] expected: bool,
    ) {
        let superfluous = Superfluous::default();
        let object = endpoints(uid, stored);
        assert!(!superfluous.contains(&object));
        let cached = || cached.map(|uid| Arc::new(endpoints(uid, "5")));
        superfluous.service_deleted(web(), version.map(Into::into), cached);
        assert_eq!(superfluous.contains(&object), expected);
        superfluous.service_exists(&web(), superfluous.now());
        assert!(!superfluous.contains(&object));
    }

    // A sync that has read the Service overlaps its deletion.
    #[test]
    fn a_deletion_during_a_sync_remains_for_the_next() {
        let superfluous = Superfluous::default();
        let read = superfluous.now();
        superfluous.service_deleted(web(), None, || Some(Arc::new(endpoints("a", "5"))));
        superfluous.service_exists(&web(), read);
        superfluous.removed(&web(), read);
        assert!(superfluous.contains(&endpoints("a", "5")) && superfluous.is_service_deleted(&web()));
        superfluous.removed(&web(), superfluous.now());
        assert!(!superfluous.is_service_deleted(&web()) && superfluous.is_brought_back(&endpoints("a", "5")));
    }

    #[test]
    fn a_write_that_ends_after_the_deletion_of_its_service_counts() {
        let superfluous = Superfluous::default();
        superfluous.written(&web(), &"a".into());
        assert!(!superfluous.contains(&endpoints("a", "9")), "its Service exists");
        superfluous.service_deleted(web(), Some(8.into()), || None);
        superfluous.written(&web(), &"b".into());
        assert!(superfluous.contains(&endpoints("b", "9")));
    }

    // Otherwise a create could end between the read of the cache and the record of the deletion.
    #[test]
    fn the_cache_is_read_under_the_lock() {
        let superfluous = Superfluous::default();
        let is_locked = || superfluous.0.try_lock().is_err();
        superfluous.service_deleted(web(), None, || {
            assert!(is_locked());
            None
        });
        let version = || {
            assert!(is_locked());
            7.into()
        };
        superfluous.swept(version);
        superfluous.version_seen(version);
    }

    #[test]
    fn objects_that_a_list_lacked_are_superfluous_without_their_service() {
        let superfluous = Superfluous::default();
        superfluous.missing(&endpoints("a", "5"));
        superfluous.service_deleted(web(), None, || None);
        assert!(superfluous.contains(&endpoints("a", "5")) && superfluous.is_brought_back(&endpoints("a", "5")));
        assert!(!superfluous.contains(&endpoints("b", "5")), "another object of that name");
    }

    #[rstest]
    #[case::older(Some(8), None, "7", true)]
    #[case::at_the_sweep(Some(8), None, "8", true)]
    #[case::newer(Some(8), None, "9", false)]
    #[case::before_the_sweep(None, None, "7", false)]
    #[case::the_server_is_newer(Some(8), Some(9), "7", true)]
    #[case::etcd_was_restored(Some(8), Some(7), "7", false)]
    fn objects_that_the_list_of_the_sweep_lacked(
        #[case] swept: Option<u64>,
        #[case] seen: Option<u64>,
        #[case] stored: &str,
        #[case] expected: bool,
    ) {
        let superfluous = Superfluous::default();
        if let Some(version) = swept {
            superfluous.swept(|| version.into());
        }
        if let Some(version) = seen {
            superfluous.version_seen(|| version.into());
        }
        superfluous.found_by_list(&endpoints("a", stored));
        assert_eq!(superfluous.contains(&endpoints("a", stored)), expected);
    }

    #[test]
    fn deleted_objects_are_remembered_up_to_a_limit() {
        let superfluous = Superfluous::default();
        let uid = |number: usize| format!("00000000-0000-4000-8000-{number:012}");
        for number in 0..=REMEMBERED {
            let object = endpoints(&uid(number), "5");
            superfluous.service_deleted(web(), None, || Some(Arc::new(object.clone())));
            superfluous.removed(&web(), superfluous.now());
            assert!(superfluous.is_brought_back(&object) && superfluous.contains(&object));
            assert!(!superfluous.is_service_deleted(&web()));
        }
        assert!(!superfluous.is_brought_back(&endpoints(&uid(0), "5")));
        assert!(superfluous.is_brought_back(&endpoints(&uid(1), "5")));
    }
}

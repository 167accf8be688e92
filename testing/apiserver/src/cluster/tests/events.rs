//! The two API groups of Event.

use std::sync::Arc;

use super::*;

const GROUPS: [&str; 2] = ["", "events.k8s.io"];

impl TestStore {
    fn events(&self, group: &str) -> Arc<Kind> {
        Arc::clone(self.cluster.kinds().find(group, "v1", "events").expect("a kind"))
    }

    /// Returns the Event `a` of a group, without metadata.
    fn event(&self, group: &str) -> Value {
        let mut event = self.cluster.get(&self.events(group), "default", "a").expect("an Event").value();
        event.as_object_mut().expect("an object").remove("metadata");
        event
    }
}

#[test]
fn an_event_of_one_group_is_one_of_the_other() {
    let mut store = TestStore::new();
    let source = json!({"component": "kubelet"});
    let event = json!({"metadata": {"name": "a"}, "involvedObject": {"kind": "Pod", "name": "web"}, "message": "slow",
        "reason": "Slow", "source": source, "count": 2, "type": "Warning"});
    store.cluster.create(&store.events(""), "default", event, store.options()).unwrap();
    assert_eq!(
        store.event("events.k8s.io"),
        json!({"apiVersion": "events.k8s.io/v1", "kind": "Event", "regarding": {"kind": "Pod", "name": "web"},
            "note": "slow", "reason": "Slow", "deprecatedSource": source, "deprecatedCount": 2, "type": "Warning",
            "deprecatedFirstTimestamp": null, "deprecatedLastTimestamp": null, "eventTime": null})
    );

    let patch = Patch::Merge(json!({"note": "fast"}));
    let kind = store.events("events.k8s.io");
    store.cluster.patch(WriteTarget::object(&kind, "default", "a"), &patch, store.options()).unwrap();
    assert_eq!(store.event("")["message"], "fast");
    let [core, other] = GROUPS.map(|group| store.cluster.get(&store.events(group), "default", "a").unwrap());
    assert_eq!((&core.uid, core.revision), (&other.uid, other.revision));
    assert_eq!(core.field("involvedObject.name"), other.field("regarding.name"));
}

#[test]
fn a_deleted_event_is_gone_from_both_groups_and_watches_see_it_once() {
    for (group, other) in [(GROUPS[0], GROUPS[1]), (GROUPS[1], GROUPS[0])] {
        let mut store = TestStore::new();
        let start = store.cluster.revision();
        store
            .cluster
            .create(&store.events(group), "default", json!({"metadata": {"name": "a"}}), store.options())
            .unwrap();
        let kind = store.events(other);
        store.cluster.delete(&kind, "default", "a", &DeleteOptions::default(), store.options()).unwrap();
        let changes = GROUPS.map(|group| {
            let kind = store.events(group);
            assert!(store.cluster.list(&kind, None).is_empty());
            let changes = store.cluster.changes_after(&kind, start, 10).unwrap().changes;
            changes.iter().map(|it| format!("{:?} {}", it.kind, it.object.revision)).collect::<Vec<_>>()
        });
        assert_eq!(changes[0].len(), 2, "created and deleted");
        assert_eq!(changes[0], changes[1]);
    }
}

#[test]
fn events_of_a_deleted_namespace_are_deleted() {
    let mut store = TestStore::new();
    store.create("namespaces", json!({"metadata": {"name": "shop"}}));
    store
        .cluster
        .create(&store.events("events.k8s.io"), "shop", json!({"metadata": {"name": "a"}}), store.options())
        .unwrap();
    store.delete("namespaces", "shop", None);
    store.empty_namespaces();
    assert_eq!(store.get("namespaces", "shop"), None);
    for group in GROUPS {
        assert!(store.cluster.list(&store.events(group), None).is_empty());
    }
}

//! The watch contract, tested with random histories: a list and the events of a watch from its version give the state
//! of the server; events arrive in order and exactly once; a watch from a version outside of the history is rejected.
//!
//! `WATCH_HISTORIES=100000 cargo test --release -p kube-dev-apiserver watch_contract` runs 100,000 histories.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::cluster::ChangeKind;

/// Default number of histories.
const HISTORIES: u32 = 2_000;
const WATCHERS: usize = 3;

/// Resource version of each object, by namespace and name.
type State = BTreeMap<(String, String), u64>;

#[derive(Debug, Clone)]
enum Step {
    Create {
        name: u8,
        finalizer: bool,
    },
    Label {
        name: u8,
        value: u8,
    },
    /// Delete with a grace period for odd names, so that the object is marked first.
    Delete {
        name: u8,
    },
    Release {
        name: u8,
    },
    /// Change of another kind, which increases the revision.
    Elsewhere,
    /// A watcher reads up to `max` changes.
    Read {
        watcher: usize,
        max: usize,
    },
    /// A watcher loses its connection and resumes from the last event.
    Cut {
        watcher: usize,
    },
    /// The server restarts and loses its history.
    Restart,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..6u8, prop::bool::weighted(0.2)).prop_map(|(name, finalizer)| Step::Create { name, finalizer }),
        6 => (0..6u8, 0..3u8).prop_map(|(name, value)| Step::Label { name, value }),
        4 => (0..6u8).prop_map(|name| Step::Delete { name }),
        1 => (0..6u8).prop_map(|name| Step::Release { name }),
        1 => Just(Step::Elsewhere),
        5 => (0..WATCHERS, 1..8usize).prop_map(|(watcher, max)| Step::Read { watcher, max }),
        2 => (0..WATCHERS).prop_map(|watcher| Step::Cut { watcher }),
        1 => Just(Step::Restart),
    ]
}

/// State of a client that lists and watches.
#[derive(Debug, Default, Clone)]
struct Watcher {
    state: State,
    /// Revision up to which the state is complete.
    version: u64,
    /// Revision of the last event, from which a client without bookmarks resumes.
    last_event: u64,
    listed: bool,
    refused: u32,
}

impl Watcher {
    fn list(store: &TestStore, kind: &Kind) -> Self {
        let version = store.cluster.revision();
        Self { state: state(store, kind), version, last_event: version, listed: true, refused: 0 }
    }

    /// Reads one batch and returns its length. Lists again after a 410, as every client does.
    fn read(&mut self, store: &TestStore, kind: &Kind, max: usize) -> Result<usize, TestCaseError> {
        if !self.listed {
            *self = Self::list(store, kind);
        }
        let Ok(batch) = store.cluster.changes_after(kind, self.version, max) else {
            let refused = self.refused + 1;
            *self = Self { refused, ..Self::list(store, kind) };
            return Ok(0);
        };
        prop_assert!(batch.changes.len() <= max);
        for change in &batch.changes {
            let object = &change.object;
            prop_assert!(object.revision > self.version, "duplicate event or wrong order: {change:?}");
            prop_assert!(object.revision <= batch.revision);
            self.version = object.revision;
            self.last_event = object.revision;
            let key = (object.namespace.to_string(), object.name.to_string());
            let previous_revision = self.state.get(&key).copied();
            prop_assert_eq!(
                previous_revision,
                change.previous.as_ref().map(|previous| previous.revision),
                "lost event"
            );
            match change.kind {
                ChangeKind::Added => prop_assert_eq!(previous_revision, None),
                ChangeKind::Modified | ChangeKind::Deleted => prop_assert!(previous_revision.is_some()),
            }
            // Parsing the object would take most of the time of this test.
            let version = format!(r#""resourceVersion":"{}""#, object.revision);
            let json = str::from_utf8(&object.json).unwrap();
            prop_assert!(json.contains(&version), "resource version inside of the object: {json}");
            match change.kind {
                ChangeKind::Deleted => self.state.remove(&key),
                _ => self.state.insert(key, object.revision),
            };
        }
        prop_assert!(batch.revision >= self.version);
        self.version = batch.revision;
        Ok(batch.changes.len())
    }

    fn catch_up(&mut self, store: &TestStore, kind: &Kind) -> Result<(), TestCaseError> {
        while !self.listed || self.version < store.cluster.revision() {
            self.read(store, kind, 3)?;
        }
        prop_assert_eq!(&self.state, &state(store, kind));
        Ok(())
    }
}

fn state(store: &TestStore, kind: &Kind) -> State {
    let objects = store.cluster.list(kind, None);
    objects.iter().map(|it| ((it.namespace.to_string(), it.name.to_string()), it.revision)).collect()
}

/// Returns namespace and name of an object; the objects are in two namespaces.
fn key_of(name: u8) -> (&'static str, String) {
    (if name.is_multiple_of(3) { "kube-system" } else { "default" }, format!("p{name}"))
}

/// Executes a step. Rejected writes, such as a create of an existing object, are part of a history.
fn play(store: &mut TestStore, kind: &Kind, step: &Step) {
    let options = store.options();
    match step {
        Step::Create { name, finalizer } => {
            let (namespace, name) = key_of(*name);
            let mut object = pod_on(&name, "n");
            if *finalizer {
                object["metadata"]["finalizers"] = json!(["example.com/wait"]);
            }
            let _ = store.cluster.create(kind, namespace, object, options);
        }
        Step::Label { name, value } => {
            let (namespace, name) = key_of(*name);
            let patch = Patch::Merge(json!({"metadata": {"labels": {"v": value.to_string()}}}));
            let _ = store.cluster.patch(WriteTarget::object(kind, namespace, &name), &patch, options);
        }
        Step::Delete { name } => {
            let (namespace, text) = key_of(*name);
            let grace = if name.is_multiple_of(2) { 0 } else { 30 };
            let delete = DeleteOptions { grace_period_seconds: Some(grace), ..DeleteOptions::default() };
            let _ = store.cluster.delete(kind, namespace, &text, &delete, options);
        }
        Step::Release { name } => {
            let (namespace, name) = key_of(*name);
            let patch = Patch::Merge(json!({"metadata": {"finalizers": null}}));
            let _ = store.cluster.patch(WriteTarget::object(kind, namespace, &name), &patch, options);
        }
        Step::Elsewhere => {
            store.create("configmaps", json!({"metadata": {"generateName": "c-"}}));
        }
        Step::Restart => store.cluster.compact(),
        Step::Read { .. } | Step::Cut { .. } => {}
    }
}

fn check(steps: &[Step], history: usize) -> Result<(), TestCaseError> {
    let mut store = TestStore::with_history(history);
    let kind = store.kind("pods");
    let mut watchers = vec![Watcher::default(); WATCHERS];
    let mut snapshots = vec![Watcher::list(&store, &kind)];
    for step in steps {
        play(&mut store, &kind, step);
        match step {
            Step::Read { watcher, max } => {
                watchers[*watcher].read(&store, &kind, *max)?;
            }
            Step::Cut { watcher } => watchers[*watcher].version = watchers[*watcher].last_event,
            _ => snapshots.push(Watcher::list(&store, &kind)),
        }
    }
    for watcher in &mut watchers {
        watcher.catch_up(&store, &kind)?;
    }
    // From every past state: a watch reaches the current state, and is rejected if and only if a change was dropped.
    let held = store.cluster.changes_after(&kind, u64::MAX, 1).is_ok();
    prop_assert!(held, "a watch from a later revision than the current one is rejected");
    let mut oldest_answered = false;
    for mut snapshot in snapshots {
        let answered = store.cluster.changes_after(&kind, snapshot.version, 1).is_ok();
        prop_assert!(answered || !oldest_answered, "a later revision is rejected while an earlier one is served");
        oldest_answered = answered;
        snapshot.catch_up(&store, &kind)?;
        prop_assert_eq!(snapshot.refused, u32::from(!answered));
    }
    Ok(())
}

fn histories() -> ProptestConfig {
    let cases = std::env::var("WATCH_HISTORIES").ok().and_then(|text| text.parse().ok()).unwrap_or(HISTORIES);
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(histories())]

    #[test]
    fn watch_contract(steps in prop::collection::vec(step(), 1..40), history in prop_oneof![1..8usize, Just(1_000)]) {
        check(&steps, history)?;
    }
}

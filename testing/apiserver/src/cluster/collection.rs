//! The objects of one kind and the history of their changes.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;
use std::sync::Arc;

use super::stored::{Key, Stored};
use crate::kinds::Kind;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChangeKind {
    Added,
    Modified,
    Deleted,
}

/// Change of one object; each has its own revision.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) kind: ChangeKind,
    /// Object after the change. For a deletion: its last state, with the revision of the deletion.
    pub(crate) object: Arc<Stored>,
    /// Object before the change; `None` for a create.
    pub(crate) previous: Option<Arc<Stored>>,
}

impl Change {
    /// Returns the object before the change, with the revision of the change. A watch sends it as `DELETED` if the
    /// change takes the object out of its selection.
    pub(crate) fn last_seen(&self, kind: &Kind) -> Option<Stored> {
        self.previous.as_ref().map(|previous| previous.at_revision(kind, self.object.revision))
    }
}

/// Objects of a kind by namespace and name, which is the order of lists.
pub(super) type Objects = BTreeMap<Box<str>, BTreeMap<Box<str>, Arc<Stored>>>;

#[derive(Debug, Default)]
pub(super) struct Collection {
    objects: Objects,
    history: VecDeque<Arc<Change>>,
    /// Revision of the newest change that was dropped from the history.
    floor: u64,
}

impl Collection {
    pub(super) fn get(&self, namespace: &str, name: &str) -> Option<&Arc<Stored>> {
        self.objects.get(namespace)?.get(name)
    }

    /// Returns the objects of a namespace, or of all, whose key is greater than `after`.
    pub(super) fn iter_after<'a>(
        &'a self,
        namespace: Option<&'a str>,
        after: Option<(&'a str, &'a str)>,
    ) -> impl Iterator<Item = &'a Arc<Stored>> {
        let first = namespace.or(after.map(|(namespace, _)| namespace));
        let from: Bound<&str> = first.map_or(Bound::Unbounded, Bound::Included);
        self.objects
            .range::<str, _>((from, Bound::Unbounded))
            .take_while(move |(found, _)| namespace.is_none_or(|namespace| namespace == &***found))
            .flat_map(move |(found, names)| {
                let from = match after {
                    Some((namespace, name)) if namespace == &**found => Bound::Excluded(name),
                    _ => Bound::Unbounded,
                };
                names.range::<str, _>((from, Bound::Unbounded)).map(|(_, object)| object)
            })
    }

    /// Returns the objects changed after `revision`, as they were at it; `None` for those that did not exist. Fails
    /// with the oldest available revision if the history does not reach back to `revision`.
    pub(super) fn state_before_changes_after(&self, revision: u64) -> Result<BTreeMap<Key, Option<Arc<Stored>>>, u64> {
        let mut states = BTreeMap::new();
        for change in self.changes_after(revision, usize::MAX)? {
            states.entry(change.object.key()).or_insert_with(|| change.previous.clone());
        }
        Ok(states)
    }

    pub(super) fn is_empty(&self, namespace: &str) -> bool {
        self.objects.get(namespace).is_none_or(BTreeMap::is_empty)
    }

    pub(super) fn put(&mut self, object: Arc<Stored>, history_length: usize) {
        let previous =
            self.objects.entry(object.namespace.clone()).or_default().insert(object.name.clone(), Arc::clone(&object));
        let kind = if previous.is_some() { ChangeKind::Modified } else { ChangeKind::Added };
        self.record(Change { kind, object, previous }, history_length);
    }

    /// Removes an object. `last` is its last state, with the revision of the removal.
    pub(super) fn remove(&mut self, last: Arc<Stored>, history_length: usize) {
        let Some(names) = self.objects.get_mut(&last.namespace) else { return };
        let previous = names.remove(&last.name);
        if names.is_empty() {
            self.objects.remove(&last.namespace);
        }
        self.record(Change { kind: ChangeKind::Deleted, object: last, previous }, history_length);
    }

    fn record(&mut self, change: Change, history_length: usize) {
        self.history.push_back(Arc::new(change));
        while self.history.len() > history_length {
            if let Some(dropped) = self.history.pop_front() {
                self.floor = dropped.object.revision;
            }
        }
    }

    pub(super) fn objects(&self) -> &Objects {
        &self.objects
    }

    /// Returns a collection of restored objects, whose history is empty and starts at `revision`.
    pub(super) fn restored(objects: Objects, revision: u64) -> Self {
        Self { objects, history: VecDeque::new(), floor: revision }
    }

    /// Drops the history up to `revision`, the current one.
    pub(super) fn compact(&mut self, revision: u64) {
        self.history.clear();
        self.floor = revision;
    }

    /// Returns up to `max` changes after `revision`, oldest first. Fails with the oldest available revision if the
    /// history does not reach back to `revision`.
    pub(super) fn changes_after(&self, revision: u64, max: usize) -> Result<Vec<Arc<Change>>, u64> {
        if revision < self.floor {
            return Err(self.floor);
        }
        let start = self.history.partition_point(|change| change.object.revision <= revision);
        Ok(self.history.iter().skip(start).take(max).cloned().collect())
    }
}

//! The objects, as the writes so far have left them.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use kube_endpoint_model::{ObjectKey, Pod, Uid};

use super::content::{Content, Traits};
use super::summary::Summary;
use super::write::{Effect, Part, Write};
use crate::{Action, Author, Change, Gap, Kind, Recorded, What};

/// Number of deleted objects whose UIDs are remembered, so that a late write does not bring them back.
const DELETED: usize = 16 << 10;
/// Time by which a write may be earlier than the one before. Requests that are answered at once may be logged in any order.
const DISORDER: SignedDuration = SignedDuration::from_secs(1);

type Key = (Kind, ObjectKey);

/// The objects that are known to exist.
#[derive(Default)]
pub(super) struct Objects {
    known: HashMap<Key, Known>,
    /// UIDs of deleted objects, oldest first.
    deleted: VecDeque<Uid>,
    deleted_uids: HashSet<Uid>,
    /// Time of the last change.
    last: Option<Timestamp>,
}

#[derive(Clone)]
struct Known {
    object: Recorded,
    traits: Traits,
    /// Version of the last write that states one; 0 if none did.
    version: u64,
}

/// State of an object after a write.
enum After {
    Is(Recorded, Traits),
    Removed,
    Unknown,
}

impl Objects {
    /// Adds an object that existed before the first write.
    pub(super) fn add(&mut self, content: Content) {
        let Content { object, traits, .. } = content;
        let key = (object.kind(), object.key());
        let version = object.version();
        self.known.insert(key, Known { object, traits, version });
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Recorded> {
        self.known.values().map(|known| &known.object)
    }

    /// Applies a write, and appends what it changes.
    pub(super) fn apply(&mut self, mut write: Write, changes: &mut VecDeque<Change>, summary: &mut Summary) {
        let last = self.last.unwrap_or(write.seen);
        if write.seen < last.saturating_sub(DISORDER).unwrap_or(last) {
            summary.late += 1;
        }
        write.seen = write.seen.max(last);
        self.last = Some(write.seen);
        if let Effect::AllDeleted { grace, is_selective } = write.effect {
            return self.delete_all(&write, grace, is_selective, changes, summary);
        }
        if self.is_outdated(&write) {
            return;
        }
        let key = (write.kind, write.key.clone());
        let after = after(self.known.get(&key), write.effect);
        if let After::Is(object, _) = &after
            && let Some(before) = self.known.get(&key)
            && differ(&before.object.uid(), &object.uid())
        {
            // The log does not have the deletion, or it comes later.
            let object = before.object.clone();
            self.known.remove(&key);
            self.remember(object.uid());
            changes.push_back(Change { seen: write.seen, author: None, what: What::Removed(object) });
        }
        let before = self.known.get(&key);
        if matches!((&after, before, write.action), (After::Is(..), None, Action::Changed)) {
            // It existed before, in an unknown state.
            let (what, author) = (unknown(key.clone(), write.action, false), Some(write.author.clone()));
            changes.push_back(Change { seen: write.seen, author, what });
        }
        let record = |what| changes.push_back(Change { seen: write.seen, author: Some(write.author), what });
        match after {
            After::Is(object, traits) => {
                let version = write.version.max(before.map_or(0, |before| before.version));
                let is_new = before.is_none_or(|before| before.object != object);
                let before = self.known.insert(key, Known { object: object.clone(), traits, version });
                if is_new {
                    record(What::Put { before: before.map(|before| before.object), after: object });
                }
            }
            After::Removed if before.is_some() => {
                let before = self.known.remove(&key);
                let uid = before.as_ref().map(|before| before.object.uid()).unwrap_or_default();
                self.remember(uid);
                self.remember(write.uid);
                if let Some(Known { object, .. }) = before {
                    record(What::Removed(object));
                }
            }
            After::Removed => {
                self.remember(write.uid);
                record(unknown(key, write.action, false));
            }
            After::Unknown => {
                summary.without_content += 1;
                let is_recorded = before.is_some();
                record(unknown(key, write.action, is_recorded));
            }
        }
    }

    /// Returns whether a write was applied before what is known, or is known.
    fn is_outdated(&self, write: &Write) -> bool {
        if self.deleted_uids.contains(&write.uid) {
            return true;
        }
        let Some(before) = self.known.get(&(write.kind, write.key.clone())) else { return false };
        match write.effect {
            Effect::Is(_) => (1..=before.version).contains(&write.version),
            Effect::Removed(_) if (1..before.version).contains(&write.version) => true,
            _ => differ(&before.object.uid(), &write.uid),
        }
    }

    fn remember(&mut self, uid: Uid) {
        if uid.is_empty() || !self.deleted_uids.insert(uid.clone()) {
            return;
        }
        self.deleted.push_back(uid);
        if self.deleted.len() > DELETED
            && let Some(oldest) = self.deleted.pop_front()
        {
            self.deleted_uids.remove(&oldest);
        }
    }

    /// Deletes the objects of a kind. If it is unknown which, the deletion is a gap.
    fn delete_all(
        &mut self,
        write: &Write,
        grace: Option<i64>,
        is_selective: bool,
        changes: &mut VecDeque<Change>,
        summary: &mut Summary,
    ) {
        if is_selective {
            summary.without_content += 1;
            let Author { manager, user, .. } = &write.author;
            let namespace = &write.key.namespace;
            let reason = format!(
                "{:?}s of namespace {namespace} were deleted by {manager} ({user}), and the audit log does not say which",
                write.kind
            );
            let since = write.seen.saturating_sub(SignedDuration::from_millis(1)).unwrap_or(write.seen);
            let what = What::Gap(Gap { since, reason: reason.as_str().into() });
            changes.push_back(Change { seen: write.seen, author: None, what });
            return;
        }
        let is_meant = |(kind, key): &&Key| {
            *kind == write.kind && (write.key.namespace.is_empty() || key.namespace == write.key.namespace)
        };
        let mut keys: Vec<Key> = self.known.keys().filter(is_meant).cloned().collect();
        keys.sort();
        for (kind, key) in keys {
            let (uid, author) = (Uid::default(), write.author.clone());
            let effect = Effect::Deletion { grace, before: None };
            let (seen, action) = (write.seen, write.action);
            let one = Write { kind, key, uid, version: 0, seen, author, action, effect, length: 0 };
            self.apply(one, changes, summary);
        }
    }
}

/// Returns whether two UIDs are known and differ.
fn differ(a: &Uid, b: &Uid) -> bool {
    !a.is_empty() && !b.is_empty() && a != b
}

fn unknown((kind, key): Key, action: Action, is_recorded: bool) -> What {
    What::Unknown(crate::UnknownWrite { kind, key, action, is_recorded })
}

/// Returns the state of an object after a write.
fn after(before: Option<&Known>, effect: Effect) -> After {
    let after = match effect {
        Effect::Is(content) => Some(After::Is(content.object, content.traits)),
        Effect::Removed(_) => Some(After::Removed),
        Effect::Requested(content, part) => requested(before, *content, part),
        Effect::Patched(patch) => before.and_then(|Known { object, traits, .. }| {
            patch.apply(object, *traits).map(|object| After::Is(object, *traits))
        }),
        Effect::Bound(node) => before.and_then(|Known { object, traits, .. }| match object {
            Recorded::Pod(pod) => {
                let pod = Pod { node_name: node, ..Pod::clone(pod) };
                Some(After::Is(Arc::new(pod).into(), *traits))
            }
            _ => None,
        }),
        Effect::Deletion { grace, before: listed } => {
            let listed = listed.map(|content| (content.object, content.traits));
            let known = before.map(|Known { object, traits, .. }| (object.clone(), *traits));
            known.or(listed).and_then(|(object, traits)| deletion(object, traits, grace))
        }
        Effect::AllDeleted { .. } | Effect::Unknown => None,
    };
    after.unwrap_or(After::Unknown)
}

/// Combines what a request contains with the part that the server keeps.
fn requested(before: Option<&Known>, content: Content, part: Part) -> Option<After> {
    let Content { object: requested, traits, .. } = content;
    let object = match (requested, before.map(|before| &before.object)) {
        (Recorded::Pod(requested), Some(Recorded::Pod(before))) => {
            let (main, status) = if part == Part::Main { (&requested, before) } else { (before, &requested) };
            Arc::new(Pod {
                pod_ips: status.pod_ips.clone(),
                pod_ip_family: status.pod_ip_family,
                ready_changed: status.ready_changed,
                ready: status.ready,
                finished: status.finished,
                excluded_by_restart_policy: status.excluded_by_restart_policy,
                labels: requested.labels.clone(),
                ..Pod::clone(main)
            })
            .into()
        }
        // Their labels are from the request in both cases; a Node has no other recorded field than those and its status.
        (Recorded::Node(requested), Some(Recorded::Node(before))) if part == Part::Main => {
            let (ready, cpu_milli) = (before.ready, before.cpu_milli);
            Arc::new(kube_endpoint_model::Node { ready, cpu_milli, ..kube_endpoint_model::Node::clone(&requested) })
                .into()
        }
        // No recorded field of a Service is in its status.
        (Recorded::Service(_), Some(before)) if part == Part::Status => before.clone(),
        (requested, _) if part == Part::Main || requested.kind() == Kind::Node => requested,
        _ => return None,
    };
    let traits = before.filter(|_| part == Part::Status).map_or(traits, |before| before.traits);
    Some(After::Is(object, traits))
}

/// Returns the state of an object whose deletion began, as far as it is certain.
///
/// A Pod that was assigned to a Node and whose containers may run waits for its grace period, and the kubelet deletes it after that.
fn deletion(object: Recorded, traits: Traits, grace: Option<i64>) -> Option<After> {
    let Recorded::Pod(pod) = object else {
        return (!traits.has_finalizers).then_some(After::Removed);
    };
    let is_immediate = pod.node_name.is_empty() || pod.finished || grace.unwrap_or(traits.grace) == 0;
    if is_immediate && !traits.has_finalizers {
        return Some(After::Removed);
    }
    let pod = Pod { terminating: true, ..Pod::clone(&pod) };
    Some(After::Is(Arc::new(pod).into(), traits))
}

//! Changes of the controllers' inputs that this process has seen on its watches.

use std::collections::HashMap;
use std::time::Duration;

use kube_informer::Event;
use kube_wire::{Object, ObjectKey};
use tokio::time::Instant;

/// Kind of an input of the controllers whose changes are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Input {
    Pod,
    Service,
    Endpoints,
}

/// Time for which a change is kept: longer than a failover, or than a restart of kube-controller-manager.
const KEPT: Duration = Duration::from_secs(300);
const PRUNE_PERIOD: Duration = Duration::from_secs(60);

/// The objects that were changed lately.
///
/// A standby records only what resource versions cannot show later: deletions, and changes of Services. The leader records
/// all changes from its first sync on.
#[derive(Debug, Default)]
pub(super) struct RecentChanges {
    /// The last change of each object, and whether it was a deletion.
    changes: HashMap<(Input, ObjectKey), (Instant, bool)>,
    pruned: Option<Instant>,
    records_all: bool,
}

impl RecentChanges {
    /// Records an event. A later list without an object counts as its deletion, since the guard of the cache checks lists
    /// that lack many. Other changes of a list show in the resource versions, and its first one shows no change.
    pub(super) fn observe<T: Object>(&mut self, now: Instant, input: Input, event: &Event<T>) {
        let deleted = matches!(event, Event::Deleted { .. });
        let is_kept = deleted || input == Input::Service || self.records_all;
        if !is_kept || !event.is_change() || (event.is_from_list() && !deleted) {
            return;
        }
        if self.pruned.is_none_or(|pruned| pruned + PRUNE_PERIOD <= now) {
            self.changes.retain(|_, (at, _)| *at + KEPT > now);
            self.pruned = Some(now);
        }
        self.changes.insert((input, event.object().key()), (now, deleted));
    }

    /// Records all changes from now on.
    pub(super) fn record_all(&mut self) {
        self.records_all = true;
    }

    /// Returns whether a change of this object was seen, a deletion included.
    pub(super) fn has_changed(&self, input: Input, key: &ObjectKey) -> bool {
        self.changes.contains_key(&(input, key.clone()))
    }

    /// Returns whether the last change of this object was its deletion.
    pub(super) fn was_deleted(&self, input: Input, key: &ObjectKey) -> bool {
        self.changes.get(&(input, key.clone())).is_some_and(|(_, deleted)| *deleted)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kube_endpoint_model::Service;
    use rstest::rstest;

    use super::*;

    fn web() -> Arc<Service> {
        Arc::new(Service { namespace: "shop".into(), name: "web".into(), ..Service::default() })
    }

    fn updated(relisted: bool) -> Event<Service> {
        Event::Updated { old: web(), new: web(), relisted }
    }

    fn added(initial: bool, relisted: bool) -> Event<Service> {
        Event::Added { object: web(), initial, relisted }
    }

    fn deleted(tombstone: bool) -> Event<Service> {
        Event::Deleted { object: web(), tombstone }
    }

    /// Whether the change, and whether a deletion, is recorded on a standby and on a leader.
    #[rstest]
    #[case::initial(Input::Pod, added(true, false), [false, false], false)]
    #[case::added(Input::Pod, added(false, false), [false, true], false)]
    #[case::added_service(Input::Service, added(false, false), [true, true], false)]
    #[case::updated(Input::Endpoints, updated(false), [false, true], false)]
    #[case::relisted(Input::Service, updated(true), [false, false], false)]
    #[case::deleted(Input::Pod, deleted(false), [true, true], true)]
    #[case::missing_in_a_list(Input::Pod, deleted(true), [true, true], true)]
    fn changes_are_recorded(
        #[case] input: Input,
        #[case] event: Event<Service>,
        #[case] changed: [bool; 2],
        #[case] deleted: bool,
    ) {
        for (is_leader, changed) in [(false, changed[0]), (true, changed[1])] {
            let mut changes = RecentChanges::default();
            if is_leader {
                changes.record_all();
            }
            changes.observe(Instant::now(), input, &event);
            let key = web().key();
            assert_eq!((changes.has_changed(input, &key), changes.was_deleted(input, &key)), (changed, deleted));
        }
    }

    #[test]
    fn a_created_object_is_no_longer_deleted() {
        let (mut changes, now, key) = (RecentChanges::default(), Instant::now(), web().key());
        changes.record_all();
        changes.observe(now, Input::Pod, &deleted(false));
        changes.observe(now, Input::Pod, &added(false, false));
        assert!(changes.has_changed(Input::Pod, &key) && !changes.was_deleted(Input::Pod, &key));
        assert!(!changes.has_changed(Input::Service, &key), "kinds are separate");
    }

    #[test]
    fn old_changes_are_dropped() {
        let (mut changes, start) = (RecentChanges::default(), Instant::now());
        let other = |at: Duration, changes: &mut RecentChanges| {
            let object = Arc::new(Service { name: format!("{}", at.as_secs()).into(), ..Service::default() });
            changes.observe(start + at, Input::Pod, &Event::Deleted { object, tombstone: false });
        };
        changes.observe(start, Input::Pod, &deleted(false));
        other(KEPT.saturating_sub(Duration::from_secs(1)), &mut changes);
        assert!(changes.was_deleted(Input::Pod, &web().key()));
        other(KEPT + PRUNE_PERIOD, &mut changes);
        assert!(!changes.was_deleted(Input::Pod, &web().key()));
        assert_eq!(changes.changes.len(), 2);
    }
}

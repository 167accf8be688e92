//! Which Services a change of a slice wakes: the rules of the slice and the mirroring controller alike.

use std::sync::Arc;

use kube_endpoint_model::{EndpointSlice, ObjectKey};

use crate::tracker::SliceTracker;

/// The Services that an event of a slice wakes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Woken {
    /// Someone else changed their slices: to be synced after the delay of the controller.
    pub changed: Vec<ObjectKey>,
    /// A sync of theirs was waiting for the cache to show a slice: to be synced at once.
    pub waiting: Vec<ObjectKey>,
}

/// The Services to sync after a slice went from one state to another (`None`: it was or is not there; ES-H3 to ES-H6), for the controller that writes `controller` as managed-by. Takes in what it sees in the tracker.
///
/// A slice that came out as this controller wrote it wakes nobody. One that names another Service now wakes both; one
/// that changed hands, or was changed or deleted by someone else, wakes its Service.
pub fn woken_services(
    (old, new): (Option<&Arc<EndpointSlice>>, Option<&Arc<EndpointSlice>>),
    controller: &str,
    tracker: &SliceTracker,
) -> Woken {
    let (old, new) = (old.map(|slice| &**slice), new.map(|slice| &**slice));
    let changed = changed_services(old, new, controller, tracker);
    let waiting = new.or(old).and_then(service_of).filter(|service| tracker.is_waiting(service));
    Woken { changed, waiting: waiting.into_iter().collect() }
}

fn changed_services(
    old: Option<&EndpointSlice>,
    new: Option<&EndpointSlice>,
    controller: &str,
    tracker: &SliceTracker,
) -> Vec<ObjectKey> {
    match (old, new) {
        (None, None) => Vec::new(),
        (None, Some(new)) => woken_by(new, learn(new, controller, tracker)),
        (Some(old), None) => woken_by(old, old.is_managed_by(controller) && tracker.lost(old)),
        (Some(old), Some(new)) if old.service_name() != new.service_name() => {
            tracker.forget_slice(old);
            learn(new, controller, tracker);
            woken_by(new, true).into_iter().chain(woken_by(old, true)).collect()
        }
        (Some(old), Some(new)) => {
            let changed_hands = old.is_managed_by(controller) != new.is_managed_by(controller);
            if changed_hands {
                tracker.forget_slice(old);
            }
            let news = learn(new, controller, tracker);
            woken_by(new, changed_hands || news)
        }
    }
}

/// Takes a slice of this controller in; says whether it is news. A slice that is being deleted does not count for its
/// Service any more (ES-5), so it is not remembered either.
fn learn(slice: &EndpointSlice, controller: &str, tracker: &SliceTracker) -> bool {
    if !slice.is_managed_by(controller) {
        return false;
    }
    let news = tracker.is_news(slice);
    if slice.metadata.deletion_timestamp.is_some() {
        tracker.forget_slice(slice);
    } else {
        tracker.seen(slice);
    }
    news
}

fn woken_by(slice: &EndpointSlice, wakes: bool) -> Vec<ObjectKey> {
    service_of(slice).filter(|_| wakes).into_iter().collect()
}

fn service_of(slice: &EndpointSlice) -> Option<ObjectKey> {
    let name = slice.service_name()?;
    Some(ObjectKey { namespace: slice.metadata.namespace.clone(), name: name.into() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use kube_controller::Freshness;
    use kube_endpoint_model::Labels;
    use kube_endpoint_model::well_known::{SERVICE_NAME_LABEL, SLICE_MANAGED_BY_LABEL};

    const OURS: &str = "ours";

    fn slice(service: &str, manager: &str, generation: i64) -> Arc<EndpointSlice> {
        Arc::new(plain(service, manager, generation))
    }

    fn plain(service: &str, manager: &str, generation: i64) -> EndpointSlice {
        let mut slice: EndpointSlice = serde_json::from_str("{}").unwrap();
        slice.metadata.namespace = "ns".into();
        slice.metadata.uid = "u".into();
        slice.metadata.generation = generation;
        let labels = [(SERVICE_NAME_LABEL, service), (SLICE_MANAGED_BY_LABEL, manager)];
        slice.metadata.labels = labels.into_iter().filter(|(_, value)| !value.is_empty()).collect::<Labels>();
        slice
    }

    #[track_caller]
    fn check(
        tracker: &SliceTracker,
        old: Option<&Arc<EndpointSlice>>,
        new: Option<&Arc<EndpointSlice>>,
        expected: &[&str],
    ) {
        let woken = woken_services((old, new), OURS, tracker);
        assert_eq!(woken.changed.iter().map(ToString::to_string).collect::<Vec<_>>(), expected);
    }

    #[expect(clippy::disallowed_methods, reason = "any instant will do")]
    fn freshness(tracker: &SliceTracker, service: &str) -> Freshness {
        tracker.check(&ObjectKey::new("ns", service), [], std::time::Instant::now())
    }

    #[test]
    fn an_event_wakes_a_sync_that_waits_for_the_cache() {
        let tracker = SliceTracker::default();
        let key = ObjectKey::new("ns", "web");
        tracker.wrote(&key, "u", 1);
        let written = slice("web", OURS, 1);
        assert_eq!(woken_services((None, Some(&written)), OURS, &tracker), Woken::default(), "nobody waits");
        tracker.wrote(&key, "v", 1);
        assert!(matches!(freshness(&tracker, "web"), Freshness::Stale { .. }));
        let woken = woken_services((Some(&written), Some(&written)), OURS, &tracker);
        assert_eq!(woken, Woken { changed: vec![], waiting: vec![key] });
    }

    #[test]
    fn a_slice_of_someone_else_wakes_nobody() {
        let tracker = SliceTracker::default();
        let it = slice("web", "theirs", 1);
        check(&tracker, None, Some(&it), &[]);
        check(&tracker, Some(&it), Some(&slice("web", "theirs", 2)), &[]);
        check(&tracker, Some(&it), None, &[]);
    }

    #[test]
    fn a_slice_seen_first_is_news_and_our_own_writes_are_not() {
        let tracker = SliceTracker::default();
        check(&tracker, None, Some(&slice("web", OURS, 1)), &["ns/web"]);
        tracker.wrote(&ObjectKey::new("ns", "web"), "u", 2);
        check(&tracker, Some(&slice("web", OURS, 1)), Some(&slice("web", OURS, 2)), &[]);
        check(&tracker, Some(&slice("web", OURS, 2)), Some(&slice("web", OURS, 3)), &["ns/web"]);
    }

    #[test]
    fn deletions_by_others_are_news() {
        let tracker = SliceTracker::default();
        let it = slice("web", OURS, 1);
        check(&tracker, None, Some(&it), &["ns/web"]);
        check(&tracker, Some(&it), None, &["ns/web"]);
        tracker.wrote(&ObjectKey::new("ns", "web"), "u", 1);
        tracker.deleted(&ObjectKey::new("ns", "web"), "u");
        check(&tracker, Some(&it), None, &[]);
    }

    // upstream: TestOnEndpointSliceUpdate
    #[test]
    fn a_slice_that_moves_wakes_both_services() {
        let tracker = SliceTracker::default();
        let (before, after) = (slice("a", OURS, 1), slice("b", OURS, 2));
        check(&tracker, None, Some(&before), &["ns/a"]);
        check(&tracker, Some(&before), Some(&after), &["ns/b", "ns/a"]);
        assert_eq!(freshness(&tracker, "a"), Freshness::Fresh, "EC-10");
        check(&tracker, Some(&after), Some(&slice("", OURS, 3)), &["ns/b"]);
    }

    #[test]
    fn a_slice_that_changes_hands_wakes_its_service() {
        let tracker = SliceTracker::default();
        let (ours, theirs) = (slice("web", OURS, 1), slice("web", "theirs", 2));
        check(&tracker, None, Some(&ours), &["ns/web"]);
        check(&tracker, Some(&ours), Some(&theirs), &["ns/web"]);
        assert_eq!(freshness(&tracker, "web"), Freshness::Fresh, "EC-10");
        check(&tracker, Some(&theirs), Some(&slice("web", OURS, 3)), &["ns/web"]);
    }

    #[test]
    fn a_slice_being_deleted_wakes_its_service_once_and_makes_it_not_stale() {
        let tracker = SliceTracker::default();
        let it = slice("web", OURS, 1);
        check(&tracker, None, Some(&it), &["ns/web"]);
        let mut going = plain("web", OURS, 2);
        going.metadata.deletion_timestamp = Some(jiff::Timestamp::UNIX_EPOCH);
        check(&tracker, Some(&it), Some(&Arc::new(going)), &["ns/web"]);
        assert_eq!(freshness(&tracker, "web"), Freshness::Fresh, "EC-10");
    }
}

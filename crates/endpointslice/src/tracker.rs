//! What the cache of slices must show before it can be believed.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};
use std::time::Instant;

use kube_controller::{Freshness, Staleness, locked};
use kube_endpoint_model::{EndpointSlice, ObjectKey, Uid};

/// Remembers the generation of every slice that was written or seen, so that a sync on a cache that has not caught up
/// with a write of this controller is recognised (TR-1 to TR-9).
///
/// Unlike upstream it also learns the slices it only sees, so that a change or deletion by someone else is noticed from
/// the start (EC-9), and forgets those that leave a Service, so that no Service looks stale for a slice it does not have
/// any more (EC-10). A Service that looks stale waits for the event that makes it fresh; one that waits longer than
/// [`STALE_DEADLINE`](kube_controller::STALE_DEADLINE) is [`Overdue`](Freshness::Overdue), and a live read puts the tracker right, whatever led there
/// (kubernetes/kubernetes#127370, #141592).
#[derive(Debug, Default)]
pub struct SliceTracker {
    services: Mutex<HashMap<ObjectKey, Tracked>>,
}

#[derive(Debug, Default)]
struct Tracked {
    slices: HashMap<Uid, Known>,
    staleness: Staleness,
    /// How many applies are under way.
    writing: usize,
    /// What the cache lost meanwhile: the answer to a write of such a slice comes too late to be remembered.
    lost: Vec<Uid>,
}

impl Tracked {
    fn remember(&mut self, uid: Uid, known: Known) {
        if !self.lost.contains(&uid) {
            self.slices.insert(uid, known);
        }
    }
}

/// Writes of slices of one Service are under way: see [`SliceTracker::writing`].
#[derive(Debug)]
#[must_use]
pub struct Writing<'a> {
    tracker: &'a SliceTracker,
    service: &'a ObjectKey,
}

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        if let Some(tracked) = self.tracker.services().get_mut(self.service) {
            tracked.writing = tracked.writing.saturating_sub(1);
            if tracked.writing == 0 {
                tracked.lost = Vec::new();
            }
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    Generation(i64),
    /// A deletion succeeded; the cache will tell.
    Deleted,
}

impl SliceTracker {
    fn services(&self) -> MutexGuard<'_, HashMap<ObjectKey, Tracked>> {
        locked(&self.services)
    }

    /// Writes of slices of `service` begin; they end when what is returned is dropped.
    ///
    /// In between, the event of a deletion may overtake the answer to a write of the same slice. That answer is then
    /// not remembered: the slice would be waited for, and never come (kubernetes/kubernetes#141592).
    pub fn writing<'a>(&'a self, service: &'a ObjectKey) -> Writing<'a> {
        self.services().entry(service.clone()).or_default().writing += 1;
        Writing { tracker: self, service }
    }

    /// Whether slices of the Service that this one names are being written.
    pub(crate) fn is_writing(&self, slice: &EndpointSlice) -> bool {
        self.services().get(&service_of(slice)).is_some_and(|tracked| tracked.writing > 0)
    }

    /// A write of a slice of `service` succeeded and brought it to `generation`.
    pub fn wrote(&self, service: &ObjectKey, uid: impl Into<Uid>, generation: i64) {
        self.services().entry(service.clone()).or_default().remember(uid.into(), Known::Generation(generation));
    }

    /// A deletion of a slice of `service` succeeded.
    pub fn deleted(&self, service: &ObjectKey, uid: impl Into<Uid>) {
        self.services().entry(service.clone()).or_default().remember(uid.into(), Known::Deleted);
    }

    /// Takes in a slice that the cache shows, unless more is known of it.
    pub fn seen(&self, slice: &EndpointSlice) {
        let mut services = self.services();
        let slices = &mut services.entry(service_of(slice)).or_default().slices;
        let known = slices.entry(slice.metadata.uid.clone()).or_insert(Known::Generation(slice.metadata.generation));
        if let Known::Generation(generation) = known {
            *generation = slice.metadata.generation.max(*generation);
        }
    }

    /// Whether a slice that the cache shows is news (TR-3): unknown, or changed by someone else.
    pub fn is_news(&self, slice: &EndpointSlice) -> bool {
        let services = self.services();
        match services.get(&service_of(slice)).and_then(|service| service.slices.get(&slice.metadata.uid)) {
            Some(Known::Generation(generation)) => slice.metadata.generation > *generation,
            Some(Known::Deleted) | None => true,
        }
    }

    /// Takes in that the cache lost a slice; says whether that is news: it was known, and its deletion not expected.
    pub fn lost(&self, slice: &EndpointSlice) -> bool {
        let mut services = self.services();
        let Some(service) = services.get_mut(&service_of(slice)) else { return false };
        if service.writing > 0 {
            service.lost.push(slice.metadata.uid.clone());
        }
        matches!(service.slices.remove(&slice.metadata.uid), Some(Known::Generation(_)))
    }

    /// Forgets a slice that left the Service it names.
    pub fn forget_slice(&self, slice: &EndpointSlice) {
        if let Some(service) = self.services().get_mut(&service_of(slice)) {
            service.slices.remove(&slice.metadata.uid);
        }
    }

    /// Forgets a Service that is gone.
    pub fn forget(&self, service: &ObjectKey) {
        self.services().remove(service);
    }

    /// Whether the slices that the cache shows for a Service can be believed (TR-4). They cannot while one is older than a
    /// write, or deleted, or one is missing. After [`Freshness::Stale`], read the cache and ask once more: an event that
    /// came between reading and asking wakes nobody.
    pub fn check<'a>(
        &self,
        service: &ObjectKey,
        shown: impl IntoIterator<Item = &'a EndpointSlice>,
        now: Instant,
    ) -> Freshness {
        let mut services = self.services();
        let Some(tracked) = services.get_mut(service) else { return Freshness::Fresh };
        let behind = is_behind(&tracked.slices, shown);
        tracked.staleness.check(behind, now)
    }

    /// Whether a sync of the Service is waiting for the cache.
    pub fn is_waiting(&self, service: &ObjectKey) -> bool {
        self.services().get(service).is_some_and(|tracked| tracked.staleness.is_waiting())
    }

    /// Takes in the slices of a Service as the server has them; what was known before is forgotten.
    pub fn reset<'a>(&self, service: &ObjectKey, live: impl IntoIterator<Item = &'a EndpointSlice>) {
        let known = |slice: &EndpointSlice| (slice.metadata.uid.clone(), Known::Generation(slice.metadata.generation));
        let slices = live.into_iter().map(known).collect();
        self.services().insert(service.clone(), Tracked { slices, ..Tracked::default() });
    }
}

fn is_behind<'a>(known: &HashMap<Uid, Known>, shown: impl IntoIterator<Item = &'a EndpointSlice>) -> bool {
    let mut expected = known.values().filter(|it| matches!(it, Known::Generation(_))).count();
    for slice in shown {
        match known.get(&slice.metadata.uid) {
            Some(Known::Deleted) => return true,
            Some(Known::Generation(generation)) if slice.metadata.generation < *generation => return true,
            Some(Known::Generation(_)) => expected -= 1,
            None => {}
        }
    }
    expected > 0
}

fn service_of(slice: &EndpointSlice) -> ObjectKey {
    ObjectKey { namespace: slice.metadata.namespace.clone(), name: slice.service_name().unwrap_or_default().into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    use kube_controller::STALE_DEADLINE;
    use kube_endpoint_model::well_known::SERVICE_NAME_LABEL;
    use rstest::rstest;

    fn slice(namespace: &str, service: &str, uid: impl Into<Uid>, generation: i64) -> EndpointSlice {
        let mut slice: EndpointSlice = serde_json::from_str("{}").unwrap();
        slice.metadata.namespace = namespace.into();
        slice.metadata.labels = [(SERVICE_NAME_LABEL, service)].into_iter().collect();
        slice.metadata.uid = uid.into();
        slice.metadata.generation = generation;
        slice
    }

    fn key() -> ObjectKey {
        ObjectKey::new("ns", "web")
    }

    fn is_stale(tracker: &SliceTracker, shown: &[EndpointSlice]) -> bool {
        tracker.check(&key(), shown, start()) != Freshness::Fresh
    }

    #[expect(clippy::disallowed_methods, reason = "any instant will do to count from")]
    fn start() -> Instant {
        Instant::now()
    }

    // upstream: TestEndpointSliceTrackerUpdate
    #[rstest]
    #[case::other_namespace(slice("other", "web", "u", 1), true)]
    #[case::other_service(slice("ns", "other", "u", 1), true)]
    #[case::newer(slice("ns", "web", "u", 2), true)]
    #[case::same(slice("ns", "web", "u", 1), false)]
    #[case::older(slice("ns", "web", "u", 0), false)]
    fn news(#[case] shown: EndpointSlice, #[case] expected: bool) {
        let tracker = SliceTracker::default();
        tracker.wrote(&key(), "u", 1);
        assert_eq!(tracker.is_news(&shown), expected);
    }

    // upstream: TestEndpointSliceTrackerStaleSlices
    #[rstest]
    #[case::nothing_known(&[], &[("u", 1)], false)]
    #[case::nothing_at_all(&[], &[], false)]
    #[case::matching(&[("u", 1)], &[("u", 1)], false)]
    #[case::newer_known(&[("u", 10)], &[("u", 2)], true)]
    #[case::newer_shown(&[("u", 2)], &[("u", 10)], false)]
    #[case::deleted_still_shown(&[("u", -1)], &[("u", 1)], true)]
    #[case::deleted_and_gone(&[("u", -1)], &[], false)]
    #[case::known_not_shown(&[("u", 1)], &[], true)]
    #[case::one_of_two_not_shown(&[("u", 1), ("v", 1)], &[("v", 1)], true)]
    #[case::more_shown_than_known(&[("u", 1)], &[("u", 1), ("v", 1)], false)]
    fn staleness(#[case] known: &[(&str, i64)], #[case] shown: &[(&str, i64)], #[case] expected: bool) {
        let tracker = SliceTracker::default();
        for (uid, generation) in known {
            match generation {
                -1 => tracker.deleted(&key(), *uid),
                _ => tracker.wrote(&key(), *uid, *generation),
            }
        }
        let shown: Vec<_> = shown.iter().map(|(uid, generation)| slice("ns", "web", *uid, *generation)).collect();
        assert_eq!(is_stale(&tracker, &shown), expected);
    }

    // upstream: TestEndpointSliceTrackerDeletion
    #[test]
    fn deletions() {
        let tracker = SliceTracker::default();
        let it = slice("ns", "web", "u", 1);
        assert!(!tracker.lost(&it), "never known");
        tracker.wrote(&key(), "u", 1);
        assert!(tracker.lost(&it), "nobody here deleted it");
        assert!(!tracker.lost(&it), "told once");
        tracker.deleted(&key(), "u");
        assert!(!tracker.lost(&it), "expected");
    }

    // upstream: TestEndpointSliceTrackerDeletion, the cases about other slices
    #[rstest]
    #[case::same(slice("ns", "web", "u", 1), true)]
    #[case::other_generation(slice("ns", "web", "u", 2), true)]
    #[case::other_namespace(slice("other", "web", "u", 1), false)]
    #[case::other_service(slice("ns", "other", "u", 1), false)]
    fn only_slices_of_their_service_are_lost(#[case] it: EndpointSlice, #[case] expected: bool) {
        let tracker = SliceTracker::default();
        tracker.wrote(&key(), "u", 1);
        assert_eq!(tracker.lost(&it), expected);
        assert_eq!(is_stale(&tracker, &[]), !expected, "what was lost is not waited for");
    }

    // upstream: TestEndpointSliceTrackerDeleteService
    #[test]
    fn a_forgotten_service_is_never_stale() {
        let tracker = SliceTracker::default();
        tracker.wrote(&key(), "u", 1);
        tracker.forget(&ObjectKey::new("ns", "other"));
        assert!(is_stale(&tracker, &[]));
        tracker.forget(&key());
        assert!(!is_stale(&tracker, &[]));
    }

    // EC-9
    #[test]
    fn learns_what_it_sees_and_never_unlearns_a_write() {
        let tracker = SliceTracker::default();
        tracker.seen(&slice("ns", "web", "u", 1));
        assert!(tracker.lost(&slice("ns", "web", "u", 1)), "a slice only seen is missed too");
        tracker.wrote(&key(), "u", 5);
        tracker.seen(&slice("ns", "web", "u", 4));
        assert!(is_stale(&tracker, &[slice("ns", "web", "u", 4)]));
    }

    // EC-10
    #[test]
    fn a_slice_that_left_makes_nobody_stale() {
        let tracker = SliceTracker::default();
        tracker.wrote(&key(), "u", 1);
        tracker.forget_slice(&slice("ns", "web", "u", 2));
        assert!(!is_stale(&tracker, &[]));
    }

    // kubernetes/kubernetes#127370: a write that changes nothing must not make the cache look stale.
    #[test]
    fn k127370_a_write_that_changed_nothing_leaves_the_cache_fresh() {
        let tracker = SliceTracker::default();
        let shown = slice("ns", "web", "u", 7);
        tracker.seen(&shown);
        // The server answers with the generation that is in the cache already, and sends no event.
        tracker.wrote(&key(), "u", 7);
        assert!(!is_stale(&tracker, &[shown]));
    }

    // kubernetes/kubernetes#141592: the event of a deletion overtakes the answer to an update.
    #[rstest]
    #[case::update(false)]
    #[case::our_own_deletion(true)]
    fn k141592_a_deletion_that_overtakes_an_answer_leaves_no_ghost(#[case] deleted: bool) {
        let tracker = SliceTracker::default();
        let (key, it) = (key(), slice("ns", "web", "u", 1));
        tracker.seen(&it);
        {
            let _writing = tracker.writing(&key);
            assert!(tracker.lost(&it), "wakes the Service: nobody here is known to have deleted it");
            if deleted { tracker.deleted(&key, "u") } else { tracker.wrote(&key, "u", 2) }
        }
        assert!(!is_stale(&tracker, &[]), "there is nothing to wait for");
        assert!(tracker.is_news(&it), "and nothing is remembered of it");
        tracker.wrote(&key, "v", 1);
        assert!(is_stale(&tracker, &[]), "later writes count again");
    }

    #[test]
    fn a_stale_service_waits_until_the_deadline_and_a_reset_ends_it() {
        let tracker = SliceTracker::default();
        let start = start();
        tracker.wrote(&key(), "ghost", 1);
        assert_eq!(tracker.check(&key(), [], start), Freshness::Stale { wait: STALE_DEADLINE });
        assert!(tracker.is_waiting(&key()));
        let later = start + Duration::from_secs(10);
        assert_eq!(tracker.check(&key(), [], later), Freshness::Stale { wait: Duration::from_secs(20) });
        assert_eq!(tracker.check(&key(), [], start + STALE_DEADLINE), Freshness::Overdue);
        tracker.reset(&key(), &[slice("ns", "web", "real", 3)]);
        assert!(!tracker.is_waiting(&key()));
        assert_eq!(tracker.check(&key(), &[slice("ns", "web", "real", 3)], later), Freshness::Fresh);
        assert!(is_stale(&tracker, &[slice("ns", "web", "real", 2)]), "the cache may still be behind");
    }

    #[test]
    fn becoming_fresh_starts_the_deadline_over() {
        let tracker = SliceTracker::default();
        let start = start();
        tracker.wrote(&key(), "u", 2);
        assert!(matches!(tracker.check(&key(), [], start), Freshness::Stale { .. }));
        assert_eq!(tracker.check(&key(), &[slice("ns", "web", "u", 2)], start), Freshness::Fresh);
        tracker.wrote(&key(), "u", 3);
        let much_later = start + 10 * STALE_DEADLINE;
        let stale = tracker.check(&key(), &[slice("ns", "web", "u", 2)], much_later);
        assert_eq!(stale, Freshness::Stale { wait: STALE_DEADLINE });
    }
}

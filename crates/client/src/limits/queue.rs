//! The queue of waiting requests, by priority: a state machine without clock and I/O.

use std::collections::{HashSet, VecDeque};
use std::hash::Hash;
use std::time::{Duration, Instant};

/// Order in which waiting requests of a client with an adaptive limit are sent. See
/// [`Client::with_priority`](crate::Client::with_priority).
///
/// A request advances by one class for every 2 s that it has waited, so that none waits forever. Within a class,
/// requests are sent in the order of their arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum RequestPriority {
    /// Writes after which clients stop sending traffic to an endpoint. A delay leads to failed connections.
    Removal,
    /// Writes that add endpoints. A delay leaves capacity unused.
    Addition,
    /// Everything else: reads, Events, metadata. The default.
    #[default]
    Other,
}

impl RequestPriority {
    /// Returns the priority of writes that replace the ready endpoints `before` by those `after`: [`Removal`](Self::Removal)
    /// if one is missing after them, otherwise [`Addition`](Self::Addition) if one is new, otherwise
    /// [`Other`](Self::Other).
    pub fn of_change<T: Eq + Hash>(before: impl IntoIterator<Item = T>, after: impl IntoIterator<Item = T>) -> Self {
        let mut removed: HashSet<T> = before.into_iter().collect();
        let mut added = HashSet::new();
        for endpoint in after {
            if !removed.remove(&endpoint) {
                added.insert(endpoint);
            }
        }
        match (removed.is_empty(), added.is_empty()) {
            (false, _) => Self::Removal,
            (true, false) => Self::Addition,
            (true, true) => Self::Other,
        }
    }
}

/// Time in which a request advances by one class.
pub(crate) const ADVANCE_AFTER: Duration = Duration::from_secs(2);

/// Number of a waiting request. Later requests have greater numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ticket(pub(crate) u64);

/// Waiting requests.
#[derive(Debug, Default)]
pub(crate) struct PriorityQueue {
    /// By [`RequestPriority`], in the order of arrival.
    classes: [VecDeque<(Ticket, Instant)>; 3],
}

impl PriorityQueue {
    pub(crate) fn len(&self) -> usize {
        self.classes.iter().map(VecDeque::len).sum()
    }

    /// Adds a request. `ticket` must be greater than all earlier ones, and `now` not earlier.
    pub(crate) fn push(&mut self, ticket: Ticket, priority: RequestPriority, now: Instant) {
        self.classes[priority as usize].push_back((ticket, now));
    }

    /// Removes the request that is sent next: of those with the best class, the one that has waited longest.
    pub(crate) fn pop(&mut self, now: Instant) -> Option<Ticket> {
        let rank = |class: usize, since: Instant| {
            let waited = now.saturating_duration_since(since).as_millis() / ADVANCE_AFTER.as_millis();
            class.saturating_sub(usize::try_from(waited).unwrap_or(usize::MAX))
        };
        let first =
            |class: usize| self.classes[class].front().map(|&(ticket, since)| (rank(class, since), ticket, class));
        let (_, _, class) = (0..self.classes.len()).filter_map(first).min()?;
        self.classes[class].pop_front().map(|(ticket, _)| ticket)
    }

    pub(crate) fn remove(&mut self, ticket: Ticket) {
        for class in &mut self.classes {
            class.retain(|(it, _)| *it != ticket);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::RequestPriority::{Addition, Other, Removal};
    use super::*;

    /// Returns the order in which requests are sent at `at` that arrived at the given milliseconds.
    fn order(requests: &[(RequestPriority, u64)], at: u64) -> Vec<u64> {
        let start = tokio::time::Instant::now().into_std();
        let mut queue = PriorityQueue::default();
        for (ticket, (priority, millis)) in (0..).zip(requests) {
            queue.push(Ticket(ticket), *priority, start + Duration::from_millis(*millis));
        }
        std::iter::from_fn(|| queue.pop(start + Duration::from_millis(at)).map(|ticket| ticket.0)).collect()
    }

    #[rstest]
    #[case::classes(&[(Other, 0), (Addition, 1), (Removal, 2)], 2, &[2, 1, 0])]
    #[case::arrival_within_a_class(&[(Removal, 0), (Addition, 1), (Removal, 2), (Addition, 3)], 3, &[0, 2, 1, 3])]
    #[case::advanced_once(&[(Other, 0), (Addition, 10), (Removal, 20)], 2_000, &[2, 0, 1])]
    #[case::advanced_twice(&[(Other, 0), (Addition, 3_000), (Removal, 3_900)], 4_000, &[0, 2, 1])]
    fn removals_are_sent_first_and_others_advance(
        #[case] requests: &[(RequestPriority, u64)],
        #[case] at: u64,
        #[case] expect: &[u64],
    ) {
        assert_eq!(order(requests, at), expect);
    }

    #[rstest]
    #[case::removed(&["a", "b"], &["a"], Removal)]
    #[case::replaced(&["a"], &["b"], Removal)]
    #[case::added(&["a"], &["a", "b"], Addition)]
    #[case::same(&["a", "b"], &["b", "a"], Other)]
    #[case::none(&[], &[], Other)]
    fn the_priority_of_a_change_is_that_of_its_ready_endpoints(
        #[case] before: &[&str],
        #[case] after: &[&str],
        #[case] expect: RequestPriority,
    ) {
        assert_eq!(RequestPriority::of_change(before, after), expect);
    }

    fn priorities() -> impl Strategy<Value = RequestPriority> {
        prop_oneof![Just(Removal), Just(Addition), Just(Other)]
    }

    proptest! {
        /// A request that has waited for 4 s is sent before all that arrive later, whatever their class.
        #[test]
        fn no_request_waits_forever(waiting in priorities(), later in prop::collection::vec(priorities(), 1..50)) {
            let requests: Vec<_> =
                std::iter::once((waiting, 0)).chain(later.into_iter().map(|it| (it, 1))).collect();
            prop_assert_eq!(order(&requests, 4_000)[0], 0);
        }

        #[test]
        fn every_request_is_sent_once(requests in prop::collection::vec((priorities(), 0..10_000_u64), 0..50)) {
            let mut requests = requests;
            requests.sort_by_key(|it| it.1);
            let mut sent = order(&requests, 10_000);
            sent.sort_unstable();
            prop_assert_eq!(sent, (0..requests.len() as u64).collect::<Vec<_>>());
        }
    }
}

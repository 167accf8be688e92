//! Value of the annotation `endpoints.kubernetes.io/last-change-trigger-time` (TT-1, TT-2, TT-4 to TT-6).

use std::sync::Arc;

use jiff::Timestamp;

use crate::{CompactTime, Pod, Service, Text};

/// Treatment of the annotation `endpoints.kubernetes.io/last-change-trigger-time` of an object that is written (RC-42).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TriggerTime {
    /// Keeps the annotation.
    Leave,
    /// Sets the annotation to this time; `None` removes it (EC-13).
    Write(Option<Timestamp>),
}

/// Times of the last changes of one Service and its Pods, from which the value of the annotation
/// `endpoints.kubernetes.io/last-change-trigger-time` is computed (upstream: `TriggerTimeTracker`).
///
/// Each controller has its own, since the result of [`observe`](TriggerTimes::observe) depends on the calls before it.
#[derive(Debug, Default)]
pub struct TriggerTimes {
    last: Last,
}

#[derive(Debug, Default)]
enum Last {
    #[default]
    NotObserved,
    Observed {
        service: Option<CompactTime>,
        /// By name, sorted.
        pods: Box<[(Text, CompactTime)]>,
    },
    Unknown,
}

// Two controllers have an entry for each Pod.
const _: () = assert!(size_of::<(Text, CompactTime)>() == 16 && size_of::<TriggerTimes>() == 32);

impl TriggerTimes {
    /// Returns the times of a process that does not follow the Service, such as a preview: annotations stay as they are.
    pub fn unknown() -> TriggerTimes {
        TriggerTimes { last: Last::Unknown }
    }

    /// Returns the time to write to the annotation, and stores the times of the Service and its Pods for the next call.
    ///
    /// The first call returns the creation time of the Service. A later call returns the earliest time that is later
    /// than the stored one or has no stored one: the creation time of the Service, and the last transition time of each
    /// Pod's Ready condition. No time if there is none, for example after a Pod was deleted.
    pub fn observe(&mut self, service: &Service, pods: &[Arc<Pod>]) -> TriggerTime {
        if matches!(self.last, Last::Unknown) {
            return TriggerTime::Leave;
        }
        let mut times: Vec<(&Text, CompactTime)> =
            pods.iter().filter_map(|pod| Some((&pod.name, pod.ready_changed?))).collect();
        if !times.is_sorted_by_key(|(name, _)| *name) {
            times.sort_unstable_by_key(|(name, _)| *name);
        }
        let keep = |times: Vec<(&Text, CompactTime)>| times.into_iter().map(|(name, at)| (name.clone(), at)).collect();
        let created = service.created.map(CompactTime::from);
        let Last::Observed { service: last, pods: before } = &mut self.last else {
            self.last = Last::Observed { service: created, pods: keep(times) };
            return TriggerTime::Write(service.created);
        };
        let is_new = |time: &Timestamp| last.is_none_or(|before| CompactTime::from(*time) > before);
        let new_service = service.created.filter(is_new);
        *last = created;
        // Most syncs find one Pod changed, or none.
        let same = before.iter().zip(&times).take_while(|((name, at), it)| (name, *at) == **it).count();
        if same == before.len() && same == times.len() {
            return TriggerTime::Write(new_service);
        }
        let trigger = earliest_new(&before[same..], &times[same..]).map(CompactTime::timestamp);
        *before = keep(times);
        TriggerTime::Write(trigger.into_iter().chain(new_service).min())
    }
}

/// Returns the earliest time of a Pod that is later than its time in `before` or whose Pod is not in `before`. Both
/// lists are sorted by name.
fn earliest_new(mut before: &[(Text, CompactTime)], now: &[(&Text, CompactTime)]) -> Option<CompactTime> {
    let is_new = |(name, time): &&(&Text, CompactTime)| {
        while before.first().is_some_and(|(it, _)| it < *name) {
            before = &before[1..];
        }
        before.first().is_none_or(|(it, at)| it != *name || time > at)
    };
    now.iter().filter(is_new).map(|(_, time)| *time).min()
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::collection::{btree_map, vec};
    use proptest::prelude::*;

    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_000_000 + second).unwrap()
    }

    fn service(created: i64) -> Service {
        Service { namespace: "ns".into(), name: "s".into(), created: Some(at(created)), ..Service::default() }
    }

    fn pod(name: &str, changed: i64) -> Arc<Pod> {
        Arc::new(Pod { name: name.into(), ready_changed: Some(at(changed).into()), ..Pod::default() })
    }

    fn pods_in_any_order() -> impl Strategy<Value = Vec<(String, i64)>> {
        btree_map("[a-f]", 0_i64..4, 0..6).prop_map(|pods| pods.into_iter().collect::<Vec<_>>()).prop_shuffle()
    }

    struct Walk(TriggerTimes);

    impl Walk {
        #[track_caller]
        fn step(&mut self, service: &Service, pods: &[Arc<Pod>], expected: Option<i64>) {
            assert_eq!(self.0.observe(service, pods), TriggerTime::Write(expected.map(at)));
        }
    }

    // upstream: TestNewServiceNoPods, TestNewServiceExistingPods
    #[test]
    fn first_observation_returns_the_creation_time() {
        Walk(TriggerTimes::default()).step(&service(3), &[], Some(3));
        Walk(TriggerTimes::default()).step(&service(3), &[pod("a", 1), pod("b", 5)], Some(3));
    }

    // upstream: TestPodsAdded, TestPodsUpdated, TestPodsUpdatedNoOp, TestServiceUpdatedNoPodChange
    #[test]
    fn later_observations_return_the_earliest_new_time() {
        let mut walk = Walk(TriggerTimes::default());
        walk.step(&service(3), &[pod("a", 2)], Some(3));
        walk.step(&service(3), &[pod("a", 2), pod("b", 5), pod("c", 4)], Some(4));
        walk.step(&service(3), &[pod("a", 8), pod("b", 5), pod("c", 7)], Some(7));
        walk.step(&service(3), &[pod("a", 8), pod("b", 5), pod("c", 7)], None);
    }

    // upstream: TestPodDeletedThenAdded
    #[test]
    fn deleted_pod_has_no_trigger_time() {
        let mut walk = Walk(TriggerTimes::default());
        walk.step(&service(0), &[pod("a", 1), pod("b", 2)], Some(0));
        walk.step(&service(0), &[pod("a", 1)], None);
        walk.step(&service(0), &[pod("a", 1), pod("b", 3)], Some(3));
    }

    #[test]
    fn pods_may_be_in_any_order_and_times_may_decrease() {
        let mut walk = Walk(TriggerTimes::default());
        walk.step(&service(0), &[pod("c", 3), pod("a", 1)], Some(0));
        walk.step(&service(0), &[pod("a", 1), pod("c", 3)], None);
        walk.step(&service(0), &[pod("c", 2), pod("a", 1)], None);
        // Later than the time it went back to.
        walk.step(&service(0), &[pod("d", 9), pod("c", 3), pod("b", 7), pod("a", 1)], Some(3));
    }

    // upstream: TestServiceDeletedThenAdded
    #[test]
    fn forgotten_service_starts_over() {
        let mut walk = Walk(TriggerTimes::default());
        walk.step(&service(0), &[pod("a", 1)], Some(0));
        walk.0 = TriggerTimes::default();
        walk.step(&service(3), &[pod("a", 1)], Some(3));
    }

    #[test]
    fn unknown_times_leave_the_annotation() {
        let mut times = TriggerTimes::unknown();
        for _ in 0..2 {
            assert_eq!(times.observe(&service(3), &[pod("a", 1)]), TriggerTime::Leave);
        }
    }

    proptest! {
        /// Against the rule as it is worded: every time by name, and the earliest that is later than the one before.
        #[test]
        fn equals_the_reference_with_a_map_of_all_times(
            rounds in vec(pods_in_any_order(), 1..6),
        ) {
            let mut times = TriggerTimes::default();
            let mut before: Option<HashMap<String, i64>> = None;
            for round in rounds {
                let pods: Vec<_> = round.iter().map(|(name, time)| pod(name, *time)).collect();
                let found = times.observe(&service(0), &pods);
                let now: HashMap<String, i64> = round.into_iter().collect();
                let expected = match &before {
                    None => Some(0),
                    Some(before) => {
                        now.iter().filter(|(name, time)| before.get(*name).is_none_or(|it| *time > it)).map(|it| *it.1).min()
                    }
                };
                prop_assert_eq!(found, TriggerTime::Write(expected.map(at)));
                before = Some(now);
            }
        }
    }
}

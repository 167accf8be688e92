//! Since when consumers have been waiting for a write (TT-1 to TT-6).

use std::collections::HashMap;
use std::sync::Arc;

use jiff::Timestamp;

use crate::{ObjectKey, Pod, Service, Text};

/// Remembers, for every Service, the times at which it and its Pods last changed, to tell the earliest change that the
/// next write is for. One per controller: the answer of a call depends on the calls before it.
#[derive(Debug, Default)]
pub struct TriggerTimes {
    services: HashMap<ObjectKey, Seen>,
}

#[derive(Debug)]
struct Seen {
    service: Option<Timestamp>,
    pods: HashMap<Text, Timestamp>,
}

impl TriggerTimes {
    /// The time to write as `endpoints.kubernetes.io/last-change-trigger-time`, and remembers what it saw.
    ///
    /// The first time a Service is seen, its creation. Later the earliest of the times that are new: a Pod that changed
    /// its readiness, or is seen first. `None` when nothing is, such as after a Pod was deleted.
    pub fn observe(&mut self, key: &ObjectKey, service: &Service, pods: &[Arc<Pod>]) -> Option<Timestamp> {
        let times: HashMap<Text, Timestamp> =
            pods.iter().filter_map(|pod| Some((pod.name.clone(), pod.ready_changed?))).collect();
        let known = self.services.remove(key);
        let trigger = match &known {
            None => service.created,
            Some(seen) => {
                let pods = times.iter().filter(|(name, time)| seen.pods.get(*name).is_none_or(|before| *time > before));
                let service = service.created.filter(|time| seen.service.is_none_or(|before| *time > before));
                pods.map(|(_, time)| *time).chain(service).min()
            }
        };
        self.services.insert(key.clone(), Seen { service: service.created, pods: times });
        trigger
    }

    /// Forgets a Service that is gone.
    pub fn forget(&mut self, key: &ObjectKey) {
        self.services.remove(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_000_000 + second).unwrap()
    }

    fn service(created: i64) -> Service {
        Service { namespace: "ns".into(), name: "s".into(), created: Some(at(created)), ..Service::default() }
    }

    fn pod(name: &str, changed: i64) -> Arc<Pod> {
        Arc::new(Pod { name: name.into(), ready_changed: Some(at(changed)), ..Pod::default() })
    }

    struct Walk(TriggerTimes);

    impl Walk {
        #[track_caller]
        fn step(&mut self, service: &Service, pods: &[Arc<Pod>], expected: Option<i64>) {
            assert_eq!(self.0.observe(&ObjectKey::new("ns", "s"), service, pods), expected.map(at));
        }
    }

    // upstream: TestNewServiceNoPods, TestNewServiceExistingPods
    #[test]
    fn first_seen_is_creation() {
        Walk(TriggerTimes::default()).step(&service(3), &[], Some(3));
        Walk(TriggerTimes::default()).step(&service(3), &[pod("a", 1), pod("b", 5)], Some(3));
    }

    // upstream: TestPodsAdded, TestPodsUpdated, TestPodsUpdatedNoOp, TestServiceUpdatedNoPodChange
    #[test]
    fn later_the_earliest_that_is_new() {
        let mut walk = Walk(TriggerTimes::default());
        walk.step(&service(3), &[pod("a", 2)], Some(3));
        walk.step(&service(3), &[pod("a", 2), pod("b", 5), pod("c", 4)], Some(4));
        walk.step(&service(3), &[pod("a", 8), pod("b", 5), pod("c", 7)], Some(7));
        walk.step(&service(3), &[pod("a", 8), pod("b", 5), pod("c", 7)], None);
    }

    // upstream: TestPodDeletedThenAdded
    #[test]
    fn a_deleted_pod_contributes_nothing() {
        let mut walk = Walk(TriggerTimes::default());
        walk.step(&service(0), &[pod("a", 1), pod("b", 2)], Some(0));
        walk.step(&service(0), &[pod("a", 1)], None);
        walk.step(&service(0), &[pod("a", 1), pod("b", 3)], Some(3));
    }

    // upstream: TestServiceDeletedThenAdded
    #[test]
    fn a_forgotten_service_starts_over() {
        let mut walk = Walk(TriggerTimes::default());
        walk.step(&service(0), &[pod("a", 1)], Some(0));
        walk.0.forget(&ObjectKey::new("ns", "s"));
        walk.step(&service(3), &[pod("a", 1)], Some(3));
    }
}

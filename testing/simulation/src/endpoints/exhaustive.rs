//! All short histories of a small cluster: two Services, three Pods, two endpoints per slice.
//!
//! At the start, both Services select all Pods, and all Pods are ready. Of histories that differ only by a permutation
//! of the Pods or the Services, one is generated: Pods and Services are first used in the order of their numbers.

use std::time::Duration;

use serde_json::{Value, json};

use super::requests::{core, create, delete, delete_pod, node, patch, pod, readiness, running, service, step};
use crate::{Operation, Step};

/// Maximum number of endpoints per slice for these histories: a Service with three Pods needs two slices.
pub const MAX_ENDPOINTS_PER_SLICE: usize = 2;

const PODS: usize = 3;
const SERVICES: usize = 2;
const NODE: &str = "node-0";
const NAMESPACE: &str = "default";

/// A change by the user in a short history, of the Pod or Service with this number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Creates the Pod and makes it ready.
    CreatePod(usize),
    /// Makes the Pod ready.
    Ready(usize),
    /// Makes the Pod unready.
    Unready(usize),
    /// Deletes the Pod with a grace period of 0 s.
    DeletePod(usize),
    /// Creates the Service, which selects all Pods.
    CreateService(usize),
    /// Makes the Service select all Pods.
    SelectAll(usize),
    /// Makes the Service select no Pod.
    SelectNone(usize),
    /// Deletes the Service.
    DeleteService(usize),
}

/// Iterator over all histories of a limited length in which each act changes something, one of each symmetric set.
/// Shorter histories come first.
///
/// There are 4 histories of one act, 22 of two, 138 of three, 948 of four, 6,956 of five and 53,301 of six.
#[derive(Clone, Debug)]
pub struct Histories {
    depth: usize,
    length: usize,
    pending: Vec<Vec<Act>>,
}

impl Histories {
    /// Returns the histories of one to `depth` acts.
    pub fn up_to(depth: usize) -> Self {
        Self { depth, length: 0, pending: Vec::new() }
    }
}

impl Iterator for Histories {
    type Item = Vec<Act>;

    fn next(&mut self) -> Option<Vec<Act>> {
        loop {
            let Some(acts) = self.pending.pop() else {
                if self.length == self.depth {
                    return None;
                }
                self.length += 1;
                self.pending.push(Vec::new());
                continue;
            };
            if acts.len() == self.length {
                return Some(acts);
            }
            for act in Shape::after(&acts).next().into_iter().rev() {
                self.pending.push([acts.as_slice(), &[act]].concat());
            }
        }
    }
}

/// Model of the cluster; `None` is a Pod or Service that does not exist.
struct Shape {
    /// Whether each Pod is ready.
    pods: [Option<bool>; PODS],
    /// Whether each Service selects all Pods.
    services: [Option<bool>; SERVICES],
    /// Number of Pods and of Services that have been used by an act.
    used: (usize, usize),
}

impl Shape {
    fn after(acts: &[Act]) -> Self {
        let mut shape = Self { pods: [Some(true); PODS], services: [Some(true); SERVICES], used: (0, 0) };
        for act in acts {
            match *act {
                Act::CreatePod(pod) | Act::Ready(pod) => shape.pods[pod] = Some(true),
                Act::Unready(pod) => shape.pods[pod] = Some(false),
                Act::DeletePod(pod) => shape.pods[pod] = None,
                Act::CreateService(service) | Act::SelectAll(service) => shape.services[service] = Some(true),
                Act::SelectNone(service) => shape.services[service] = Some(false),
                Act::DeleteService(service) => shape.services[service] = None,
            }
            match *act {
                Act::CreatePod(it) | Act::Ready(it) | Act::Unready(it) | Act::DeletePod(it) => {
                    shape.used.0 = shape.used.0.max(it + 1);
                }
                Act::CreateService(it) | Act::SelectAll(it) | Act::SelectNone(it) | Act::DeleteService(it) => {
                    shape.used.1 = shape.used.1.max(it + 1);
                }
            }
        }
        shape
    }

    /// Returns the acts that change something in this state.
    fn next(&self) -> Vec<Act> {
        let mut acts = Vec::new();
        for (number, pod) in self.pods.iter().enumerate().take(self.used.0 + 1) {
            acts.extend(match pod {
                None => vec![Act::CreatePod(number)],
                Some(true) => vec![Act::Unready(number), Act::DeletePod(number)],
                Some(false) => vec![Act::Ready(number), Act::DeletePod(number)],
            });
        }
        for (number, service) in self.services.iter().enumerate().take(self.used.1 + 1) {
            acts.extend(match service {
                None => vec![Act::CreateService(number)],
                Some(true) => vec![Act::SelectNone(number), Act::DeleteService(number)],
                Some(false) => vec![Act::SelectAll(number), Act::DeleteService(number)],
            });
        }
        acts
    }
}

/// Returns the steps that create the initial cluster of every history.
pub fn setup() -> Vec<Step> {
    let mut operations = vec![create("/api/v1/nodes", node(NODE, Some("zone-0")))];
    for number in 0..SERVICES {
        operations.extend(Act::CreateService(number).operations());
    }
    for number in 0..PODS {
        operations.extend(Act::CreatePod(number).operations());
    }
    operations.into_iter().map(|operation| step(Duration::ZERO, operation)).collect()
}

/// Returns the steps of a history, with `gap` before each act and no time between the steps of one act.
pub fn steps(acts: &[Act], gap: Duration) -> Vec<Step> {
    let of_act = |act: &Act| {
        let gaps = [gap].into_iter().chain(std::iter::repeat(Duration::ZERO));
        gaps.zip(act.operations()).map(|(after, operation)| step(after, operation)).collect::<Vec<_>>()
    };
    acts.iter().flat_map(of_act).collect()
}

impl Act {
    fn operations(self) -> Vec<Operation> {
        let pod_path = |number| format!("{}/pod-{number}", core(NAMESPACE, "pods"));
        let service_path = |number| format!("{}/service-{number}", core(NAMESPACE, "services"));
        let select =
            |number, app: &str| vec![patch(service_path(number), json!({ "spec": { "selector": selector(app) } }))];
        match self {
            Self::CreatePod(number) => {
                let object = pod(&format!("pod-{number}"), NODE, &selector("all"), None);
                let status = running("Running", &[format!("10.0.0.{}", number + 1)], true, 0);
                vec![create(core(NAMESPACE, "pods"), object), patch(pod_path(number) + "/status", status)]
            }
            Self::Ready(number) => vec![patch(pod_path(number) + "/status", readiness(true, 0))],
            Self::Unready(number) => vec![patch(pod_path(number) + "/status", readiness(false, 0))],
            Self::DeletePod(number) => vec![delete_pod(pod_path(number), 0)],
            Self::CreateService(number) => {
                let ports = json!([{ "port": 80 }]);
                let object = service(&format!("service-{number}"), &selector("all"), &ports);
                vec![create(core(NAMESPACE, "services"), object)]
            }
            Self::SelectAll(number) => select(number, "all"),
            Self::SelectNone(number) => select(number, "none"),
            Self::DeleteService(number) => vec![delete(service_path(number))],
        }
    }
}

fn selector(app: &str) -> Value {
    json!({ "app": app })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn counts_for_each_depth() {
        let mut counts = [0; 6];
        for acts in Histories::up_to(6) {
            counts[acts.len() - 1] += 1;
        }
        assert_eq!(counts, [4, 22, 138, 948, 6_956, 53_301]);
    }

    /// No two histories are equal under a renaming of Pods and Services, and none is missing.
    #[test]
    fn one_of_each_symmetrical_set() {
        const PODS_IN_ORDER: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
        let renamed = |acts: &[Act], pods: [usize; 3], services: [usize; 2]| -> String {
            let rename = |act: &Act| match *act {
                Act::CreatePod(it) => Act::CreatePod(pods[it]),
                Act::Ready(it) => Act::Ready(pods[it]),
                Act::Unready(it) => Act::Unready(pods[it]),
                Act::DeletePod(it) => Act::DeletePod(pods[it]),
                Act::CreateService(it) => Act::CreateService(services[it]),
                Act::SelectAll(it) => Act::SelectAll(services[it]),
                Act::SelectNone(it) => Act::SelectNone(services[it]),
                Act::DeleteService(it) => Act::DeleteService(services[it]),
            };
            format!("{:?}", acts.iter().map(rename).collect::<Vec<_>>())
        };
        let mut smallest = BTreeSet::new();
        let mut all = BTreeSet::new();
        let histories: Vec<_> = Histories::up_to(4).filter(|acts| acts.len() == 4).collect();
        for acts in &histories {
            let names = PODS_IN_ORDER.iter().flat_map(|pods| [[0, 1], [1, 0]].map(|services| (*pods, services)));
            let alike: BTreeSet<_> = names.map(|(pods, services)| renamed(acts, pods, services)).collect();
            assert!(smallest.insert(alike.first().unwrap().clone()), "{acts:?} is symmetric to another history");
            all.extend(alike);
        }
        // The number of all histories without symmetry: two acts for each existing object, one for each missing object.
        assert_eq!(all.len(), every(4, &Shape { used: (PODS, SERVICES), ..Shape::after(&[]) }, &mut Vec::new()));
    }

    fn every(depth: usize, shape: &Shape, acts: &mut Vec<Act>) -> usize {
        if depth == 0 {
            return 1;
        }
        let mut count = 0;
        for act in shape.next() {
            acts.push(act);
            let next = Shape { used: (PODS, SERVICES), ..Shape::after(acts) };
            count += every(depth - 1, &next, acts);
            acts.pop();
        }
        count
    }
}

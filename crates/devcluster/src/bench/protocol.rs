//! What the bench and its server say to each other: a line of JSON each way over standard input and output.

use kube_dev_apiserver::Population;
use serde::{Deserialize, Serialize};

/// What the server is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Question {
    /// To load a cluster.
    Load { pods: usize, services: usize, nodes: usize, services_of_a_namespace: usize },
    /// To count.
    Count,
}

impl Question {
    pub(super) fn load(population: Population) -> Self {
        let Population { pods, services, nodes, services_of_a_namespace } = population;
        Self::Load { pods, services, nodes, services_of_a_namespace }
    }
}

/// What it answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Answer {
    /// Said first: it is up, and reached with this kubeconfig.
    Ready(String),
    /// So many objects are there.
    Loaded(usize),
    /// What everybody but the bench has done.
    Counted(Counts),
    /// It could not be done.
    Failed(String),
}

/// What was asked of a server since its start by all clients but the bench.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Counts {
    /// Bytes on the wire that were sent to them.
    pub(crate) sent: u64,
    /// Bytes on the wire that came from them.
    pub(crate) received: u64,
    /// Requests that were refused.
    pub(crate) refused: u64,
    /// Requests that were carried out, in the order of resource and verb.
    pub(crate) requests: Vec<Requests>,
}

/// Requests of one sort.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Requests {
    /// `endpointslices`, say.
    pub(crate) resource: String,
    /// `create`, say.
    pub(crate) verb: String,
    /// How many.
    pub(crate) count: u64,
    /// The bytes of their bodies.
    pub(crate) bytes: u64,
}

impl Requests {
    /// Whether they change something.
    pub(crate) fn is_write(&self) -> bool {
        matches!(self.verb.as_str(), "create" | "update" | "patch" | "delete" | "deletecollection")
    }
}

impl Counts {
    /// What has been added since `before`.
    pub(crate) fn since(&self, before: &Self) -> Self {
        let old = |now: &Requests| {
            before
                .requests
                .iter()
                .find(|it| it.resource == now.resource && it.verb == now.verb)
                .map_or((0, 0), |it| (it.count, it.bytes))
        };
        let requests = self.requests.iter().map(|now| {
            let (count, bytes) = old(now);
            Requests { count: now.count - count, bytes: now.bytes - bytes, ..now.clone() }
        });
        Self {
            sent: self.sent - before.sent,
            received: self.received - before.received,
            refused: self.refused - before.refused,
            requests: requests.filter(|it| it.count > 0).collect(),
        }
    }

    /// All writes.
    pub(crate) fn writes(&self) -> u64 {
        self.requests.iter().filter(|it| it.is_write()).map(|it| it.count).sum()
    }

    /// Writes of a resource, and the bytes of their bodies.
    pub(crate) fn writes_of(&self, resource: &str) -> (u64, u64) {
        let of = self.requests.iter().filter(|it| it.is_write() && it.resource == resource);
        of.fold((0, 0), |(count, bytes), it| (count + it.count, bytes + it.bytes))
    }

    /// Requests of a resource by a verb.
    pub(crate) fn count(&self, resource: &str, verb: &str) -> u64 {
        self.requests.iter().filter(|it| it.resource == resource && it.verb == verb).map(|it| it.count).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn requests(resource: &str, verb: &str, count: u64) -> Requests {
        Requests { resource: resource.to_owned(), verb: verb.to_owned(), count, bytes: count * 10 }
    }

    #[test]
    fn only_what_is_new_counts() {
        let before = Counts { sent: 5, requests: vec![requests("endpoints", "create", 2)], ..Counts::default() };
        let mut now = Counts { sent: 9, requests: vec![requests("endpoints", "create", 2)], ..Counts::default() };
        now.requests.extend([requests("endpointslices", "update", 3), requests("pods", "list", 1)]);
        let new = now.since(&before);
        assert_eq!((new.sent, new.writes(), new.writes_of("endpointslices")), (4, 3, (3, 30)));
        assert_eq!((new.count("pods", "list"), new.count("endpoints", "create")), (1, 0));
    }
}

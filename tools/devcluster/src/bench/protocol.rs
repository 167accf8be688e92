//! Protocol between the bench and its API server process: one line of JSON per request and response, over stdin and
//! stdout.

use kube_dev_apiserver::Population;
use serde::{Deserialize, Serialize};

/// Prefix of the `User-Agent` of the bench's own requests, which are excluded from the counts.
pub(super) const USER_AGENT: &str = "devcluster-bench";

/// Request to the server process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Request {
    /// Load a cluster of this size.
    Load { pods: usize, services: usize, nodes: usize, services_of_a_namespace: usize },
    /// Return the counts.
    Count,
}

impl Request {
    pub(super) fn load(population: Population) -> Self {
        let Population { pods, services, nodes, services_of_a_namespace } = population;
        Self::Load { pods, services, nodes, services_of_a_namespace }
    }
}

/// Response of the server process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Response {
    /// First message, without a request: the server is ready. The value is its kubeconfig.
    Ready(String),
    /// The cluster is loaded. The value is the number of objects.
    Loaded(usize),
    /// Response to [`Request::Count`].
    Counted(RequestCounts),
    /// The request failed with this error.
    Failed(String),
}

/// Requests and traffic since the start of the server, except those of the bench.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RequestCounts {
    /// Bytes sent by the server.
    pub(crate) sent: u64,
    /// Requests without a response or with a status of 400 or above.
    pub(crate) refused: u64,
    /// Successful requests, sorted by resource and verb.
    pub(crate) requests: Vec<Requests>,
}

/// Number of requests of one resource and verb.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Requests {
    /// Resource, such as `endpointslices`.
    pub(crate) resource: String,
    /// Verb, such as `create`.
    pub(crate) verb: String,
    /// Number of requests.
    pub(crate) count: u64,
}

impl Requests {
    /// Returns whether the verb is a write.
    pub(crate) fn is_write(&self) -> bool {
        matches!(self.verb.as_str(), "create" | "update" | "patch" | "delete" | "deletecollection")
    }
}

impl RequestCounts {
    /// Returns the difference to earlier counts.
    pub(crate) fn since(&self, before: &Self) -> Self {
        let old = |now: &Requests| {
            let found = before.requests.iter().find(|it| it.resource == now.resource && it.verb == now.verb);
            found.map_or(0, |it| it.count)
        };
        let requests = self.requests.iter().map(|now| Requests { count: now.count - old(now), ..now.clone() });
        Self {
            sent: self.sent - before.sent,
            refused: self.refused - before.refused,
            requests: requests.filter(|it| it.count > 0).collect(),
        }
    }

    /// Returns the number of all writes.
    pub(crate) fn writes(&self) -> u64 {
        self.requests.iter().filter(|it| it.is_write()).map(|it| it.count).sum()
    }

    /// Returns the number of requests of a resource and verb.
    pub(crate) fn count(&self, resource: &str, verb: &str) -> u64 {
        self.requests.iter().filter(|it| it.resource == resource && it.verb == verb).map(|it| it.count).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn requests(resource: &str, verb: &str, count: u64) -> Requests {
        Requests { resource: resource.to_owned(), verb: verb.to_owned(), count }
    }

    #[test]
    fn since_returns_the_difference() {
        let before =
            RequestCounts { sent: 5, requests: vec![requests("endpoints", "create", 2)], ..RequestCounts::default() };
        let mut now =
            RequestCounts { sent: 9, requests: vec![requests("endpoints", "create", 2)], ..RequestCounts::default() };
        now.requests.extend([requests("endpointslices", "update", 3), requests("pods", "list", 1)]);
        let new = now.since(&before);
        assert_eq!((new.sent, new.writes()), (4, 3));
        assert_eq!((new.count("pods", "list"), new.count("endpoints", "create")), (1, 0));
    }
}

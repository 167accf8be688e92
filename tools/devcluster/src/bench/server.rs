//! API server of the bench.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use kube_controller_client::{Client, ClientOptions, Config};
use kube_dev_apiserver::{Population, Server, Transport};
use kube_wire::Encoding;
use serde::Serialize;
use serde_json::Value;

/// Prefix of the `User-Agent` of the bench's own requests, which are excluded from the counts.
const USER_AGENT: &str = "devcluster-bench";
/// Recorded list of Pods of production size.
const RECORDED: &str = include_str!("../../../../testing/conformance/fixtures/pod.list.json");
/// Name of the recorded Pod that is the template of all Pods. It is ready.
const TEMPLATE: &str = "shop-11";
/// Capacity of the request log: more than the requests between two counts.
const LOG_CAPACITY: usize = 1_000_000;

/// Requests and traffic, except those of the bench.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RequestCounts {
    /// Bytes sent by the server.
    pub(crate) sent: u64,
    /// Requests without a response or with a status of 400 or above.
    pub(crate) refused: u64,
    /// Successful requests by resource and verb, such as `endpointslices` and `create`.
    pub(crate) requests: BTreeMap<String, BTreeMap<String, u64>>,
}

impl RequestCounts {
    /// Returns the difference to earlier counts.
    pub(crate) fn since(mut self, before: &Self) -> Self {
        self.sent -= before.sent;
        self.refused -= before.refused;
        for (resource, verbs) in &mut self.requests {
            for (verb, count) in verbs {
                *count -= before.count(resource, verb);
            }
        }
        self
    }

    pub(crate) fn writes(&self) -> u64 {
        let is_write = |verb: &str| matches!(verb, "create" | "update" | "patch" | "delete" | "deletecollection");
        let verbs = self.requests.values().flatten();
        verbs.filter(|(verb, _)| is_write(verb)).map(|(_, count)| count).sum()
    }

    pub(crate) fn count(&self, resource: &str, verb: &str) -> u64 {
        self.requests.get(resource).and_then(|verbs| verbs.get(verb)).copied().unwrap_or_default()
    }
}

/// API server with a cluster.
#[derive(Debug)]
pub(crate) struct BenchServer {
    /// Size of the cluster.
    pub(crate) population: Population,
    pub(crate) kubeconfig: PathBuf,
    /// Whether the controllers have written all Endpoints and slices.
    pub(crate) filled: bool,
    server: Server,
    counted: RequestCounts,
}

impl BenchServer {
    /// Starts a server with a cluster, and writes its kubeconfig to `folder`.
    pub(crate) async fn start(population: Population, folder: &Path) -> anyhow::Result<Self> {
        let config = kube_dev_apiserver::Config {
            transport: Transport::Tls,
            request_log: LOG_CAPACITY,
            seed: Some(1),
            ..Default::default()
        };
        let server = Server::start(config).await?;
        server.load(population.objects(&template()?)).context("cannot load the cluster")?;
        let kubeconfig = folder.join("kubeconfig");
        fs::write(&kubeconfig, server.kubeconfig())?;
        Ok(Self { population, kubeconfig, filled: false, server, counted: RequestCounts::default() })
    }

    /// Returns the requests and traffic so far.
    pub(crate) fn count(&mut self) -> RequestCounts {
        let is_bench = |user_agent: &str| user_agent.starts_with(USER_AGENT);
        for request in self.server.requests().take().into_iter().filter(|request| !is_bench(&request.user_agent)) {
            if request.status.is_none_or(|status| status >= 400) {
                self.counted.refused += 1;
            } else {
                let verbs = self.counted.requests.entry(request.resource).or_default();
                *verbs.entry(request.verb).or_default() += 1;
            }
        }
        let traffic = self.server.traffic();
        self.counted.sent = traffic.iter().filter(|it| !is_bench(&it.user_agent)).map(|it| it.sent).sum();
        self.counted.clone()
    }

    /// Returns a client for the bench, without a rate limit. It requests JSON, which the server stores: encoding protobuf
    /// for the observer would take CPU time from the controllers.
    pub(crate) async fn client(&self) -> anyhow::Result<Client> {
        let user_agent = format!("{USER_AGENT}/{}", env!("CARGO_PKG_VERSION"));
        let options =
            ClientOptions { user_agent, content_type: Encoding::Json, qps: 0.0, burst: 1, ..ClientOptions::default() };
        Ok(Client::new(&Config::from_kubeconfig(&self.kubeconfig).await?, options)?)
    }
}

fn template() -> anyhow::Result<Value> {
    let mut list: Value = serde_json::from_str(RECORDED)?;
    let items = list["items"].as_array_mut().context("the recorded list has no items")?;
    let found = items.iter_mut().find(|pod| pod["metadata"]["name"] == TEMPLATE);
    Ok(Population::template(found.context("the recorded list does not contain the template Pod")?.take()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn template_pod_has_production_size() {
        let one = Population { pods: 1, services: 1, nodes: 1, services_of_a_namespace: 1 };
        let length = one.pod(&template().unwrap(), 0).to_string().len();
        assert!((7_000..12_000).contains(&length), "{length}");
    }

    #[test]
    fn since_returns_the_difference() {
        let counts = |sent, requests: Value| RequestCounts {
            sent,
            refused: 0,
            requests: serde_json::from_value(requests).unwrap(),
        };
        let before = counts(5, serde_json::json!({"endpoints": {"create": 2}}));
        let now = serde_json::json!({"endpoints": {"create": 2}, "endpointslices": {"update": 3}, "pods": {"list": 1}});
        let new = counts(9, now).since(&before);
        assert_eq!((new.sent, new.writes()), (4, 3));
        assert_eq!((new.count("pods", "list"), new.count("endpoints", "create")), (1, 0));
    }
}

//! API server process of the bench.

use std::{
    collections::BTreeMap,
    io::{self, Write as _},
};

use anyhow::Context as _;
use kube_dev_apiserver::{Population, Server, Transport};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, BufReader, stdin};

use super::protocol::{Request, RequestCounts, Requests, Response, USER_AGENT};

/// Recorded list of Pods of production size.
const RECORDED: &str = include_str!("../../../../testing/conformance/fixtures/pod.list.json");
/// Name of the recorded Pod that is the template of all Pods. It is ready.
const TEMPLATE: &str = "shop-11";
/// Capacity of the request log: more than the requests between two counts.
const LOG_CAPACITY: usize = 1_000_000;

/// Serves until standard input is closed, which happens even if the bench is killed.
pub(crate) async fn run() -> anyhow::Result<()> {
    let config = kube_dev_apiserver::Config {
        transport: Transport::Tls,
        request_log: LOG_CAPACITY,
        seed: Some(1),
        ..Default::default()
    };
    let server = Server::start(config).await?;
    write_response(&Response::Ready(server.kubeconfig()))?;
    let mut counted = BTreeMap::new();
    let mut refused = 0;
    let mut lines = BufReader::new(stdin()).lines();
    while let Some(line) = lines.next_line().await? {
        match serde_json::from_str(&line).context("invalid request on standard input")? {
            Request::Load { pods, services, nodes, services_of_a_namespace } => {
                let population = Population { pods, services, nodes, services_of_a_namespace };
                let template = template()?;
                let loaded = server.load(population.objects(&template)).map_err(anyhow::Error::from);
                write_response(&loaded.map_or_else(|error| Response::Failed(format!("{error:#}")), Response::Loaded))?;
            }
            Request::Count => write_response(&Response::Counted(count(&server, &mut counted, &mut refused)))?,
        }
    }
    server.shutdown().await;
    Ok(())
}

/// Adds the requests since the last call to `counted` and `refused`, and returns the totals.
fn count(server: &Server, counted: &mut BTreeMap<(String, String), u64>, refused: &mut u64) -> RequestCounts {
    for request in server.requests().take().into_iter().filter(|request| !is_bench(&request.user_agent)) {
        if request.status.is_none_or(|status| status >= 400) {
            *refused += 1;
            continue;
        }
        *counted.entry((request.resource, request.verb)).or_default() += 1;
    }
    let traffic = server.traffic();
    let one = |((resource, verb), count): (&(String, String), &u64)| Requests {
        resource: resource.clone(),
        verb: verb.clone(),
        count: *count,
    };
    RequestCounts {
        sent: traffic.iter().filter(|it| !is_bench(&it.user_agent)).map(|it| it.sent).sum(),
        refused: *refused,
        requests: counted.iter().map(one).collect(),
    }
}

fn is_bench(user_agent: &str) -> bool {
    user_agent.starts_with(USER_AGENT)
}

/// Returns the Pod that is the template of all Pods.
fn template() -> anyhow::Result<Value> {
    let mut list: Value = serde_json::from_str(RECORDED)?;
    let items = list["items"].as_array_mut().context("the recorded list has no items")?;
    let found = items.iter_mut().find(|pod| pod["metadata"]["name"] == TEMPLATE);
    Ok(Population::template(found.context("the recorded list does not contain the template Pod")?.take()))
}

fn write_response(response: &Response) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    serde_json::to_writer(&mut out, response)?;
    writeln!(out)?;
    Ok(out.flush()?)
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
}

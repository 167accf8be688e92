//! Time and memory of whole commands against the embedded API server, which runs in this process.
//!
//! `explain` for a Service in a namespace of 10,000 Pods, `check` over 150,000 Pods, and `retire plan` over 10,000 Services, whose
//! slices and Endpoints this program writes as the controllers would. Prints, for the best of several runs: the time until the exit, the CPU time
//! of the command, and its peak memory. It measures processes, so that it is not a criterion benchmark.
#![expect(clippy::unwrap_used, reason = "a bench fails by panics")]
#![expect(clippy::print_stdout, reason = "the result")]
#![expect(clippy::disallowed_methods, reason = "it measures real time, and polls the kernel on a thread of its own")]

mod process;

use std::{io::Write as _, sync::Arc};

use bytes::Bytes;
use kube_dev_apiserver::{Config, Population, Server};
use kube_endpoints_explain::{Settings, World};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tempfile::NamedTempFile;

/// Recorded list of Pods of production size.
const RECORDED: &str = include_str!("../../../testing/conformance/fixtures/pod.list.json");

#[tokio::main]
async fn main() {
    // `cargo test --benches` passes no arguments: only compiling is tested.
    if !std::env::args().any(|it| it == "--bench") {
        return;
    }
    let namespace = Population { pods: 10_000, services: 100, nodes: 100, services_of_a_namespace: 100 };
    let name = Population::service_name(0);
    measure(namespace, &["explain", &format!("svc/{name}"), "-n", &namespace.namespace(0)]).await;
    let cluster = Population { pods: 150_000, services: 5_000, nodes: 5_000, services_of_a_namespace: 100 };
    measure(cluster, &["check", "-A"]).await;
    let cluster = Population { pods: 100_000, services: 10_000, nodes: 2_000, services_of_a_namespace: 100 };
    measure(cluster, &["retire", "plan", "-A", "-o", "json"]).await;
}

/// Loads a cluster and measures a command, unless the arguments name others: `-- retire` measures only that one.
async fn measure(population: Population, args: &[&str]) {
    let mut named = std::env::args().skip(1).filter(|it| !it.starts_with('-')).peekable();
    if named.peek().is_some() && !named.any(|name| name == args[0]) {
        return;
    }
    let server = Server::start(Config::default()).await.unwrap();
    let template = template();
    server.load(population.objects(&template)).unwrap();
    server.load(written(&server)).unwrap();
    let mut kubeconfig = NamedTempFile::new().unwrap();
    kubeconfig.write_all(server.kubeconfig().as_bytes()).unwrap();

    let path = kubeconfig.path().to_owned();
    let line: Vec<String> = args.iter().map(|it| (*it).to_owned()).collect();
    let cost = tokio::task::spawn_blocking(move || process::measure(&line, &path)).await.unwrap();
    println!("kubectl endpoints {}: {} Pods, {cost}", args.join(" "), population.pods);
    server.shutdown().await;
}

fn template() -> Value {
    let mut list: Value = serde_json::from_str(RECORDED).unwrap();
    let items = list["items"].as_array_mut().unwrap();
    let ready = items.iter_mut().find(|pod| pod["metadata"]["name"] == "shop-11").unwrap();
    Population::template(ready.take())
}

/// Returns the slices and Endpoints that the controllers would write.
fn written(server: &Server) -> Vec<Value> {
    let mut world = World::new(Settings::default());
    world.add_services(decoded(server, "services"));
    world.add_pods(decoded(server, "pods"));
    world.add_nodes(decoded(server, "nodes"));
    let changes = world.changes().into_iter().enumerate();
    changes
        .map(|(at, change)| {
            let mut object = change.after.unwrap();
            if object["metadata"]["name"].is_null() {
                object["metadata"]["name"] = format!("slice-{at}").into();
            }
            object
        })
        .collect()
}

fn decoded<T: DeserializeOwned>(server: &Server, plural: &str) -> impl Iterator<Item = Arc<T>> {
    let decode = |bytes: Bytes| Arc::new(serde_json::from_slice(&bytes).unwrap());
    server.encoded_objects("", plural).into_iter().map(decode)
}

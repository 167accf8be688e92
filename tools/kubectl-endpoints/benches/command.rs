//! Time and memory of whole commands against the embedded API server, which runs in this process.
//!
//! `explain` for a Service in a namespace of 10,000 Pods, `check` over 150,000 Pods, and `retire plan` over 10,000 Services, whose
//! slices and Endpoints this program writes as the controllers would. Prints, for the best of several runs: the time until the exit, the CPU time
//! of the command, and its peak memory. It measures processes, so that it is not a criterion benchmark.
#![expect(clippy::unwrap_used, reason = "a bench fails by panics")]
#![expect(clippy::print_stdout, reason = "the result")]
#![expect(clippy::disallowed_methods, reason = "it measures real time, and polls the kernel on a thread of its own")]

use std::{
    io::Write as _,
    process::{Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use kube_dev_apiserver::{Config, Population, Server};
use kube_endpoints_explain::{Settings, World};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tempfile::NamedTempFile;

const RUNS: usize = 5;
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

    let mut best: Option<(Duration, Duration, u64)> = None;
    for _ in 0..RUNS {
        let path = kubeconfig.path().to_owned();
        let args: Vec<String> = args.iter().map(|it| (*it).to_owned()).collect();
        let run = tokio::task::spawn_blocking(move || run(&args, &path)).await.unwrap();
        best = best.map_or(Some(run), |best| Some(best.min(run)));
    }
    let (elapsed, cpu, memory) = best.unwrap();
    println!(
        "kubectl endpoints {}: {} Pods, {elapsed:.2?}, {cpu:.2?} CPU, {} MiB",
        args.join(" "),
        population.pods,
        memory / 1024
    );
    server.shutdown().await;
}

/// Runs a command; returns the time until its exit, its CPU time, and its peak memory in KiB.
fn run(args: &[String], kubeconfig: &std::path::Path) -> (Duration, Duration, u64) {
    let started = Instant::now();
    let mut child = Command::new(env!("CARGO_BIN_EXE_kubectl-endpoints"))
        .args(args)
        .env("KUBECONFIG", kubeconfig)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let path = format!("/proc/{}", child.id());
    let (mut cpu, mut memory) = (Duration::ZERO, 0);
    // The kernel forgets the figures once the child is waited for.
    loop {
        if let Ok(status) = std::fs::read_to_string(format!("{path}/status")) {
            let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            memory = peak.and_then(|it| it.split_whitespace().next()?.parse().ok()).unwrap_or(memory);
        }
        cpu = cpu_time(&path).unwrap_or(cpu);
        if child.try_wait().unwrap().is_some() {
            break;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    let elapsed = started.elapsed();
    // 1 is an answer.
    assert!(child.wait().unwrap().code().is_some_and(|code| code < 2), "the command failed");
    (elapsed, cpu, memory)
}

/// Returns the user and system time of a process; ticks are hundredths of a second.
fn cpu_time(path: &str) -> Option<Duration> {
    let stat = std::fs::read_to_string(format!("{path}/stat")).ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks: u64 = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    Some(Duration::from_millis(ticks * 10))
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

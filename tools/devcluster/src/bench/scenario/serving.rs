//! Scenario `serving`: the HTTPS server of the controllers under load, while it is scraped and probed.

use std::{
    fs,
    net::{Ipv4Addr, SocketAddr, TcpListener},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use anyhow::{Context as _, ensure};
use jiff::Timestamp;
use kube_controller_client::Client;
use serde_json::{Value, json};
use tokio::{
    task::JoinSet,
    time::{Instant, sleep},
};

use super::flip::DEFAULT_POPULATION;
use crate::bench::{
    attack::{self, Attack, Counters, Https, Load, Scraper, Scrapes, UnderAttack},
    environment::{Environment, Run},
    latencies::Latencies,
    outcome::Outcome,
    server_process::ServerProcess,
};

/// Handshakes per second, and number of slow connections.
const RATE: usize = 5_000;
const CONNECTIONS: usize = 10_000;
/// Duration of each kind of load.
const DURATION: Duration = Duration::from_secs(15);
/// Interval at which lease and descriptors are read.
const INTERVAL: Duration = Duration::from_secs(1);

/// Highest number of `TokenReview` requests for unknown tokens in any second.
const UNKNOWN_REVIEWS: f64 = 20.0;
/// Highest number of `TokenReview` requests in a second for the token of the scrapers, whose result is cached for 10 s.
const SCRAPER_REVIEWS: f64 = 1.0;
/// Highest number of file descriptors; the usual limit of a process.
const MAX_DESCRIPTORS: usize = 1_024;
/// Renew deadline of the lease in seconds, after which it is lost.
const RENEW_DEADLINE: f64 = 10.0;
/// Path of the lease.
const LEASE: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/endpoint-controller-manager";

pub(super) async fn run(environment: &mut Environment) -> anyhow::Result<Vec<Outcome>> {
    let settings = &environment.settings;
    let load = Load {
        rate: settings.rate.unwrap_or(RATE),
        connections: settings.connections.unwrap_or(CONNECTIONS),
        duration: settings.load.unwrap_or(DURATION),
    };
    allow_descriptors(load.connections)?;
    let mut server = environment.filled(environment.settings.sizes.or(DEFAULT_POPULATION)).await?;
    let folder = tempfile::tempdir()?;
    let address = free_address()?;
    let (port, cert_dir, kubeconfig) = (address.port(), folder.path().display(), server.kubeconfig.display());
    let flags = [
        "--leader-elect=true".to_owned(),
        "--bind-address=127.0.0.1".to_owned(),
        format!("--secure-port={port}"),
        format!("--cert-dir={cert_dir}"),
        format!("--authentication-kubeconfig={kubeconfig}"),
        format!("--authorization-kubeconfig={kubeconfig}"),
    ];
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    let run = environment.run_with(&mut server, environment.settings.pace(Duration::ZERO), &flags).await?;
    let mut run = run.resume(&mut server, &environment.progress).await?;
    let certificate = fs::read(folder.path().join("kube-controller-manager.crt"));
    let https = Arc::new(Https::new(address, &certificate.context("no certificate of the controllers")?)?);
    let token = token(&run.client).await?;
    run.outcome(&mut server, "").await?;
    let mut outcomes = Vec::new();
    for attack in Attack::ALL {
        outcomes.push(measure(environment, &mut run, &mut server, (attack, load), &https, &token).await?);
    }
    run.stop().await?;
    environment.cache(server);
    Ok(outcomes)
}

/// Measures scrapes and probes under one kind of load.
async fn measure(
    environment: &Environment,
    run: &mut Run,
    server: &mut ServerProcess,
    (attack, load): (Attack, Load),
    https: &Arc<Https>,
    token: &str,
) -> anyhow::Result<Outcome> {
    environment.progress.step(&format!("{} for {:?}", attack.name(), load.duration));
    let (counters, mut clients) = (Arc::new(Counters::default()), JoinSet::new());
    let metrics = Scraper::metrics(https, token).start(&mut clients).await;
    let probes = Scraper::livez(https).start(&mut clients).await;
    let kept_open = Scraper::kept_open(https, token).start(&mut clients).await;
    let held = Lease::of(&run.client).await?;

    let mut load_tasks = attack::start(attack, load, https, &counters)?;
    let (start, mut worst) = (Instant::now(), UnderAttack::new(&counters, 0.0));
    let reviews = server.count().await?.count("tokenreviews", "create");
    while start.elapsed() < load.duration {
        sleep(INTERVAL).await;
        let lease = Lease::of(&run.client).await?;
        ensure!(lease.holder == held.holder && lease.transitions == held.transitions, "the lease was lost");
        worst.lease_age = worst.lease_age.max(lease.age());
        worst.descriptors = worst.descriptors.max(run.descriptors()?);
    }
    let reviews = server.count().await?.count("tokenreviews", "create") - reviews;
    let reviews = f64::from(u32::try_from(reviews)?);
    let seconds = start.elapsed().as_secs_f64();
    load_tasks.shutdown().await;
    clients.shutdown().await;

    let ended = |scrapes: Arc<Mutex<Scrapes>>| {
        let scrapes = std::mem::take(&mut *scrapes.lock().unwrap_or_else(PoisonError::into_inner));
        let (failed, all) = (scrapes.failures.len(), scrapes.failures.len() + scrapes.latencies.len());
        let first = scrapes.failures.first().cloned().unwrap_or_default();
        ensure!(failed == 0, "{}: {failed} of {all} requests failed; {first}", attack.name());
        Ok(Latencies::of(scrapes.latencies))
    };
    let latencies = ended(metrics)?;
    let under_attack = UnderAttack {
        probes: ended(probes)?,
        kept_open: ended(kept_open)?,
        descriptors: worst.descriptors,
        token_reviews_per_second: reviews / seconds,
        lease_age: worst.lease_age,
        ..UnderAttack::new(&counters, seconds)
    };
    ensure!(under_attack.descriptors <= MAX_DESCRIPTORS, "{} file descriptors", under_attack.descriptors);
    // `seconds` begin in at most `seconds + 1` periods of a second, each of which has the limit.
    let allowed = (seconds + 1.0) * (UNKNOWN_REVIEWS + SCRAPER_REVIEWS);
    ensure!(reviews <= allowed, "{reviews} TokenReviews in {seconds:.1} s, {allowed:.0} are allowed");
    ensure!(worst.lease_age < RENEW_DEADLINE, "the lease was not renewed for {:.1} s", worst.lease_age);
    run.settle(server, &environment.progress, "after the load", |_| true).await?;
    let outcome = run.outcome(server, attack.name()).await?;
    Ok(Outcome { latencies, under_attack: Some(under_attack), ..outcome })
}

/// Fails if this process may not open a socket for each connection.
fn allow_descriptors(connections: usize) -> anyhow::Result<()> {
    let needed = connections as u64 + 1_000;
    let allowed = rustix::process::getrlimit(rustix::process::Resource::Nofile).current.unwrap_or(u64::MAX);
    ensure!(allowed >= needed, "{needed} file descriptors are needed, {allowed} are allowed: see `ulimit -n`");
    Ok(())
}

/// Returns a loopback address with a port that is free now.
fn free_address() -> anyhow::Result<SocketAddr> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?)
}

/// Creates a service account, and returns a token of it.
async fn token(client: &Client) -> anyhow::Result<String> {
    let accounts = "/api/v1/namespaces/default/serviceaccounts";
    post(client, accounts, &json!({"metadata": {"name": "scraper"}})).await?;
    let answer = post(client, &format!("{accounts}/scraper/token"), &json!({"spec": {}})).await?;
    Ok(answer["status"]["token"].as_str().context("no token in the answer")?.to_owned())
}

async fn post(client: &Client, path: &str, body: &Value) -> anyhow::Result<Value> {
    let body = serde_json::to_vec(body)?;
    let (status, answer) = client.raw(http::Method::POST, path, Some("application/json"), body).await?;
    ensure!(status.is_success(), "{path}: {status} {}", String::from_utf8_lossy(&answer));
    Ok(serde_json::from_slice(&answer)?)
}

/// State of the lease.
struct Lease {
    holder: String,
    transitions: u64,
    renewed: Timestamp,
}

impl Lease {
    async fn of(client: &Client) -> anyhow::Result<Lease> {
        let lease = client.get_json(LEASE).await?;
        let spec = &lease["spec"];
        let text = |name: &str| spec[name].as_str().with_context(|| format!("the lease has no {name}"));
        Ok(Lease {
            holder: text("holderIdentity")?.to_owned(),
            transitions: spec["leaseTransitions"].as_u64().unwrap_or_default(),
            renewed: text("renewTime")?.parse()?,
        })
    }

    /// Returns the seconds since the last renewal.
    fn age(&self) -> f64 {
        kube_ambient::now().duration_since(self.renewed).as_secs_f64()
    }
}

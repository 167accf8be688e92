//! What of the process is served: its health, its metrics, its flags.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use kube_controller::Supervisor;
use kube_controller_client::{Client, ClientOptions, Config, ConfigError};
use kube_informer::HandlerHandle;
use kube_lease_election::Fence;
use tokio_util::sync::CancellationToken;

use crate::configz::configz;
use crate::manager::RunError;
use crate::metrics::Metrics;
use crate::serving::{Contents, Health, Pages, Probe, Reviewers, Server};
use crate::settings::{LeaderElection, Settings};
use crate::user_agent::user_agent;

/// Requests a second, and at once, of each kind of review: what upstream allows, so that scrapes never wait for each other.
const REVIEW_QPS: f32 = 200.0;
const REVIEW_BURST: u32 = 400;

/// What is known of the health of the process. Clones share it.
#[derive(Clone)]
pub(crate) struct Checks {
    health: Health,
    caches: Arc<OnceLock<Vec<HandlerHandle>>>,
    fence: Arc<OnceLock<Fence>>,
}

impl Checks {
    /// Ready is who has filled its caches and is not about to end; well is who renews the lease, if it is held (CM-10).
    pub(crate) fn new(stop: &CancellationToken, election: Option<&LeaderElection>) -> Checks {
        let checks = Checks { health: Health::default(), caches: Arc::default(), fence: Arc::default() };
        if let Some(election) = election {
            let (lease, fence) = (election.lease.name.clone(), Arc::clone(&checks.fence));
            checks.health.add("leaderElection", &[Probe::Healthz, Probe::Livez], move || {
                let failed = || format!("failed election to renew leadership on lease {lease}");
                if fence.get().is_some_and(Fence::is_overdue) { Err(failed()) } else { Ok(()) }
            });
        }
        let caches = Arc::clone(&checks.caches);
        checks.health.add("informer-sync", &[Probe::Readyz], move || match caches.get() {
            None => Err("the API server has not been reached yet".to_owned()),
            Some(caches) => {
                let missing: Vec<&str> = caches.iter().filter(|it| !it.has_synced()).map(HandlerHandle::name).collect();
                if missing.is_empty() { Ok(()) } else { Err(format!("not synced yet: {}", missing.join(", "))) }
            }
        });
        let stop = stop.clone();
        checks.health.add("shutdown", &[Probe::Readyz], move || {
            if stop.is_cancelled() { Err("the process is about to end".to_owned()) } else { Ok(()) }
        });
        checks
    }

    /// The caches that are to be filled.
    pub(crate) fn caches(&self, caches: Vec<HandlerHandle>) {
        // Nobody sets them twice.
        let _ = self.caches.set(caches);
    }

    /// The election that was begun.
    pub(crate) fn election(&self, fence: &Fence) {
        let _ = self.fence.set(fence.clone());
    }

    /// A controller that was started; it takes the process with it when it fails.
    pub(crate) fn controller(&self, name: &str) {
        self.health.add(name, &[Probe::Healthz], || Ok(()));
    }
}

/// Listens and starts to serve; nothing, where no port is given. What is served ends with the supervisor.
pub(crate) async fn serve(
    settings: &Settings,
    checks: &Checks,
    metrics: &Metrics,
) -> Result<Option<Supervisor>, RunError> {
    let serving = &settings.serving;
    if serving.port == 0 {
        return Ok(None);
    }
    let tokens = reviewer(serving.authentication.kubeconfig.as_deref(), metrics, "authentication").await?;
    if tokens.is_none() {
        tracing::warn!("No authentication-kubeconfig provided, so tokens are as good as none");
    }
    let access = reviewer(serving.authorization.kubeconfig.as_deref(), metrics, "authorization").await?;
    if access.is_none() {
        tracing::warn!("No authorization-kubeconfig provided, so nothing is allowed but the paths open to all");
    }
    let contents = Contents {
        health: checks.health.clone(),
        registry: metrics.registry.clone(),
        pages: Pages::new(settings.flags.clone(), configz(settings)),
    };
    let server = Server::bind(serving, Reviewers { tokens, access }, contents).await?;
    if let Ok(address) = server.address() {
        tracing::info!("Serving securely on {address}");
    }
    // Until the very end: whoever stops is alive, and has metrics.
    let mut supervisor = Supervisor::new(CancellationToken::new());
    supervisor.spawn("serving", server.run());
    Ok(Some(supervisor))
}

/// A client for reviews; none outside of a Pod without a kubeconfig.
async fn reviewer(kubeconfig: Option<&Path>, metrics: &Metrics, part: &str) -> Result<Option<Client>, ConfigError> {
    let config = match kubeconfig {
        Some(path) => Config::from_kubeconfig(path).await?,
        None => match Config::in_cluster() {
            Ok(config) => config,
            Err(_) => return Ok(None),
        },
    };
    let (user_agent, qps, burst) = (user_agent(part), REVIEW_QPS, REVIEW_BURST);
    let options = ClientOptions { user_agent, qps, burst, ..ClientOptions::default() };
    Client::with_metrics(&config, options, &metrics.clients).map(Some)
}

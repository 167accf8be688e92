//! The controllers on shared caches, in one set of tasks.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use kube_controller::{Supervisor, SupervisorError};
use kube_controller_client::events::EventRecorder;
use kube_controller_client::{Client, ClientOptions, Config, ConfigError, Timeouts};
use kube_lease_election::Fence;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::caches::Caches;
use crate::checks::Checks;
use crate::controllers::Controllers;
use crate::credentials;
use crate::discovery::SliceApi;
use crate::feature_gates::ENDPOINT_SLICE;
use crate::leader::{Told, lead};
use crate::metrics::Metrics;
use crate::serve::serve;
use crate::serving::ServingError;
use crate::settings::{ClientSettings, LeaderElection, Settings};
use crate::user_agent::user_agent;

/// Why the controllers ended without being asked to, or never began.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The API server cannot be talked to with this configuration.
    #[error("cannot set up a client for the API server")]
    Client(#[from] ConfigError),
    /// The lease could not be renewed in time, or another holds it: the process has to end, as upstream's does.
    #[error("the leader election lease is lost")]
    LeaseLost,
    /// The API server has answered every request of this process with 401 for five minutes.
    #[error(
        "the API server has answered 401 for {} s: replace the token or client certificate, or the file it is read from",
        .rejected.as_secs()
    )]
    Credentials {
        /// Time since the first of these answers.
        rejected: Duration,
    },
    /// What is to be served cannot be.
    #[error(transparent)]
    Serving(#[from] ServingError),
    /// Two metrics are of one name.
    #[error("cannot register metrics")]
    Metrics(#[from] prometheus::Error),
    /// A part failed.
    #[error(transparent)]
    Part(#[from] SupervisorError),
}

/// How long syncs under way may take to end after the request to stop.
///
/// With what giving back the lease takes, the process ends within five seconds.
pub(crate) const GRACE: Duration = Duration::from_secs(3);
/// How long after that request syncs may begin requests of their own. One that waits for the limit on requests, of which a
/// sync may need hundreds, would not come to its end in time; what is left undone, the successor finds.
const LAST_CALL: Duration = Duration::from_millis(1_500);

/// Runs the controllers until `stop` is cancelled or a part fails.
///
/// One cache of each kind serves all controllers that read it; each controller writes with a client, and so a rate limit,
/// of its own, and as a service account of its own if so wanted. An API server that is away is waited for; one that does not
/// serve EndpointSlices is asked again until it does, while the Endpoints controller works. With leader election, caches are
/// kept from the beginning and controllers start once the lease is held; no write of theirs starts after it may have gone to
/// another. Files of the configuration are read again when they change. Health and metrics are served from the very beginning
/// to the very end.
pub async fn run(config: Config, settings: Settings, stop: CancellationToken) -> Result<(), RunError> {
    let is_served = settings.serving.port != 0;
    let metrics = is_served.then(|| Metrics::register(&settings.feature_gates)).transpose()?;
    let credentials = config.credentials().clone();
    let checks = Checks::new(&stop, settings.leader_election.as_ref(), &credentials);
    let serving = match &metrics {
        Some(metrics) => Some(serve(&settings, &checks, metrics).await?),
        None => None,
    };
    let (following, health, elects) = (config.follow_files(), checks.clone(), settings.leader_election.is_some());
    let work = Box::pin(work(config, settings, checks, metrics, stop));
    let work = async {
        tokio::select! {
            biased;
            worked = work => worked,
            // A standby waits instead: it does no harm, and may be given new credentials.
            rejected = credentials::rejected(&credentials, || !elects || health.leads()) => {
                Err(RunError::Credentials { rejected })
            }
            never = following => match never {},
        }
    };
    match serving {
        None => work.await,
        Some(serving) => tokio::select! {
            biased;
            worked = work => worked,
            failed = serving.run(GRACE) => Ok(failed?),
        },
    }
}

/// All but serving.
async fn work(
    config: Config,
    settings: Settings,
    checks: Checks,
    metrics: Option<Metrics>,
    stop: CancellationToken,
) -> Result<(), RunError> {
    let reader = client(&config, &settings.client, metrics.as_ref(), "shared-informers")?;
    let controllers = controllers(&settings);
    let caches = Caches::new(&reader, settings.min_resync_period, metrics.as_ref().map(|metrics| &metrics.informers));
    let mut supervisor = Supervisor::new(stop.clone());
    let slice_api = SliceApi::new(metrics.as_ref().map(|metrics| metrics.api_available.clone()));
    if !controllers.of_slices().is_empty() {
        checks.slice_api(slice_api.clone());
    }
    let started = caches.spawn(&mut supervisor, controllers, (reader.clone(), slice_api), &stop);
    checks.caches(started);
    let election = settings.leader_election.clone();
    let last_call = CancellationToken::new();
    let manager = Manager { config, settings, reader, controllers, caches, checks, metrics, stop, last_call };
    tokio::select! {
        biased;
        ended = manager.run(election, supervisor) => ended?,
        never = manager.close() => match never {},
    }
    tracing::info!("Stopped");
    Ok(())
}

fn client(
    config: &Config,
    settings: &ClientSettings,
    metrics: Option<&Metrics>,
    part: &str,
) -> Result<Client, ConfigError> {
    client_within(config, settings, Timeouts::default(), metrics, part)
}

fn client_within(
    config: &Config,
    settings: &ClientSettings,
    timeouts: Timeouts,
    metrics: Option<&Metrics>,
    part: &str,
) -> Result<Client, ConfigError> {
    let ClientSettings { kubeconfig: _, master: _, qps, burst, content_type, service_account_credentials: _ } =
        settings;
    let (user_agent, qps, burst, content_type) = (user_agent(part), *qps, *burst, *content_type);
    let options = ClientOptions { user_agent, qps, burst, content_type, timeouts };
    match metrics {
        Some(metrics) => Client::with_metrics(config, options, &metrics.clients),
        None => Client::new(config, options),
    }
}

/// The same client, which sends writes only while the lease is held.
fn fenced(client: Client, fence: Option<&Fence>) -> Client {
    match fence {
        Some(fence) => client.gated(Arc::new(Fence::clone(fence))),
        None => client,
    }
}

/// The controllers that are to run: those of the flags that are compiled in and whose feature gate is on.
fn controllers(settings: &Settings) -> Controllers {
    let mut controllers = settings.controllers.compiled_in();
    if !settings.feature_gates.enabled(ENDPOINT_SLICE) {
        for name in controllers.of_slices() {
            tracing::warn!("Not starting {name} since EndpointSlice feature gate is disabled");
        }
        controllers.endpointslice = false;
        controllers.mirroring = false;
    }
    controllers
}

/// What controllers are started with.
struct Manager {
    config: Config,
    settings: Settings,
    /// The client of the caches.
    reader: Client,
    controllers: Controllers,
    caches: Caches,
    checks: Checks,
    /// `None` if nothing is served, since metrics have no other reader.
    metrics: Option<Metrics>,
    stop: CancellationToken,
    /// From when on controllers begin no more requests.
    last_call: CancellationToken,
}

/// Where controllers are started: what runs them, what their writes must pass, and whose they are.
struct Stage<'a> {
    supervisor: &'a mut Supervisor,
    fence: Option<&'a Fence>,
    /// Who asks for tokens of the controllers' service accounts, if they have such.
    accounts: Option<Client>,
}

/// Where service accounts of controllers live.
const ACCOUNTS_NAMESPACE: &str = "kube-system";

impl Manager {
    /// Runs what `standby` holds, and the controllers when it is their time, to the end.
    async fn run(&self, election: Option<LeaderElection>, mut standby: Supervisor) -> Result<(), RunError> {
        let Some(election) = election else {
            self.start(&mut standby, None)?;
            return Ok(standby.run(GRACE).await?);
        };
        // One request every few seconds, of which none may be late: a limit would only ever cost the lease.
        let unlimited = ClientSettings { qps: 0.0, ..self.settings.client.clone() };
        let timeouts = election.timing.timeouts();
        let client = client_within(&self.config, &unlimited, timeouts, self.metrics.as_ref(), "leader-election")?;
        let start = |supervisor: &mut Supervisor, fence: &Fence| self.start(supervisor, Some(fence));
        let told = Told { checks: &self.checks, metrics: self.metrics.as_ref() };
        let caught_up = Box::pin(self.caches.catch_up(&self.reader, self.controllers));
        lead(client, election, told, standby, caught_up, start, self.stop.clone()).await
    }

    /// Announces the last call some time after the request to stop. Never returns.
    async fn close(&self) -> Infallible {
        self.stop.cancelled().await;
        sleep(LAST_CALL).await;
        self.last_call.cancel();
        std::future::pending().await
    }

    /// Starts the controllers. What they write passes the fence, if there is one.
    fn start(&self, supervisor: &mut Supervisor, fence: Option<&Fence>) -> Result<(), RunError> {
        tracing::info!(server = %self.config.server(), controllers = ?self.controllers, "Starting controllers");
        let asking = || client(&self.config, &self.settings.client, self.metrics.as_ref(), "service-accounts");
        let asking = self.settings.client.service_account_credentials.then(asking).transpose()?;
        let accounts = asking.map(|client| fenced(client.until(self.last_call.clone()), fence));
        let mut stage = Stage { supervisor, fence, accounts };
        #[cfg(feature = "endpoint")]
        if self.controllers.endpoints {
            self.endpoints(&mut stage)?;
        }
        #[cfg(feature = "endpointslice")]
        if self.controllers.endpointslice {
            self.endpointslice(&mut stage)?;
        }
        #[cfg(feature = "mirroring")]
        if self.controllers.mirroring {
            self.mirroring(&mut stage)?;
        }
        Ok(())
    }

    /// A client for a controller's writes and events, and the recorder of the events. `part` is the name of its service
    /// account as well.
    fn writer(
        &self,
        stage: &mut Stage<'_>,
        part: &str,
        component: &'static str,
    ) -> Result<(Client, EventRecorder), RunError> {
        let client = match &stage.accounts {
            None => client(&self.config, &self.settings.client, self.metrics.as_ref(), part)?,
            Some(asking) => {
                let config = self.config.as_service_account(asking.clone(), ACCOUNTS_NAMESPACE, part);
                let user = format!("system:serviceaccount:{ACCOUNTS_NAMESPACE}:{part}");
                client(&config, &self.settings.client, self.metrics.as_ref(), &user)?
            }
        };
        let client = fenced(client.until(self.last_call.clone()), stage.fence);
        let (recorder, writer) = EventRecorder::new(client.clone(), component);
        stage.supervisor.spawn(format!("event writer of {component}"), writer.run(self.stop.clone()));
        Ok((client, recorder))
    }

    /// Returns the metrics of the queue and the syncs of a controller, if metrics are served.
    fn controller_metrics(&self, name: &'static str) -> kube_controller::Metrics {
        self.metrics.as_ref().map_or_else(kube_controller::Metrics::default, |metrics| kube_controller::Metrics {
            queue: Some(Arc::new(metrics.queues.clone())),
            controller: Some(metrics.controllers.controller(name)),
        })
    }

    #[cfg(feature = "endpoint")]
    fn endpoints(&self, stage: &mut Stage<'_>) -> Result<(), RunError> {
        use crate::controllers::ENDPOINTS;

        let (client, recorder) = self.writer(stage, "endpoint-controller", "endpoint-controller")?;
        let informers = kube_endpoint::Informers {
            services: self.caches.services.clone(),
            pods: self.caches.pods.clone(),
            endpoints: self.caches.endpoints.clone(),
        };
        let (config, metrics) = (self.settings.endpoint, self.controller_metrics(ENDPOINTS));
        let controller = kube_endpoint::endpoints_controller(&informers, client, recorder, config, metrics);
        stage.supervisor.try_spawn(ENDPOINTS, controller.run(self.stop.clone()));
        self.checks.controller(ENDPOINTS);
        Ok(())
    }

    #[cfg(feature = "endpointslice")]
    fn endpointslice(&self, stage: &mut Stage<'_>) -> Result<(), RunError> {
        use crate::controllers::ENDPOINTSLICE;

        let (client, recorder) = self.writer(stage, "endpointslice-controller", "endpoint-slice-controller")?;
        let informers = kube_endpointslice::controller::Informers {
            services: self.caches.services.clone(),
            pods: self.caches.pods.clone(),
            nodes: self.caches.nodes.clone(),
            slices: self.caches.slices.clone(),
        };
        let (config, metrics) = (self.settings.endpointslice, self.controller_metrics(ENDPOINTSLICE));
        let slices: Arc<dyn kube_endpointslice::metrics::SliceMetrics> = match &self.metrics {
            Some(metrics) => Arc::new(kube_endpointslice::metrics::PrometheusMetrics::register(&metrics.registry)?),
            None => Arc::new(()),
        };
        let controller = kube_endpointslice::controller::endpointslice_controller(
            &informers, client, recorder, config, slices, metrics,
        );
        stage.supervisor.try_spawn(ENDPOINTSLICE, controller.run(self.stop.clone()));
        self.checks.controller(ENDPOINTSLICE);
        Ok(())
    }

    #[cfg(feature = "mirroring")]
    fn mirroring(&self, stage: &mut Stage<'_>) -> Result<(), RunError> {
        use crate::controllers::MIRRORING;

        let (client, recorder) =
            self.writer(stage, "endpointslicemirroring-controller", "endpoint-slice-mirroring-controller")?;
        let informers = kube_endpointslice_mirroring::Informers {
            services: self.caches.services.clone(),
            endpoints: self.caches.endpoints.clone(),
            slices: self.caches.slices.clone(),
        };
        let (config, metrics) = (self.settings.mirroring, self.controller_metrics(MIRRORING));
        let mirroring: Arc<dyn kube_endpointslice_mirroring::MirroringMetrics> = match &self.metrics {
            Some(metrics) => Arc::new(kube_endpointslice_mirroring::PrometheusMetrics::register(&metrics.registry)?),
            None => Arc::new(()),
        };
        let controller = kube_endpointslice_mirroring::mirroring_controller(
            &informers, client, recorder, config, mirroring, metrics,
        );
        stage.supervisor.try_spawn(MIRRORING, controller.run(self.stop.clone()));
        self.checks.controller(MIRRORING);
        Ok(())
    }
}

//! Starts the controllers on shared informers and supervises all tasks of the process.

use std::sync::Arc;

use kube_controller::{Controller, ServerGate, Supervisor};
use kube_controller_client::events::EventRecorder;
use kube_controller_client::{Client, Config, ReviewedClient};
use kube_endpoint_model::{Interner, ObjectKey};
use kube_lease_election::Fence;
use kube_wire::Object;
use prometheus::Registry;
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use crate::caches::{Caches, CaughtUp};
use crate::checks::Checks;
use crate::clients::{Clients, fenced};
use crate::controllers::Controllers;
use crate::credentials;
use crate::discovery::SliceApi;
#[cfg(any(feature = "endpoint", feature = "endpointslice"))]
use crate::emulation::EmulatedVersion;
use crate::error::RunError;
use crate::held_lists::report_held_lists;
use crate::leader::{GRACE, Leading, Observers, lead};
use crate::metrics::Metrics;
use crate::pages::ShadowPage;
use crate::request_deadline;
use crate::second_writer::{REQUESTS_PER_SECOND, SecondWriter};
use crate::serve::serve;
use crate::settings::{LeaderElection, Mode, Settings};
use crate::settled::settled;
use crate::shadow::{self, Shadow};

/// Runs the controllers until `stop` is cancelled or a task fails.
///
/// - The controllers share one informer per resource. Each controller writes with its own client, which has its own
///   rate limiter and, with [`ClientSettings::service_account_credentials`](crate::ClientSettings::service_account_credentials), its own service account.
/// - An unreachable API server is retried without end. While it does not serve EndpointSlices, the slice controllers
///   wait and the Endpoints controller works.
/// - With leader election, informers run from the start, controllers start once the lease is held, and no write of a
///   controller starts after the lease may have gone to another process.
/// - The files that `config` was read from are reloaded when they change (checked every 30 s).
/// - In [shadow mode](Mode::Shadow), there is no leader election, the controllers compare their plans with what exists,
///   and no client of the controllers can write. A panic during a sync is logged and counted, and the key is retried.
/// - Health checks and metrics are served until everything else has ended.
///
/// After `stop` is cancelled, running syncs may start requests for another 1.5 s, and tasks have 3 s to end. The lease
/// is released afterwards, unless a task is still running.
///
/// # Errors
///
/// See [`RunError`]. A lost lease, a failed or panicked task, and answers of 401 to every request for 300 s (while this
/// process leads or runs without leader election) end the run.
pub async fn run(config: Config, settings: Settings, stop: CancellationToken) -> Result<(), RunError> {
    let settings = settings.for_mode()?;
    let is_served = settings.serving.port != 0;
    let registry = settings.registry.clone().or_else(|| is_served.then(Registry::new));
    let register = |registry| Metrics::register(registry, &settings.feature_gates, settings.emulated_version);
    let metrics = registry.map(register).transpose()?;
    let credentials = config.credentials().clone();
    let checks = Checks::new(&stop, settings.leader_election.as_ref(), &credentials);
    let page = ShadowPage::default();
    let serving = match &metrics {
        Some(metrics) if is_served => Some(serve(&settings, &checks, metrics, &page).await?),
        _ => None,
    };
    let (following, health, elects) = (config.follow_files(), checks.clone(), settings.leader_election.is_some());
    let work = Box::pin(work(config, settings, checks, metrics, page, stop));
    let work = async {
        tokio::select! {
            biased;
            result = work => result,
            // A standby writes nothing and may get new credentials, so that it keeps running.
            rejected = credentials::wait_until_rejected(&credentials, || !elects || health.is_leader()) => {
                Err(RunError::Credentials { rejected })
            }
            never = following => match never {},
        }
    };
    let Some(mut serving) = serving else { return work.await };
    let result = tokio::select! {
        biased;
        result = work => result,
        failed = serving.failed() => Err(failed.into()),
    };
    serving.stop().await;
    result
}

/// Runs everything except the HTTPS server: informers, leader election and controllers.
async fn work(
    config: Config,
    settings: Settings,
    checks: Checks,
    metrics: Option<Metrics>,
    page: ShadowPage,
    stop: CancellationToken,
) -> Result<(), RunError> {
    let interner = Interner::default();
    let clients = Clients::new(&settings, metrics.as_ref());
    let reader = clients.client(&config, "shared-informers")?.decoding_in(interner.clone());
    let controllers = settings.controllers.running(&settings.feature_gates);
    let informer_metrics = metrics.as_ref().map(|metrics| &metrics.informers);
    let caches = Caches::new(&reader, settings.min_resync_period, settings.guard, informer_metrics);
    let shadow = shadow::start(&settings, &caches, metrics.as_ref(), &page)?;
    let slice_api = SliceApi::new(metrics.as_ref().map(|metrics| metrics.api_available.clone()));
    if !controllers.slice_controllers().is_empty() {
        checks.add_slice_api(slice_api.clone());
    }
    let election = settings.leader_election.clone();
    let request_deadline = CancellationToken::new();
    let manager = Manager {
        config,
        settings,
        clients,
        interner,
        reader,
        controllers,
        caches,
        shadow,
        slice_api,
        checks,
        metrics,
        stop,
        request_deadline,
    };
    tokio::select! {
        biased;
        ended = manager.run(election) => ended?,
        never = request_deadline::enforce(&manager.stop, &manager.request_deadline) => match never {},
    }
    tracing::info!("Stopped");
    Ok(())
}

/// Everything that the controllers are built from.
struct Manager {
    config: Config,
    settings: Settings,
    clients: Clients,
    /// Shared by the informers and the responses to writes.
    interner: Interner,
    /// Client of the informers.
    reader: Client,
    controllers: Controllers,
    caches: Caches,
    /// The comparison of shadow mode; `None` in active mode.
    shadow: Option<Arc<Shadow>>,
    slice_api: SliceApi,
    checks: Checks,
    /// `None` if nothing reads metrics: `--secure-port` is 0, and the settings have no registry.
    metrics: Option<Metrics>,
    stop: CancellationToken,
    /// Cancelled some time after `stop`: from then on the clients of the controllers start no requests.
    request_deadline: CancellationToken,
}

/// What a controller is started with: its supervisor, its fence, the source of its service account's tokens, and what it
/// waits for.
struct StartContext<'a> {
    supervisor: &'a mut Supervisor,
    fence: Option<Fence>,
    /// Client that requests the tokens of the controllers' service accounts. `None`: controllers use the credentials of
    /// the process.
    accounts: Option<Client>,
    /// Ends once the caches have the server's state at the time of the start.
    caches: CaughtUp,
    /// The gate at which keys wait while the server fails.
    server_gate: ServerGate,
}

/// Namespace of the controllers' service accounts.
const ACCOUNTS_NAMESPACE: &str = "kube-system";

impl Manager {
    /// Runs the informers, and the controllers: at once without `election`, otherwise while the lease is held.
    async fn run(&self, election: Option<LeaderElection>) -> Result<(), RunError> {
        let mut standby = Supervisor::new(self.stop.clone());
        let Some(election) = election else {
            // Before the informers, so that their first lists are known to be requested after the start.
            self.start(&mut standby, None)?;
            self.start_caches(&mut standby);
            return Ok(standby.run(GRACE).await?);
        };
        self.start_caches(&mut standby);
        let client = self.clients.unlimited(&self.config, "leader-election", election.timing.timeouts())?;
        let start = |supervisor: &mut Supervisor, leading: Leading| {
            let reports = report_held_lists(leading.clone(), self.caches.held_lists(), self.stop.clone());
            supervisor.spawn("events about held lists", reports);
            self.start(supervisor, Some(leading))
        };
        let observers = Observers { checks: &self.checks, metrics: self.metrics.as_ref() };
        lead(client, election, observers, standby, start, self.stop.clone()).await
    }

    fn start_caches(&self, supervisor: &mut Supervisor) {
        let discovery = (self.reader.clone(), self.slice_api.clone());
        self.checks.add_caches(self.caches.spawn(supervisor, self.controllers, discovery, &self.stop));
    }

    /// Starts the controllers. Their writes pass the fence of `leading`, if there is one.
    fn start(&self, supervisor: &mut Supervisor, leading: Option<Leading>) -> Result<(), RunError> {
        tracing::info!(server = %self.config.server(), controllers = self.controllers.names().join(","), "Starting controllers");
        let token_client = || self.clients.client(&self.config, "service-accounts");
        let token_client = self.settings.client.service_account_credentials.then(token_client).transpose()?;
        let fence = leading.as_ref().map(|leading| leading.fence.clone());
        let shutdown = || self.request_deadline.clone();
        let accounts = token_client.map(|client| fenced(client.with_shutdown(shutdown()), fence.as_ref()));
        let caches = CaughtUp::new(&self.caches);
        if let Some(shadow) = &self.shadow {
            shadow.spawn(supervisor, &self.reader, &self.stop);
        } else {
            let second_writer = self.second_writer(leading)?.run(caches.wait(self.controllers), self.stop.clone());
            supervisor.spawn("detection of a second writer", second_writer);
        }
        let server_gate = ServerGate::default();
        let availability = self.reader.availability().clone();
        let following = server_gate.clone().follow(move || availability.recovery(), self.stop.clone());
        supervisor.spawn("availability of the API server", following);
        let mut context = StartContext { supervisor, fence, accounts, caches, server_gate };
        #[cfg(feature = "endpoint")]
        if self.controllers.endpoints {
            self.endpoints(&mut context)?;
        }
        #[cfg(feature = "endpointslice")]
        if self.controllers.endpointslice {
            self.endpointslice(&mut context)?;
        }
        #[cfg(feature = "mirroring")]
        if self.controllers.mirroring {
            self.mirroring(&mut context)?;
        }
        Ok(())
    }

    /// Returns the client that a controller writes with, and a recorder for its events. `part` is the name of the
    /// controller's service account, and the last part of the user agent when the controllers use the credentials of
    /// the process.
    fn writer(
        &self,
        context: &mut StartContext<'_>,
        part: &str,
        component: &'static str,
    ) -> Result<(Client, EventRecorder), RunError> {
        let client = match &context.accounts {
            None => self.clients.client(&self.config, part)?,
            Some(token_client) => {
                let config = self.config.as_service_account(token_client.clone(), ACCOUNTS_NAMESPACE, part);
                let user = format!("system:serviceaccount:{ACCOUNTS_NAMESPACE}:{part}");
                self.clients.client(&config, &user)?
            }
        };
        let client = client.with_shutdown(self.request_deadline.clone()).decoding_in(self.interner.clone());
        let client = fenced(client, context.fence.as_ref());
        let (recorder, writer) = EventRecorder::new(client.clone(), component);
        // Without its writer, the recorder drops events.
        if self.settings.mode == Mode::Active {
            context.supervisor.spawn(format!("event writer of {component}"), writer.run(self.stop.clone()));
        }
        Ok((client, recorder))
    }

    /// Returns the client through which the controller `name` of `--controllers` writes: in shadow mode, one that sends no
    /// write.
    fn reviewed<T: Object + Serialize + 'static>(&self, client: Client, name: &'static str) -> ReviewedClient<T> {
        match &self.shadow {
            Some(shadow) => shadow.client(client, name),
            None => client.into(),
        }
    }

    fn second_writer(&self, leading: Option<Leading>) -> Result<SecondWriter, RunError> {
        let client = self.clients.limited(&self.config, "second-writer", REQUESTS_PER_SECOND)?;
        let (caches, settings) = (&self.caches, self.settings.second_writer.clone());
        let metrics = self.metrics.as_ref().map(|metrics| metrics.second_writer.clone());
        Ok(SecondWriter::new(client, caches, self.controllers, settings, metrics, leading))
    }

    /// Returns the metrics of the queue and the syncs of a controller, if metrics are served.
    fn controller_metrics(&self, name: &'static str) -> kube_controller::Metrics {
        self.metrics.as_ref().map_or_else(kube_controller::Metrics::default, |metrics| kube_controller::Metrics {
            queue: Some(Arc::new(metrics.queues.clone())),
            controller: Some(metrics.controllers.controller(name)),
        })
    }

    /// Starts a controller. `reads` is the controller alone.
    fn run_controller(
        &self,
        context: &mut StartContext<'_>,
        name: &'static str,
        controller: Controller<ObjectKey>,
        reads: Controllers,
    ) {
        let controller = match &self.shadow {
            Some(shadow) => shadow.follow(name, controller),
            None => controller,
        };
        let (restores, server) = (self.caches.restores.clone(), self.reader.availability().clone());
        let controller = controller.before_sync(move || settled(restores.clone(), server.clone()));
        let controller = controller.wait_for(context.caches.wait(reads)).server_gate(context.server_gate.clone());
        context.supervisor.try_spawn(name, controller.run(self.stop.clone()));
        self.checks.add_controller(name);
    }

    #[cfg(feature = "endpoint")]
    fn endpoints(&self, context: &mut StartContext<'_>) -> Result<(), RunError> {
        use crate::controllers::ENDPOINTS;

        let (client, recorder) = self.writer(context, "endpoint-controller", "endpoint-controller")?;
        let informers = kube_endpoint::Informers {
            services: self.caches.services.clone(),
            pods: self.caches.pods.clone(),
            endpoints: self.caches.endpoints.clone(),
        };
        let mut config = self.settings.endpoint;
        config.namespaced_create_events |= self.settings.emulated_version >= EmulatedVersion::V1_38;
        let metrics = self.controller_metrics(ENDPOINTS);
        let client = self.reviewed(client, ENDPOINTS);
        let controller = kube_endpoint::endpoints_controller(&informers, client, recorder, config, metrics);
        self.run_controller(context, ENDPOINTS, controller, Controllers { endpoints: true, ..Controllers::NONE });
        Ok(())
    }

    #[cfg(feature = "endpointslice")]
    fn endpointslice(&self, context: &mut StartContext<'_>) -> Result<(), RunError> {
        use crate::controllers::ENDPOINTSLICE;

        let (client, recorder) = self.writer(context, "endpointslice-controller", "endpoint-slice-controller")?;
        let informers = kube_endpointslice::controller::Informers {
            services: self.caches.services.clone(),
            pods: self.caches.pods.clone(),
            nodes: self.caches.nodes.clone(),
            slices: self.caches.slices.clone(),
        };
        let (config, metrics) = (self.settings.endpointslice, self.controller_metrics(ENDPOINTSLICE));
        let slices: Arc<dyn kube_endpointslice::metrics::SliceMetrics> = match &self.metrics {
            Some(metrics) => Arc::new(self.slice_metrics(&metrics.registry)?),
            None => Arc::new(()),
        };
        let client = self.reviewed(client, ENDPOINTSLICE);
        let controller = kube_endpointslice::controller::endpointslice_controller(
            &informers, client, recorder, config, slices, metrics,
        );
        self.run_controller(
            context,
            ENDPOINTSLICE,
            controller,
            Controllers { endpointslice: true, ..Controllers::NONE },
        );
        Ok(())
    }

    #[cfg(feature = "endpointslice")]
    fn slice_metrics(
        &self,
        registry: &prometheus::Registry,
    ) -> prometheus::Result<kube_endpointslice::metrics::PrometheusMetrics> {
        use kube_endpointslice::metrics::PrometheusMetrics;

        if self.settings.emulated_version >= EmulatedVersion::V1_38 {
            PrometheusMetrics::register_with_changes_total(registry)
        } else {
            PrometheusMetrics::register(registry)
        }
    }

    #[cfg(feature = "mirroring")]
    fn mirroring(&self, context: &mut StartContext<'_>) -> Result<(), RunError> {
        use crate::controllers::MIRRORING;

        let (client, recorder) =
            self.writer(context, "endpointslicemirroring-controller", "endpoint-slice-mirroring-controller")?;
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
        let client = self.reviewed(client, MIRRORING);
        let controller = kube_endpointslice_mirroring::mirroring_controller(
            &informers, client, recorder, config, mirroring, metrics,
        );
        self.run_controller(context, MIRRORING, controller, Controllers { mirroring: true, ..Controllers::NONE });
        Ok(())
    }
}

//! Starts the controllers on shared informers and supervises all tasks of the process.

use std::sync::Arc;

use kube_controller::{ServerGate, Supervisor};
use kube_controller_client::events::EventRecorder;
use kube_controller_client::{Client, Config};
use kube_lease_election::Fence;
use prometheus::Registry;
use tokio_util::sync::CancellationToken;

use crate::caches::{Caches, CaughtUp};
use crate::checks::Checks;
use crate::clients::Clients;
use crate::controllers::{Controllers, Parts, Registration};
use crate::credentials;
use crate::discovery::SliceApi;
use crate::error::RunError;
use crate::held_lists::report_held_lists;
use crate::history::History;
use crate::leader::{GRACE, Leading, lead};
use crate::metrics::Metrics;
use crate::pages::{HistoryPage, ShadowPage};
use crate::request_deadline;
use crate::second_writer::{REQUESTS_PER_SECOND, SecondWriter};
use crate::serve::serve;
use crate::settings::{Mode, Settings};
use crate::settled::Settled;
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
/// - With [`Settings::history`], the changes that the informers deliver are recorded, also by a standby and in shadow mode.
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
    let pages = (ShadowPage::default(), HistoryPage::default());
    let serving = match &metrics {
        Some(metrics) if is_served => Some(serve(&settings, &checks, metrics, (&pages.0, &pages.1)).await?),
        _ => None,
    };
    let (following, health, elects) = (config.follow_files(), checks.clone(), settings.leader_election.is_some());
    let work = Box::pin(work(config, settings, checks, metrics, pages, stop));
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
    let Some(serving) = serving else { return work.await };
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
    (shadow_page, history_page): (ShadowPage, HistoryPage),
    stop: CancellationToken,
) -> Result<(), RunError> {
    let clients = Clients::new(config, &settings, metrics.as_ref());
    let reader = clients.reader()?;
    let controllers = settings.controllers.clone().running(&settings.feature_gates);
    let history_metrics = metrics.as_ref().map(|metrics| metrics.history.clone());
    let writes = settings.mode == Mode::Active;
    let mut history = settings.history.as_ref().map(|it| History::new(it, writes, history_metrics));
    let reports = history.as_ref().map(History::reports);
    let informer_metrics = metrics.as_ref().map(|metrics| &metrics.informers);
    let caches = Caches::new(&reader, &settings, informer_metrics, reports.as_ref());
    if let Some(history) = &mut history {
        history.follow(&caches, &controllers);
        history_page.set(history.place());
    }
    let shadow = shadow::start(&settings, &caches, metrics.as_ref(), &shadow_page)?;
    let manager = Manager { settings, clients, reader, controllers, caches, shadow, checks, metrics, stop };
    tokio::select! {
        biased;
        ended = manager.run(history) => ended?,
        never = request_deadline::enforce(&manager.stop, &manager.clients.request_deadline) => match never {},
    }
    tracing::info!("Stopped");
    Ok(())
}

/// Everything that the controllers are built from.
struct Manager {
    settings: Settings,
    clients: Clients,
    /// Client of the informers.
    reader: Client,
    controllers: Controllers,
    caches: Caches,
    /// The comparison of shadow mode; `None` in active mode.
    shadow: Option<Arc<Shadow>>,
    checks: Checks,
    /// `None` if nothing reads metrics: `--secure-port` is 0, and the settings have no registry.
    metrics: Option<Metrics>,
    stop: CancellationToken,
}

/// What a controller is started with: its supervisor, its fence, the source of its service account's tokens, and what it
/// waits for.
struct StartContext<'a> {
    supervisor: &'a mut Supervisor,
    fence: Option<Fence>,
    /// See [`Clients::tokens`].
    tokens: Option<Client>,
    /// Ends once the caches have the server's state at the time of the start.
    caches: CaughtUp,
    /// The gate at which keys wait while the server fails.
    server_gate: ServerGate,
}

impl Manager {
    /// Runs the informers, and the controllers: at once without leader election, otherwise while the lease is held.
    async fn run(&self, history: Option<History>) -> Result<(), RunError> {
        let mut standby = Supervisor::new(self.stop.clone());
        let Some(election) = self.settings.leader_election.clone() else {
            // Before the informers, so that their first lists are known to be requested after the start.
            self.start(&mut standby, None)?;
            self.start_caches(&mut standby, history);
            return Ok(standby.run(GRACE).await?);
        };
        self.start_caches(&mut standby, history);
        let client = self.clients.election(election.timing.timeouts())?;
        let start = |supervisor: &mut Supervisor, leading: Leading| {
            let reports = report_held_lists(leading.clone(), self.caches.held_lists(), self.stop.clone());
            supervisor.spawn("events about held lists", reports);
            self.start(supervisor, Some(leading))
        };
        lead(client, election, &self.checks, self.metrics.as_ref(), standby, start, self.stop.clone()).await
    }

    fn start_caches(&self, supervisor: &mut Supervisor, history: Option<History>) {
        let slice_api = SliceApi::new(self.metrics.as_ref().map(|metrics| metrics.api_available.clone()));
        if !self.controllers.slice_controllers().is_empty() {
            self.checks.add_slice_api(slice_api.clone());
        }
        self.caches.spawn(supervisor, &self.controllers, &self.reader, &slice_api, &self.stop);
        if let Some(history) = history {
            supervisor.spawn("recorder of the history", history.run(self.stop.clone()));
        }
        self.checks.add_caches(self.caches.read_by(&self.controllers));
    }

    /// Starts the controllers. Their writes pass the fence of `leading`, if there is one.
    fn start(&self, supervisor: &mut Supervisor, leading: Option<Leading>) -> Result<(), RunError> {
        tracing::info!(server = %self.clients.config.server(), controllers = self.controllers.names().join(","), "Starting controllers");
        let fence = leading.as_ref().map(|leading| leading.fence.clone());
        let tokens = self.clients.tokens(fence.as_ref())?;
        let caches = CaughtUp::new(&self.caches);
        if let Some(shadow) = &self.shadow {
            shadow.spawn(supervisor, &self.reader, &self.stop);
        } else {
            let second_writer =
                self.second_writer(leading)?.run(caches.wait(self.controllers.reads()), self.stop.clone());
            supervisor.spawn("detection of a second writer", second_writer);
        }
        let availability = self.reader.availability().clone();
        let server_gate = supervisor.server_gate(move || availability.recovery());
        let mut context = StartContext { supervisor, fence, tokens, caches, server_gate };
        self.controllers.iter().try_for_each(|registration| self.start_controller(&mut context, registration))
    }

    fn start_controller(
        &self,
        context: &mut StartContext<'_>,
        registration: &'static Registration,
    ) -> Result<(), RunError> {
        let Registration { name, account, component, reads, build: Some(build), .. } = registration else {
            return Ok(());
        };
        let client = self.clients.writer(account, context.tokens.as_ref(), context.fence.as_ref())?;
        let (recorder, writer) = EventRecorder::new(client.clone(), component);
        // Without its writer, the recorder drops events.
        if self.settings.mode == Mode::Active {
            context.supervisor.spawn(format!("event writer of {component}"), writer.run(self.stop.clone()));
        }
        let (metrics, shadow) = (self.metrics.as_ref(), self.shadow.as_ref());
        let parts = Parts { name, settings: &self.settings, caches: &self.caches, client, recorder, metrics, shadow };
        let controller = build(parts)?;
        let controller = match shadow {
            Some(shadow) => shadow.follow(name, controller),
            None => controller,
        };
        let settled = Settled::new(self.caches.restores.clone(), reads, self.reader.clone());
        let controller = controller.before_sync(move || Arc::clone(&settled).wait());
        let controller =
            controller.wait_for(context.caches.wait(reads.to_vec())).server_gate(context.server_gate.clone());
        context.supervisor.try_spawn(*name, controller.run(self.stop.clone()));
        self.checks.add_controller(name);
        Ok(())
    }

    fn second_writer(&self, leading: Option<Leading>) -> Result<SecondWriter, RunError> {
        let client = self.clients.second_writer(REQUESTS_PER_SECOND)?;
        let metrics = self.metrics.as_ref().map(|metrics| metrics.second_writer.clone());
        Ok(SecondWriter::new(client, &self.caches, self.controllers.clone(), metrics, leading))
    }
}

//! Starts the HTTPS server for health checks, metrics and debug pages, on a thread of its own.

use std::path::Path;
use std::thread;
use std::time::Duration;

use kube_controller::{Supervisor, SupervisorError};
use kube_controller_client::{Client, ClientOptions, Config, ConfigError};
use tokio::runtime::{self, Runtime};
use tokio::sync::oneshot;
use tokio::time::timeout;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::checks::Checks;
use crate::configz::configz;
use crate::error::RunError;
use crate::metrics::Metrics;
use crate::serving::{Contents, Pages, Reviewers, Server, ServingError, ShadowPage};
use crate::settings::Settings;
use crate::user_agent::user_agent;

/// Rate limit of each review client, in requests per second and burst; upstream's values
/// (`DelegatingAuthenticationOptions`), so high that scrapes do not wait for each other.
const REVIEW_QPS: f32 = 200.0;
const REVIEW_BURST: u32 = 400;

/// Name of the thread, and of the task in errors.
const NAME: &str = "serving";
/// Time limit of [`Serving::stop`].
const STOP_TIMEOUT: Duration = Duration::from_secs(1);

/// The running HTTPS server. It stops when this is dropped.
///
/// It has its own thread and runtime, so that neither handshakes and scrapes delay the controllers and the renewal of the
/// lease, nor the controllers the health checks.
pub(crate) struct Serving {
    stop: DropGuard,
    ended: oneshot::Receiver<Result<(), SupervisorError>>,
}

impl Serving {
    /// Waits until the server fails. Never returns otherwise.
    pub(crate) async fn failed(&mut self) -> SupervisorError {
        match (&mut self.ended).await {
            Ok(Err(error)) => error,
            // The thread panicked, or its tasks ended although nothing stopped them.
            Ok(Ok(())) | Err(_) => SupervisorError::Ended { task: NAME.to_owned() },
        }
    }

    /// Stops the server and waits until its socket is closed.
    pub(crate) async fn stop(self) {
        let Serving { stop, ended } = self;
        drop(stop);
        if timeout(STOP_TIMEOUT, ended).await.is_err() {
            tracing::warn!("The HTTPS server has not stopped within {STOP_TIMEOUT:?}");
        }
    }
}

/// What the thread starts the server from.
struct Start {
    settings: Settings,
    checks: Checks,
    metrics: Metrics,
    shadow: ShadowPage,
    stop: CancellationToken,
}

/// Binds the socket and starts serving.
///
/// # Errors
///
/// [`RunError::Client`] for an unusable kubeconfig of the review clients, and [`RunError::Serving`].
pub(crate) async fn serve(
    settings: &Settings,
    checks: &Checks,
    metrics: &Metrics,
    shadow: &ShadowPage,
) -> Result<Serving, RunError> {
    // Its own token: `/livez` and `/metrics` are served during shutdown, too.
    let stop = CancellationToken::new();
    let start = Start {
        settings: settings.clone(),
        checks: checks.clone(),
        metrics: metrics.clone(),
        shadow: shadow.clone(),
        stop: stop.clone(),
    };
    let runtime = runtime::Builder::new_current_thread().enable_all().max_blocking_threads(2).build();
    let runtime = runtime.map_err(ServingError::Thread)?;
    let ((started, start_result), (end, ended)) = (oneshot::channel(), oneshot::channel());
    let thread = thread::Builder::new().name(NAME.to_owned()).spawn(move || run(runtime, start, started, end));
    thread.map_err(ServingError::Thread)?;
    let serving = Serving { stop: stop.drop_guard(), ended };
    match start_result.await {
        Ok(Ok(())) => Ok(serving),
        Ok(Err(error)) => Err(error),
        Err(_) => Err(SupervisorError::Ended { task: NAME.to_owned() }.into()),
    }
}

/// Runs the server on this thread until it is stopped or fails.
fn run(
    runtime: Runtime,
    start: Start,
    started: oneshot::Sender<Result<(), RunError>>,
    end: oneshot::Sender<Result<(), SupervisorError>>,
) {
    let result = runtime.block_on(async {
        let result = start.supervisor().await;
        let (supervisor, result) = match result {
            Ok(supervisor) => (Some(supervisor), Ok(())),
            Err(error) => (None, Err(error)),
        };
        // An error means that the receiver was dropped; the token is then cancelled.
        let _ = started.send(result);
        match supervisor {
            Some(supervisor) => supervisor.run(STOP_TIMEOUT).await,
            None => Ok(()),
        }
    });
    // Blocking tasks, such as a DNS lookup, cannot be cancelled; do not wait for them.
    runtime.shutdown_background();
    let _ = end.send(result);
}

impl Start {
    /// Binds the socket; returns the tasks that serve, which end with the token.
    async fn supervisor(self) -> Result<Supervisor, RunError> {
        let Start { settings, checks, metrics, shadow, stop } = self;
        let serving = &settings.serving;
        let mut supervisor = Supervisor::new(stop.clone());
        let (kubeconfig, part) = (serving.authentication.kubeconfig.as_deref(), "authentication");
        let tokens = review_client(kubeconfig, &metrics, part, &mut supervisor, &stop).await?;
        if tokens.is_none() {
            tracing::warn!(
                "No --authentication-kubeconfig given and not in a Pod: bearer tokens are ignored, requests are anonymous"
            );
        }
        let (kubeconfig, part) = (serving.authorization.kubeconfig.as_deref(), "authorization");
        let access = review_client(kubeconfig, &metrics, part, &mut supervisor, &stop).await?;
        if access.is_none() {
            tracing::warn!(
                "No --authorization-kubeconfig given and not in a Pod: only --authorization-always-allow-paths and \
                 system:masters are authorized"
            );
        }
        let contents = Contents {
            health: checks.health().clone(),
            registry: metrics.registry.clone(),
            pages: Pages::new(settings.flags.clone(), configz(&settings)),
            shadow,
            metrics: metrics.serving,
        };
        let server = Server::bind(serving, Reviewers { tokens, access }, contents).await?;
        if let Ok(address) = server.address() {
            tracing::info!("Serving securely on {address}");
        }
        supervisor.spawn(NAME, until(stop, server.run()));
        Ok(supervisor)
    }
}

/// Runs a task that does not end by itself until the token is cancelled.
async fn until(stop: CancellationToken, task: impl Future<Output = ()>) {
    tokio::select! {
        biased;
        () = stop.cancelled() => {}
        () = task => {}
    }
}

/// Returns a client for `TokenReview` or `SubjectAccessReview` requests, with a task that reloads its configuration
/// when its files change. Without a kubeconfig it uses the service account of the Pod; `None` outside of a Pod.
async fn review_client(
    kubeconfig: Option<&Path>,
    metrics: &Metrics,
    part: &str,
    supervisor: &mut Supervisor,
    stop: &CancellationToken,
) -> Result<Option<Client>, ConfigError> {
    let config = match kubeconfig {
        Some(path) => Config::from_kubeconfig(path).await?,
        None => match Config::in_cluster() {
            Ok(config) => config,
            Err(_) => return Ok(None),
        },
    };
    let following = config.follow_files();
    let following = until(stop.clone(), async move { match following.await {} });
    supervisor.spawn(format!("files of the {part} client"), following);
    let (user_agent, qps, burst) = (user_agent(part), REVIEW_QPS, REVIEW_BURST);
    let options = ClientOptions { user_agent, qps, burst, ..ClientOptions::default() };
    Client::with_metrics(&config, options, &metrics.clients).map(Some)
}

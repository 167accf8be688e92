//! Starts the HTTPS server for health checks, metrics and debug pages.

use std::path::Path;

use kube_controller::Supervisor;
use kube_controller_client::{Client, ClientOptions, Config, ConfigError};
use tokio_util::sync::CancellationToken;

use crate::checks::Checks;
use crate::configz::configz;
use crate::error::RunError;
use crate::metrics::Metrics;
use crate::serving::{Contents, Pages, Reviewers, Server, ShadowPage};
use crate::settings::Settings;
use crate::user_agent::user_agent;

/// Rate limit of each review client, in requests per second and burst; upstream's values
/// (`DelegatingAuthenticationOptions`), so high that scrapes do not wait for each other.
const REVIEW_QPS: f32 = 200.0;
const REVIEW_BURST: u32 = 400;

/// Binds the socket and starts serving. Serving ends when the returned supervisor is dropped.
///
/// # Errors
///
/// [`RunError::Client`] for an unusable kubeconfig of the review clients, and [`RunError::Serving`].
pub(crate) async fn serve(
    settings: &Settings,
    checks: &Checks,
    metrics: &Metrics,
    shadow: &ShadowPage,
) -> Result<Supervisor, RunError> {
    let serving = &settings.serving;
    // Its own token: `/livez` and `/metrics` are served during shutdown, too.
    let mut supervisor = Supervisor::new(CancellationToken::new());
    let (kubeconfig, part) = (serving.authentication.kubeconfig.as_deref(), "authentication");
    let tokens = review_client(kubeconfig, metrics, part, &mut supervisor).await?;
    if tokens.is_none() {
        tracing::warn!(
            "No --authentication-kubeconfig given and not in a Pod: bearer tokens are ignored, requests are anonymous"
        );
    }
    let (kubeconfig, part) = (serving.authorization.kubeconfig.as_deref(), "authorization");
    let access = review_client(kubeconfig, metrics, part, &mut supervisor).await?;
    if access.is_none() {
        tracing::warn!(
            "No --authorization-kubeconfig given and not in a Pod: only --authorization-always-allow-paths and \
             system:masters are authorized"
        );
    }
    let contents = Contents {
        health: checks.health().clone(),
        registry: metrics.registry.clone(),
        pages: Pages::new(settings.flags.clone(), configz(settings)),
        shadow: shadow.clone(),
    };
    let server = Server::bind(serving, Reviewers { tokens, access }, contents).await?;
    if let Ok(address) = server.address() {
        tracing::info!("Serving securely on {address}");
    }
    supervisor.spawn("serving", server.run());
    Ok(supervisor)
}

/// Returns a client for `TokenReview` or `SubjectAccessReview` requests, with a task that reloads its configuration
/// when its files change. Without a kubeconfig it uses the service account of the Pod; `None` outside of a Pod.
async fn review_client(
    kubeconfig: Option<&Path>,
    metrics: &Metrics,
    part: &str,
    supervisor: &mut Supervisor,
) -> Result<Option<Client>, ConfigError> {
    let config = match kubeconfig {
        Some(path) => Config::from_kubeconfig(path).await?,
        None => match Config::in_cluster() {
            Ok(config) => config,
            Err(_) => return Ok(None),
        },
    };
    let following = config.follow_files();
    supervisor.spawn(format!("files of the {part} client"), async move { match following.await {} });
    let (user_agent, qps, burst) = (user_agent(part), REVIEW_QPS, REVIEW_BURST);
    let options = ClientOptions { user_agent, qps, burst, ..ClientOptions::default() };
    Client::with_metrics(&config, options, &metrics.clients).map(Some)
}

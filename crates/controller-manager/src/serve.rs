//! What the HTTPS server serves: health checks, metrics and pages.

use kube_controller_client::{Client, ClientOptions};
use kube_controller_serving::{Reviewers, Routes, Server, ServerThread, response};

use crate::checks::Checks;
use crate::configz::configz;
use crate::error::RunError;
use crate::metrics::Metrics;
use crate::pages::{HistoryPage, Pages, ShadowPage};
use crate::settings::Settings;
use crate::user_agent::user_agent;

/// Binds the socket and starts serving, on a thread of its own.
///
/// # Errors
///
/// [`RunError::Client`] for an unusable kubeconfig of the review clients, and [`RunError::Serving`].
pub(crate) async fn serve(
    settings: &Settings,
    checks: &Checks,
    metrics: &Metrics,
    (shadow, history): (&ShadowPage, &HistoryPage),
) -> Result<ServerThread, RunError> {
    let (settings, health) = (settings.clone(), checks.health().clone());
    let (metrics, shadow, history) = (metrics.clone(), shadow.clone(), history.clone());
    ServerThread::start(async move || {
        let client = |config: &_, options, purpose: &str| {
            let options = ClientOptions { user_agent: user_agent(purpose), ..options };
            Client::with_metrics(config, options, &metrics.clients)
        };
        let reviewers = Reviewers::connect(&settings.serving, client).await?;
        if !reviewers.reviews_tokens() {
            tracing::warn!(
                "No --authentication-kubeconfig given and not in a Pod: bearer tokens are ignored, requests are anonymous"
            );
        }
        if !reviewers.reviews_access() {
            tracing::warn!(
                "No --authorization-kubeconfig given and not in a Pod: only --authorization-always-allow-paths and \
                 system:masters are authorized"
            );
        }
        let configuration = configz(&settings);
        let routes = Routes::new(health).metrics(metrics.registry).health_metrics();
        let routes = routes.page("/configz", move |_| response::json(&configuration));
        let routes = history.add(shadow.add(Pages::new(settings.flags).add(routes)));
        let server = Server::bind(&settings.serving, reviewers, routes, metrics.serving).await?;
        if let Ok(address) = server.address() {
            tracing::info!("Serving securely on {address}");
        }
        Ok(server)
    })
    .await
}

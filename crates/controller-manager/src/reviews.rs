//! Composes the reviews of the writes of a controller.

use std::sync::Arc;

#[cfg(feature = "shadow")]
use kube_controller_client::Review;
use kube_controller_client::{Client, ReviewedClient};

use crate::caches::Caches;
use crate::error::RunError;
use crate::metrics::Metrics;
use crate::serving::ShadowPage;
#[cfg(feature = "shadow")]
use crate::settings::Mode;
use crate::settings::Settings;
#[cfg(feature = "shadow")]
pub(crate) use crate::shadow::Shadow;
#[cfg(feature = "shadow")]
use crate::shadow::ShadowReview;
use crate::write_hold::WriteHold;

/// Without the feature `shadow`, no plan is compared.
#[cfg(not(feature = "shadow"))]
pub(crate) enum Shadow {}

/// Starts the comparison in shadow mode, and sets the source of `page`.
#[cfg(feature = "shadow")]
pub(crate) fn start_shadow(
    settings: &Settings,
    caches: &Caches,
    metrics: Option<&Metrics>,
    page: &ShadowPage,
) -> Result<Option<Arc<Shadow>>, RunError> {
    if settings.mode != Mode::Shadow {
        return Ok(None);
    }
    let shadow = Shadow::new(settings, caches, metrics.map(|metrics| &metrics.registry))?;
    shadow.watch(caches);
    let source = Arc::clone(&shadow);
    page.set(move || source.report());
    Ok(Some(shadow))
}

/// Returns `None`: nothing is compared.
#[cfg(not(feature = "shadow"))]
#[expect(clippy::unnecessary_wraps, reason = "the signature of the function with the feature")]
pub(crate) fn start_shadow(
    _: &Settings,
    _: &Caches,
    _: Option<&Metrics>,
    _: &ShadowPage,
) -> Result<Option<Arc<Shadow>>, RunError> {
    Ok(None)
}

/// Returns the client that a controller writes with. `name` is the name of the controller in `--controllers`.
///
/// With `shadow`, no write is sent, and each plan is compared with what exists. Otherwise writes are sent unless there is a
/// reason to hold them.
#[cfg(feature = "shadow")]
pub(crate) fn reviewed<T>(
    client: Client,
    name: &'static str,
    (shadow, hold): (Option<&Arc<Shadow>>, &WriteHold),
) -> ReviewedClient<T>
where
    ShadowReview: Review<T>,
{
    match shadow {
        Some(shadow) => ReviewedClient::new(client, Arc::new(ShadowReview::new(Arc::clone(shadow), name))),
        None => ReviewedClient::new(client, Arc::new(hold.clone())),
    }
}

/// Returns the client that a controller writes with, whose writes are sent unless there is a reason to hold them.
#[cfg(not(feature = "shadow"))]
pub(crate) fn reviewed<T>(
    client: Client,
    _name: &'static str,
    (_shadow, hold): (Option<&Arc<Shadow>>, &WriteHold),
) -> ReviewedClient<T> {
    ReviewedClient::new(client, Arc::new(hold.clone()))
}

//! The reviews that the writes of the controllers pass.

use std::sync::Arc;

use kube_controller::Controller;
use kube_controller_client::{Client, Review, ReviewedClient};
use kube_endpoint_model::ObjectKey;
use kube_wire::Object;
use serde::Serialize;

use crate::caches::Caches;
use crate::cut_over::{CutOver, CutOverReview};
use crate::error::RunError;
use crate::metrics::Metrics;
use crate::serving::ShadowPage;
#[cfg(feature = "shadow")]
use crate::settings::Mode;
use crate::settings::Settings;
pub(crate) use crate::shadow::Shadow;

/// Starts the comparison, in shadow mode and if it is required before the first write, and sets the source of `page`.
#[cfg(feature = "shadow")]
pub(crate) fn start_shadow(
    settings: &Settings,
    caches: &Caches,
    metrics: Option<&Metrics>,
    page: &ShadowPage,
) -> Result<Option<Arc<Shadow>>, RunError> {
    if settings.mode != Mode::Shadow && settings.cut_over.require_clean_shadow.is_zero() {
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

/// What decides about the writes of the controllers.
pub(crate) enum Reviews {
    /// No write is sent, and each plan is compared with what exists.
    Shadow(Arc<Shadow>),
    /// Writes are sent unless there is a reason to withhold them.
    CutOver(Arc<CutOver>),
}

impl Reviews {
    /// Returns the client that a controller writes with. `name` is the name of the controller in `--controllers`.
    pub(crate) fn client<T>(&self, client: Client, name: &'static str) -> ReviewedClient<T>
    where
        T: Object + Serialize + 'static,
        CutOverReview: Review<T>,
    {
        match self {
            Reviews::Shadow(shadow) => shadow.client(client, name),
            Reviews::CutOver(cut_over) => ReviewedClient::new(client, Arc::new(cut_over.review(name))),
        }
    }

    /// Connects the queue of a controller with the comparison, if there is one. In shadow mode, its panics are contained.
    pub(crate) fn follow(&self, name: &'static str, controller: Controller<ObjectKey>) -> Controller<ObjectKey> {
        match self {
            Reviews::Shadow(shadow) => {
                shadow.follow(name, &controller);
                shadow.contain_panics(name, controller)
            }
            Reviews::CutOver(cut_over) => {
                if let Some(shadow) = cut_over.comparison() {
                    shadow.follow(name, &controller);
                }
                controller
            }
        }
    }
}

//! Shadow mode: compares the plans of the controllers with what another program has written.

use std::sync::Arc;

use kube_controller_serving::response::{self, StatusCode};
pub(crate) use kube_endpoints_shadow::Shadow;
use kube_endpoints_shadow::{Informers, Limits, Options, Report};

use crate::caches::Caches;
use crate::metrics::Metrics;
use crate::pages::ShadowPage;
use crate::settings::{Mode, Settings, ShadowSettings};

/// Starts the comparison of what is in `caches` if `settings` have shadow mode, registers its metrics, and sets the source
/// of `page`. Returns `None` in active mode.
///
/// # Errors
///
/// A metric cannot be registered.
pub(crate) fn start(
    settings: &Settings,
    caches: &Caches,
    metrics: Option<&Metrics>,
    page: &ShadowPage,
) -> prometheus::Result<Option<Arc<Shadow>>> {
    if settings.mode != Mode::Shadow {
        return Ok(None);
    }
    let informers = Informers {
        services: caches.services.clone(),
        pods: caches.pods.clone(),
        nodes: caches.nodes.clone(),
        endpoints: caches.endpoints.clone(),
        slices: caches.slices.clone(),
    };
    let ShadowSettings { settle_period, writer_lease, compare_period } = settings.shadow.clone();
    let options = Options { settle_period, writer_lease, compare_period, limits: limits(settings) };
    let shadow = Shadow::new(&informers, options)?;
    if let Some(metrics) = metrics {
        shadow.register(&metrics.registry)?;
    }
    let source = Arc::clone(&shadow);
    page.set(move |as_json| {
        let Report { text, json } = source.report();
        if as_json { response::json(&json) } else { response::text(StatusCode::OK, text) }
    });
    Ok(Some(shadow))
}

fn limits(settings: &Settings) -> Limits {
    let mut limits = Limits::default();
    limits.max_endpoints_per_slice = settings.max_endpoints_per_slice;
    limits.max_endpoints_per_subset = settings.max_endpoints_per_subset;
    limits
}

//! The EndpointSlice mirroring controller.

use clap::Args;
use kube_controller::SyncOptions;
use kube_endpoint_model::well_known::{MIRRORING_CONTROLLER, MIRRORING_CONTROLLER_NAME};
use kube_endpoint_model::{EndpointSlice, Endpoints, Service};
use kube_wire::Decode as _;
use serde_json::json;

use super::Registration;
use crate::flags::Bounds;
use crate::go_duration::{self, GoDuration};
use crate::go_int;
use crate::settings::{MAX_ENDPOINTS_PER_SUBSET, Settings, at_least_one};

pub(super) const REGISTRATION: Registration = Registration {
    name: MIRRORING_CONTROLLER_NAME,
    alias: "endpointslicemirroring",
    managed_by: MIRRORING_CONTROLLER,
    account: "endpointslicemirroring-controller",
    component: "endpoint-slice-mirroring-controller",
    reads: &[Service::RESOURCE, Endpoints::RESOURCE, EndpointSlice::RESOURCE],
    configz: |settings| {
        let syncs = settings.syncs.mirroring;
        let fields = json!({
            "MirroringConcurrentServiceEndpointSyncs": syncs.concurrent_syncs,
            "MirroringMaxEndpointsPerSubset": settings.max_endpoints_per_subset,
            "MirroringEndpointUpdatesBatchPeriod": GoDuration(syncs.batch_period).to_string(),
        });
        ("EndpointSliceMirroringController", fields)
    },
    #[cfg(feature = "mirroring")]
    build: Some(build),
    #[cfg(not(feature = "mirroring"))]
    build: None,
};

#[cfg(feature = "mirroring")]
fn build(parts: super::Parts<'_>) -> super::Built {
    use std::sync::Arc;

    use kube_endpointslice_mirroring::{Config, Informers, MirroringMetrics, PrometheusMetrics, mirroring_controller};

    let (writer, metrics) = (parts.writer(), parts.sync_metrics());
    let super::Parts { settings, caches, recorder, .. } = parts;
    let informers = Informers {
        services: caches.services.clone(),
        endpoints: caches.endpoints.clone(),
        slices: caches.slices.clone(),
    };
    let config =
        Config { syncs: settings.syncs.mirroring, max_endpoints_per_subset: settings.max_endpoints_per_subset };
    let mirroring: Arc<dyn MirroringMetrics> = match parts.metrics {
        Some(metrics) => Arc::new(PrometheusMetrics::register(&metrics.registry)?),
        None => Arc::new(()),
    };
    Ok(mirroring_controller(&informers, writer, recorder, config, mirroring, metrics))
}

/// Flags of the mirroring controller.
#[derive(Clone, Debug, Args)]
#[group(skip)]
#[expect(clippy::struct_field_names, reason = "the names of the flags")]
#[command(next_help_heading = "Endpointslice-mirroring-controller flags")]
pub(super) struct Flags {
    /// Number of Services synced concurrently, 1 to 50.
    #[arg(long, value_name = "NUMBER", value_parser = go_int::parse, default_value_t = i64::from(SyncOptions::CONCURRENT_SYNCS))]
    mirroring_concurrent_service_endpoint_syncs: i64,

    /// Delay between a change of an EndpointSlice and the sync of its Service, such as 500ms; changes during the
    /// delay are synced together. It is up to a tenth longer, so that timers coincide.
    #[arg(long, value_name = "DURATION", default_value_t = GoDuration(SyncOptions::default().batch_period), value_parser = go_duration::value)]
    mirroring_endpointslice_updates_batch_period: GoDuration,

    /// Maximum number of addresses of an Endpoints subset that are mirrored, 1 to 1000.
    #[arg(long, value_name = "NUMBER", value_parser = go_int::parse, default_value_t = i64::from(MAX_ENDPOINTS_PER_SUBSET))]
    mirroring_max_endpoints_per_subset: i64,
}

impl Flags {
    pub(super) fn apply(&self, settings: &mut Settings, errors: &mut Vec<String>) {
        let syncs = Bounds::new("mirroring-concurrent-service-endpoint-syncs", 1, 50);
        settings.syncs.mirroring.concurrent_syncs =
            syncs.check(self.mirroring_concurrent_service_endpoint_syncs, errors);
        settings.syncs.mirroring.batch_period = self.mirroring_endpointslice_updates_batch_period.0;
        let endpoints = Bounds::new("mirroring-max-endpoints-per-subset", 1, 1_000);
        settings.max_endpoints_per_subset =
            at_least_one(endpoints.check(self.mirroring_max_endpoints_per_subset, errors));
    }
}

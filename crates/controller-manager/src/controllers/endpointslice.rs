//! The EndpointSlice controller.

use clap::Args;
use kube_controller::SyncOptions;
use kube_endpoint_model::well_known::{SLICE_CONTROLLER, SLICE_CONTROLLER_NAME};
use kube_endpoint_model::{EndpointSlice, Node, Pod, Service};
use kube_wire::Decode as _;
use serde_json::json;

use super::Registration;
use crate::flags::Bounds;
use crate::go_duration::{self, GoDuration};
use crate::go_int;
use crate::settings::{MAX_ENDPOINTS_PER_SLICE, Settings, at_least_one};

pub(super) const REGISTRATION: Registration = Registration {
    name: SLICE_CONTROLLER_NAME,
    alias: "endpointslice",
    managed_by: SLICE_CONTROLLER,
    account: "endpointslice-controller",
    component: "endpoint-slice-controller",
    reads: &[Service::RESOURCE, Pod::RESOURCE, Node::RESOURCE, EndpointSlice::RESOURCE],
    configz: |settings| {
        let syncs = settings.syncs.endpointslice;
        let fields = json!({
            "ConcurrentServiceEndpointSyncs": syncs.concurrent_syncs,
            "MaxEndpointsPerSlice": settings.max_endpoints_per_slice,
            "EndpointUpdatesBatchPeriod": GoDuration(syncs.batch_period).to_string(),
        });
        ("EndpointSliceController", fields)
    },
    #[cfg(feature = "endpointslice")]
    build: Some(build),
    #[cfg(not(feature = "endpointslice"))]
    build: None,
};

#[cfg(feature = "endpointslice")]
fn build(parts: super::Parts<'_>) -> super::Built {
    use std::sync::Arc;

    use kube_endpointslice::controller::{Config, Informers, endpointslice_controller};
    use kube_endpointslice::metrics::{PrometheusMetrics, SliceMetrics};

    let (writer, metrics) = (parts.writer(), parts.sync_metrics());
    let super::Parts { settings, caches, recorder, .. } = parts;
    let informers = Informers {
        services: caches.services.clone(),
        pods: caches.pods.clone(),
        nodes: caches.nodes.clone(),
        slices: caches.slices.clone(),
    };
    let config =
        Config { syncs: settings.syncs.endpointslice, max_endpoints_per_slice: settings.max_endpoints_per_slice };
    let has_changes_total = settings.emulated_version >= crate::emulation::EmulatedVersion::V1_38;
    let slices: Arc<dyn SliceMetrics> = match parts.metrics.map(|metrics| &metrics.registry) {
        Some(registry) if has_changes_total => Arc::new(PrometheusMetrics::register_with_changes_total(registry)?),
        Some(registry) => Arc::new(PrometheusMetrics::register(registry)?),
        None => Arc::new(()),
    };
    Ok(endpointslice_controller(&informers, writer, recorder, config, slices, metrics))
}

/// Flags of the EndpointSlice controller.
#[derive(Clone, Debug, Args)]
#[group(skip)]
#[command(next_help_heading = "Endpointslice-controller flags")]
pub(super) struct Flags {
    /// Number of Services synced concurrently, 1 to 50.
    #[arg(long, value_name = "NUMBER", value_parser = go_int::parse, default_value_t = i64::from(SyncOptions::CONCURRENT_SYNCS))]
    concurrent_service_endpoint_syncs: i64,

    /// Delay between a change of a Pod and the sync of its Services, such as 500ms; changes during the delay are synced
    /// together. It is up to a tenth longer, so that timers coincide.
    #[arg(long, value_name = "DURATION", default_value_t = GoDuration(SyncOptions::default().batch_period), value_parser = go_duration::value)]
    endpointslice_updates_batch_period: GoDuration,

    /// Maximum number of endpoints that are added to an EndpointSlice, 1 to 1000.
    #[arg(long, value_name = "NUMBER", value_parser = go_int::parse, default_value_t = i64::from(MAX_ENDPOINTS_PER_SLICE))]
    max_endpoints_per_slice: i64,
}

impl Flags {
    pub(super) fn apply(&self, settings: &mut Settings, errors: &mut Vec<String>) {
        let syncs = Bounds::new("concurrent-service-endpoint-syncs", 1, 50);
        settings.syncs.endpointslice.concurrent_syncs = syncs.check(self.concurrent_service_endpoint_syncs, errors);
        settings.syncs.endpointslice.batch_period = self.endpointslice_updates_batch_period.0;
        let endpoints = Bounds::new("max-endpoints-per-slice", 1, 1_000);
        settings.max_endpoints_per_slice = at_least_one(endpoints.check(self.max_endpoints_per_slice, errors));
    }
}

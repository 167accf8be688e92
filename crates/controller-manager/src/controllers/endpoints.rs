//! The Endpoints controller.

use clap::Args;
use kube_controller::SyncOptions;
use kube_endpoint_model::well_known::{ENDPOINTS_CONTROLLER, ENDPOINTS_CONTROLLER_NAME};
use kube_endpoint_model::{Endpoints, Pod, Service};
use kube_wire::Decode as _;
use serde_json::json;

use super::Registration;
use crate::flags::Bounds;
use crate::go_duration::{self, GoDuration};
use crate::go_int;
use crate::settings::Settings;

pub(super) const REGISTRATION: Registration = Registration {
    name: ENDPOINTS_CONTROLLER_NAME,
    alias: "endpoint",
    managed_by: ENDPOINTS_CONTROLLER,
    account: "endpoint-controller",
    component: "endpoint-controller",
    reads: &[Service::RESOURCE, Pod::RESOURCE, Endpoints::RESOURCE],
    configz: |settings| {
        let syncs = settings.syncs.endpoints;
        let fields = json!({
            "ConcurrentEndpointSyncs": syncs.concurrent_syncs,
            "EndpointUpdatesBatchPeriod": GoDuration(syncs.batch_period).to_string(),
        });
        ("EndpointController", fields)
    },
    #[cfg(feature = "endpoint")]
    build: Some(build),
    #[cfg(not(feature = "endpoint"))]
    build: None,
};

#[cfg(feature = "endpoint")]
#[expect(clippy::unnecessary_wraps, reason = "other controllers register metrics")]
fn build(parts: super::Parts<'_>) -> super::Built {
    let (writer, metrics) = (parts.writer(), parts.sync_metrics());
    let super::Parts { settings, caches, recorder, .. } = parts;
    let informers = kube_endpoint::Informers {
        services: caches.services.clone(),
        pods: caches.pods.clone(),
        endpoints: caches.endpoints.clone(),
    };
    let config = kube_endpoint::Config {
        syncs: settings.syncs.endpoints,
        legacy: settings.feature_gates.legacy(),
        namespaced_create_events: settings.emulated_version >= crate::emulation::EmulatedVersion::V1_38,
    };
    Ok(kube_endpoint::endpoints_controller(&informers, writer, recorder, config, metrics))
}

/// Flags of the Endpoints controller.
#[derive(Clone, Debug, Args)]
#[group(skip)]
#[command(next_help_heading = "Endpoints-controller flags")]
pub(super) struct Flags {
    /// Number of Services synced concurrently, 1 to 65535.
    #[arg(long, value_name = "NUMBER", value_parser = go_int::parse, default_value_t = i64::from(SyncOptions::CONCURRENT_SYNCS))]
    concurrent_endpoint_syncs: i64,

    /// Delay between a change of a Pod and the sync of its Services, such as 500ms; changes during the delay are synced
    /// together. It is up to a tenth longer, so that timers coincide.
    #[arg(long, value_name = "DURATION", default_value_t = GoDuration(SyncOptions::default().batch_period), value_parser = go_duration::value)]
    endpoint_updates_batch_period: GoDuration,
}

impl Flags {
    pub(super) fn apply(&self, settings: &mut Settings, errors: &mut Vec<String>) {
        // Upstream accepts 0, starts no worker and silently does nothing (CM-1).
        let syncs = Bounds::new("concurrent-endpoint-syncs", 1, i64::from(u16::MAX));
        settings.syncs.endpoints.concurrent_syncs = syncs.check(self.concurrent_endpoint_syncs, errors);
        settings.syncs.endpoints.batch_period = self.endpoint_updates_batch_period.0;
    }
}

//! Flags of the EndpointSlice controller.

use clap::Args;

use super::value::Bounds;
use crate::go_duration::{self, GoDuration};
use crate::go_int;
use crate::settings::{CONCURRENT_SYNCS, MAX_ENDPOINTS_PER_SLICE, Settings};

#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Endpointslice-controller flags")]
pub(super) struct EndpointSlice {
    /// Number of Services synced concurrently, 1 to 50.
    #[arg(long, value_name = "NUMBER", value_parser = go_int::parse, default_value_t = i64::from(CONCURRENT_SYNCS))]
    concurrent_service_endpoint_syncs: i64,

    /// Delay between a change of a Pod and the sync of its Services, such as 500ms; changes during the delay are synced
    /// together.
    #[arg(long, value_name = "DURATION", default_value = "0s", value_parser = go_duration::value)]
    endpointslice_updates_batch_period: GoDuration,

    /// Maximum number of endpoints that are added to an EndpointSlice, 1 to 1000.
    #[arg(long, value_name = "NUMBER", value_parser = go_int::parse, default_value_t = i64::from(MAX_ENDPOINTS_PER_SLICE))]
    max_endpoints_per_slice: i64,
}

impl EndpointSlice {
    pub(super) fn apply(&self, settings: &mut Settings, errors: &mut Vec<String>) {
        let EndpointSlice {
            concurrent_service_endpoint_syncs,
            endpointslice_updates_batch_period,
            max_endpoints_per_slice,
        } = self;
        let syncs: u16 =
            Bounds::new("concurrent-service-endpoint-syncs", 1, 50).check(*concurrent_service_endpoint_syncs, errors);
        let endpoints: u16 = Bounds::new("max-endpoints-per-slice", 1, 1_000).check(*max_endpoints_per_slice, errors);
        #[cfg(feature = "endpointslice")]
        {
            settings.endpointslice.concurrent_syncs = usize::from(syncs);
            settings.endpointslice.max_endpoints_per_slice = crate::settings::at_least_one(endpoints);
            settings.endpointslice.batch_period = endpointslice_updates_batch_period.0;
        }
        #[cfg(not(feature = "endpointslice"))]
        let _ = (settings, syncs, endpoints, endpointslice_updates_batch_period);
    }
}

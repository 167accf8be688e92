//! Flags of the EndpointSlice mirroring controller.

use clap::Args;

use super::value::Bounds;
use crate::go_duration::{self, GoDuration};
use crate::go_int;
use crate::settings::{CONCURRENT_SYNCS, MAX_ENDPOINTS_PER_SUBSET, Settings};

#[derive(Clone, Debug, Args)]
#[expect(clippy::struct_field_names, reason = "the names of the flags")]
#[command(next_help_heading = "Endpointslice-mirroring-controller flags")]
pub(super) struct Mirroring {
    /// Number of Services synced concurrently, 1 to 50.
    #[arg(long, value_name = "NUMBER", value_parser = go_int::parse, default_value_t = i64::from(CONCURRENT_SYNCS))]
    mirroring_concurrent_service_endpoint_syncs: i64,

    /// Delay between a change of an EndpointSlice and the sync of its Service, such as 500ms; changes during the
    /// delay are synced together.
    #[arg(long, value_name = "DURATION", default_value = "0s", value_parser = go_duration::value)]
    mirroring_endpointslice_updates_batch_period: GoDuration,

    /// Maximum number of addresses of an Endpoints subset that are mirrored, 1 to 1000.
    #[arg(long, value_name = "NUMBER", value_parser = go_int::parse, default_value_t = i64::from(MAX_ENDPOINTS_PER_SUBSET))]
    mirroring_max_endpoints_per_subset: i64,
}

impl Mirroring {
    pub(super) fn apply(&self, settings: &mut Settings, errors: &mut Vec<String>) {
        let Mirroring {
            mirroring_concurrent_service_endpoint_syncs,
            mirroring_endpointslice_updates_batch_period,
            mirroring_max_endpoints_per_subset,
        } = self;
        let syncs: u16 = Bounds::new("mirroring-concurrent-service-endpoint-syncs", 1, 50)
            .check(*mirroring_concurrent_service_endpoint_syncs, errors);
        let endpoints: u16 = Bounds::new("mirroring-max-endpoints-per-subset", 1, 1_000)
            .check(*mirroring_max_endpoints_per_subset, errors);
        #[cfg(feature = "mirroring")]
        {
            settings.mirroring.concurrent_syncs = usize::from(syncs);
            settings.mirroring.max_endpoints_per_subset = crate::settings::at_least_one(endpoints);
            settings.mirroring.batch_period = mirroring_endpointslice_updates_batch_period.0;
        }
        #[cfg(not(feature = "mirroring"))]
        let _ = (settings, syncs, endpoints, mirroring_endpointslice_updates_batch_period);
    }
}

//! Flags of the Endpoints controller.

use clap::Args;

use super::value::Bounds;
use crate::go_duration::{self, GoDuration};
use crate::go_int;
use crate::settings::{CONCURRENT_SYNCS, Settings};

#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Endpoints-controller flags")]
pub(super) struct Endpoints {
    /// Number of Services synced concurrently, 1 to 65535.
    #[arg(long, value_name = "NUMBER", value_parser = go_int::parse, default_value_t = i64::from(CONCURRENT_SYNCS))]
    concurrent_endpoint_syncs: i64,

    /// Delay between a change of a Pod and the sync of its Services, such as 500ms; changes during the delay are synced
    /// together.
    #[arg(long, value_name = "DURATION", default_value = "0s", value_parser = go_duration::value)]
    endpoint_updates_batch_period: GoDuration,
}

impl Endpoints {
    pub(super) fn apply(&self, settings: &mut Settings, errors: &mut Vec<String>) {
        let Endpoints { concurrent_endpoint_syncs, endpoint_updates_batch_period } = self;
        // Upstream accepts 0, starts no worker and silently does nothing (EC-49).
        let syncs: u16 =
            Bounds::new("concurrent-endpoint-syncs", 1, i64::from(u16::MAX)).check(*concurrent_endpoint_syncs, errors);
        #[cfg(feature = "endpoint")]
        {
            settings.endpoint.concurrent_syncs = usize::from(syncs);
            settings.endpoint.batch_period = endpoint_updates_batch_period.0;
        }
        #[cfg(not(feature = "endpoint"))]
        let _ = (settings, syncs, endpoint_updates_batch_period);
    }
}

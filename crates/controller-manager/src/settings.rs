//! What the program needs to know, whoever asked for it.

use std::num::NonZeroUsize;
use std::time::Duration;

use crate::controllers::Controllers;
use crate::leader_election::LeaderElection;

/// How the controllers work. The default is upstream's.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Which controllers run.
    pub controllers: Controllers,
    /// Whether work is only done while a Lease is held. Off unless asked for; on the command line it is on by default.
    pub leader_election: Option<LeaderElection>,
    /// The Endpoints controller.
    pub endpoint: kube_endpoint::Config,
    /// The slice controller.
    pub endpointslice: kube_endpointslice::controller::Config,
    /// The mirroring controller.
    pub mirroring: kube_endpointslice_mirroring::Config,
    /// Requests a second of each controller, on average; 0 or less for no limit.
    pub kube_api_qps: f32,
    /// Requests a controller may make at once before that limit is felt.
    pub kube_api_burst: u32,
}

/// Services synced at once by each controller.
pub(crate) const CONCURRENT_SYNCS: u8 = 5;
/// Endpoints a slice is filled with.
pub(crate) const MAX_ENDPOINTS_PER_SLICE: u16 = 100;
/// Addresses of a subset that are mirrored.
pub(crate) const MAX_ENDPOINTS_PER_SUBSET: u16 = 1_000;
/// Requests a second of each controller.
pub(crate) const QPS: f32 = 20.0;
/// Requests a controller may make at once.
pub(crate) const BURST: u32 = 30;

/// A limit that flags or constants keep above zero.
pub(crate) fn at_least_one(number: u16) -> NonZeroUsize {
    NonZeroUsize::new(usize::from(number)).unwrap_or(NonZeroUsize::MIN)
}

impl Default for Settings {
    fn default() -> Self {
        let concurrent_syncs = usize::from(CONCURRENT_SYNCS);
        let batch_period = Duration::ZERO;
        Settings {
            controllers: Controllers::default(),
            leader_election: None,
            endpoint: kube_endpoint::Config {
                concurrent_syncs,
                batch_period,
                legacy: kube_endpoint::Legacy::default(),
            },
            endpointslice: kube_endpointslice::controller::Config {
                concurrent_syncs,
                max_endpoints_per_slice: at_least_one(MAX_ENDPOINTS_PER_SLICE),
                batch_period,
            },
            mirroring: kube_endpointslice_mirroring::Config {
                concurrent_syncs,
                max_endpoints_per_subset: at_least_one(MAX_ENDPOINTS_PER_SUBSET),
                batch_period,
            },
            kube_api_qps: QPS,
            kube_api_burst: BURST,
        }
    }
}

//! What the program needs to know, whoever asked for it.

mod client;
mod election;
mod serving;

use std::collections::BTreeMap;
#[cfg(any(feature = "endpointslice", feature = "mirroring"))]
use std::num::NonZeroUsize;
use std::time::Duration;

pub use client::ClientSettings;
pub use election::LeaderElection;
pub(crate) use election::{RESOURCE_NAME, RESOURCE_NAMESPACE};
pub(crate) use serving::PORT;
pub use serving::{AuthenticationSettings, AuthorizationSettings, CertificateFiles, ServingSettings, TlsVersion};

use crate::controllers::Controllers;
use crate::feature_gates::FeatureGates;
use crate::logging::LoggingSettings;

/// How the controllers work. The default is upstream's, where this program can do it.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Which controllers run. One that is not compiled in does not run, whatever this says.
    pub controllers: Controllers,
    /// The Endpoints controller.
    #[cfg(feature = "endpoint")]
    pub endpoint: kube_endpoint::Config,
    /// The slice controller.
    #[cfg(feature = "endpointslice")]
    pub endpointslice: kube_endpointslice::controller::Config,
    /// The mirroring controller.
    #[cfg(feature = "mirroring")]
    pub mirroring: kube_endpointslice_mirroring::Config,
    /// How the API server is talked to.
    pub client: ClientSettings,
    /// Handlers are told of everything again after this long, or up to twice as long; zero for never.
    pub min_resync_period: Duration,
    /// What is on and what is off.
    pub feature_gates: FeatureGates,
    /// Whether work is only done while a Lease is held. Off unless asked for; on the command line it is on by default.
    pub leader_election: Option<LeaderElection>,
    /// Health and metrics.
    pub serving: ServingSettings,
    /// The log.
    pub logging: LoggingSettings,
    /// Every flag and its value, for `/flagz` to show; empty where there was no command line.
    pub flags: BTreeMap<String, String>,
}

/// Services synced at once by each controller.
pub(crate) const CONCURRENT_SYNCS: u16 = 5;
/// Endpoints a slice is filled with.
pub(crate) const MAX_ENDPOINTS_PER_SLICE: u16 = 100;
/// Addresses of a subset that are mirrored.
pub(crate) const MAX_ENDPOINTS_PER_SUBSET: u16 = 1_000;
/// How often handlers are told of everything again.
pub(crate) const MIN_RESYNC_PERIOD: Duration = Duration::from_secs(12 * 60 * 60);

/// A limit that flags or constants keep above zero.
#[cfg(any(feature = "endpointslice", feature = "mirroring"))]
pub(crate) fn at_least_one(number: u16) -> NonZeroUsize {
    NonZeroUsize::new(usize::from(number)).unwrap_or(NonZeroUsize::MIN)
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            controllers: Controllers::default(),
            #[cfg(feature = "endpoint")]
            endpoint: kube_endpoint::Config {
                concurrent_syncs: usize::from(CONCURRENT_SYNCS),
                batch_period: Duration::ZERO,
                legacy: kube_endpoint::Legacy::default(),
            },
            #[cfg(feature = "endpointslice")]
            endpointslice: kube_endpointslice::controller::Config {
                concurrent_syncs: usize::from(CONCURRENT_SYNCS),
                max_endpoints_per_slice: at_least_one(MAX_ENDPOINTS_PER_SLICE),
                batch_period: Duration::ZERO,
            },
            #[cfg(feature = "mirroring")]
            mirroring: kube_endpointslice_mirroring::Config {
                concurrent_syncs: usize::from(CONCURRENT_SYNCS),
                max_endpoints_per_subset: at_least_one(MAX_ENDPOINTS_PER_SUBSET),
                batch_period: Duration::ZERO,
            },
            client: ClientSettings::default(),
            min_resync_period: MIN_RESYNC_PERIOD,
            feature_gates: FeatureGates::default(),
            leader_election: None,
            serving: ServingSettings::default(),
            logging: LoggingSettings::default(),
            flags: BTreeMap::new(),
        }
    }
}

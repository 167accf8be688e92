//! Settings of the program: made from the command line, or by a program that embeds this crate.

mod client;
mod election;
mod history;
mod mode;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::time::Duration;

use kube_controller_serving::ServingSettings;
use kube_informer::Guard;
use prometheus::Registry;

pub use client::ClientSettings;
pub use election::LeaderElection;
pub(crate) use election::{RESOURCE_NAME, RESOURCE_NAMESPACE};
pub use history::HistorySettings;
pub use mode::{Mode, ShadowSettings};
pub(crate) use mode::{SETTLE_PERIOD, WRITER_LEASE, lease_name};

use crate::controllers::{ControllerSyncs, Controllers};
use crate::emulation::EmulatedVersion;
use crate::feature_gates::FeatureGates;
use crate::logging::LoggingSettings;

/// Settings of [`run`](crate::run): controllers, client, leader election, HTTPS server and log.
///
/// The defaults are those of kube-controller-manager's flags, except that nothing is served and no leader is elected: a
/// library must not open ports or write a Lease without being configured to.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Whether the controllers write.
    pub mode: Mode,
    /// The comparison of shadow mode.
    pub shadow: ShadowSettings,
    /// The controllers to run. One that is not compiled in does not run, with a warning in the log.
    pub controllers: Controllers,
    /// `--emulated-version`: version of Kubernetes whose controllers the program behaves as. The feature gates are set
    /// apart, see [`FeatureGates::of_version`].
    pub emulated_version: EmulatedVersion,
    /// Concurrency and batching of each controller.
    pub syncs: ControllerSyncs,
    /// `--max-endpoints-per-slice`: maximum number of endpoints that a slice is filled with; 100 by default.
    pub max_endpoints_per_slice: NonZeroUsize,
    /// `--mirroring-max-endpoints-per-subset`: maximum number of addresses of a subset that are mirrored; 1,000 by default.
    pub max_endpoints_per_subset: NonZeroUsize,
    /// Rate limits, encoding and credentials for the API server.
    pub client: ClientSettings,
    /// `--min-resync-period`: each informer resyncs at a period drawn between this and twice this; zero disables
    /// resyncs.
    pub min_resync_period: Duration,
    /// Guard of all caches against lists that lack objects. No flag sets it.
    pub guard: Guard,
    /// `--feature-gates`: the feature gates and whether each is enabled.
    pub feature_gates: FeatureGates,
    /// Leader election; `None`, the default, disables it. On the command line it is enabled by default. Ignored in
    /// [shadow mode](Mode::Shadow).
    pub leader_election: Option<LeaderElection>,
    /// The HTTPS server for health checks and metrics. Port 0, the default, disables it; the default of the command line is
    /// 10257.
    pub serving: ServingSettings,
    /// The recorded history of Services, Pods, Nodes and endpoints; `None`, the default, records nothing. On the command line,
    /// it is recorded in memory by default.
    pub history: Option<HistorySettings>,
    /// Registry of the metrics of the process, for a program that serves them itself. `None`: they are registered with one
    /// of the process if [`serving`](Self::serving) has a port, otherwise not at all.
    pub registry: Option<Registry>,
    /// The log. [`run`](crate::run) does not read it; see [`start_logging`](crate::start_logging).
    pub logging: LoggingSettings,
    /// Every flag and its value, for `/flagz`; empty if the settings were not made from a command line.
    pub flags: BTreeMap<String, String>,
}

pub(crate) const MAX_ENDPOINTS_PER_SLICE: u16 = 100;
pub(crate) const MAX_ENDPOINTS_PER_SUBSET: u16 = 1_000;
/// Default of `--min-resync-period`: 12 h.
pub(crate) const MIN_RESYNC_PERIOD: Duration = Duration::from_secs(12 * 60 * 60);

/// Converts a number that the bounds of a flag, or a constant, keep above zero.
pub(crate) fn at_least_one(number: usize) -> NonZeroUsize {
    NonZeroUsize::new(number).unwrap_or(NonZeroUsize::MIN)
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            mode: Mode::default(),
            shadow: ShadowSettings::default(),
            controllers: Controllers::default(),
            emulated_version: EmulatedVersion::default(),
            syncs: ControllerSyncs::default(),
            max_endpoints_per_slice: at_least_one(usize::from(MAX_ENDPOINTS_PER_SLICE)),
            max_endpoints_per_subset: at_least_one(usize::from(MAX_ENDPOINTS_PER_SUBSET)),
            client: ClientSettings::default(),
            min_resync_period: MIN_RESYNC_PERIOD,
            guard: Guard::default(),
            feature_gates: FeatureGates::default(),
            leader_election: None,
            serving: ServingSettings::default(),
            history: None,
            registry: None,
            logging: LoggingSettings::default(),
            flags: BTreeMap::new(),
        }
    }
}

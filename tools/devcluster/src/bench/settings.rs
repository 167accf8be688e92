//! Settings of measurements.

use std::time::Duration;

use endpoint_controller_manager::Batching;
use kube_dev_apiserver::Population;

use super::{controller_process::Template, pace::Pace};

/// Settings given by the user; `None` selects the default of the scenario.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) controller: Option<Template>,
    pub(crate) json: bool,
    pub(crate) plain: bool,
    pub(crate) sizes: Sizes,
    pub(crate) flips: Option<usize>,
    pub(crate) rate: Option<usize>,
    /// Number of slow connections, and duration of each kind of load, of the scenario `serving`.
    pub(crate) connections: Option<usize>,
    pub(crate) load: Option<Duration>,
    pub(crate) batch_period: Option<Duration>,
    pub(crate) qps: u32,
    pub(crate) burst: u32,
    pub(crate) seed: u64,
    /// Timeout of each scenario.
    pub(crate) timeout: Option<Duration>,
}

/// Cluster sizes given by the user.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sizes {
    pub(crate) pods: Option<usize>,
    pub(crate) services: Option<usize>,
    pub(crate) nodes: Option<usize>,
}

impl Sizes {
    /// Returns the size of a cluster; values that are not given are taken from `default`.
    pub(crate) fn or(self, default: Population) -> Population {
        Population {
            pods: self.pods.unwrap_or(default.pods),
            services: self.services.unwrap_or(default.services),
            nodes: self.nodes.unwrap_or(default.nodes),
            ..default
        }
    }
}

impl Settings {
    /// Returns the pace of the controllers; `default` is the batch period of the scenario.
    pub(crate) fn pace(&self, default: Duration) -> Pace {
        let period = self.batch_period.unwrap_or(default);
        Pace {
            batch_period_milliseconds: u64::try_from(period.as_millis()).unwrap_or(u64::MAX),
            batching: Batching::default(),
            qps: self.qps,
            burst: self.burst,
            adaptive: false,
        }
    }

    /// Returns the name of the encoding that the controllers request.
    pub(crate) fn encoding(&self) -> &'static str {
        if self.json { "json" } else { "protobuf" }
    }

    /// Returns the name of the transport of all connections.
    pub(crate) fn transport(&self) -> &'static str {
        if self.plain { "plain HTTP/1.1" } else { "TLS, HTTP/2" }
    }

    /// Returns the media type that the controllers request.
    pub(crate) fn content_type(&self) -> &'static str {
        if self.json { "application/json" } else { "application/vnd.kubernetes.protobuf" }
    }
}

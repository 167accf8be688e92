//! How measurements are made.

use std::time::Duration;

use kube_dev_apiserver::Population;
use serde::Serialize;

use super::subject::Template;

/// What the user has asked for; what is absent is up to the scenario.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) controller: Option<Template>,
    pub(crate) json: bool,
    pub(crate) sizes: Sizes,
    pub(crate) flips: Option<usize>,
    pub(crate) rate: Option<usize>,
    pub(crate) batch_period: Option<Duration>,
    pub(crate) qps: u32,
    pub(crate) burst: u32,
    pub(crate) seed: u64,
    pub(crate) timeout: Duration,
}

/// How the controllers are told to work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Pace {
    /// How long they gather changes of Pods.
    pub(crate) batch_period_milliseconds: u64,
    /// Requests a second of each.
    pub(crate) qps: u32,
    /// Requests at once of each.
    pub(crate) burst: u32,
}

/// Sizes that the user wants instead of a scenario's.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sizes {
    pub(crate) pods: Option<usize>,
    pub(crate) services: Option<usize>,
    pub(crate) nodes: Option<usize>,
}

impl Sizes {
    /// A cluster of these sizes, and of a scenario's where none are given.
    pub(crate) fn or(self, usual: Population) -> Population {
        Population {
            pods: self.pods.unwrap_or(usual.pods),
            services: self.services.unwrap_or(usual.services),
            nodes: self.nodes.unwrap_or(usual.nodes),
            ..usual
        }
    }
}

impl Settings {
    /// What the controllers are told, in a scenario whose batch period is `usual`.
    pub(crate) fn pace(&self, usual: Duration) -> Pace {
        let period = self.batch_period.unwrap_or(usual);
        Pace {
            batch_period_milliseconds: u64::try_from(period.as_millis()).unwrap_or(u64::MAX),
            qps: self.qps,
            burst: self.burst,
        }
    }

    /// How objects are read.
    pub(crate) fn encoding(&self) -> &'static str {
        if self.json { "json" } else { "protobuf" }
    }

    /// The same as a media type.
    pub(crate) fn content_type(&self) -> &'static str {
        if self.json { "application/json" } else { "application/vnd.kubernetes.protobuf" }
    }
}

impl Pace {
    pub(crate) fn batch_period(self) -> Duration {
        Duration::from_millis(self.batch_period_milliseconds)
    }
}

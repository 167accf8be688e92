//! Builds the clients of the process from its settings.

use std::sync::Arc;

use kube_controller_client::{Client, ClientOptions, Config, ConfigError, Timeouts};
use kube_lease_election::Fence;

use crate::metrics::Metrics;
use crate::settings::{ClientSettings, Mode, Settings};
use crate::user_agent::user_agent;

/// Options that all clients of the process share.
#[derive(Clone)]
pub(crate) struct Clients {
    settings: ClientSettings,
    metrics: Option<Metrics>,
    /// In shadow mode: a second barrier besides the reviews that withhold all writes.
    read_only: bool,
}

impl Clients {
    pub(crate) fn new(settings: &Settings, metrics: Option<&Metrics>) -> Clients {
        let read_only = settings.mode == Mode::Shadow;
        Clients { settings: settings.client.clone(), metrics: metrics.cloned(), read_only }
    }

    /// Returns a client. `part` is the last part of its user agent.
    pub(crate) fn client(&self, config: &Config, part: &str) -> Result<Client, ConfigError> {
        self.build(config, part, Timeouts::default())
    }

    /// Returns a client without rate limit, for leader election: renewals are a request every few seconds, and a rate
    /// limiter could only delay one past the renew deadline.
    pub(crate) fn unlimited(&self, config: &Config, part: &str, timeouts: Timeouts) -> Result<Client, ConfigError> {
        self.with_rate(0.0, 0).build(config, part, timeouts)
    }

    /// Returns a client that sends at most `per_second` requests per second.
    pub(crate) fn limited(&self, config: &Config, part: &str, per_second: u16) -> Result<Client, ConfigError> {
        self.with_rate(f32::from(per_second), per_second.into()).build(config, part, Timeouts::default())
    }

    fn with_rate(&self, qps: f32, burst: u32) -> Clients {
        let settings = ClientSettings { qps, burst, adaptive: false, ..self.settings.clone() };
        Clients { settings, ..self.clone() }
    }

    fn build(&self, config: &Config, part: &str, timeouts: Timeouts) -> Result<Client, ConfigError> {
        let ClientSettings { qps, burst, adaptive, content_type, .. } = self.settings;
        let (user_agent, read_only) = (user_agent(part), self.read_only);
        let defaults = ClientOptions::default();
        let options = ClientOptions { user_agent, qps, burst, adaptive, content_type, timeouts, read_only, ..defaults };
        match &self.metrics {
            Some(metrics) => Client::with_metrics(config, options, &metrics.clients),
            None => Client::new(config, options),
        }
    }
}

/// Returns the client gated by `fence`: its writes are sent only while the lease is held. Without a fence, the client
/// itself.
pub(crate) fn fenced(client: Client, fence: Option<&Fence>) -> Client {
    match fence {
        Some(fence) => client.gated(Arc::new(Fence::clone(fence))),
        None => client,
    }
}

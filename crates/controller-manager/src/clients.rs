//! The clients of the process.

use std::sync::Arc;

use kube_controller_client::{Client, ClientOptions, Config, ConfigError, Timeouts};
use kube_endpoint_model::Interner;
use kube_lease_election::Fence;
use tokio_util::sync::CancellationToken;

use crate::metrics::Metrics;
use crate::settings::{ClientSettings, Mode, Settings};
use crate::user_agent::user_agent;

/// Namespace of the controllers' service accounts.
const ACCOUNTS_NAMESPACE: &str = "kube-system";

/// The API server, and the options that all clients of the process share.
pub(crate) struct Clients {
    pub(crate) config: Config,
    settings: ClientSettings,
    metrics: Option<kube_controller_client::PrometheusMetrics>,
    /// In shadow mode: a second barrier besides the reviews that withhold all writes.
    read_only: bool,
    /// Shared by the informers and the responses to writes.
    interner: Interner,
    /// Cancelled some time after the stop: from then on the clients of the controllers start no requests.
    pub(crate) request_deadline: CancellationToken,
}

/// Sustained requests per second, and requests at once.
type Rate = (f32, u32);

impl Clients {
    pub(crate) fn new(config: Config, settings: &Settings, metrics: Option<&Metrics>) -> Clients {
        Clients {
            config,
            settings: settings.client.clone(),
            metrics: metrics.map(|metrics| metrics.clients.clone()),
            read_only: settings.mode == Mode::Shadow,
            interner: Interner::default(),
            request_deadline: CancellationToken::new(),
        }
    }

    pub(crate) fn reader(&self) -> Result<Client, ConfigError> {
        Ok(self.client(&self.config, "shared-informers")?.decoding_in(self.interner.clone()))
    }

    /// Returns the client of the leader election, without rate limit: renewals are a request every few seconds, and a rate
    /// limiter could only delay one past the renew deadline.
    pub(crate) fn election(&self, timeouts: Timeouts) -> Result<Client, ConfigError> {
        self.build(&self.config, "leader-election", Some((0.0, 0)), timeouts)
    }

    /// Returns the client of the detection of a second writer, which sends at most `per_second` requests per second.
    pub(crate) fn second_writer(&self, per_second: u16) -> Result<Client, ConfigError> {
        let rate = Some((f32::from(per_second), per_second.into()));
        self.build(&self.config, "second-writer", rate, Timeouts::default())
    }

    /// Returns the client that requests the tokens of the controllers' service accounts; `None` if the controllers use the
    /// credentials of the process.
    pub(crate) fn tokens(&self, fence: Option<&Fence>) -> Result<Option<Client>, ConfigError> {
        let client = || Ok(self.gated(&self.client(&self.config, "service-accounts")?, fence));
        self.settings.service_account_credentials.then(client).transpose()
    }

    /// Returns the client that a controller writes with, as its service account if there are `tokens`.
    pub(crate) fn writer(
        &self,
        account: &str,
        tokens: Option<&Client>,
        fence: Option<&Fence>,
    ) -> Result<Client, ConfigError> {
        let client = match tokens {
            None => self.client(&self.config, account)?,
            Some(tokens) => {
                let config = self.config.as_service_account(tokens.clone(), ACCOUNTS_NAMESPACE, account);
                self.client(&config, &format!("system:serviceaccount:{ACCOUNTS_NAMESPACE}:{account}"))?
            }
        };
        Ok(self.gated(&client.decoding_in(self.interner.clone()), fence))
    }

    /// Returns a client that starts no request after the deadline, and no write while `fence` is closed.
    fn gated(&self, client: &Client, fence: Option<&Fence>) -> Client {
        let client = client.with_shutdown(self.request_deadline.clone());
        match fence {
            Some(fence) => client.gated(Arc::new(fence.clone())),
            None => client,
        }
    }

    /// Returns a client with the rate limit of the settings. `part` is the last part of its user agent.
    fn client(&self, config: &Config, part: &str) -> Result<Client, ConfigError> {
        self.build(config, part, None, Timeouts::default())
    }

    fn build(
        &self,
        config: &Config,
        part: &str,
        rate: Option<Rate>,
        timeouts: Timeouts,
    ) -> Result<Client, ConfigError> {
        let ClientSettings { qps, burst, adaptive, content_type, .. } = self.settings;
        let ((qps, burst), adaptive) = rate.map_or(((qps, burst), adaptive), |rate| (rate, false));
        let (user_agent, read_only) = (user_agent(part), self.read_only);
        let defaults = ClientOptions::default();
        let options = ClientOptions { user_agent, qps, burst, adaptive, content_type, timeouts, read_only, ..defaults };
        match &self.metrics {
            Some(metrics) => Client::with_metrics(config, options, metrics),
            None => Client::new(config, options),
        }
    }
}

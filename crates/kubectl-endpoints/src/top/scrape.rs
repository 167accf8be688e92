//! Reading of the metrics of a controller manager.

use std::time::Duration;

use kube_controller_client::{Client, ClientOptions, Config, ConfigError, Timeouts};
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::{MissedTickBehavior, interval};

use super::metrics::Reading;

/// Period of the readings, and the time limit of each.
const PERIOD: Duration = Duration::from_secs(2);

/// Reader of metrics.
#[derive(Debug)]
pub(crate) struct Scraper {
    client: Client,
    path: String,
}

impl Scraper {
    /// Returns the reader of a URL; `api` is the client for a path on the API server. The path of a URL is `/metrics` by
    /// default.
    ///
    /// # Errors
    ///
    /// [`ConfigError::Server`] if it is neither a path nor an http or https URL.
    pub(crate) fn new(url: &str, api: &Client) -> Result<Self, ConfigError> {
        if url.starts_with('/') {
            return Ok(Self { client: api.clone(), path: url.to_owned() });
        }
        let (server, path) = split(url);
        let timeouts = Timeouts { request: PERIOD, connect: PERIOD, ..Timeouts::default() };
        let options = ClientOptions { qps: 0.0, burst: 1, timeouts, ..ClientOptions::default() };
        Ok(Self { client: Client::new(&Config::from_url(server)?, options)?, path: path.to_owned() })
    }

    /// Sends a reading every 2 s, or `None` if it failed, until the receiver is dropped.
    pub(crate) async fn run(self, readings: UnboundedSender<Option<Reading>>) {
        let mut ticks = interval(PERIOD);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            if readings.send(self.read().await).is_err() {
                return;
            }
        }
    }

    async fn read(&self) -> Option<Reading> {
        let get = "GET".parse().ok()?;
        let (status, body) = self.client.raw(get, &self.path, None, Vec::new()).await.ok()?;
        status.is_success().then(|| Reading::parse(&String::from_utf8_lossy(&body)))
    }
}

/// Splits a URL into server and path.
fn split(url: &str) -> (&str, &str) {
    let authority = url.find("://").map_or(0, |at| at + 3);
    let end = url[authority..].find('/').map_or(url.len(), |at| authority + at);
    let (server, path) = url.split_at(end);
    (server, if path.len() > 1 { path } else { "/metrics" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("http://localhost:8080/metrics", "http://localhost:8080", "/metrics")]
    #[case("http://localhost:8080/", "http://localhost:8080", "/metrics")]
    #[case("http://localhost:8080", "http://localhost:8080", "/metrics")]
    #[case("localhost:8080/a/b?c=d", "localhost:8080", "/a/b?c=d")]
    #[case("https://[::1]:10257/metrics/slis", "https://[::1]:10257", "/metrics/slis")]
    fn urls_have_a_server_and_a_path(#[case] url: &str, #[case] server: &str, #[case] path: &str) {
        assert_eq!(split(url), (server, path));
    }
}

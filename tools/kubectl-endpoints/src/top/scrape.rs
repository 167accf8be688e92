//! Reading of the metrics of a controller manager.

use kube_controller_client::{Client, ConfigError};
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::{MissedTickBehavior, interval};

use super::metrics::Reading;
use crate::page::{LIMIT, Page};

/// Reader of metrics.
#[derive(Debug)]
pub(crate) struct Scraper(Page);

impl Scraper {
    /// Returns the reader of a URL; `api` is the client for a path on the API server. The path of a URL is `/metrics` by
    /// default.
    ///
    /// # Errors
    ///
    /// [`ConfigError::Server`] if it is neither a path nor an http or https URL.
    pub(crate) fn new(url: &str, api: &Client) -> Result<Self, ConfigError> {
        Page::new(url, "/metrics", api).map(Self)
    }

    /// Sends a reading every 2 s, or `None` if it failed, until the receiver is dropped.
    pub(crate) async fn run(self, readings: UnboundedSender<Option<Reading>>) {
        let mut ticks = interval(LIMIT);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            let reading = self.0.read().await.ok().map(|body| Reading::parse(&String::from_utf8_lossy(&body)));
            if readings.send(reading).is_err() {
                return;
            }
        }
    }
}

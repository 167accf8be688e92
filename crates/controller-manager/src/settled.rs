//! The wait before a sync until the caches have the same state again after an outage or a restore of etcd.

use std::sync::Arc;
use std::time::Duration;

use kube_controller_client::Client;
use kube_endpoint_model::Service;
use kube_informer::RestoreSignal;
use kube_wire::Resource;
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep};

/// Maximum time that syncs wait for caches while the API server answers. A resource that cannot be listed must not stop
/// the controllers for longer.
const LIMIT: Duration = Duration::from_secs(60);
/// Interval between two reads that show whether the API server answers.
const INTERVAL: Duration = Duration::from_secs(5);

/// The wait of one controller, which ends by itself if a cache stays behind.
pub(crate) struct Settled {
    caches: RestoreSignal,
    /// Resources whose caches the controller reads.
    resources: &'static [Resource],
    server: Client,
    /// Of the worker that reads for all; the others wait for it.
    answered: Mutex<Answered>,
}

/// How long the API server has answered since a cache is behind.
#[derive(Default)]
struct Answered {
    since: Option<Instant>,
    duration: Duration,
    /// Caches that are behind since then or longer are no longer waited for.
    given_up: Option<Instant>,
}

impl Settled {
    pub(crate) fn new(caches: RestoreSignal, resources: &'static [Resource], server: Client) -> Arc<Self> {
        Arc::new(Self { caches, resources, server, answered: Mutex::default() })
    }

    /// Waits until no cache is behind: each has listed again, or resumed its watch, since that was interrupted. Ends once
    /// the server has answered for 60 s since the last of them is, even if one still is.
    ///
    /// A sync that combines caches from before a restore with others from after it would write slices and Endpoints for
    /// Services that do not exist any more.
    pub(crate) async fn wait(self: Arc<Self>) {
        while let Some(since) = self.caches.behind_since(self.resources) {
            tokio::select! {
                biased;
                () = self.caches.changed(self.resources, since) => {}
                () = self.answered(since) => return,
            }
        }
    }

    /// Waits until the server has answered for [`LIMIT`] since a cache is behind.
    async fn answered(&self, since: Instant) {
        let mut answered = self.answered.lock().await;
        if answered.since != Some(since) {
            (answered.since, answered.duration) = (Some(since), self.available_for(since));
        }
        while answered.given_up < Some(since) && answered.duration < LIMIT {
            sleep(INTERVAL.min(LIMIT.saturating_sub(answered.duration))).await;
            if self.answers().await {
                answered.duration += INTERVAL;
            }
        }
        answered.given_up = answered.given_up.max(Some(since));
    }

    /// Returns for how long the server has been available.
    fn available_for(&self, since: Instant) -> Duration {
        let server = self.server.availability();
        let from = server.recovered_at().map_or(since, |at| at.max(since));
        if server.is_available() { from.elapsed() } else { Duration::ZERO }
    }

    /// Returns whether the server answers a read from etcd. Its [availability](Client::availability) does not tell, since
    /// requests of the resource that fails may be the only ones.
    async fn answers(&self) -> bool {
        match self.server.get::<Service>("default", "kubernetes").await {
            Ok(_) => true,
            Err(error) => error.status().is_some_and(|status| status.code < 500),
        }
    }
}

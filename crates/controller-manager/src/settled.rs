//! The wait before a sync until the caches have the same state again after an outage or a restore of etcd.

use std::time::Duration;

use kube_controller_client::Availability;
use kube_informer::RestoreSignal;
use tokio::time::{Instant, sleep_until};

/// Maximum time that syncs wait for caches while the API server answers. A resource that cannot be listed must not stop
/// the controllers for longer.
const LIMIT: Duration = Duration::from_secs(60);

/// Waits until no cache is behind: each has listed again, or resumed its watch, since that was interrupted. Ends 60 s
/// after the interruption, or after the server became available, even if one is.
///
/// A sync that combines caches from before a restore with others from after it would write slices and Endpoints for
/// Services that do not exist any more.
pub(crate) async fn settled(caches: RestoreSignal, server: Availability) {
    while let Some(since) = caches.behind_since() {
        let recovery = server.recovery();
        if server.is_available() {
            let from = server.recovered_at().map_or(since, |at| at.max(since));
            if Instant::now() >= from + LIMIT {
                return;
            }
            tokio::select! {
                biased;
                () = caches.settled() => {}
                () = sleep_until(from + LIMIT) => {}
            }
        } else {
            tokio::select! {
                biased;
                () = caches.settled() => {}
                () = recovery => {}
            }
        }
    }
}

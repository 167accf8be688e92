//! Leader election of a controller.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use kube_controller::Supervisor;
use kube_controller_client::Client;
use kube_lease_election::{Election, ElectionMetricsProvider, ElectionOptions, Fence, LeaseName, Timing, identity};
use tokio_util::sync::CancellationToken;

use crate::ControllerError;

/// Returns an election with a client of its own and a new identity.
pub(crate) fn election(
    client: &Client,
    lease: LeaseName,
    timing: Timing,
    metrics: Option<&Arc<dyn ElectionMetricsProvider>>,
) -> Result<(Election, Fence), ControllerError> {
    let client = client.separate(timing.timeouts()).map_err(ControllerError::Elections)?;
    let metrics = metrics.map(|metrics| metrics.election(&lease.name));
    let options = ElectionOptions { lease, identity: identity(), timing, recorder: None, metrics };
    Ok(Election::new(client, options))
}

/// Runs the tasks beside the election, and releases the Lease when they have ended.
pub(crate) async fn run(
    election: Election,
    supervisor: Supervisor,
    grace: Duration,
    stop: CancellationToken,
) -> Result<(), ControllerError> {
    let release = CancellationToken::new();
    let mut election = pin!(election.run(release.clone()));
    let mut work = pin!(supervisor.run(grace));
    let done = tokio::select! {
        biased;
        _ = election.as_mut() => {
            stop.cancel();
            // Gated clients start no further write.
            work.await?;
            return Err(ControllerError::LeaseLost);
        }
        done = work.as_mut() => done,
    };
    release.cancel();
    election.await;
    Ok(done?)
}

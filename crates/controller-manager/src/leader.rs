//! Runs the controllers under leader election.

use std::sync::Arc;
use std::time::Duration;

use kube_controller::Supervisor;
use kube_controller_client::Client;
use kube_controller_client::events::EventRecorder;
use kube_lease_election::{Election, ElectionMetrics, ElectionOptions, Fence, identity};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::checks::Checks;
use crate::error::RunError;
use crate::metrics::Metrics;
use crate::settings::LeaderElection;

/// Time that tasks have to end after `stop` is cancelled.
///
/// Together with the time for releasing the lease (1 s) and for its event (500 ms), the process ends within 5 s.
pub(crate) const GRACE: Duration = Duration::from_secs(3);
/// Time limit for releasing the lease at shutdown.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(1);
/// Time limit for writing the last election event at shutdown.
const EVENT_TIMEOUT: Duration = Duration::from_millis(500);

/// What the controllers of a leader get from the election.
#[derive(Clone)]
pub(crate) struct Leading {
    pub(crate) fence: Fence,
    pub(crate) recorder: EventRecorder,
}

/// Runs the tasks of `standby` at once and those that `start` adds once the lease is held, until `stop` is cancelled, a
/// task fails, or the lease is lost.
///
/// The lease is released after all tasks have ended. If a task fails, or does not end within [`GRACE`], it is not
/// released, and the next leader waits until it expires.
///
/// # Errors
///
/// [`RunError::LeaseLost`] if the lease is lost, [`RunError::Task`] if a task failed or did not end in time, and errors
/// of `start`.
pub(crate) async fn lead(
    client: Client,
    settings: LeaderElection,
    checks: &Checks,
    metrics: Option<&Metrics>,
    standby: Supervisor,
    start: impl FnOnce(&mut Supervisor, Leading) -> Result<(), RunError>,
    stop: CancellationToken,
) -> Result<(), RunError> {
    settings.warn_if_unusual();
    let LeaderElection { lease, timing } = settings;
    let (recorder, writer) = EventRecorder::new(client.clone(), "endpoint-controller-manager");
    // Ends once the election and the tasks, which hold the recorder, have ended and the last event is written.
    let mut events = JoinSet::new();
    events.spawn(writer.run(CancellationToken::new()));
    let metrics = metrics.map(|metrics| Arc::new(metrics.elections.clone()) as Arc<dyn ElectionMetrics>);
    let options = ElectionOptions { lease, identity: identity(), timing, recorder: Some(recorder.clone()), metrics };
    let (election, fence) = Election::new(client, options);
    checks.set_fence(&fence);
    let leading = Leading { fence: fence.clone(), recorder };
    let work = async {
        let mut elected = fence.clone();
        if stop.run_until_cancelled(elected.wait_until_leading()).await == Some(true) {
            let mut supervisor = Supervisor::new(stop.clone());
            start(&mut supervisor, leading)?;
            supervisor.run(GRACE).await?;
        }
        Ok(())
    };
    let standby = async { Ok(standby.run(GRACE).await?) };
    let tasks = async { tokio::try_join!(standby, work) };
    let result = election.run_beside(tasks, RELEASE_TIMEOUT).await.unwrap_or(Err(RunError::LeaseLost));
    if !matches!(result, Err(RunError::Task(_))) {
        // Events are best effort: a timeout is not an error.
        let _ = timeout(EVENT_TIMEOUT, events.join_next()).await;
    }
    result.map(drop)
}

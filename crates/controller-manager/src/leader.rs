//! Work that is only done while the lease is held.

use std::pin::pin;
use std::time::Duration;

use kube_controller::Supervisor;
use kube_controller_client::Client;
use kube_controller_client::events::EventRecorder;
use kube_lease_election::{Election, ElectionOptions, Fence, MetricsProvider as _, identity};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::checks::Checks;
use crate::manager::{GRACE, RunError};
use crate::metrics::Metrics;
use crate::settings::LeaderElection;

/// How long giving back the lease, and telling of it, may hold up the end of the process.
const GIVE_BACK: Duration = Duration::from_secs(1);
const TELL: Duration = Duration::from_millis(500);

/// Who is told how the election goes.
#[derive(Clone, Copy)]
pub(crate) struct Told<'a> {
    pub(crate) checks: &'a Checks,
    pub(crate) metrics: Option<&'a Metrics>,
}

/// Runs `standby` from the beginning, and what `start` adds once the lease is held, until `stop` is cancelled, a part
/// fails, or the lease is lost.
///
/// `caught_up` runs after the lease is acquired and before `start`: it brings the caches to what the previous leader wrote.
///
/// The lease is given back when all work has ended. It is not when some work did not end in time: whoever follows then
/// waits until it expires.
pub(crate) async fn lead(
    client: Client,
    settings: LeaderElection,
    told: Told<'_>,
    standby: Supervisor,
    caught_up: impl Future<Output = ()>,
    start: impl FnOnce(&mut Supervisor, &Fence) -> Result<(), RunError>,
    stop: CancellationToken,
) -> Result<(), RunError> {
    settings.warn();
    let LeaderElection { lease, timing } = settings;
    let (recorder, writer) = EventRecorder::new(client.clone(), "endpoint-controller-manager");
    // Ends when the election has ended and its last event is written.
    let mut events = JoinSet::new();
    events.spawn(writer.run(CancellationToken::new()));
    let metrics = told.metrics.map(|metrics| metrics.elections.election(&lease.name));
    let options = ElectionOptions { lease, identity: identity(), timing, recorder: Some(recorder), metrics };
    let (election, fence) = Election::new(client, options);
    told.checks.election(&fence);
    let give_back = CancellationToken::new();
    let mut election = pin!(election.run(give_back.clone()));

    let work = async {
        let mut elected = fence.clone();
        let leads = tokio::select! {
            biased;
            () = stop.cancelled() => false,
            leads = elected.leading() => leads,
        };
        if leads && stop.run_until_cancelled(caught_up).await.is_some() {
            let mut supervisor = Supervisor::new(stop.clone());
            start(&mut supervisor, &fence)?;
            supervisor.run(GRACE).await?;
        }
        Ok(())
    };
    let standby = async { Ok(standby.run(GRACE).await?) };
    let parts = async { tokio::try_join!(standby, work) };
    let result = tokio::select! {
        biased;
        _ = election.as_mut() => Err(RunError::LeaseLost),
        result = parts => result.map(drop),
    };
    if result.is_ok() {
        give_back.cancel();
        if timeout(GIVE_BACK, election).await.is_err() {
            tracing::warn!("The lease could not be given back and will expire");
        }
    }
    if !matches!(result, Err(RunError::Part(_))) {
        // Nobody is helped by waiting longer.
        let _ = timeout(TELL, events.join_next()).await;
    }
    result
}

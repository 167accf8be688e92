//! The run of a controller, from the first list to the end of the last sync.

use std::error::Error;
use std::future::{Future, pending};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use kube_controller::{Action, Supervisor};
use kube_controller_client::Client;
use kube_informer::HandlerHandle;
use kube_lease_election::{Election, ElectionMetrics, ElectionOptions, Fence, LeaseName, Timing, identity};
use kube_wire::ObjectKey;
use tokio_util::sync::CancellationToken;

use super::{Controller, Parts};
use crate::ControllerError;

/// Time for running syncs and requests to end after the stop.
const GRACE: Duration = Duration::from_secs(5);

impl<X: 'static> Controller<X> {
    /// Runs the controller until `stop` is cancelled. `sync` reconciles the object of one key with `context`, which all
    /// syncs share; a key is synced by one worker at a time, again with back-off after an error, and again after the delay
    /// of an [`Action::requeue`].
    ///
    /// Syncs start when all caches are filled and, with leader election, have the state that the server has at the start
    /// of the term. At the end, running syncs are completed and the Lease is released; after a failure it is not, and the next
    /// leader waits until it expires.
    ///
    /// # Errors
    ///
    /// [`ControllerError::Supervisor`] if a task fails, a sync panics or something does not end within 5 s after the
    /// stop; [`ControllerError::LeaseLost`] and [`ControllerError::Elections`] with leader election;
    /// [`ControllerError::OwnsWithoutInformer`] and [`ControllerError::OwnsWithoutGate`] if the controller was not built
    /// properly.
    pub async fn run<C, S, F, O, E>(self, stop: CancellationToken, context: C, sync: S) -> Result<(), ControllerError>
    where
        C: Send + Sync + 'static,
        S: Fn(Arc<C>, ObjectKey) -> F + Send + Sync + 'static,
        F: Future<Output = Result<O, E>> + Send + 'static,
        O: Into<Action>,
        E: Into<Box<dyn Error + Send + Sync>>,
    {
        let Parts { name, client, gate, builder, tasks, informers, lease, timing, .. } = self.parts;
        if let Some(invalid) = self.parts.invalid {
            return Err(invalid);
        }
        let election = match lease {
            None => None,
            Some(_) if !self.parts.is_gated => return Err(ControllerError::OwnsWithoutGate),
            Some(lease) => {
                let (election, fence) = election(&client, lease.clone(), timing, self.parts.election_metrics)?;
                let checked = fence.clone();
                self.parts.health.add_leader_election(lease, move || checked.is_overdue());
                gate.lead(fence.clone());
                Some((election, fence))
            }
        };
        let (election, fence) = election.unzip();
        // Fails only if already set, and this method consumes the controller.
        let _ = self.parts.running.set(stop.clone());
        let context = Arc::new(context);
        let mut supervisor = Supervisor::new(stop.clone());
        let (following, stopped) = (client.follow_files(), stop.clone());
        supervisor.spawn("client configuration", async move {
            stopped.run_until_cancelled(following).await;
        });
        for informer in &informers {
            supervisor.try_spawn(informer.resource().to_string(), informer.run(stop.clone()));
        }
        for (name, task) in tasks {
            supervisor.spawn(name, task(stop.clone()));
        }
        let availability = client.availability().clone();
        let server_gate = supervisor.server_gate(move || availability.recovery());
        let controller = builder.build(move |key| sync(Arc::clone(&context), key)).server_gate(server_gate);
        let controller = controller.wait_for(async move {
            let stores: Vec<HandlerHandle> = informers.iter().map(|informer| informer.store_synced()).collect();
            for store in &stores {
                if !store.synced().await {
                    // The informer has ended, which ends the controller.
                    return pending().await;
                }
            }
            if let Some(mut fence) = fence {
                if !fence.wait_until_leading().await {
                    return pending().await;
                }
                join_all(informers.iter().map(|informer| informer.catch_up())).await;
            }
        });
        supervisor.try_spawn(&*name, controller.run(stop.clone()));
        let mut work = pin!(supervisor.run(GRACE));
        let Some(election) = election else { return Ok(work.await?) };
        if let Some(done) = election.run_beside(work.as_mut(), GRACE).await {
            return Ok(done?);
        }
        stop.cancel();
        // Gated clients start no further write.
        work.await?;
        Err(ControllerError::LeaseLost)
    }
}

/// Returns an election with a client of its own and a new identity.
fn election(
    client: &Client,
    lease: LeaseName,
    timing: Timing,
    metrics: Option<Arc<dyn ElectionMetrics>>,
) -> Result<(Election, Fence), ControllerError> {
    let client = client.separate(timing.timeouts()).map_err(ControllerError::Elections)?;
    let options = ElectionOptions { lease, identity: identity(), timing, recorder: None, metrics };
    Ok(Election::new(client, options))
}

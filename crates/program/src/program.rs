//! A whole controller program: informers, handlers, workers, events, leader election and shutdown.

use std::error::Error;
use std::fmt;
use std::future::{Future, pending};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use kube_controller::{
    Batching, Controller, ControllerBuilder, Metrics, Outcome, RetryPolicy, Supervisor, SupervisorError,
};
use kube_controller_client::Client;
use kube_controller_client::events::EventRecorder;
use kube_informer::Informer;
use kube_lease_election::{Election, ElectionOptions, Fence, LeaseName, Timing, identity};
use kube_wire::{Decode, Index, ObjectKey};
use kube_workqueue::{Queue, default_controller_limiter};
use tokio_util::sync::CancellationToken;

/// Time for running syncs and requests to end after the stop.
const GRACE: Duration = Duration::from_secs(5);
/// Time for a watch to show the state at the start of a term, before the informer lists again.
const CATCH_UP: Duration = Duration::from_secs(5);

type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;
/// Returns the future that runs a task until the token is cancelled.
type Task = Box<dyn FnOnce(CancellationToken) -> BoxFuture<()> + Send>;
/// Returns a future that ends when an informer has the current state of the server.
type CatchUp = Box<dyn Fn() -> BoxFuture<()> + Send + Sync>;

/// A controller with all that its process needs: informers, a queue of object keys, workers, events, leader election
/// and shutdown. See the [crate](crate) for an example.
#[must_use = "the controller does nothing until it runs"]
pub struct Program {
    name: Arc<str>,
    client: Client,
    builder: ControllerBuilder<ObjectKey>,
    tasks: Vec<(String, Task)>,
    catch_ups: Vec<CatchUp>,
    election: Option<(Election, Fence)>,
}

/// Error of [`Program::run`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProgramError {
    /// A task failed or panicked, or did not end in time.
    #[error(transparent)]
    Supervisor(#[from] SupervisorError),
    /// Another instance leads, or the lease could not be renewed in time. The process should exit.
    #[error("the lease is lost")]
    LeaseLost,
}

impl Program {
    /// Returns a controller of objects by their keys, with client-go's default rate limiter and one worker.
    ///
    /// `name` identifies it in logs, metrics and events.
    pub fn new(name: impl Into<Arc<str>>, client: Client, metrics: Metrics) -> Program {
        let name = name.into();
        let queue = Queue::builder().name(&*name).limiter(default_controller_limiter());
        let builder = Controller::builder(Arc::clone(&name), queue, metrics);
        Program { name, client, builder, tasks: Vec::new(), catch_ups: Vec::new(), election: None }
    }

    /// Syncs the objects of an informer by their keys, and runs the informer.
    pub fn primary<T: Decode, X: Index<T>>(self, objects: &Informer<T, X>) -> Self {
        let name = T::RESOURCE.plural;
        self.watches(objects, name, |object| [object.key()])
    }

    /// Queues the keys that `keys` returns for each changed object of an informer, for its states before and after the
    /// change, and runs the informer. `name` identifies the handler in errors and metrics.
    pub fn watches<T: Decode, X: Index<T>, K: IntoIterator<Item = ObjectKey>>(
        mut self,
        objects: &Informer<T, X>,
        name: &'static str,
        keys: impl Fn(&T) -> K + Send + 'static,
    ) -> Self {
        self.builder.watch(objects, name, move |event, queue| {
            let (before, after) = event.states();
            for state in [before, after].into_iter().flatten() {
                keys(state).into_iter().for_each(|key| queue.add(key));
            }
        });
        self.caches(objects)
    }

    /// Runs an informer that queues nothing by itself, or whose handler is added with [`handlers`](Self::handlers).
    pub fn caches<T: Decode, X: Index<T>>(mut self, objects: &Informer<T, X>) -> Self {
        let running = objects.clone();
        self.tasks.push((T::RESOURCE.to_string(), Box::new(move |stop| Box::pin(running.run(stop)))));
        let behind = objects.clone();
        self.catch_ups.push(Box::new(move || Box::pin(behind.catch_up(CATCH_UP))));
        self
    }

    /// Returns the builder of the underlying controller, to add handlers of other kinds.
    pub fn handlers(&mut self) -> &mut ControllerBuilder<ObjectKey> {
        &mut self.builder
    }

    /// Sets the number of keys that are synced concurrently; 1 by default.
    pub fn concurrency(mut self, count: usize) -> Self {
        self.builder = self.builder.concurrency(count);
        self
    }

    /// Sets how failed keys are retried; [`RetryPolicy::default`] by default.
    pub fn retry(mut self, policy: RetryPolicy) -> Self {
        self.builder = self.builder.retry(policy);
        self
    }

    /// Sets how the changes of a key are combined into syncs; [`Batching::None`] by default.
    pub fn batching(mut self, batching: Batching) -> Self {
        self.builder = self.builder.batching(batching);
        self
    }

    /// Runs a task beside the controller, until the token is cancelled and not before.
    pub fn task<F: Future<Output = ()> + Send + 'static>(
        mut self,
        name: impl Into<String>,
        task: impl FnOnce(CancellationToken) -> F + Send + 'static,
    ) -> Self {
        self.tasks.push((name.into(), Box::new(move |stop| Box::pin(task(stop)))));
        self
    }

    /// Returns a recorder of Events of this controller. Its writer runs with the program.
    pub fn recorder(&mut self) -> EventRecorder {
        let (recorder, writer) = EventRecorder::new(self.client.clone(), &self.name);
        self.tasks.push(("events".to_owned(), Box::new(move |stop| Box::pin(writer.run(stop)))));
        recorder
    }

    /// Returns the client for the syncs. After [`with_leader_election`](Self::with_leader_election) it writes only
    /// while this process leads.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Syncs only while this process holds the Lease. Caches are filled meanwhile, so that a standby takes over fast.
    ///
    /// `elections` is a client of its own, so that renewals do not wait behind other requests, with
    /// [`Timing::timeouts`]. Call this before [`client`](Self::client) and
    /// [`recorder`](Self::recorder): the clients of a program with leader election are gated.
    pub fn with_leader_election(mut self, elections: Client, lease: LeaseName) -> Self {
        let options =
            ElectionOptions { lease, identity: identity(), timing: Timing::default(), recorder: None, metrics: None };
        let (election, fence) = Election::new(elections, options);
        self.client = self.client.gated(Arc::new(fence.clone()));
        self.election = Some((election, fence));
        self
    }

    /// Runs the controller until `stop` is cancelled. `sync` reconciles the object of one key with `context`, which all
    /// syncs share; a key is synced by one worker at a time, and again with back-off after an error.
    ///
    /// Syncs start when all caches have the state that the server has at the start of the program, or of the term with
    /// leader election. At the end, running syncs are completed and the Lease is released.
    ///
    /// # Errors
    ///
    /// [`ProgramError::Supervisor`] if a task fails, a sync panics or something does not end within 5 s after the stop;
    /// [`ProgramError::LeaseLost`] with leader election.
    pub async fn run<C, S, F, O, E>(self, stop: CancellationToken, context: C, sync: S) -> Result<(), ProgramError>
    where
        C: Send + Sync + 'static,
        S: Fn(Arc<C>, ObjectKey) -> F + Send + Sync + 'static,
        F: Future<Output = Result<O, E>> + Send + 'static,
        O: Into<Outcome>,
        E: Into<Box<dyn Error + Send + Sync>>,
    {
        let context = Arc::new(context);
        let controller = self.builder.build(move |key| sync(Arc::clone(&context), key));
        let (election, fence) = self.election.unzip();
        let catch_ups = self.catch_ups;
        let controller = controller.wait_for(async move {
            if let Some(mut fence) = fence {
                if !fence.wait_until_leading().await {
                    return pending().await;
                }
                for catch_up in &catch_ups {
                    catch_up().await;
                }
            }
        });
        let mut supervisor = Supervisor::new(stop.clone());
        for (name, task) in self.tasks {
            supervisor.spawn(name, task(stop.clone()));
        }
        let running = stop.clone();
        supervisor.try_spawn(&*self.name, controller.run(running));
        let Some(election) = election else { return Ok(supervisor.run(GRACE).await?) };
        run_elected(election, supervisor, stop).await
    }
}

/// Runs the tasks beside the election, and releases the Lease when they have ended.
async fn run_elected(election: Election, supervisor: Supervisor, stop: CancellationToken) -> Result<(), ProgramError> {
    let release = CancellationToken::new();
    let mut election = pin!(election.run(release.clone()));
    let mut work = pin!(supervisor.run(GRACE));
    let done = tokio::select! {
        biased;
        _ = election.as_mut() => {
            stop.cancel();
            // Gated clients start no further write.
            work.await?;
            return Err(ProgramError::LeaseLost);
        }
        done = work.as_mut() => done,
    };
    release.cancel();
    election.await;
    Ok(done?)
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tasks: Vec<&String> = self.tasks.iter().map(|(name, _)| name).collect();
        f.debug_struct("Program").field("name", &self.name).field("tasks", &tasks).finish_non_exhaustive()
    }
}

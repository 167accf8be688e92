//! Shared informers, one per type.

use std::{
    any::{Any, TypeId},
    collections::BTreeMap,
    fmt,
    future::Future,
    panic::resume_unwind,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use kube_controller_client::Client;
use kube_wire::{Decode, Resource};
use tokio::{sync::mpsc, task::JoinSet};
use tokio_util::sync::CancellationToken;

use crate::{
    Builder, HandlerHandle, Index, Informer, InformerMetricsProvider, NotSynced, RestoreSignal, wait_for_sync,
};

/// Creates and runs informers, one per type, so that all parts of a process share one watch and one store (client-go:
/// `SharedInformerFactory`).
///
/// Clones share their informers.
///
/// ```no_run
/// use kube_informer::{Factory, NamedIndexes};
/// # use kube_wire::Decode;
/// # use std::time::Duration;
/// # use tokio_util::sync::CancellationToken;
///
/// # async fn follow<Pod: Decode, Service: Decode>(
/// #     client: kube_controller_client::Client, stop: CancellationToken, node_of: fn(&Pod) -> Vec<String>,
/// # ) -> Result<(), Box<dyn std::error::Error>> {
/// let factory = Factory::new(client);
/// let by_node = NamedIndexes::new().with("node", node_of);
/// let pods = factory.informer_with(|builder| builder.index(by_node))?;
/// let services = factory.informer::<Service>()?;
///
/// let mut tasks = tokio::task::JoinSet::new();
/// tasks.spawn(factory.run(stop));
/// factory.wait_for_sync(Duration::from_secs(60)).await?;
/// println!("{} pods on node-1, {} services", pods.lister().by_index("node", "node-1").len(), services.lister().len());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Factory {
    client: Client,
    resync: Duration,
    metrics: Option<Arc<dyn InformerMetricsProvider>>,
    restores: RestoreSignal,
    shared: Arc<Mutex<SharedInformers>>,
}

/// The informers created so far.
struct SharedInformers {
    by_type: BTreeMap<TypeId, Box<dyn AnyInformer>>,
    /// Passes new informers to [`Factory::run`].
    start_sender: mpsc::UnboundedSender<Start>,
    /// `None` once [`Factory::run`] was called.
    start_receiver: Option<mpsc::UnboundedReceiver<Start>>,
}

/// Starts an informer, which runs until the token is cancelled.
type Start = Box<dyn FnOnce(CancellationToken) -> Pin<Box<dyn Future<Output = ()> + Send>> + Send>;

/// An informer of any type.
trait AnyInformer: Send {
    fn informer(&self) -> &dyn Any;
    fn handles(&self) -> Vec<HandlerHandle>;
}

impl<T: Decode, X: Index<T>> AnyInformer for Informer<T, X> {
    fn informer(&self) -> &dyn Any {
        self
    }

    fn handles(&self) -> Vec<HandlerHandle> {
        let mut handles = vec![self.store_synced()];
        handles.extend(self.handlers());
        handles
    }
}

/// Error of [`Factory::informer`] and [`Factory::informer_with`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FactoryError {
    /// The informer of this type exists already, with an index of another type.
    #[error("the informer of {0} was created with an index of another type")]
    OtherIndex(Resource),
}

impl Factory {
    /// Returns a factory of informers for all namespaces on the server of `client`.
    pub fn new(client: Client) -> Self {
        let (start_sender, start_receiver) = mpsc::unbounded_channel();
        let informers =
            SharedInformers { by_type: BTreeMap::new(), start_sender, start_receiver: Some(start_receiver) };
        let restores = RestoreSignal::default();
        Self { client, resync: Duration::ZERO, metrics: None, restores, shared: Arc::new(Mutex::new(informers)) }
    }

    /// Sets the resync period of informers created later; see [`Builder::resync`]. Default: zero, no resyncs.
    #[must_use]
    pub fn resync(self, every: Duration) -> Self {
        Self { resync: every, ..self }
    }

    /// Sets the metrics provider of informers created later; see [`Builder::metrics`]. Default: none.
    #[must_use]
    pub fn metrics(self, provider: impl InformerMetricsProvider + 'static) -> Self {
        Self { metrics: Some(Arc::new(provider)), ..self }
    }

    /// Returns the informer of a type, without an index. The first call creates it.
    ///
    /// # Errors
    ///
    /// [`FactoryError::OtherIndex`] if it was created with an index.
    pub fn informer<T: Decode>(&self) -> Result<Informer<T>, FactoryError> {
        self.informer_with(|builder| builder)
    }

    /// Returns the informer of a type. The first call creates it, with the options that `configure` sets; later calls
    /// return the same informer and do not call `configure`.
    ///
    /// # Errors
    ///
    /// [`FactoryError::OtherIndex`] if it was created with an index of another type.
    pub fn informer_with<T: Decode, X: Index<T>>(
        &self,
        configure: impl FnOnce(Builder<T>) -> Builder<T, X>,
    ) -> Result<Informer<T, X>, FactoryError> {
        let mut informers = self.locked();
        if let Some(existing) = informers.by_type.get(&TypeId::of::<T>()) {
            let informer = existing.informer().downcast_ref::<Informer<T, X>>();
            return informer.cloned().ok_or(FactoryError::OtherIndex(T::RESOURCE));
        }
        let mut builder = Informer::builder(self.client.clone()).resync(self.resync).restores(self.restores.clone());
        if let Some(metrics) = &self.metrics {
            builder = builder.metrics(metrics.clone());
        }
        let informer = configure(builder).build();
        let to_run = informer.clone();
        // Fails if the factory has stopped; the new informer is then not run.
        let _ = informers.start_sender.send(Box::new(move |stop| Box::pin(to_run.run(stop))));
        informers.by_type.insert(TypeId::of::<T>(), Box::new(informer.clone()));
        Ok(informer)
    }

    /// Runs all informers, those created later included, until `stop` is cancelled. The caller spawns the future.
    ///
    /// A panic of a handler is propagated. A factory runs once: the future of a second call logs an error and returns.
    pub fn run(&self, stop: CancellationToken) -> impl Future<Output = ()> + Send + use<> {
        let start_receiver = self.locked().start_receiver.take();
        async move {
            let Some(mut start_receiver) = start_receiver else {
                tracing::error!("Factory::run was called a second time; this call does nothing");
                return;
            };
            let mut running = JoinSet::new();
            loop {
                tokio::select! {
                    biased;
                    () = stop.cancelled() => return,
                    Some(start) = start_receiver.recv() => drop(running.spawn(start(stop.clone()))),
                    Some(ended) = running.join_next() => {
                        if let Err(error) = ended && let Ok(panic) = error.try_into_panic() {
                            resume_unwind(panic);
                        }
                    }
                }
            }
        }
    }

    /// Waits until every informer created so far has stored its first list and every handler added so far has processed
    /// it, for at most `within`.
    ///
    /// # Errors
    ///
    /// [`NotSynced`] with the resource of each informer that has not synced, and the name of the handler if it has one.
    pub async fn wait_for_sync(&self, within: Duration) -> Result<(), NotSynced> {
        let handles: Vec<_> = self.locked().by_type.values().flat_map(|informer| informer.handles()).collect();
        wait_for_sync(&handles, within).await
    }

    fn locked(&self) -> MutexGuard<'_, SharedInformers> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Factory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Factory").field("informers", &self.locked().by_type.len()).finish_non_exhaustive()
    }
}

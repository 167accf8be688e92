//! The informer: a store that follows the cluster.

use std::{
    convert::Infallible,
    fmt,
    future::{Future, pending},
    panic::resume_unwind,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use kube_controller_client::Client;
use kube_wire::{Decode, Object, ResourceVersion};
use tokio::{
    sync::mpsc,
    task::JoinSet,
    time::{Instant, timeout},
};
use tokio_util::sync::CancellationToken;

use crate::{
    Builder, Event, HandlerHandle, HandlerOptions, Lister, Progress, RelistCause, WriteThrough, handler::Runner,
    shared::Shared,
};

/// Keeps a copy of one type of objects up to date and tells handlers of each change.
///
/// Clones are the same informer: share one among all who are interested in a type.
pub struct Informer<T, X = ()> {
    shared: Arc<Shared<T, X>>,
    running: Arc<Mutex<Option<Running<T>>>>,
}

/// What `run` needs, once.
pub(crate) struct Running<T> {
    runners: mpsc::UnboundedReceiver<Runner<T>>,
    /// Handlers that were run by hand before.
    by_hand: Vec<Runner<T>>,
    resync: Forever,
    /// Fills the store; never does anything when it is filled by hand.
    reflector: Forever,
}

type Forever = Pin<Box<dyn Future<Output = Infallible> + Send>>;

impl<T: Decode> Informer<T> {
    /// An informer of `T` from the server of `client`; of all namespaces and objects unless narrowed.
    pub fn builder(client: Client) -> Builder<T> {
        Builder::from_server(client)
    }
}

impl<T: Object, X: Clone + Send + Sync + 'static> Informer<T, X> {
    pub(crate) fn new(shared: Arc<Shared<T, X>>, running: Arc<Mutex<Option<Running<T>>>>) -> Self {
        Self { shared, running }
    }

    /// The view of the store.
    pub fn lister(&self) -> Lister<T, X> {
        Lister::new(self.shared.store().clone())
    }

    /// Adds a handler, before or while the informer runs. It first hears of all that is stored, then of each change, in order.
    ///
    /// It has its own queue without bounds and its own task, so it may take its time; but it must not block the thread.
    pub fn add_handler(&self, handle: impl FnMut(Event<T>) + Send + 'static) -> HandlerHandle {
        self.add_handler_with(HandlerOptions::default(), handle)
    }

    /// As [`add_handler`](Self::add_handler), with a name or a resync of its own.
    pub fn add_handler_with(
        &self,
        options: HandlerOptions,
        handle: impl FnMut(Event<T>) + Send + 'static,
    ) -> HandlerHandle {
        self.shared.add_handler(options, handle)
    }

    /// Removes a handler: it may be within an event now, but gets no other, not even of those that are queued.
    ///
    /// Says no if there is no such handler here: it was removed before, or listens to another informer.
    pub fn remove_handler(&self, handle: &HandlerHandle) -> bool {
        self.shared.remove_handler(handle)
    }

    /// The handles of all handlers there are.
    pub fn handlers(&self) -> Vec<HandlerHandle> {
        self.shared.handles()
    }

    /// Synced as soon as the first list is stored; for those who read the store without a handler.
    pub fn store_synced(&self) -> HandlerHandle {
        self.shared.store_handle()
    }

    /// Puts the answers to own writes into the store ahead of the watch; see [`WriteThrough`].
    ///
    /// `writer` is the handler of the part of the program that writes: it gets no event of these writes. All other handlers get
    /// one, as if the watch had brought it.
    pub fn write_through(&self, writer: &HandlerHandle) -> WriteThrough<T> {
        WriteThrough::new(self.shared.clone(), writer)
    }

    /// Brings the store to the state of the server at `version`, or a later one.
    ///
    /// Waits up to `patience` for the watch. A server need not show on the watch of one resource how far others have advanced, so
    /// afterwards everything is listed again, from `version` on. Returns when that list is stored; an informer that does not run
    /// never returns. A version that is no number has no order, and is not waited for.
    pub async fn reach(&self, version: &ResourceVersion, patience: Duration) {
        if version.number().is_some() && timeout(patience, self.shared.reached(version)).await.is_err() {
            self.shared.requests().request_list(RelistCause::Requested, Some(version.clone()));
            self.shared.reached(version).await;
        }
    }

    /// When the store last advanced; for health checks.
    pub fn progress(&self) -> Progress {
        self.shared.progress().clone()
    }

    /// Follows the cluster until `stop` is cancelled; an informer never gives up. The caller spawns it.
    ///
    /// A panic of a handler is passed on. An informer runs once: a second call logs and returns.
    pub fn run(&self, stop: CancellationToken) -> impl Future<Output = ()> + Send + use<T, X> {
        let (running, progress) = (self.running.clone(), self.progress());
        async move {
            let running = running.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(running) = running {
                progress.start(Instant::now());
                running.run(stop).await;
            } else {
                tracing::error!("this informer has been started already");
            }
        }
    }
}

impl<T: Object> Running<T> {
    pub(crate) fn new(
        runners: mpsc::UnboundedReceiver<Runner<T>>,
        resync: impl Future<Output = Infallible> + Send + 'static,
    ) -> Self {
        Self { runners, by_hand: Vec::new(), resync: Box::pin(resync), reflector: Box::pin(pending()) }
    }

    pub(crate) fn filled_by(self, reflector: impl Future<Output = Infallible> + Send + 'static) -> Self {
        Self { reflector: Box::pin(reflector), ..self }
    }

    async fn run(self, stop: CancellationToken) {
        let Self { mut runners, by_hand, mut resync, mut reflector } = self;
        let mut handlers: JoinSet<()> = by_hand.into_iter().map(Runner::run).collect();
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => return,
                Some(runner) = runners.recv() => drop(handlers.spawn(runner.run())),
                Some(ended) = handlers.join_next() => {
                    if let Err(error) = ended && let Ok(panic) = error.try_into_panic() {
                        resume_unwind(panic);
                    }
                }
                never = &mut resync => match never {},
                never = &mut reflector => match never {},
            }
        }
    }

    /// Runs all handlers until nothing is waiting.
    pub(crate) fn drain(&mut self) -> usize {
        let mut events = 0;
        loop {
            while let Ok(runner) = self.runners.try_recv() {
                self.by_hand.push(runner);
            }
            match self.by_hand.iter_mut().map(Runner::drain).sum::<usize>() {
                0 => return events,
                some => events += some,
            }
        }
    }
}

impl<T, X> Clone for Informer<T, X> {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone(), running: self.running.clone() }
    }
}

impl<T: Object, X: Clone + Send + Sync + 'static> fmt::Debug for Informer<T, X> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Informer").field("store", &self.lister()).finish_non_exhaustive()
    }
}

//! The informer: a store that is kept up to date, and its handlers.

use std::{
    convert::Infallible,
    fmt,
    future::Future,
    ops::ControlFlow,
    panic::resume_unwind,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
};

use display_full_error::DisplayFullErrorExt as _;
use educe::Educe;
use kube_wire::{Decode, Object, Resource};
use tokio::{
    sync::{mpsc, watch},
    task::JoinSet,
    time::Instant,
};
use tokio_util::sync::CancellationToken;

use crate::{
    Builder, Event, HandlerHandle, HandlerOptions, HeldList, Index, ListWatch, Lister, Progress, UndecodableObject,
    WriteThrough, handler::Runner, list_watch::Source, shared::Shared,
};

/// Keeps the objects of one type in a store and delivers each change to its handlers (client-go:
/// `SharedIndexInformer`).
///
/// Clones share the store and the handlers.
#[derive(Educe)]
#[educe(Clone(bound(false)))]
pub struct Informer<T, X = ()> {
    pub(crate) shared: Arc<Shared<T, X>>,
    running: Arc<Mutex<Option<Running<T>>>>,
    /// Server and namespace of the objects; `None` with a [`ManualSource`](crate::ManualSource).
    pub(crate) origin: Option<Origin>,
}

/// Server of the objects of an informer.
#[derive(Clone)]
pub(crate) struct Origin {
    pub(crate) source: Source,
    /// Namespace of the objects; `None` for all namespaces.
    pub(crate) namespace: Option<String>,
}

/// Futures and handlers of an informer, taken by the first [`Informer::run`].
pub(crate) struct Running<T> {
    runners: mpsc::UnboundedReceiver<Runner<T>>,
    /// Handlers that [`drain`](Self::drain) has run already.
    drained: Vec<Runner<T>>,
    resync: BoxFuture<Infallible>,
    /// Fills the store, and ends only with an error; does nothing with a [`ManualSource`](crate::ManualSource).
    reflector: BoxFuture<UndecodableObject>,
}

type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

impl<T: Decode> Informer<T> {
    /// Returns a builder of an informer of `T` from the server of `source`, by default of all namespaces and objects.
    ///
    /// The source is a client of `kube-controller-client`, or any other [`ListWatch`].
    pub fn builder(source: impl ListWatch) -> Builder<T> {
        Builder::new(Source::new(source))
    }
}

impl<T: Object, X: Index<T>> Informer<T, X> {
    pub(crate) fn new(
        shared: Arc<Shared<T, X>>,
        running: Arc<Mutex<Option<Running<T>>>>,
        origin: Option<Origin>,
    ) -> Self {
        Self { shared, running, origin }
    }

    /// Returns the resource: that of the type, or of [`Builder::resource`].
    pub fn resource(&self) -> Resource {
        *self.shared.resource()
    }

    /// Returns a lister of the store.
    pub fn lister(&self) -> Lister<T, X> {
        self.shared.lister().clone()
    }

    /// Adds a handler, before or while the informer runs. It first gets all stored objects as [`Event::Added`] with
    /// `initial` set, then each change, in order.
    ///
    /// It has an unbounded queue and a task of its own, so a slow handler delays no other. It must not block the
    /// thread.
    pub fn add_handler(&self, handle: impl FnMut(Event<T>) + Send + 'static) -> HandlerHandle {
        self.add_handler_with(HandlerOptions::default(), handle)
    }

    /// Adds a handler with a name, or one of foreign writes; see [`add_handler`](Self::add_handler).
    pub fn add_handler_with(
        &self,
        options: HandlerOptions,
        mut handle: impl FnMut(Event<T>) + Send + 'static,
    ) -> HandlerHandle {
        self.shared.add_handler(options, move |event| {
            handle(event);
            ControlFlow::Continue(())
        })
    }

    /// Returns a handle that is synced as soon as the first list is stored, for code that reads the store without a
    /// handler.
    pub fn store_synced(&self) -> HandlerHandle {
        self.shared.store_handle()
    }

    /// Returns a [`WriteThrough`], which puts the responses to own writes into the store ahead of the watch.
    ///
    /// `writer` is the handler of the controller that writes; it gets no events of these writes, and neither do handlers
    /// of [foreign writes](HandlerOptions::foreign_writes). All other handlers get them like events of the watch.
    pub fn write_through(&self, writer: &HandlerHandle) -> WriteThrough<T> {
        WriteThrough::new(self.shared.clone(), writer)
    }

    /// Returns the time at which the store last advanced, for health checks.
    pub fn progress(&self) -> Progress {
        self.shared.progress().clone()
    }

    /// Returns a channel with the list that is [held](crate::Guard); `None` while no list is.
    pub fn held_list(&self) -> watch::Receiver<Option<HeldList>> {
        self.shared.held_list()
    }

    /// Ends an informer that may not have begun to run: its handlers get no further events, and no store that it fills
    /// waits for the first list.
    #[cfg(feature = "runtime")]
    pub(crate) fn end(&self) {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner).take();
        // Dropped without the lock: the handlers belong to the caller.
        drop(running);
        self.shared.end_mirror();
    }

    /// Runs the informer until `stop` is cancelled. Failed requests are retried without limit. The caller spawns the
    /// future.
    ///
    /// A panic of a handler is propagated. An informer runs once: the future of a second call logs an error and
    /// returns. The error of [`try_run`](Self::try_run) is logged.
    pub fn run(&self, stop: CancellationToken) -> impl Future<Output = ()> + Send + use<T, X> {
        let running = self.try_run(stop);
        boxed(async move {
            if let Err(error) = running.await {
                tracing::error!(err = %error.display_full(), "the informer has ended");
            }
        })
    }

    /// Runs the informer until `stop` is cancelled, as [`run`](Self::run) does, and returns the error that ends it before.
    ///
    /// # Errors
    ///
    /// An object cannot be decoded, and [`OnUndecodable::Fail`](crate::OnUndecodable::Fail) is chosen for it.
    pub fn try_run(
        &self,
        stop: CancellationToken,
    ) -> impl Future<Output = Result<(), UndecodableObject>> + Send + use<T, X> {
        let (running, progress) = (self.running.clone(), self.progress());
        boxed(async move {
            let running = running.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(running) = running {
                progress.start(Instant::now());
                running.run(stop).await
            } else {
                tracing::error!("Informer::run was called a second time; this call does nothing");
                Ok(())
            }
        })
    }
}

impl<T: Object> Running<T> {
    pub(crate) fn new(
        runners: mpsc::UnboundedReceiver<Runner<T>>,
        resync: impl Future<Output = Infallible> + Send + 'static,
        reflector: impl Future<Output = UndecodableObject> + Send + 'static,
    ) -> Self {
        Self { runners, drained: Vec::new(), resync: boxed(resync), reflector: boxed(reflector) }
    }

    async fn run(self, stop: CancellationToken) -> Result<(), UndecodableObject> {
        let Self { mut runners, drained, mut resync, mut reflector } = self;
        let mut handlers = JoinSet::new();
        for runner in drained {
            spawn(&mut handlers, boxed(runner.run()));
        }
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => return Ok(()),
                Some(runner) = runners.recv() => {
                    spawn(&mut handlers, boxed(runner.run()));
                }
                Some(ended) = handlers.join_next() => {
                    if let Err(error) = ended && let Ok(panic) = error.try_into_panic() {
                        resume_unwind(panic);
                    }
                }
                never = &mut resync => match never {},
                error = &mut reflector => return Err(error),
            }
        }
    }

    /// Runs all handlers until their queues are empty, and returns the number of events delivered.
    pub(crate) fn drain(&mut self) -> usize {
        let mut events = 0;
        loop {
            while let Ok(runner) = self.runners.try_recv() {
                self.drained.push(runner);
            }
            match self.drained.iter_mut().map(Runner::drain).sum::<usize>() {
                0 => return events,
                delivered => events += delivered,
            }
        }
    }
}

/// What a runtime needs for a task is compiled once for the result, not for each type of object.
fn boxed<T>(future: impl Future<Output = T> + Send + 'static) -> BoxFuture<T> {
    Box::pin(future)
}

fn spawn(handlers: &mut JoinSet<()>, handler: BoxFuture<()>) {
    handlers.spawn(handler);
}

impl<T: Object, X: Index<T>> fmt::Debug for Informer<T, X> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Informer").field("store", &self.lister()).finish_non_exhaustive()
    }
}

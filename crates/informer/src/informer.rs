//! The informer: a store that is kept up to date, and its handlers.

use std::{
    convert::Infallible,
    fmt,
    future::Future,
    ops::ControlFlow,
    panic::resume_unwind,
    sync::{Arc, Mutex, PoisonError},
};

use display_full_error::DisplayFullErrorExt as _;
use educe::Educe;
use futures::future::BoxFuture;
use kube_wire::{Decode, Object, Resource};
use tokio::{
    sync::{mpsc, watch},
    task::JoinSet,
    time::Instant,
};
use tokio_util::sync::CancellationToken;

use crate::{
    Builder, Event, HandlerHandle, HandlerOptions, HeldList, Index, ListWatch, Lister, Progress, UndecodableObject,
    WriteThrough, handler::Run, list_watch::Source, shared::Shared,
};

/// Keeps the objects of one type in a store and delivers each change to its handlers (client-go:
/// `SharedIndexInformer`).
///
/// Clones share the store and the handlers.
#[derive(Educe)]
#[educe(Clone(bound(false)))]
pub struct Informer<T, X = ()> {
    pub(crate) shared: Arc<Shared<T, X>>,
    running: Arc<Mutex<Option<Running>>>,
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
pub(crate) struct Running {
    runners: mpsc::UnboundedReceiver<Box<dyn Run>>,
    /// Handlers that [`drain`](Self::drain) has run already.
    drained: Vec<Box<dyn Run>>,
    resync: BoxFuture<'static, Infallible>,
    /// Fills the store, and ends only with an error; does nothing with a [`ManualSource`](crate::ManualSource).
    reflector: BoxFuture<'static, UndecodableObject>,
}

impl<T: Decode> Informer<T> {
    /// Returns a builder of an informer of `T` from the server of `source`, by default of all namespaces and objects.
    ///
    /// The source is a client of `kube-controller-client`, or any other [`ListWatch`].
    pub fn builder(source: impl ListWatch) -> Builder<T> {
        Builder::new(Source::new(source))
    }
}

impl<T: Object, X: Index<T>> Informer<T, X> {
    pub(crate) fn new(shared: Arc<Shared<T, X>>, running: Arc<Mutex<Option<Running>>>, origin: Option<Origin>) -> Self {
        Self { shared, running, origin }
    }

    /// Returns the resource: that of the type, or of [`Builder::resource`].
    pub fn resource(&self) -> Resource {
        self.shared.untyped.resource
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
        let handle = move |event| {
            handle(event);
            ControlFlow::Continue(())
        };
        self.shared.add_handler(options, Box::new(handle))
    }

    /// Returns a handle that is synced as soon as the first list is stored, for code that reads the store without a
    /// handler.
    pub fn store_synced(&self) -> HandlerHandle {
        self.shared.untyped.store_handle()
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
        self.shared.untyped.progress.clone()
    }

    /// Returns a channel with the list that is [held](crate::Guard); `None` while no list is.
    pub fn held_list(&self) -> watch::Receiver<Option<HeldList>> {
        self.shared.untyped.held_list.subscribe()
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
        run_logged(self.running.clone(), self.progress(), stop)
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
        run(self.running.clone(), self.progress(), stop)
    }
}

/// As [`Informer::run`]; compiled once, not for each type of object.
fn run_logged(
    running: Arc<Mutex<Option<Running>>>,
    progress: Progress,
    stop: CancellationToken,
) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        if let Err(error) = run(running, progress, stop).await {
            tracing::error!(err = %error.display_full(), "the informer has ended");
        }
    })
}

/// As [`Informer::try_run`].
fn run(
    running: Arc<Mutex<Option<Running>>>,
    progress: Progress,
    stop: CancellationToken,
) -> BoxFuture<'static, Result<(), UndecodableObject>> {
    Box::pin(async move {
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

impl Running {
    pub(crate) fn new(
        runners: mpsc::UnboundedReceiver<Box<dyn Run>>,
        resync: BoxFuture<'static, Infallible>,
        reflector: BoxFuture<'static, UndecodableObject>,
    ) -> Self {
        Self { runners, drained: Vec::new(), resync, reflector }
    }

    async fn run(self, stop: CancellationToken) -> Result<(), UndecodableObject> {
        let Self { mut runners, drained, mut resync, mut reflector } = self;
        let mut handlers = JoinSet::new();
        for runner in drained {
            handlers.spawn(runner.run());
        }
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => return Ok(()),
                Some(runner) = runners.recv() => {
                    handlers.spawn(runner.run());
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
            match self.drained.iter_mut().map(|runner| runner.drain()).sum::<usize>() {
                0 => return events,
                delivered => events += delivered,
            }
        }
    }
}

impl<T: Object, X: Index<T>> fmt::Debug for Informer<T, X> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Informer").field("store", &self.lister()).finish_non_exhaustive()
    }
}

//! Options of informers and handlers.

use std::{
    fmt,
    sync::{Arc, Mutex},
    time::Duration,
};

use kube_controller_client::Client;
use kube_wire::{Decode, Object, Resource};

use crate::{
    Informer, InformerMetricsProvider, ManualSource, RestoreSignal, UpdateIndex,
    informer::Running,
    metrics::Meter,
    reflector::{BackoffPolicy, Scope, reflect},
    shared::{Shared, Transform},
};

/// Builder of an [`Informer`]. All options are fixed after `build`.
///
/// `S` is the source of the objects: [`FromServer`], or [`Manual`] for a [`ManualSource`].
#[must_use]
pub struct Builder<T, X = (), S = FromServer> {
    source: S,
    options: Options<T, X>,
    metrics: Option<Arc<dyn InformerMetricsProvider>>,
}

/// Options of the store and its handlers, for any source of objects.
pub(crate) struct Options<T, X> {
    pub(crate) index: X,
    pub(crate) update: UpdateIndex<T, X>,
    pub(crate) transform: Option<Transform<T>>,
    pub(crate) resync: Duration,
}

/// Source of a [`Builder`] whose objects come from an API server.
#[derive(Debug)]
pub struct FromServer {
    client: Client,
    scope: Scope,
    backoff: BackoffPolicy,
    restores: RestoreSignal,
}

/// Source of a [`Builder`] whose objects come from a [`ManualSource`].
#[derive(Debug)]
pub struct Manual(pub(crate) ());

/// Options of a handler: its name and resync period.
///
/// ```
/// use kube_informer::HandlerOptions;
/// use std::time::Duration;
///
/// let options = HandlerOptions::named("endpointslice-controller").resync(Duration::from_secs(3600));
/// # let _ = options;
/// ```
#[derive(Debug, Clone, Default)]
pub struct HandlerOptions {
    pub(crate) name: Option<String>,
    pub(crate) resync: Option<Duration>,
}

impl HandlerOptions {
    /// Returns options with the name of the handler, which appears in metrics and in
    /// [`HandlerHandle::name`](crate::HandlerHandle::name).
    pub fn named(name: &str) -> Self {
        Self { name: Some(name.to_owned()), resync: None }
    }

    /// Sets the resync period: once per period, the handler gets an update from each stored object to itself. Zero
    /// disables resyncs. Default: the period of the informer.
    ///
    /// Periods below 1 s are raised to 1 s. The informer checks at the shortest period of the handlers that are added
    /// before it is started, and of its own; a handler added later cannot resync more often than that (IN-44). If the
    /// informer's own period is zero, no handler resyncs.
    #[must_use]
    pub fn resync(mut self, every: Duration) -> Self {
        self.resync = Some(every);
        self
    }
}

impl<T: Object, S> Builder<T, (), S> {
    pub(crate) fn new(source: S) -> Self {
        let options = Options { index: (), update: |(), _, _| {}, transform: None, resync: Duration::ZERO };
        Self { source, options, metrics: None }
    }
}

impl<T: Decode> Builder<T> {
    pub(crate) fn from_server(client: Client) -> Self {
        Self::new(FromServer {
            client,
            scope: Scope::default(),
            backoff: BackoffPolicy::default(),
            restores: RestoreSignal::default(),
        })
    }
}

impl<T: Object, X: Clone + Send + Sync + 'static, S> Builder<T, X, S> {
    /// Sets the index, which is always consistent with the objects. `index` is the index of no objects, `update`
    /// applies one change to it.
    pub fn index<Y: Clone + Send + Sync + 'static>(self, index: Y, update: UpdateIndex<T, Y>) -> Builder<T, Y, S> {
        let Self { source, options: Options { transform, resync, .. }, metrics } = self;
        Builder { source, options: Options { index, update, transform, resync }, metrics }
    }

    /// Sets a function that changes each object before it is stored, to drop what the program does not read.
    ///
    /// It must be deterministic and must not change namespace, name, uid and resource version.
    pub fn transform(mut self, transform: impl Fn(&mut T) + Send + Sync + 'static) -> Self {
        self.options.transform = Some(Box::new(transform));
        self
    }

    /// Sets the resync period of handlers without one of their own. Zero, the default, disables the resyncs of all
    /// handlers. See [`HandlerOptions::resync`].
    pub fn resync(mut self, every: Duration) -> Self {
        self.options.resync = every;
        self
    }

    /// Sets the metrics provider. Default: nothing is measured.
    pub fn metrics(mut self, provider: impl InformerMetricsProvider + 'static) -> Self {
        self.metrics = Some(Arc::new(provider));
        self
    }

    fn shared(self, resource: &Resource) -> (S, Arc<Shared<T, X>>, Running<T>) {
        let Self { source, options, metrics } = self;
        let meter = Meter::new(metrics.as_deref(), resource);
        let (shared, runners) = Shared::new(resource.to_string(), meter, options);
        shared.meter().register_progress(shared.progress());
        let running = Running::new(runners, shared.clone().resync());
        (source, shared, running)
    }
}

impl<T: Decode, X: Clone + Send + Sync + 'static> Builder<T, X> {
    /// Restricts the informer to one namespace. Default: all namespaces.
    pub fn namespace(mut self, namespace: &str) -> Self {
        self.source.scope.namespace = Some(namespace.to_owned());
        self
    }

    /// Restricts the informer to objects with matching labels, e.g. `app=web,!canary`.
    pub fn label_selector(mut self, selector: &str) -> Self {
        self.source.scope.label_selector = Some(selector.to_owned());
        self
    }

    /// Restricts the informer to objects with matching fields, e.g. `spec.nodeName=node-1`.
    pub fn field_selector(mut self, selector: &str) -> Self {
        self.source.scope.field_selector = Some(selector.to_owned());
        self
    }

    /// Sets the back-off after failed requests; [`BackoffPolicy::default`] by default.
    pub fn backoff(mut self, policy: BackoffPolicy) -> Self {
        self.source.backoff = policy;
        self
    }

    /// Sets the signal on which the informers of one API server share that etcd was restored. Default: a signal of its
    /// own.
    pub fn restores(mut self, signal: RestoreSignal) -> Self {
        self.source.restores = signal;
        self
    }

    /// Builds the informer. It sends no request before [`Informer::run`].
    pub fn build(self) -> Informer<T, X> {
        let (FromServer { client, scope, backoff, restores }, shared, running) = self.shared(&T::RESOURCE);
        let running = running.with_reflector(reflect(client, scope, (backoff, restores.subscribe()), shared.clone()));
        Informer::new(shared, Arc::new(Mutex::new(Some(running))))
    }
}

impl<T: Object, X: Clone + Send + Sync + 'static> Builder<T, X, Manual> {
    /// Builds the informer and its source.
    pub fn build(self) -> (Informer<T, X>, ManualSource<T, X>) {
        let (Manual(()), shared, running) = self.shared(&ManualSource::<T, X>::RESOURCE);
        let running = Arc::new(Mutex::new(Some(running)));
        (Informer::new(shared.clone(), running.clone()), ManualSource::of(shared, running))
    }
}

impl<T, X, S: fmt::Debug> fmt::Debug for Builder<T, X, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let resync = self.options.resync;
        f.debug_struct("Builder").field("source", &self.source).field("resync", &resync).finish_non_exhaustive()
    }
}

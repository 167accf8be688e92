//! Options of informers and handlers.

use std::{
    fmt,
    future::pending,
    sync::{Arc, Mutex},
    time::Duration,
};

use kube_controller_client::Client;
use kube_wire::{Decode, Object};

use crate::{
    Index, Informer, InformerMetricsProvider, ManualSource, RestoreSignal,
    informer::Running,
    reflector::{BackoffPolicy, Scope, reflect},
    shared::{Shared, Transform},
};

/// Builder of an [`Informer`]. All options are fixed after `build`.
#[must_use]
pub struct Builder<T, X = ()> {
    client: Client,
    scope: Scope,
    backoff: BackoffPolicy,
    restores: RestoreSignal,
    options: Options<T, X>,
}

/// Options of the store and its handlers, for any source of objects.
pub(crate) struct Options<T, X> {
    pub(crate) index: X,
    pub(crate) transform: Option<Transform<T>>,
    pub(crate) resync: Duration,
    pub(crate) metrics: Option<Arc<dyn InformerMetricsProvider>>,
}

impl<T: Object, X: Index<T>> Options<T, X> {
    pub(crate) fn new(index: X) -> Self {
        Self { index, transform: None, resync: Duration::ZERO, metrics: None }
    }

    /// Builds an informer and its source of objects.
    pub(crate) fn manual(self) -> (Informer<T, X>, ManualSource<T, X>) {
        let (shared, runners) = Shared::new(&ManualSource::<T, X>::RESOURCE, self);
        let running = Arc::new(Mutex::new(Some(Running::new(runners, shared.clone().resync(), pending()))));
        (Informer::new(shared.clone(), running.clone()), ManualSource::of(shared, running))
    }
}

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

impl<T: Decode> Builder<T> {
    pub(crate) fn new(client: Client) -> Self {
        let (scope, backoff, restores) = Default::default();
        Self { client, scope, backoff, restores, options: Options::new(()) }
    }
}

impl<T: Decode, X: Index<T>> Builder<T, X> {
    /// Sets the index, which is always consistent with the objects. `index` is the index of no objects.
    pub fn index<Y: Index<T>>(self, index: Y) -> Builder<T, Y> {
        let Self { client, scope, backoff, restores, options: Options { transform, resync, metrics, .. } } = self;
        Builder { client, scope, backoff, restores, options: Options { index, transform, resync, metrics } }
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
        self.options.metrics = Some(Arc::new(provider));
        self
    }

    /// Restricts the informer to one namespace. Default: all namespaces.
    pub fn namespace(mut self, namespace: &str) -> Self {
        self.scope.namespace = Some(namespace.to_owned());
        self
    }

    /// Restricts the informer to objects with matching labels, e.g. `app=web,!canary`.
    pub fn label_selector(mut self, selector: &str) -> Self {
        self.scope.label_selector = Some(selector.to_owned());
        self
    }

    /// Restricts the informer to objects with matching fields, e.g. `spec.nodeName=node-1`.
    pub fn field_selector(mut self, selector: &str) -> Self {
        self.scope.field_selector = Some(selector.to_owned());
        self
    }

    /// Sets the back-off after failed requests; [`BackoffPolicy::default`] by default.
    pub fn backoff(mut self, policy: BackoffPolicy) -> Self {
        self.backoff = policy;
        self
    }

    /// Sets the signal on which the informers of one API server share that etcd was restored. Default: a signal of its
    /// own.
    pub fn restores(mut self, signal: RestoreSignal) -> Self {
        self.restores = signal;
        self
    }

    /// Builds the informer. It sends no request before [`Informer::run`].
    pub fn build(self) -> Informer<T, X> {
        let Self { client, scope, backoff, restores, options } = self;
        let (shared, runners) = Shared::new(&T::RESOURCE, options);
        let reflector = reflect(client, scope, (backoff, restores.subscribe()), shared.clone());
        let running = Running::new(runners, shared.clone().resync(), reflector);
        Informer::new(shared, Arc::new(Mutex::new(Some(running))))
    }

    /// Builds the informer with a source of objects in place of the API server, for tests. It sends no request.
    pub fn build_manual(self) -> (Informer<T, X>, ManualSource<T, X>) {
        self.options.manual()
    }
}

impl<T, X> fmt::Debug for Builder<T, X> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let resync = self.options.resync;
        f.debug_struct("Builder").field("scope", &self.scope).field("resync", &resync).finish_non_exhaustive()
    }
}

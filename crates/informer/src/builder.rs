//! What can be said of an informer before it is made.

use std::{
    fmt,
    sync::{Arc, Mutex},
    time::Duration,
};

use kube_controller_client::Client;
use kube_wire::{Decode, Object, Resource};

use crate::{
    Informer, ManualSource, MetricsProvider, RestoreSignal, UpdateIndex,
    informer::Running,
    metrics::Meter,
    reflector::{BackoffPolicy, Scope, reflect},
    shared::{Shared, Transform},
};

/// Narrows an informer and gives it an index.
///
/// `S` is where its objects come from: [`FromServer`], or [`ByHand`] for a [`ManualSource`].
#[must_use]
pub struct Builder<T, X = (), S = FromServer> {
    source: S,
    options: Options<T, X>,
    metrics: Option<Arc<dyn MetricsProvider>>,
}

/// What store and handlers are made of.
pub(crate) struct Options<T, X> {
    pub(crate) index: X,
    pub(crate) update: UpdateIndex<T, X>,
    pub(crate) transform: Option<Transform<T>>,
    pub(crate) resync: Duration,
}

/// Objects come from an API server.
#[derive(Debug)]
pub struct FromServer {
    client: Client,
    scope: Scope,
    backoff: BackoffPolicy,
    restores: RestoreSignal,
}

/// Objects come from a test.
#[derive(Debug)]
pub struct ByHand(pub(crate) ());

/// What can be said of a handler.
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
    /// Whose handler it is; shows in metrics and where it is reported missing.
    pub fn named(name: &str) -> Self {
        Self { name: Some(name.to_owned()), resync: None }
    }

    /// How often the handler is told of everything again, as an update from each object to itself. Zero for never; what the
    /// informer says if this is not called.
    ///
    /// At least a second. The informer looks as often as the most eager handler asks that was added before it was started; a
    /// handler added later cannot have it more often (IN-44).
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
    /// An index that is always consistent with the objects; `index` is the index of no objects.
    pub fn index<Y: Clone + Send + Sync + 'static>(self, index: Y, update: UpdateIndex<T, Y>) -> Builder<T, Y, S> {
        let Self { source, options: Options { transform, resync, .. }, metrics } = self;
        Builder { source, options: Options { index, update, transform, resync }, metrics }
    }

    /// Changes each object before anybody sees it, to drop what nobody reads.
    ///
    /// It must leave namespace, name, uid and version as they are, and give the same result for the same object.
    pub fn transform(mut self, transform: impl Fn(&mut T) + Send + Sync + 'static) -> Self {
        self.options.transform = Some(Box::new(transform));
        self
    }

    /// How often handlers are told of everything again that do not say so themselves. Zero, as it is at first, for never; then
    /// no handler can have it. See [`HandlerOptions::resync`].
    pub fn resync(mut self, every: Duration) -> Self {
        self.options.resync = every;
        self
    }

    /// Who wants to know what happens. Nothing is measured unless this is called.
    pub fn metrics(mut self, provider: impl MetricsProvider + 'static) -> Self {
        self.metrics = Some(Arc::new(provider));
        self
    }

    fn shared(self, of: &Resource) -> (S, Arc<Shared<T, X>>, Running<T>) {
        let Self { source, options, metrics } = self;
        let meter = Meter::new(metrics.as_deref(), of);
        let (shared, runners) = Shared::new(of.to_string(), meter, options);
        shared.meter().follow(shared.progress());
        let running = Running::new(runners, shared.clone().resync());
        (source, shared, running)
    }
}

impl<T: Decode, X: Clone + Send + Sync + 'static> Builder<T, X> {
    /// Only objects of one namespace.
    pub fn namespace(mut self, namespace: &str) -> Self {
        self.source.scope.namespace = Some(namespace.to_owned());
        self
    }

    /// Only objects with these labels.
    pub fn label_selector(mut self, selector: &str) -> Self {
        self.source.scope.label_selector = Some(selector.to_owned());
        self
    }

    /// Only objects with these fields.
    pub fn field_selector(mut self, selector: &str) -> Self {
        self.source.scope.field_selector = Some(selector.to_owned());
        self
    }

    /// How long to wait after trouble.
    pub fn backoff(mut self, policy: BackoffPolicy) -> Self {
        self.source.backoff = policy;
        self
    }

    /// Shares what is found of restores of the store with the other informers of the same API server.
    pub fn restores(mut self, signal: RestoreSignal) -> Self {
        self.source.restores = signal;
        self
    }

    /// The informer. Nothing is sent before it runs.
    pub fn build(self) -> Informer<T, X> {
        let (FromServer { client, scope, backoff, restores }, shared, running) = self.shared(&T::RESOURCE);
        let running = running.filled_by(reflect(client, scope, (backoff, restores.follow()), shared.clone()));
        Informer::new(shared, Arc::new(Mutex::new(Some(running))))
    }
}

impl<T: Object, X: Clone + Send + Sync + 'static> Builder<T, X, ByHand> {
    /// The informer and its source.
    pub fn build(self) -> (Informer<T, X>, ManualSource<T, X>) {
        let (ByHand(()), shared, running) = self.shared(&ManualSource::<T, X>::RESOURCE);
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

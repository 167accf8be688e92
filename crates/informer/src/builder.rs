//! Builder of informers.

use std::{
    fmt,
    sync::{Arc, Mutex},
    time::Duration,
};

use kube_wire::{Decode, Encoding, Resource};

use crate::{
    Guard, Index, Informer, InformerMetricsProvider, ManualSource, OnUndecodable, RestoreSignal, Undecodable,
    informer::{Origin, Running},
    list_watch::Source,
    mirror::Mirror,
    options::Options,
    reflector::{BackoffPolicy, Observer, ReflectorOptions, Scope, reflect},
    shared::Shared,
    undecodable::Choice,
};

/// Builder of an [`Informer`]. All options are fixed after `build`.
#[must_use]
pub struct Builder<T, X = ()> {
    source: Source,
    resource: Resource,
    scope: Scope,
    backoff: BackoffPolicy,
    restores: RestoreSignal,
    on_undecodable: Choice,
    observe: Option<Observer>,
    options: Options<X>,
    mirror: Option<Box<dyn Mirror<T>>>,
}

impl<T: Decode> Builder<T> {
    pub(crate) fn new(source: Source) -> Self {
        Self {
            source,
            resource: T::RESOURCE,
            scope: Scope::default(),
            backoff: BackoffPolicy::default(),
            restores: RestoreSignal::default(),
            on_undecodable: Arc::new(|_| OnUndecodable::default()),
            observe: None,
            options: Options::new(()),
            mirror: None,
        }
    }
}

impl<T: Decode, X: Index<T>> Builder<T, X> {
    /// Sets the index, which is always consistent with the objects. `index` must be empty.
    pub fn index<Y: Index<T>>(self, index: Y) -> Builder<T, Y> {
        let Self { source, resource, scope, backoff, restores, on_undecodable, observe, options, mirror } = self;
        let Options { index: _, is_selecting, resync, guard, metrics } = options;
        let options = Options { index, is_selecting, resync, guard, metrics };
        Builder { source, resource, scope, backoff, restores, on_undecodable, observe, options, mirror }
    }

    /// Sets the resync period: once per period, each handler gets an update from each stored object to itself. Zero, the
    /// default, disables resyncs; periods below 1 s are raised to 1 s.
    pub fn resync(mut self, every: Duration) -> Self {
        self.options.resync = every;
        self
    }

    /// Sets the metrics provider. Default: nothing is measured.
    pub fn metrics(mut self, provider: impl InformerMetricsProvider + 'static) -> Self {
        self.options.metrics = Some(Arc::new(provider));
        self
    }

    /// Sets a function that gets the encoding and the bytes of each object that a watch delivers, before the object is decoded:
    /// for a part of it that the type does not contain, such as `metadata.managedFields`, which the watch requests then. It is
    /// not called for the initial events of a streaming list, and may be left out for own writes. It must not block.
    pub fn observe(mut self, observe: impl Fn(Encoding, &[u8]) + Send + Sync + 'static) -> Self {
        self.observe = Some(Arc::new(observe));
        self
    }

    /// Sets a resource that is known only at run time, in place of that of the type; for types that have the fields of
    /// several resources, such as [`Dynamic`](kube_wire::Dynamic).
    pub fn resource(mut self, resource: Resource) -> Self {
        self.resource = resource;
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
        self.options.is_selecting = true;
        self
    }

    /// Restricts the informer to objects with matching fields, e.g. `spec.nodeName=node-1`.
    pub fn field_selector(mut self, selector: &str) -> Self {
        self.scope.field_selector = Some(selector.to_owned());
        self.options.is_selecting = true;
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

    /// Sets the guard against lists that lack objects which exist. Default: every list is stored unchecked.
    ///
    /// It has no effect on an informer that is [built](Self::build_manual) for tests: all its lists are stored unchecked.
    pub fn guard(mut self, guard: Guard) -> Self {
        self.options.guard = Some(guard);
        self
    }

    /// Sets what to do about objects that cannot be decoded; [`OnUndecodable::Keep`] by default.
    ///
    /// `choose` is called with namespace, name and error of each such object of a list or watch, also repeatedly for the
    /// same state. It is not called for deletions, for which the name is enough. An object without a readable name is
    /// never in the store, so that `Keep` and `Skip` are the same for it.
    ///
    /// ```no_run
    /// # use kube_informer::{Informer, OnUndecodable};
    /// # fn pools<Pool: kube_wire::Decode>(client: kube_controller_client::Client) -> Informer<Pool> {
    /// Informer::builder(client)
    ///     .on_undecodable(|object| {
    ///         eprintln!("{:?}: {}", object.key, object.error);
    ///         OnUndecodable::Skip
    ///     })
    ///     .build()
    /// # }
    /// ```
    pub fn on_undecodable(mut self, choose: impl Fn(&Undecodable) -> OnUndecodable + Send + Sync + 'static) -> Self {
        self.on_undecodable = Arc::new(choose);
        self
    }

    /// Sets a second store that follows the informer's.
    #[cfg(feature = "runtime")]
    pub(crate) fn mirror(mut self, mirror: impl Mirror<T> + 'static) -> Self {
        self.mirror = Some(Box::new(mirror));
        self
    }

    /// Builds the informer. It sends no request before [`Informer::run`].
    pub fn build(self) -> Informer<T, X> {
        let Self { source, resource, scope, backoff, restores, on_undecodable, observe, options, mirror } = self;
        let resync = options.resync;
        let (shared, runners) = Shared::new(&resource, options, mirror);
        let origin = Origin { source: source.clone(), namespace: scope.namespace.clone() };
        let restores = restores.subscribe(resource);
        let options = ReflectorOptions { source, scope, backoff, restores, on_undecodable, observer: observe };
        let reflector = reflect(options, shared.clone());
        let running = Running::new(runners, shared.clone().resync(resync), reflector);
        Informer::new(shared, Arc::new(Mutex::new(Some(running))), Some(origin))
    }

    /// Builds the informer with a source of objects in place of the API server, for tests. It sends no request.
    pub fn build_manual(self) -> (Informer<T, X>, ManualSource<T, X>) {
        ManualSource::with_options(self.options, self.mirror)
    }
}

impl<T, X> fmt::Debug for Builder<T, X> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let resync = self.options.resync;
        f.debug_struct("Builder").field("scope", &self.scope).field("resync", &resync).finish_non_exhaustive()
    }
}

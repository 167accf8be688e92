//! Fills a store from the API server: a streaming list or a list, then watches, and a relist when a watch fails.

mod backoff;
mod cache;
mod complete_list;
mod error;
mod failure_log;
mod gather;
mod list;
mod machine;
mod reported;
mod restored;
mod steps;
mod stream_progress;
mod undecodable;
mod watch;

use std::sync::Arc;

use futures::future::BoxFuture;
use kube_wire::{Decode, Encoding, ResourceVersion};
use tokio::time::{Instant, sleep, timeout};

pub use self::backoff::BackoffPolicy;
pub(crate) use self::failure_log::FailureLog;
use self::{
    cache::{Cache, TypedCache},
    error::ReflectorError,
    machine::Machine,
    steps::{Action, Observation},
    undecodable::UndecodableObjects,
};
use crate::{
    Index, UndecodableObject, list_watch::Source, relist::Request, restore::RestoreSubscription, shared::Shared,
    undecodable::Choice, untyped::Untyped,
};

/// Namespace and selectors of the requests.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scope {
    pub(crate) namespace: Option<String>,
    pub(crate) label_selector: Option<String>,
    pub(crate) field_selector: Option<String>,
}

/// Gets the encoding and the bytes of each object that a watch delivers.
pub(crate) type Observer = Arc<dyn Fn(Encoding, &[u8]) + Send + Sync>;

/// Requests of a reflector, and the author's choices.
pub(crate) struct ReflectorOptions {
    pub(crate) source: Source,
    pub(crate) scope: Scope,
    pub(crate) backoff: BackoffPolicy,
    pub(crate) restores: RestoreSubscription,
    pub(crate) on_undecodable: Choice,
    pub(crate) observer: Option<Observer>,
}

/// Keeps the store up to date. Ends only with an object that the choice is to fail for.
pub(crate) fn reflect<T: Decode, X: Index<T>>(
    options: ReflectorOptions,
    shared: Arc<Shared<T, X>>,
) -> BoxFuture<'static, UndecodableObject> {
    let informer = shared.untyped.clone();
    let cache = TypedCache::new(options.source.clone(), shared);
    run(options, informer, Box::new(cache))
}

/// As [`reflect`]; compiled once, not for each type of object.
fn run(
    options: ReflectorOptions,
    informer: Arc<Untyped>,
    cache: Box<dyn Cache>,
) -> BoxFuture<'static, UndecodableObject> {
    let ReflectorOptions { source, scope, backoff, restores, on_undecodable, observer } = options;
    let machine = Machine::new(backoff, cache.accept(source.requests.encoding()).encoding);
    let reflector = Reflector {
        source,
        scope,
        undecodable: UndecodableObjects::new(informer.clone(), on_undecodable),
        informer,
        cache,
        machine,
        restores,
        observer,
        served: None,
        started_at: None,
        failures: FailureLog::default(),
        is_current: false,
        is_restored: false,
    };
    Box::pin(reflector.run())
}

struct Reflector {
    source: Source,
    scope: Scope,
    informer: Arc<Untyped>,
    cache: Box<dyn Cache>,
    machine: Machine,
    restores: RestoreSubscription,
    /// The request for a relist that the list in progress serves once it is stored.
    served: Option<Request>,
    observer: Option<Observer>,
    undecodable: UndecodableObjects,
    /// When the first request of that list was sent; `None` without metrics.
    started_at: Option<Instant>,
    failures: FailureLog,
    /// The store was current when the machine last observed a list or the progress of a watch.
    is_current: bool,
    /// The next list is requested because of a restore.
    is_restored: bool,
}

impl Reflector {
    async fn run(mut self) -> UndecodableObject {
        loop {
            if let Some(failed) = self.undecodable.failed.take() {
                return failed;
            }
            if self.restores.take() {
                self.relist_after_restore();
            }
            // Another list could be older than the delete, or show that a restore has undone it.
            if self.cache.store().awaits_deletes {
                self.machine.list_most_recent();
            }
            match self.machine.next(Instant::now(), kube_ambient::random()) {
                Action::Wait(wait) => self.unless_restored(sleep(wait)).await,
                Action::Retry { requested, limit } => {
                    let retry = timeout(limit, self.source.requests.wait_to_retry(requested));
                    self.unless_restored(async { _ = retry.await }).await;
                }
                Action::Stream { version, timeout } => self.watch(version, timeout, true).await,
                Action::List(request) => self.list(request).await,
                Action::Verify => self.verify().await,
                Action::Watch { version, timeout } => self.watch(version, timeout, false).await,
            }
        }
    }

    /// Waits, but not after another informer has detected a restore of etcd.
    async fn unless_restored(&self, wait: impl Future<Output = ()>) {
        tokio::select! {
            biased;
            () = self.restores.detected() => {}
            () = wait => {}
        }
    }

    /// Requests the server's current resource version, which is compared with that of the store.
    async fn verify(&mut self) {
        match self.source.latest_version(&self.informer.resource, self.scope.namespace.as_deref()).await {
            Ok(version) => {
                self.observe(Observation::Verified { version });
            }
            Err(error) => {
                let error = ReflectorError::from(error);
                self.log_failure("cannot read the current resource version", &error);
                self.observe(Observation::Failed(error.failure()));
            }
        }
    }

    /// Begins a streaming list or list of `version` that replaces everything.
    fn begin_list(&mut self, version: &ResourceVersion) {
        self.cache.begin_list(version.is_empty());
        self.started_at = self.informer.meter.start_timer();
        // A restore ends a paged list without a failure.
        self.request_again();
        self.served = self.informer.requests.begin_list(version);
    }

    /// Repeats the request that a list took which was not stored: a watch may be next.
    fn request_again(&mut self) {
        if let Some(served) = self.served.take() {
            self.informer.requests.request(served);
        }
    }
}

//! Fills a store from the API server: a streaming list or a list, then watches, and a relist when a watch fails.

mod backoff;
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

use kube_wire::{Decode, Encoding, ResourceVersion};
use tokio::time::{Instant, sleep, timeout};

pub use self::backoff::BackoffPolicy;
pub(crate) use self::failure_log::FailureLog;
use self::{
    error::ReflectorError,
    gather::Gathered,
    machine::Machine,
    reported::Reported,
    steps::{Action, Observation},
};
use crate::{
    Index, UndecodableObject, list_watch::Source, relist::Request, restore::RestoreSubscription, shared::Shared,
    undecodable::Choice,
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

/// Keeps the store up to date. Ends only with an object that the choice is to fail for.
pub(crate) async fn reflect<T: Decode, X: Index<T>>(
    source: Source,
    scope: Scope,
    backoff: BackoffPolicy,
    restores: RestoreSubscription,
    (on_undecodable, observer): (Choice, Option<Observer>),
    shared: Arc<Shared<T, X>>,
) -> UndecodableObject {
    let machine = Machine::new(backoff, source.accept::<T>().encoding);
    let reflector = Reflector {
        source,
        scope,
        shared,
        machine,
        restores,
        gathered: Gathered::new(),
        on_undecodable,
        observer,
        served: None,
        undecodable: Reported::default(),
        failed: None,
        started_at: None,
        failures: FailureLog::default(),
        is_current: false,
        is_restored: false,
    };
    reflector.run().await
}

struct Reflector<T, X> {
    source: Source,
    scope: Scope,
    shared: Arc<Shared<T, X>>,
    machine: Machine,
    restores: RestoreSubscription,
    /// Objects of a streaming list or paged list that is not complete yet.
    gathered: Gathered<T>,
    /// The request for a relist that the list in progress serves once it is stored.
    served: Option<Request>,
    on_undecodable: Choice,
    observer: Option<Observer>,
    /// Objects whose newest state cannot be decoded.
    undecodable: Reported,
    /// The object that ends the reflector.
    failed: Option<UndecodableObject>,
    /// When the first request of that list was sent; `None` without metrics.
    started_at: Option<Instant>,
    failures: FailureLog,
    /// The store was current when the machine last observed a list or the progress of a watch.
    is_current: bool,
    /// The next list is requested because of a restore.
    is_restored: bool,
}

impl<T: Decode, X: Index<T>> Reflector<T, X> {
    async fn run(mut self) -> UndecodableObject {
        loop {
            if let Some(failed) = self.failed.take() {
                return failed;
            }
            if self.restores.take() {
                self.relist_after_restore();
            }
            // Another list could be older than the delete, or show that a restore has undone it.
            if self.shared.lister().state().own.awaits_deletes() {
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
        match self.source.latest_version(self.shared.resource(), self.scope.namespace.as_deref()).await {
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
        self.gathered.clear();
        self.started_at = self.shared.meter().start_timer();
        // A restore ends a paged list without a failure.
        self.request_again();
        self.served = self.shared.requests().begin_list(version);
        self.shared.list_requested(version.is_empty());
    }

    /// Repeats the request that a list took which was not stored: a watch may be next.
    fn request_again(&mut self) {
        if let Some(served) = self.served.take() {
            self.shared.requests().request(served);
        }
    }
}

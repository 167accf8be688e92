//! The caches whose objects are recorded.

use std::future::pending;
use std::io;
use std::time::Duration;

use futures::future::{join_all, select_all};
use kube_endpoints_history::recorder::Message;
use kube_endpoints_history::{Kind, Recorded, What};
use kube_informer::HandlerHandle;

/// Time after the first list for which the recording waits for the others. Those that fail then are likely to fail for long:
/// the API server does not serve the kind, or does not allow to read it.
const PATIENCE: Duration = Duration::from_secs(30);

/// Calls a function with all objects of a cache, and ends with its first error.
pub(super) type Source = Box<dyn Fn(&mut dyn FnMut(Recorded) -> io::Result<()>) -> io::Result<()> + Send + Sync>;

/// A cache whose objects are recorded.
pub(super) struct RecordedCache {
    pub(super) kind: Kind,
    /// Name of the resource, in plural.
    pub(super) resource: &'static str,
    /// The handler that queues its changes.
    pub(super) handler: HandlerHandle,
    pub(super) source: Source,
}

/// The caches whose objects are recorded.
#[derive(Default)]
pub(super) struct RecordedCaches(pub(super) Vec<RecordedCache>);

/// Kinds of [`RecordedCaches`] that have not been listed yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Missing(Vec<Kind>);

impl RecordedCaches {
    /// Waits for the first lists, but not longer than 30 s after one of them.
    pub(super) async fn listed(&self) {
        let all = join_all(self.0.iter().map(RecordedCache::listed));
        let some = async {
            self.any_listed(|_| true).await;
            tokio::time::sleep(PATIENCE).await;
        };
        tokio::select! {
            biased;
            _ = all => {}
            () = some => {}
        }
    }

    /// Waits until one of the missing kinds is listed.
    pub(super) async fn listed_more(&self, Missing(missing): &Missing) {
        self.any_listed(|kind| missing.contains(&kind)).await;
    }

    async fn any_listed(&self, wanted: impl Fn(Kind) -> bool) {
        let handlers = self.0.iter().filter(|cache| wanted(cache.kind)).map(|cache| Box::pin(cache.listed()));
        let handlers: Vec<_> = handlers.collect();
        if handlers.is_empty() {
            pending::<()>().await;
        }
        select_all(handlers).await;
    }

    /// Returns the kinds that have not been listed yet.
    pub(super) fn missing(&self) -> Missing {
        Missing(self.0.iter().filter(|cache| !cache.handler.has_synced()).map(|cache| cache.kind).collect())
    }

    /// Returns the names of missing resources, separated by commas.
    pub(super) fn names(&self, Missing(missing): &Missing) -> String {
        let names = self.0.iter().filter(|cache| missing.contains(&cache.kind)).map(|cache| cache.resource);
        names.collect::<Vec<_>>().join(",")
    }

    /// Calls `each` with all objects of the kinds that are not missing.
    pub(super) fn read(
        &self,
        Missing(missing): &Missing,
        each: &mut dyn FnMut(Recorded) -> io::Result<()>,
    ) -> io::Result<()> {
        self.0.iter().filter(|cache| !missing.contains(&cache.kind)).try_for_each(|cache| (cache.source)(each))
    }
}

impl RecordedCache {
    /// Waits for the first list, for ever if the informer stops before it.
    async fn listed(&self) {
        if !self.handler.synced().await {
            pending::<()>().await;
        }
    }
}

impl Missing {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn kinds(&self) -> &[Kind] {
        &self.0
    }

    /// Returns whether a message is about an object of these kinds.
    pub(super) fn concerns(&self, message: &Message) -> bool {
        match &message.change.what {
            What::Put { after: object, .. } | What::Removed(object) => self.0.contains(&object.kind()),
            What::Gap(_) | What::Unknown(_) => false,
        }
    }
}

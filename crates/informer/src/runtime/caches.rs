//! The caches of an operator.

use std::{
    any::{Any, TypeId},
    collections::HashMap,
    fmt,
    panic::resume_unwind,
    sync::{Arc, Mutex, PoisonError, RwLock},
};

use futures::future::BoxFuture;
use kube::Client;
use tokio::{sync::mpsc, task::JoinSet};
use tokio_util::sync::CancellationToken;

use super::{
    Cache, CacheBuilder, CachedResource,
    cached::Cached,
    client::{self, Registry},
    source::KubeSource,
    writes::Writable,
};
use crate::{Index, Informer};

/// The caches of an operator, over one `kube::Client` (client-go: `SharedInformerFactory`).
///
/// Clones share the caches.
#[derive(Clone)]
pub struct Caches {
    inner: Arc<Inner>,
}

struct Inner {
    /// For lists and watches.
    reads: Client,
    client: Client,
    /// Namespace of the caches; `None` for all namespaces.
    namespace: Option<String>,
    registry: Registry,
    /// Caches of all objects of a type.
    whole: Mutex<HashMap<TypeId, Box<dyn Any + Send>>>,
    added: mpsc::UnboundedSender<BoxFuture<'static, ()>>,
    /// Taken by the first [`Caches::run`].
    to_run: Mutex<Option<mpsc::UnboundedReceiver<BoxFuture<'static, ()>>>>,
}

impl Caches {
    /// Creates an empty set of caches, which list and watch all namespaces with `client`. Its read timeout, of which `kube` sets
    /// none by default, must be longer than the interval of bookmarks, about 1 min.
    ///
    /// # Panics
    ///
    /// If it is called outside of a tokio runtime, as for `kube::Client::new`.
    pub fn new(client: Client) -> Self {
        Self::within(client, None)
    }

    /// Creates an empty set of caches of one namespace, for an operator that may read no other. Cluster-scoped resources are listed
    /// whole.
    ///
    /// # Panics
    ///
    /// As for [`new`](Self::new).
    pub fn namespaced(client: Client, namespace: &str) -> Self {
        Self::within(client, Some(namespace.to_owned()))
    }

    fn within(client: Client, namespace: Option<String>) -> Self {
        let registry = Registry::new(RwLock::default());
        let (client, reads) = (client::observed(&client, registry.clone()), client);
        let (added, to_run) = mpsc::unbounded_channel();
        let to_run = Mutex::new(Some(to_run));
        Self { inner: Arc::new(Inner { reads, client, namespace, registry, whole: Mutex::default(), added, to_run }) }
    }

    /// Returns the client for the operator's writes: their responses enter the caches before they are returned.
    ///
    /// Each write of a single object does, whichever `Api` sends it. An answer that does not show the object, such as a `Scale` or
    /// its metadata alone, costs a read of it, for which the answer waits up to 5 s; if it fails, the watch shows the write. Reads,
    /// watches, dry runs and deletions of collections pass untouched.
    pub fn client(&self) -> Client {
        self.inner.client.clone()
    }

    /// Returns the cache of all objects of a type, in the namespace of the caches if they have one. It is the same one for each
    /// call.
    #[expect(clippy::missing_panics_doc, reason = "an entry has the type of its key")]
    pub fn of<K: CachedResource>(&self) -> Cache<K> {
        let mut whole = self.inner.whole.lock().unwrap_or_else(PoisonError::into_inner);
        let cache = whole.entry(TypeId::of::<K>()).or_insert_with(|| Box::new(self.builder::<K>().build()));
        cache.downcast_ref::<Cache<K>>().expect("the entry of a type is its cache").clone()
    }

    /// Returns a builder of another cache, with a namespace, selectors or indexes.
    pub fn builder<K: CachedResource>(&self) -> CacheBuilder<K> {
        let builder = CacheBuilder::new(self.clone(), KubeSource::new::<K>(self.inner.reads.clone()));
        match &self.inner.namespace {
            Some(namespace) => builder.namespace(namespace),
            None => builder,
        }
    }

    /// Fills the caches, also those that are added later, until the future is dropped. The caller spawns or joins it.
    ///
    /// Failed requests are retried without limit; see [Requirements and failures](crate#requirements-and-failures). A second call
    /// logs an error and returns: an operator with leader election runs its caches from the start, and each term subscribes to
    /// them.
    pub fn run(&self) -> impl Future<Output = ()> + Send + use<> {
        let to_run = self.inner.to_run.lock().unwrap_or_else(PoisonError::into_inner).take();
        async move {
            let Some(mut to_run) = to_run else {
                tracing::error!("Caches::run was called a second time; this call does nothing");
                return;
            };
            let mut running = JoinSet::new();
            loop {
                tokio::select! {
                    biased;
                    Some(informer) = to_run.recv() => {
                        running.spawn(informer);
                    }
                    Some(ended) = running.join_next() => {
                        if let Err(error) = ended && let Ok(panic) = error.try_into_panic() {
                            resume_unwind(panic);
                        }
                    }
                    else => return,
                }
            }
        }
    }

    pub(super) fn observe_writes(&self, cache: Arc<dyn Writable>) {
        self.inner.registry.write().unwrap_or_else(PoisonError::into_inner).push(cache);
    }

    /// Adds an informer to those that run. `ended` is cancelled when it ends.
    pub(super) fn add<K: CachedResource, X: Index<Cached<K>>>(
        &self,
        informer: &Informer<Cached<K>, X>,
        ended: CancellationToken,
    ) {
        let (running, ends) = (informer.run(CancellationToken::new()), EndOnDrop(informer.clone(), ended));
        let run = async move {
            running.await;
            drop(ends);
        };
        // After the end of `run`, the cache stays empty, as the others stay at their last state.
        let _ = self.inner.added.send(Box::pin(run));
    }
}

/// Ends an informer when its future is dropped, even if that has not been polled.
struct EndOnDrop<K: CachedResource, X: Index<Cached<K>>>(Informer<Cached<K>, X>, CancellationToken);

impl<K: CachedResource, X: Index<Cached<K>>> Drop for EndOnDrop<K, X> {
    fn drop(&mut self) {
        self.0.end();
        self.1.cancel();
    }
}

impl fmt::Debug for Caches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Caches").finish_non_exhaustive()
    }
}

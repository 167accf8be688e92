//! Informers of any type.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use kube_informer::{HandlerHandle, HeldList, Informer, Progress, UndecodableObject};
use kube_wire::{Decode, Index, Resource};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// Time for a watch to show the state at the start of a term, before the informer lists again. The watch of a resource
/// that does not change never shows it.
const CATCH_UP_TIMEOUT: Duration = Duration::from_millis(500);

type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// An [`Informer`] without the types of its objects and index, for a program that runs, checks and awaits several.
pub trait AnyInformer: Send + Sync {
    /// Returns the resource of the objects.
    fn resource(&self) -> Resource;

    /// Runs the informer until `stop` is cancelled, see [`Informer::try_run`].
    fn run(&self, stop: CancellationToken) -> BoxFuture<Result<(), UndecodableObject>>;

    /// Returns a handle that is synced as soon as the first list is stored.
    fn store_synced(&self) -> HandlerHandle;

    /// Returns the time at which the store last advanced, for [`Health::add_informer`](crate::Health::add_informer).
    fn progress(&self) -> Progress;

    /// Waits until the store has the state that the server has at the time of the call, as a new leader does before its
    /// first sync. If the watch does not show it within 0.5 s, the informer lists again. See [`Informer::catch_up`].
    fn catch_up(&self) -> BoxFuture<()>;

    /// Returns a channel with the list that the guard holds; `None` while it holds none.
    fn held_list(&self) -> watch::Receiver<Option<HeldList>>;
}

impl<T: Decode, X: Index<T>> AnyInformer for Informer<T, X> {
    fn resource(&self) -> Resource {
        self.resource()
    }

    fn run(&self, stop: CancellationToken) -> BoxFuture<Result<(), UndecodableObject>> {
        Box::pin(self.try_run(stop))
    }

    fn store_synced(&self) -> HandlerHandle {
        self.store_synced()
    }

    fn progress(&self) -> Progress {
        self.progress()
    }

    fn catch_up(&self) -> BoxFuture<()> {
        Box::pin(self.catch_up(CATCH_UP_TIMEOUT))
    }

    fn held_list(&self) -> watch::Receiver<Option<HeldList>> {
        self.held_list()
    }
}

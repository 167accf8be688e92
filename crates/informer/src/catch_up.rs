//! Waiting until a store has caught up with the API server.

use std::time::Duration;

use display_full_error::DisplayFullErrorExt as _;
use kube_wire::{Decode, Resource, ResourceVersion};
use tokio::time::{sleep, timeout};

use crate::{Index, Informer, ListWatch, RelistCause, list_watch::Source};

/// Pause before the version is requested again after a failure.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);

impl<T: Decode, X: Index<T>> Informer<T, X> {
    /// Waits until the store has synced and has the state that the server has at the time of the call, or a later one.
    /// Does not end if the informer ends before that.
    ///
    /// For a process that starts or becomes leader: its store may lack the last writes of the process before it. A
    /// standby's watch may lag, and an initial list at `resourceVersion=0` is any version that the API server has.
    ///
    /// A list of the most recent state that is requested after the call is new enough. Otherwise the version of a list
    /// with `limit=1` is read from the most recent state once the store has synced. If the watch does not reach it
    /// within `watch_limit`, the informer relists: the watch of one resource need not show how far others have
    /// advanced. A failed request is logged and retried after 1 s, without limit.
    ///
    /// `source` is usually a clone of that of the informer; another one can have another priority.
    pub fn catch_up<S: ListWatch>(
        &self,
        source: S,
        watch_limit: Duration,
    ) -> impl Future<Output = ()> + Send + use<T, X, S> {
        let (shared, begun) = (self.shared.clone(), self.shared.lister().lists_begun());
        let namespace = self.namespace.clone();
        async move {
            shared.populated().await;
            if shared.lister().has_current_list_after(begun) {
                return;
            }
            // Boxed: it is large, and seldom needed.
            let latest = latest_version_retried(Source::new(source), shared.resource(), namespace.as_deref());
            let version = Box::pin(latest).await;
            // Versions that are not numbers have no order.
            if version.number().is_some() && timeout(watch_limit, shared.reached(&version)).await.is_err() {
                shared.requests().request_list(RelistCause::Requested, Some(version.clone()));
                shared.reached(&version).await;
            }
        }
    }
}

async fn latest_version_retried(source: Source, resource: &Resource, namespace: Option<&str>) -> ResourceVersion {
    loop {
        match source.latest_version(resource, namespace).await {
            Ok(version) => return version,
            Err(error) => {
                tracing::warn!(
                    %resource, err = %error.display_full(),
                    "Cannot read the current resource version, retrying"
                );
                sleep(RETRY_INTERVAL).await;
            }
        }
    }
}

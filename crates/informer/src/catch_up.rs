//! Waiting until a store has caught up with the API server.

use std::{sync::Arc, time::Duration};

use display_full_error::DisplayFullErrorExt as _;
use futures::future::BoxFuture;
use kube_wire::{Decode, Resource, ResourceVersion};
use tokio::time::{Instant, timeout};

use crate::{
    Index, Informer, RelistCause, informer::Origin, reflector::FailureLog, state::StoreHead, untyped::Untyped,
};

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
    /// advanced. A failed request is retried within 2 s, without limit; the first failure
    /// and then one a minute is logged.
    ///
    /// An informer of a [`ManualSource`](crate::ManualSource) is current as soon as it has synced.
    pub fn catch_up(&self, watch_limit: Duration) -> impl Future<Output = ()> + Send + use<T, X> {
        let lister = self.lister();
        catch_up(self.shared.untyped.clone(), Box::new(move || lister.head()), self.origin.clone(), watch_limit)
    }
}

/// As [`Informer::catch_up`]; compiled once, not for each type of object.
fn catch_up(
    untyped: Arc<Untyped>,
    store: Box<dyn Fn() -> StoreHead + Send + Sync>,
    origin: Option<Origin>,
    watch_limit: Duration,
) -> BoxFuture<'static, ()> {
    let begun = store().lists.begun();
    Box::pin(async move {
        let Untyped { requests, resource, .. } = &*untyped;
        requests.wait_until(|| store().populated).await;
        let Some(origin) = origin else { return };
        if store().lists.has_current_after(begun) {
            return;
        }
        let version = latest_version_retried(&origin, resource).await;
        // A server that is restored meanwhile may not reach the version. A list of the restored state is new enough.
        let reached = || {
            let StoreHead { version: stored, lists, .. } = store();
            version <= stored || lists.has_current_after(begun)
        };
        // Versions that are not numbers have no order.
        if version.number().is_some() && timeout(watch_limit, requests.wait_until(reached)).await.is_err() {
            requests.request_list(RelistCause::Requested, Some(version.clone()));
            requests.wait_until(reached).await;
        }
    })
}

async fn latest_version_retried(origin: &Origin, resource: &Resource) -> ResourceVersion {
    let mut failures = FailureLog::default();
    loop {
        match origin.source.latest_version(resource, origin.namespace.as_deref()).await {
            Ok(version) => return version,
            Err(error) => {
                if let Some(failures) = failures.count(Instant::now()) {
                    tracing::warn!(
                        %resource, err = %error.display_full(), failures,
                        "Cannot read the current resource version, retrying"
                    );
                }
                origin.source.requests.wait_to_retry(None).await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ManualSource, item::Item};

    #[tokio::test]
    async fn an_informer_of_a_manual_source_is_current_once_synced() {
        let (informer, source) = ManualSource::<Item>::new();
        let caught_up = informer.catch_up(Duration::ZERO);
        source.replace([], "1");
        caught_up.await;
    }
}

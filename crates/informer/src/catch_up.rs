//! Waiting until a store has caught up with the API server.

use std::time::Duration;

use kube_controller_client::{Client, Error};
use kube_wire::{Decode, Resource, ResourceVersion};
use tokio::time::sleep;

use crate::Informer;

/// Pause before the version is requested again after a failure.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);

impl<T: Decode, X: Clone + Send + Sync + 'static> Informer<T, X> {
    /// Waits until the store has the state that the server has at the time of the call, or a later one.
    ///
    /// For a process that becomes leader: its store may lack the last writes of the previous leader. The version is
    /// that of a list with `limit=1`, read from the most recent state.
    /// [`wait_for_version`](Self::wait_for_version) then waits for it, with the same `watch_limit`. A failed request is
    /// logged and retried after 1 s, without limit.
    pub async fn catch_up(&self, client: &Client, watch_limit: Duration) {
        let version = loop {
            match latest_version(client, &T::RESOURCE, None).await {
                Ok(version) => break version,
                Err(err) => {
                    tracing::warn!(resource = %T::RESOURCE, %err, "Cannot read the current resource version, retrying");
                    sleep(RETRY_INTERVAL).await;
                }
            }
        };
        self.wait_for_version(&version, watch_limit).await;
    }
}

/// Returns the current resource version of a resource on the server: that of a list with `limit=1`, read from etcd.
pub(crate) async fn latest_version(
    client: &Client,
    resource: &Resource,
    namespace: Option<&str>,
) -> Result<ResourceVersion, Error> {
    let list = client.get_json(&format!("{}?limit=1", resource.path(namespace))).await?;
    Ok(list["metadata"]["resourceVersion"].as_str().unwrap_or_default().into())
}

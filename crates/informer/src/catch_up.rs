//! Bringing a store up to the present state of the server.

use std::time::Duration;

use kube_controller_client::{Client, Error};
use kube_wire::{Decode, Resource, ResourceVersion};
use tokio::time::sleep;

use crate::Informer;

/// Pause after the server could not say its version.
const PAUSE: Duration = Duration::from_secs(1);

impl<T: Decode, X: Clone + Send + Sync + 'static> Informer<T, X> {
    /// Brings the store up to the state that the server has at the time of the call, or a later one.
    ///
    /// For a process that was a standby until now: its store may lack the last writes of the previous leader. One list of a
    /// single object, read from the most recent state, tells the version; [`reach`](Self::reach) does the rest, with the same
    /// `patience`. Failures are logged and retried, so this ends when the server has answered.
    pub async fn catch_up(&self, client: &Client, patience: Duration) {
        let version = loop {
            match latest_version(client, &T::RESOURCE, None).await {
                Ok(version) => break version,
                Err(err) => {
                    tracing::warn!(resource = %T::RESOURCE, %err, "Cannot read the current resource version, retrying");
                    sleep(PAUSE).await;
                }
            }
        };
        self.reach(&version, patience).await;
    }
}

/// The version of the most recent state of a resource: one list of a single object, read from the store of the server.
pub(crate) async fn latest_version(
    client: &Client,
    of: &Resource,
    namespace: Option<&str>,
) -> Result<ResourceVersion, Error> {
    let list = client.get_json(&format!("{}?limit=1", of.path(namespace))).await?;
    Ok(list["metadata"]["resourceVersion"].as_str().unwrap_or_default().into())
}

//! The current resource version on the server.

use kube_controller_client::{Client, Error};
use kube_wire::{Resource, ResourceVersion};

/// Returns the current resource version of a resource on the server: that of a list with `limit=1`, read from etcd.
pub(crate) async fn latest_version(
    client: &Client,
    resource: &Resource,
    namespace: Option<&str>,
) -> Result<ResourceVersion, Error> {
    let list = client.get_json(&format!("{}?limit=1", resource.path(namespace))).await?;
    Ok(list["metadata"]["resourceVersion"].as_str().unwrap_or_default().into())
}

//! Adoption of orphans, and release of objects that are not selected any longer.

use std::sync::Arc;

use k8s_openapi::{
    Metadata,
    apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference},
};
use kube_controller_client::{Client, Error};
use kube_wire::Decode;
use serde_json::json;

use super::{
    owner::{Claim, references_after},
    write::ignore_races,
};

/// Writes the owner references of the objects to adopt and to release (Go: `BaseControllerRefManager`). Returns whether there
/// are any: then their events, or that of the deletion of the owner, queue the owner again.
pub(super) async fn adopt_and_release<O, T>(
    client: &Client,
    owner: &O,
    reference: &OwnerReference,
    objects: &[(Claim, Arc<T>)],
) -> Result<bool, Error>
where
    O: Decode + Metadata<Ty = ObjectMeta>,
    T: Decode + Metadata<Ty = ObjectMeta>,
{
    if objects.iter().any(|(claim, _)| *claim == Claim::Adopt) && !may_adopt(client, owner).await? {
        return Ok(true);
    }
    let mut is_changed = false;
    for (claim, object) in objects.iter().filter(|(claim, _)| matches!(claim, Claim::Adopt | Claim::Release)) {
        is_changed = true;
        let (key, metadata) = (object.key(), object.metadata());
        let metadata = json!({
            "uid": metadata.uid,
            "resourceVersion": metadata.resource_version,
            "ownerReferences": references_after(*claim, reference, metadata),
        });
        let patch = json!({ "metadata": metadata });
        ignore_races(client.merge_patch::<T>(&key.namespace, &key.name, None, &patch).await)?;
    }
    Ok(is_changed)
}

/// Returns whether an owner exists on the server and is not being deleted. The cache may have an owner that was deleted, and
/// whose former objects have no owner or a new one of the same name (Go: `controller.RecheckDeletionTimestamp`).
async fn may_adopt<T>(client: &Client, owner: &T) -> Result<bool, Error>
where
    T: Decode + Metadata<Ty = ObjectMeta>,
{
    let key = owner.key();
    match client.get::<T>(&key.namespace, &key.name).await {
        Ok(current) => Ok(current.uid() == owner.uid() && current.metadata().deletion_timestamp.is_none()),
        Err(error) if error.is_not_found() => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::apps::v1::Deployment;
    use kube_controller_client::{ClientOptions, Config};
    use kube_dev_apiserver::Server;
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[rstest]
    #[case::unchanged("", true)]
    #[case::deleted("delete", false)]
    #[case::replaced("delete create", false)]
    #[case::being_deleted("finalizer delete", false)]
    #[tokio::test]
    async fn only_an_owner_that_exists_adopts(#[case] steps: &str, #[case] expect: bool) {
        let server = Server::in_process(kube_dev_apiserver::Config::default()).unwrap();
        let client = Client::new(&Config::from_service(server.service()), ClientOptions::default()).unwrap();
        let template =
            json!({"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
        let spec = json!({"selector": {"matchLabels": {"app": "web"}}, "template": template});
        let deployment: Deployment =
            serde_json::from_value(json!({"metadata": {"name": "web"}, "spec": spec})).unwrap();
        let deployments = server.typed::<Deployment>();
        let cached = deployments.create(&deployment).unwrap();
        for step in steps.split_whitespace() {
            match step {
                "create" => drop(deployments.create(&deployment).unwrap()),
                "finalizer" => {
                    drop(deployments.patch("web", &json!({"metadata": {"finalizers": ["example.com/f"]}})).unwrap());
                }
                _ => deployments.delete("web").unwrap(),
            }
        }
        assert_eq!(may_adopt(&client, &cached).await.unwrap(), expect);
    }
}

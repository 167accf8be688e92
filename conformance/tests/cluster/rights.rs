//! Rights of the controllers: exactly those of `rights.yaml`.

use anyhow::{Context as _, Result};
use kube_controller_client::Config;
use kube_endpoints_conformance::{Api, Request};
use serde_json::Value;

/// User to which the rights of the program are granted.
pub(crate) const USER: &str = "endpoint-controller-manager";

/// Creates the roles and bindings of `rights.yaml`.
pub(crate) async fn grant(config: &Config) -> Result<()> {
    let api = Api::new(config)?;
    for document in include_str!("../../rights.yaml").split("\n---\n") {
        let object: Value = serde_saphyr::from_str(document)?;
        let plural = object["kind"].as_str().context("an object of rights.yaml has no kind")?.to_lowercase() + "s";
        let place = match object["metadata"]["namespace"].as_str() {
            Some(namespace) => format!("namespaces/{namespace}/{plural}"),
            None => plural,
        };
        api.ok(Request::create(format!("/apis/rbac.authorization.k8s.io/v1/{place}"), object)).await?;
    }
    Ok(())
}

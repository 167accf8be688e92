//! Slices of a Service, read from the server.

use kube_controller_client::{Client, Error, ListParams};
use kube_endpoint_model::well_known::{SERVICE_NAME_LABEL, SLICE_MANAGED_BY_LABEL};
use kube_endpoint_model::{EndpointSlice, ObjectKey};
use kube_wire::{Decode, DecodeError, decode_list};

/// Why the slices of a Service could not be read from the server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LiveReadError {
    /// The request failed.
    #[error("cannot list the EndpointSlices of Service {service}")]
    List {
        /// The Service.
        service: ObjectKey,
        /// What the server said.
        source: Error,
    },
    /// The answer cannot be decoded.
    #[error("cannot decode the EndpointSlices of Service {service}")]
    Decode {
        /// The Service.
        service: ObjectKey,
        /// What is wrong with the answer.
        source: DecodeError,
    },
}

/// Lists the slices of a Service that `controller` manages.
pub(crate) async fn live(
    client: &Client,
    service: &ObjectKey,
    controller: &str,
) -> Result<Vec<EndpointSlice>, LiveReadError> {
    let selector = format!("{SERVICE_NAME_LABEL}={},{SLICE_MANAGED_BY_LABEL}={controller}", service.name);
    let params = ListParams { label_selector: Some(selector), ..ListParams::default() };
    let bytes = client
        .list(&EndpointSlice::RESOURCE, Some(&service.namespace), &params)
        .await
        .map_err(|source| LiveReadError::List { service: service.clone(), source })?;
    let list = decode_list(&bytes).map_err(|source| LiveReadError::Decode { service: service.clone(), source })?;
    Ok(list.items)
}

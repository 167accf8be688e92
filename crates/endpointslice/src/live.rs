//! Reads from the API server, bypassing the caches.

use display_full_error::DisplayFullErrorExt as _;
use kube_controller_client::{Client, Error, ListParams};
use kube_endpoint_model::well_known::{SERVICE_NAME_LABEL, SLICE_MANAGED_BY_LABEL};
use kube_endpoint_model::{EndpointSlice, ObjectKey};
use kube_wire::{Decode, DecodeError, decode_list};

use crate::owner::Owner;

/// Error of [`Reconciler::live_slices`](crate::Reconciler::live_slices).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LiveReadError {
    /// The request failed.
    #[error("cannot list the EndpointSlices of Service {service}")]
    List {
        /// Service of the slices.
        service: ObjectKey,
        /// Error of the request.
        source: Error,
    },
    /// The response cannot be decoded.
    #[error("cannot decode the EndpointSlices of Service {service}")]
    Decode {
        /// Service of the slices.
        service: ObjectKey,
        /// Error of the decoder.
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

/// Returns whether the API server has no object `T` with the name and UID of `owner`; `false` if the request fails.
///
/// Sends a list with a field selector instead of a get, because the roles of controllers may allow list and watch only.
pub(crate) async fn is_gone<T: Decode>(client: &Client, owner: &Owner) -> bool {
    let selector = Some(format!("metadata.name={}", owner.name));
    let params = ListParams { field_selector: selector, ..ListParams::default() };
    let list = client.list(&T::RESOURCE, Some(&owner.namespace), &params).await;
    let owners = list.map_err(|error| error.to_string_full()).and_then(|list| {
        let list = decode_list::<T>(&list).map_err(|error| error.to_string())?;
        Ok(list.items)
    });
    match owners {
        Ok(owners) => owners.iter().all(|it| it.uid() != owner.uid),
        Err(err) => {
            tracing::debug!(
                resource = %T::RESOURCE,
                name = %owner.name,
                err,
                "Cannot verify the owner of EndpointSlices, assuming that it exists"
            );
            false
        }
    }
}

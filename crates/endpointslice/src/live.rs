//! Reads from the API server, bypassing the caches.

use display_full_error::DisplayFullErrorExt as _;
use kube_controller_client::{Client, Error, ListParams};
use kube_endpoint_model::well_known::SLICE_MANAGED_BY_LABEL;
use kube_endpoint_model::{EndpointSlice, ObjectKey};
use kube_wire::{Decode as _, DecodeError, ObjectHead, Resource, decode_list};
use serde::Deserialize;

use crate::options::Options;
use crate::owner::Owner;

/// Error of [`Reconciler::live_slices`](crate::Reconciler::live_slices) and
/// [`Reconciler::existing_slices`](crate::Reconciler::existing_slices).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LiveReadError {
    /// The request failed.
    #[error("cannot list the EndpointSlices of {owner}")]
    List {
        /// Key of the owner of the slices.
        owner: ObjectKey,
        /// Error of the request.
        source: Error,
    },
    /// The response cannot be decoded.
    #[error("cannot decode the EndpointSlices of {owner}")]
    Decode {
        /// Key of the owner of the slices.
        owner: ObjectKey,
        /// Error of the decoder.
        source: DecodeError,
    },
}

/// Lists the slices of an owner that a controller with these options manages.
pub(crate) async fn live(
    client: &Client,
    owner: &ObjectKey,
    options: &Options,
) -> Result<Vec<EndpointSlice>, LiveReadError> {
    let (label, value) = (&options.owner_label, options.label_value(&owner.name));
    let selector = format!("{label}={value},{SLICE_MANAGED_BY_LABEL}={}", options.controller);
    let params = ListParams { label_selector: Some(selector), ..ListParams::default() };
    let bytes = client
        .list(&EndpointSlice::RESOURCE, Some(&owner.namespace), &params)
        .await
        .map_err(|source| LiveReadError::List { owner: owner.clone(), source })?;
    let list = decode_list(&bytes).map_err(|source| LiveReadError::Decode { owner: owner.clone(), source })?;
    Ok(list.items)
}

/// Returns whether the API server has no object of the resource with the name and UID of `owner`; `false` if the request
/// fails.
///
/// Sends a list with a field selector instead of a get, because the roles of controllers may allow list and watch only.
pub(crate) async fn is_gone(client: &Client, resource: &Resource, owner: &Owner) -> bool {
    let selector = Some(format!("metadata.name={}", owner.name));
    let params = ListParams { field_selector: selector, ..ListParams::default() };
    let list = client
        .list(resource, Some(&owner.namespace), &params)
        .await
        .map_err(|error| error.to_string_full())
        .and_then(|list| serde_json::from_slice::<AnyList>(&list).map_err(|error| error.to_string()));
    match list {
        Ok(list) => list.items.iter().all(|object| object.metadata.uid != owner.uid),
        Err(err) => {
            tracing::debug!(
                %resource,
                name = %owner.name,
                err,
                "Cannot verify the owner of EndpointSlices, assuming that it exists"
            );
            false
        }
    }
}

/// The UIDs in a list of any resource.
#[derive(Deserialize)]
struct AnyList {
    items: Vec<AnyObject>,
}

#[derive(Deserialize)]
struct AnyObject {
    metadata: ObjectHead,
}

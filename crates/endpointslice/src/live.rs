//! Reads from the API server, bypassing the caches.

use display_full_error::DisplayFullErrorExt as _;
use kube_controller_client::{Client, Error, ListParams};
use kube_endpoint_model::well_known::SLICE_MANAGED_BY_LABEL;
use kube_endpoint_model::{EndpointSlice, ObjectKey};
use kube_wire::{Decode as _, DecodeError, Encoding, ListReader, Object as _, ObjectHead, Resource, decode_list};
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
    let list = client.list(resource, Some(&owner.namespace), &params).await;
    let exists = list
        .map_err(|error| error.to_string_full())
        .and_then(|list| contains(&list, resource, owner).map_err(|error| error.to_string()));
    match exists {
        Ok(exists) => !exists,
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

/// The metadata of an object of any resource.
#[derive(Deserialize)]
struct AnyObject {
    metadata: ObjectHead,
}

kube_wire::object!(AnyObject, Resource::namespaced("", "", "", "Object"));

/// Returns whether a list contains an object with the UID of `owner`.
fn contains(list: &[u8], resource: &Resource, owner: &Owner) -> Result<bool, DecodeError> {
    let mut reader = ListReader::<AnyObject>::of(resource, Encoding::Json);
    reader.push(list);
    let mut found = false;
    while let Some(item) = reader.next_item()? {
        // The UID of an object that cannot be decoded was read, too.
        found |= item.map_or_else(|undecodable| undecodable.uid == owner.uid, |object| object.uid() == owner.uid);
    }
    reader.finish()?;
    Ok(found)
}

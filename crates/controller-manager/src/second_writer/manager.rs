//! The field manager of the last write of an object.

use display_full_error::DisplayFullErrorExt as _;
use k8s_openapi::Metadata;
use k8s_openapi::api::core::v1::Endpoints;
use k8s_openapi::api::discovery::v1::EndpointSlice;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use k8s_openapi::jiff::{SignedDuration, Timestamp};
use kube_controller_client::{Client, Error, ListParams};
use kube_wire::{Decode, DecodeError, ObjectKey, ResourceVersion, decode_list};

use super::detector::Object;
use crate::user_agent::PROGRAM;

/// Maximum time between the write by another client and the write after it. Older entries of `managedFields` belong to
/// earlier writes.
const RECENT: SignedDuration = SignedDuration::from_secs(10);

/// Reads the field manager of the write that gave the object this version; `None` if that is not possible, for example
/// because the object has been deleted since.
pub(super) async fn read_manager(client: &Client, object: &Object, version: &ResourceVersion) -> Option<String> {
    let metadata = if object.resource == <EndpointSlice as Decode>::RESOURCE.plural {
        read::<EndpointSlice>(client, &object.key).await
    } else {
        read::<Endpoints>(client, &object.key).await
    };
    let metadata = metadata.unwrap_or_else(|error| {
        tracing::debug!(%object, err = %error.display_full(), "Cannot read the field manager of a write");
        None
    });
    manager(&metadata?, version).map(str::to_owned)
}

#[derive(Debug, thiserror::Error)]
enum ReadError {
    #[error(transparent)]
    Request(#[from] Error),
    #[error(transparent)]
    Decode(#[from] DecodeError),
}

/// Reads the metadata of an object; `None` if it does not exist.
///
/// By a list of one object, which costs the server as much as a GET: the process may list these resources, but with
/// service accounts for the controllers, only those may get them.
async fn read<T: Decode + Metadata<Ty = ObjectMeta>>(
    client: &Client,
    key: &ObjectKey,
) -> Result<Option<ObjectMeta>, ReadError> {
    let params = ListParams { field_selector: Some(format!("metadata.name={}", key.name)), ..ListParams::default() };
    let body = client.list(&T::RESOURCE, Some(&key.namespace), &params).await?;
    let mut object = decode_list::<T>(&body)?.items.pop();
    Ok(object.as_mut().map(|object| std::mem::take(object.metadata_mut())))
}

/// Returns the field manager of the write that gave the object this version, from its `managedFields`.
///
/// If the object has a later version, this process has probably written it since. The newest recent entry of another
/// program then belongs to the write.
fn manager<'a>(metadata: &'a ObjectMeta, version: &ResourceVersion) -> Option<&'a str> {
    let entries = metadata.managed_fields.iter().flatten();
    let dated: Vec<(Timestamp, &str)> =
        entries.filter_map(|entry| Some((entry.time.as_ref()?.0, entry.manager.as_deref()?))).collect();
    let newest = *dated.iter().max_by_key(|(time, _)| *time)?;
    let current = metadata.resource_version.as_deref().map(ResourceVersion::from).unwrap_or_default();
    if current == *version {
        return Some(newest.1);
    }
    let others = dated.into_iter().filter(|(_, manager)| *manager != PROGRAM);
    let (time, manager) = others.max_by_key(|(time, _)| *time)?;
    (newest.0.duration_since(time) <= RECENT).then_some(manager)
}

#[cfg(test)]
mod tests {
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ManagedFieldsEntry, Time};
    use rstest::rstest;

    use super::*;

    /// Returns metadata of version 7 with these field managers and seconds.
    fn metadata(managers: &[(&str, i64)]) -> ObjectMeta {
        let entry = |&(manager, second): &(&str, i64)| ManagedFieldsEntry {
            manager: Some(manager.to_owned()),
            time: Some(Time(Timestamp::from_second(second).unwrap())),
            ..ManagedFieldsEntry::default()
        };
        let managed_fields = Some(managers.iter().map(entry).collect());
        ObjectMeta { resource_version: Some("7".to_owned()), managed_fields, ..ObjectMeta::default() }
    }

    #[rstest]
    #[case::none(&[], 7, None)]
    #[case::newest(&[("kubectl-edit", 20), ("kube-controller-manager", 90)], 7, Some("kube-controller-manager"))]
    #[case::last_of_equal_times(&[(PROGRAM, 90), ("kubectl-edit", 90)], 7, Some("kubectl-edit"))]
    #[case::another_instance(&[("kubectl-edit", 20), (PROGRAM, 90)], 7, Some(PROGRAM))]
    #[case::repaired_since(&[("kube-controller-manager", 85), (PROGRAM, 90)], 6, Some("kube-controller-manager"))]
    #[case::no_recent_entry_of_others(&[("kube-controller-manager", 20), (PROGRAM, 90)], 6, None)]
    #[case::replaced_since(&[(PROGRAM, 90)], 6, None)]
    fn the_newest_entry_that_fits_is_the_writer(
        #[case] managers: &[(&str, i64)],
        #[case] version: u64,
        #[case] expected: Option<&str>,
    ) {
        assert_eq!(manager(&metadata(managers), &version.into()), expected);
    }
}

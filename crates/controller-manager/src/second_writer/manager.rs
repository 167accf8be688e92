//! The field manager of the last write of an object.

use display_full_error::DisplayFullErrorExt as _;
use jiff::SignedDuration;
use kube_controller_client::{Client, Error, ListParams};
use kube_endpoint_model::{EndpointSlice, Endpoints, ManagedFields, With, last_write};
use kube_wire::{Decode, DecodeError, ObjectKey, ResourceVersion, decode_list};

use super::detector::Object;
use crate::user_agent::PROGRAM;

/// Maximum time between the write by another client and the write after it. Older entries of `managedFields` belong to
/// earlier writes.
const RECENT: SignedDuration = SignedDuration::from_secs(10);

/// Reads the field manager of the write that gave the object this version; `None` if that is not possible, for example
/// because the object has been deleted since.
pub(super) async fn read_manager(client: &Client, object: &Object, version: &ResourceVersion) -> Option<String> {
    let fields = if object.resource == EndpointSlice::RESOURCE.plural {
        read::<EndpointSlice>(client, &object.key).await
    } else {
        read::<Endpoints>(client, &object.key).await
    };
    let fields = fields.unwrap_or_else(|error| {
        tracing::debug!(%object, err = %error.display_full(), "Cannot read the field manager of a write");
        None
    });
    manager(&fields?, version).map(str::to_owned)
}

#[derive(Debug, thiserror::Error)]
enum ReadError {
    #[error(transparent)]
    Request(#[from] Error),
    #[error(transparent)]
    Decode(#[from] DecodeError),
}

/// Reads the field managers of an object; `None` if it does not exist.
///
/// By a list of one object, which costs the server as much as a GET: the process may list these resources, but with
/// service accounts for the controllers, only those may get them.
async fn read<T: Decode>(client: &Client, key: &ObjectKey) -> Result<Option<ManagedFields>, ReadError> {
    let params = ListParams { field_selector: Some(format!("metadata.name={}", key.name)), ..ListParams::default() };
    let body = client.list(&T::RESOURCE, Some(&key.namespace), &params).await?;
    let object = decode_list::<With<T, ManagedFields>>(&body)?.items.pop();
    Ok(object.map(|object| object.part))
}

/// Returns the field manager of the write that gave the object this version, from its `managedFields`.
///
/// If the object has a later version, this process has probably written it since. The newest recent entry of another
/// program then belongs to the write.
fn manager<'a>(fields: &'a ManagedFields, version: &ResourceVersion) -> Option<&'a str> {
    let managers = fields.entries.iter().map(|entry| (&*entry.manager, entry.time));
    let (newest, time_of_newest) = last_write(managers.clone())?;
    if fields.resource_version == *version {
        return Some(newest);
    }
    let (manager, time) = last_write(managers.filter(|(manager, _)| *manager != PROGRAM))?;
    (time_of_newest.duration_since(time) <= RECENT).then_some(manager)
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use kube_endpoint_model::ManagedFieldsEntry;
    use rstest::rstest;

    use super::*;

    /// Returns version 7 with these field managers and seconds.
    fn fields(managers: &[(&str, i64)]) -> ManagedFields {
        let entry = |&(manager, second): &(&str, i64)| ManagedFieldsEntry {
            manager: manager.into(),
            time: Some(Timestamp::from_second(second).unwrap()),
        };
        ManagedFields { resource_version: 7.into(), entries: managers.iter().map(entry).collect() }
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
        assert_eq!(manager(&fields(managers), &version.into()), expected);
    }
}

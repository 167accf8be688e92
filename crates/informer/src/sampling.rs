//! Reads of objects that a list lacks.

use std::time::Duration;

use display_full_error::DisplayFullErrorExt as _;
use futures::{StreamExt as _, stream};
use kube_wire::{Decode, Resource};
use tokio::time::{Instant, timeout_at};

use crate::{
    HeldList,
    guard::{self, Reference},
    list_watch::Source,
};

/// Maximum time of the reads for one list. Meanwhile no watch is open.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum number of concurrent reads.
const CONCURRENCY: usize = 10;

/// Result of the read of one object.
enum Read {
    /// It does not exist, or has another uid.
    Gone,
    Found,
    Failed(String),
}

/// Reads some of the objects that a list lacks, which are in order.
///
/// # Errors
///
/// [`HeldList`] if one is found, or if a read fails before that: the list must not be believed.
pub(crate) async fn ask<T: Decode>(
    source: &Source,
    resource: &Resource,
    missing: &[Reference],
) -> Result<(), HeldList> {
    let deadline = Instant::now() + TIMEOUT;
    let reads = guard::samples(missing).into_iter().map(|reference| async move {
        let read = timeout_at(deadline, read::<T>(source, resource, &reference)).await;
        (reference, read.unwrap_or_else(|elapsed| Read::Failed(elapsed.to_string())))
    });
    let mut reads = stream::iter(reads).buffered(CONCURRENCY);
    while let Some((Reference { key, .. }, read)) = reads.next().await {
        let found = match read {
            Read::Gone => continue,
            Read::Found => true,
            Read::Failed(err) => {
                tracing::warn!(%resource, object = %key, err, "Cannot read an object that a list lacks");
                false
            }
        };
        return Err(HeldList { missing: missing.len(), example: key, found });
    }
    Ok(())
}

async fn read<T: Decode>(source: &Source, resource: &Resource, reference: &Reference) -> Read {
    match source.get::<T>(resource, &reference.key.namespace, &reference.key.name).await {
        Ok(Some(object)) if reference.is_to(&object) => Read::Found,
        Ok(_) => Read::Gone,
        Err(error) => Read::Failed(error.display_full().to_string()),
    }
}

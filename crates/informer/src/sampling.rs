//! Reads of objects that a list lacks.

use std::time::Duration;

use display_full_error::DisplayFullErrorExt as _;
use futures::{FutureExt as _, StreamExt as _, stream};
use kube_wire::Resource;
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

/// Reads some of the objects that a list lacks, which are in order.
///
/// # Errors
///
/// [`HeldList`] if one is found, or if a read fails before that: the list must not be believed.
pub(crate) async fn ask(source: &Source, resource: &Resource, missing: &[Reference]) -> Result<(), HeldList> {
    let deadline = Instant::now() + TIMEOUT;
    let reads = guard::samples(missing).into_iter().map(|reference| {
        let read = async move {
            let read = timeout_at(deadline, exists(source, resource, &reference)).await;
            (reference, read.unwrap_or_else(|elapsed| Err(elapsed.to_string())))
        };
        // What runs them side by side is compiled once for the result, not for each type of object.
        read.boxed()
    });
    let mut reads = stream::iter(reads).buffered(CONCURRENCY);
    while let Some((Reference { key, .. }, read)) = reads.next().await {
        let found = match read {
            Ok(false) => continue,
            Ok(true) => true,
            Err(err) => {
                tracing::warn!(%resource, object = %key, err, "Cannot read an object that a list lacks");
                false
            }
        };
        return Err(HeldList { missing: missing.len(), example: key, found });
    }
    Ok(())
}

/// Reads an object; `false` if it does not exist, or has another uid.
async fn exists(source: &Source, resource: &Resource, reference: &Reference) -> Result<bool, String> {
    let object = source.get(resource, &reference.key.namespace, &reference.key.name).await;
    let object = object.map_err(|error| error.display_full().to_string())?;
    Ok(object.is_some_and(|object| reference.is_to(&object)))
}

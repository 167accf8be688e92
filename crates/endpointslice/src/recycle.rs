//! Turning a deletion and a creation into one update.

use std::sync::Arc;

use kube_endpoint_model::EndpointSlice;

use crate::options::Options;
use crate::owner::Owner;

/// Gives slices to create the names of slices to delete (RC-41, MI-21), so that consumers see one change instead of two:
/// deletions from the front, creations from the back.
///
/// Unlike upstream's, the update carries the resource version of the slice to delete: a slice that somebody else has taken over
/// since, by another managed-by label, is not overwritten.
///
/// All slices given are of one address type. Where ownership is enforced only slices of this very owner are reused: the
/// garbage collector may be about to remove others.
pub(crate) fn recycle(
    owner: &Owner,
    options: &Options,
    create: &mut Vec<EndpointSlice>,
    update: &mut Vec<EndpointSlice>,
    delete: &mut Vec<Arc<EndpointSlice>>,
) {
    delete.retain(|old| {
        if options.enforce_ownership && !owner.owns(old) {
            return true;
        }
        let Some(mut new) = create.pop() else { return true };
        new.metadata.name = old.metadata.name.clone();
        new.metadata.resource_version = old.metadata.resource_version.clone();
        update.push(new);
        false
    });
}

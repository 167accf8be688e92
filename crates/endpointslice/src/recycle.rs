//! Reuse of slices that would be deleted.

use std::sync::Arc;

use kube_endpoint_model::EndpointSlice;

use crate::options::Options;
use crate::owner::Owner;

/// Replaces a delete and a create by one update under the name of the old slice (RC-41, MI-21), so that consumers see
/// one change instead of two. Deletes are taken from the front, creates from the back.
///
/// Unlike upstream's, the update carries the resource version of the old slice, so that a slice that another manager
/// has taken over since is not overwritten.
///
/// All slices have the same address type. If ownership is enforced, only slices of this owner are reused, since the
/// garbage collector may be about to delete others.
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

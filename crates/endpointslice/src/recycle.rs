//! Turning a deletion and a creation into one update.

use std::sync::Arc;

use kube_endpoint_model::EndpointSlice;

use crate::owner::Owner;
use crate::plan::Packing;

/// Gives slices to create the names of slices to delete (RC-41, MI-21), so that consumers see one change instead of two:
/// deletions from the front, creations from the back. The update carries no resource version, since it replaces what
/// is there as a whole.
///
/// All slices given are of one address type. With [`Packing::Incremental`] only slices of this very owner are reused:
/// the garbage collector may be about to remove others.
pub(crate) fn recycle(
    owner: &Owner,
    packing: Packing,
    create: &mut Vec<EndpointSlice>,
    update: &mut Vec<EndpointSlice>,
    delete: &mut Vec<Arc<EndpointSlice>>,
) {
    delete.retain(|old| {
        if packing == Packing::Incremental && !owner.owns(old) {
            return true;
        }
        let Some(mut new) = create.pop() else { return true };
        new.metadata.name = old.metadata.name.clone();
        update.push(new);
        false
    });
}

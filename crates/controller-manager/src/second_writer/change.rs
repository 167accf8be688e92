//! Which events of other clients' writes count.

use kube_endpoint_model::well_known::{ENDPOINTS_MANAGED_BY_LABEL, SLICE_MANAGED_BY_LABEL};
use kube_endpoint_model::{EndpointSlice, Endpoints, ObjectMeta};
use kube_informer::Event;
use kube_wire::{Decode, ResourceVersion};

use super::detector::Object;
use crate::controllers::Controllers;

/// Type of the objects that the controllers write.
pub(super) trait Managed: Decode + Clone + PartialEq {
    /// Label with the name of the controller that manages the object.
    const MANAGED_BY: &'static str;

    fn metadata(&self) -> &ObjectMeta;

    fn metadata_mut(&mut self) -> &mut ObjectMeta;
}

impl Managed for EndpointSlice {
    const MANAGED_BY: &'static str = SLICE_MANAGED_BY_LABEL;

    fn metadata(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn metadata_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

impl Managed for Endpoints {
    const MANAGED_BY: &'static str = ENDPOINTS_MANAGED_BY_LABEL;

    fn metadata(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn metadata_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

/// Returns whether the managed-by label of an object names a controller that runs. Other programs may run the rest.
fn is_ours<T: Managed>(object: &T, controllers: &Controllers) -> bool {
    object.metadata().labels.get(T::MANAGED_BY).is_some_and(|label| controllers.manage(label))
}

/// Returns the object that an event of another client's write shows, and its version; `None` if the write does not count:
/// that of an object of other controllers, one without effect, or a deletion, whose field manager cannot be read.
pub(super) fn written<T: Managed>(event: &Event<T>, controllers: &Controllers) -> Option<(Object, ResourceVersion)> {
    let (old, new) = event.states();
    let new = new.filter(|new| new.metadata().deletion_timestamp.is_none())?;
    if !old.into_iter().chain([new]).any(|state| is_ours(&**state, controllers)) {
        return None;
    }
    if old.is_some_and(|old| same_content(&**old, &**new)) {
        return None;
    }
    Some((Object { resource: T::RESOURCE.plural, key: new.key() }, new.resource_version()))
}

/// Returns whether two states differ at most in version and generation, for example because the object was encrypted
/// with another key.
fn same_content<T: Managed>(old: &T, new: &T) -> bool {
    let mut copy = new.clone();
    let ObjectMeta { resource_version, generation, .. } = old.metadata();
    copy.metadata_mut().resource_version = resource_version.clone();
    copy.metadata_mut().generation = *generation;
    copy == *old
}

#[cfg(test)]
mod tests;

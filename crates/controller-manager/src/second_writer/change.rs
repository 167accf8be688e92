//! Which events of other clients' writes count.

use kube_endpoint_model::well_known::{ENDPOINTS_MANAGED_BY_LABEL, SLICE_MANAGED_BY_LABEL};
use kube_endpoint_model::{EndpointSlice, Endpoints, ObjectMeta};
use kube_informer::Event;
use kube_wire::{Decode, ObjectKey, ResourceVersion, Uid};

use super::detector::Object;
use crate::controllers::Controllers;

/// Change of an object of this program's controllers by another client.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// The object was created or updated, and has this version.
    Written(Object, ResourceVersion),
    /// The object was deleted. Does not count if its owner is being deleted, too: then the garbage collector, the
    /// deletion of the namespace, or a controller deleted it.
    Deleted(Object, Owner),
}

/// Owner of a deleted object.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// A Service, of any uid without one.
    Service(ObjectKey, Option<Uid>),
    /// Endpoints that were mirrored.
    Endpoints(ObjectKey, Uid),
}

/// Type of the objects that the controllers write.
pub(super) trait Managed: Decode + Clone + PartialEq {
    /// Label with the name of the controller that manages the object.
    const MANAGED_BY: &'static str;

    fn metadata(&self) -> &ObjectMeta;

    fn metadata_mut(&mut self) -> &mut ObjectMeta;

    fn owner(&self) -> Owner;
}

impl Managed for EndpointSlice {
    const MANAGED_BY: &'static str = SLICE_MANAGED_BY_LABEL;

    fn metadata(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn metadata_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }

    fn owner(&self) -> Owner {
        let ObjectMeta { namespace, owner_references, .. } = &self.metadata;
        let owner = owner_references.iter().find(|owner| owner.controller == Some(true));
        match owner {
            Some(owner) if &*owner.kind == "Endpoints" => {
                Owner::Endpoints(ObjectKey::new(namespace, &owner.name), owner.uid.clone())
            }
            Some(owner) => Owner::Service(ObjectKey::new(namespace, &owner.name), Some(owner.uid.clone())),
            None => Owner::Service(ObjectKey::new(namespace, self.service_name().unwrap_or_default()), None),
        }
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

    /// Endpoints have the name of their Service and no reference to it.
    fn owner(&self) -> Owner {
        Owner::Service(ObjectKey::new(&self.metadata.namespace, &self.metadata.name), None)
    }
}

/// Returns whether the managed-by label of an object names a controller that runs. Other programs may run the rest.
fn is_ours<T: Managed>(object: &T, controllers: &Controllers) -> bool {
    object.metadata().labels.get(T::MANAGED_BY).is_some_and(|label| controllers.manage(label))
}

/// Returns the change that an event of another client's write shows; `None` if it does not count: an object of other
/// controllers, a write without effect, or the beginning of a deletion.
pub(super) fn change<T: Managed>(event: &Event<T>, controllers: &Controllers) -> Option<Change> {
    let (old, new) = event.states();
    if !old.into_iter().chain(new).any(|state| is_ours(&**state, controllers)) {
        return None;
    }
    let latest = event.object();
    let object = Object { resource: T::RESOURCE.plural, key: latest.key() };
    match (old, new) {
        (Some(old), None) => Some(Change::Deleted(object, old.owner())),
        (_, Some(new)) if new.metadata().deletion_timestamp.is_some() => None,
        (Some(old), Some(new)) if same_content(&**old, &**new) => None,
        _ => Some(Change::Written(object, latest.resource_version())),
    }
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

//! Index of EndpointSlices by Service.

use std::sync::Arc;

use hashbrown::HashMap;
use kube_wire::Index;

use crate::by_name::ByName;
use crate::{EndpointSlice, Text};

/// Index of EndpointSlices by namespace and by the Service of their label, for all managing controllers.
#[derive(Clone, Debug, Default)]
pub struct SliceIndex {
    namespaces: HashMap<Text, HashMap<Text, ByName<EndpointSlice>>>,
}

impl Index<EndpointSlice> for SliceIndex {
    fn update(&mut self, old: Option<&Arc<EndpointSlice>>, new: Option<&Arc<EndpointSlice>>) {
        if let Some(old) = old
            && let Some(service) = old.service_name()
            && new.and_then(|new| new.service_name()) != Some(service)
        {
            self.remove(&old.metadata.namespace, service, &old.metadata.name);
        }
        if let Some(new) = new
            && let Some(service) = new.service_name_text()
        {
            let services = self.namespaces.entry_ref(&new.metadata.namespace).or_default();
            match services.get_mut(&**service) {
                Some(slices) => slices.insert(Arc::clone(new)),
                None => drop(services.insert(service.clone(), Arc::clone(new).into())),
            }
        }
    }
}

impl SliceIndex {
    fn remove(&mut self, namespace: &str, service: &str, name: &str) {
        let Some(services) = self.namespaces.get_mut(namespace) else { return };
        if let Some(slices) = services.get_mut(service) {
            slices.remove(name);
            if slices.as_slice().is_empty() {
                services.remove(service);
            }
        }
        if services.is_empty() {
            self.namespaces.remove(namespace);
        }
    }

    /// Returns the slices of a Service that `controller` manages, sorted by name.
    pub fn managed_slices(&self, namespace: &str, service: &str, controller: &str) -> Vec<Arc<EndpointSlice>> {
        self.slices(namespace, service).filter(|slice| slice.is_managed_by(controller)).cloned().collect()
    }

    /// Returns the slices of a Service, of all managers, sorted by name.
    pub fn slices(&self, namespace: &str, service: &str) -> impl Iterator<Item = &Arc<EndpointSlice>> {
        let slices = self.namespaces.get(namespace).and_then(|services| services.get(service));
        slices.into_iter().flat_map(ByName::as_slice)
    }
}

//! Which slices a Service has.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::{EndpointSlice, Text};

/// EndpointSlices by namespace and the Service they name, whoever manages them.
#[derive(Clone, Debug, Default)]
pub struct SliceIndex {
    namespaces: HashMap<Text, HashMap<Text, BTreeMap<Text, Arc<EndpointSlice>>>>,
}

impl SliceIndex {
    /// Takes in that `old` became `new`; `None` stands for "not there".
    pub fn update(&mut self, old: Option<&Arc<EndpointSlice>>, new: Option<&Arc<EndpointSlice>>) {
        if let Some(old) = old
            && let Some(service) = old.service_name()
        {
            self.remove(&old.metadata.namespace, service, &old.metadata.name);
        }
        if let Some(new) = new
            && let Some(service) = new.service_name()
        {
            let services = self.namespaces.entry(new.metadata.namespace.clone()).or_default();
            let slices = services.entry(Text::from(service)).or_default();
            slices.insert(new.metadata.name.clone(), Arc::clone(new));
        }
    }

    fn remove(&mut self, namespace: &str, service: &str, name: &str) {
        let Some(services) = self.namespaces.get_mut(namespace) else { return };
        if let Some(slices) = services.get_mut(service) {
            slices.remove(name);
            if slices.is_empty() {
                services.remove(service);
            }
        }
        if services.is_empty() {
            self.namespaces.remove(namespace);
        }
    }

    /// The slices that name a Service and are managed by `controller`, by name.
    pub fn managed_slices(&self, namespace: &str, service: &str, controller: &str) -> Vec<Arc<EndpointSlice>> {
        let slices = self.namespaces.get(namespace).and_then(|services| services.get(service));
        let slices = slices.into_iter().flat_map(BTreeMap::values);
        slices.filter(|slice| slice.is_managed_by(controller)).cloned().collect()
    }
}

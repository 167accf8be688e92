//! Index of EndpointSlices by owner.

use std::sync::Arc;

use hashbrown::HashMap;
use kube_wire::Index;

use crate::by_name::ByName;
use crate::well_known::SERVICE_NAME_LABEL;
use crate::{EndpointSlice, Text};

/// Index of EndpointSlices by namespace and by the value of one of their labels, for all managing controllers. By
/// default, that is the Service of the label `kubernetes.io/service-name`.
///
/// Slices without the label, or with an empty value, are not in the index.
#[derive(Clone, Debug, Default)]
pub struct SliceIndex {
    /// Key of the label; `None` for `kubernetes.io/service-name`.
    label: Option<Text>,
    namespaces: HashMap<Text, HashMap<Text, ByName<EndpointSlice>>>,
}

impl Index<EndpointSlice> for SliceIndex {
    fn update(&mut self, old: Option<&Arc<EndpointSlice>>, new: Option<&Arc<EndpointSlice>>) {
        if let Some(old) = old
            && let Some(owner) = old.label(self.label())
            && new.and_then(|new| new.label(self.label())) != Some(owner)
        {
            self.remove(&old.metadata.namespace, owner, &old.metadata.name);
        }
        if let Some(new) = new
            && let Some(owner) = new.label(self.label())
        {
            let owners = self.namespaces.entry_ref(&new.metadata.namespace).or_default();
            match owners.get_mut(&**owner) {
                Some(slices) => slices.insert(Arc::clone(new)),
                None => {
                    owners.insert(owner.clone(), Arc::clone(new).into());
                }
            }
        }
    }
}

impl SliceIndex {
    /// Returns an index by the label with this key, such as `pools.example.com/owner`.
    pub fn by(label: impl Into<Text>) -> Self {
        let label = label.into();
        SliceIndex { label: (label != SERVICE_NAME_LABEL).then_some(label), namespaces: HashMap::default() }
    }

    /// Returns the key of the label.
    pub fn label(&self) -> &str {
        self.label.as_deref().unwrap_or(SERVICE_NAME_LABEL)
    }

    fn remove(&mut self, namespace: &str, owner: &str, name: &str) {
        let Some(owners) = self.namespaces.get_mut(namespace) else { return };
        if let Some(slices) = owners.get_mut(owner) {
            slices.remove(name);
            if slices.as_slice().is_empty() {
                owners.remove(owner);
            }
        }
        if owners.is_empty() {
            self.namespaces.remove(namespace);
        }
    }

    /// Returns the slices of a Service, or of the owner with this value of the label, that `controller` manages, sorted
    /// by name.
    pub fn managed_slices(&self, namespace: &str, owner: &str, controller: &str) -> Vec<Arc<EndpointSlice>> {
        self.slices(namespace, owner).filter(|slice| slice.is_managed_by(controller)).cloned().collect()
    }

    /// Returns the slices of a Service, or of the owner with this value of the label, of all managers, sorted by name.
    pub fn slices(&self, namespace: &str, owner: &str) -> impl Iterator<Item = &Arc<EndpointSlice>> {
        let slices = self.namespaces.get(namespace).and_then(|owners| owners.get(owner));
        slices.into_iter().flat_map(ByName::as_slice)
    }
}

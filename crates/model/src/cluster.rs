//! What plans read.

use std::collections::HashSet;
use std::sync::Arc;

use crate::{EndpointSlice, Endpoints, Labels, Node, ObjectKey, Pod, Service, TargetRef, references};

/// Objects that plans read: the caches of a controller, or a snapshot of fetched objects.
///
/// Caches change between two calls. A plan asks whether an object is withheld before it reads it: a list in between stores
/// the object and ends its withholding at once, and in the other order the object would be neither.
///
/// An implementation has the methods of the kinds that its plans read. By default, there are no objects of a kind, and none
/// is withheld.
pub trait Cluster {
    /// Returns the Service of this key.
    fn service(&self, key: &ObjectKey) -> Option<Arc<Service>> {
        let _ = key;
        None
    }

    /// Returns the Pods of a namespace whose labels contain every pair of the selector, by name.
    fn pods(&self, namespace: &str, selector: &Labels) -> Vec<Arc<Pod>> {
        let _ = (namespace, selector);
        Vec::new()
    }

    /// Returns the Node of this name.
    fn node(&self, name: &str) -> Option<Arc<Node>> {
        let _ = name;
        None
    }

    /// Calls `f` with a function that returns the Node of a name, for many look-ups at one moment.
    fn with_nodes<R>(&self, f: impl FnOnce(&dyn Fn(&str) -> Option<Arc<Node>>) -> R) -> R {
        f(&|name| self.node(name))
    }

    /// Returns whether the Nodes were read. If not, every Node exists, without a zone.
    fn knows_nodes(&self) -> bool {
        true
    }

    /// Returns the Endpoints object of this key.
    fn endpoints(&self, key: &ObjectKey) -> Option<Arc<Endpoints>> {
        let _ = key;
        None
    }

    /// Returns the slices of the Service of this key that `manager` manages, including those that are being deleted.
    fn slices(&self, key: &ObjectKey, manager: &str) -> Vec<Arc<EndpointSlice>> {
        let _ = (key, manager);
        Vec::new()
    }

    /// Returns whether a Service that is not there may exist, because a list of the API server is wrong.
    fn withholds_service(&self, key: &ObjectKey) -> bool {
        let _ = key;
        false
    }

    /// Returns whether an Endpoints object that is not there may exist.
    fn withholds_endpoints(&self, key: &ObjectKey) -> bool {
        let _ = key;
        false
    }

    /// Returns whether a Pod that is not there may exist.
    fn withholds_pod(&self, key: &ObjectKey) -> bool {
        let _ = key;
        false
    }

    /// Returns whether a Node that is not there may exist.
    fn withholds_node(&self, name: &str) -> bool {
        let _ = name;
        false
    }

    /// Returns whether some Pod or Node may be withheld; `false` spares the questions for each of them.
    fn withholds_any(&self) -> bool {
        false
    }

    /// Returns those of the targets whose Pods are [withheld](Self::withholds_pod).
    fn withheld_pods<'a>(&self, targets: impl Iterator<Item = &'a TargetRef>) -> HashSet<&'a TargetRef> {
        if !self.withholds_any() {
            return HashSet::new();
        }
        let is_withheld =
            |target: &&TargetRef| references::pod(target).is_some_and(|(pod, _)| self.withholds_pod(&pod));
        targets.filter(is_withheld).collect()
    }

    /// Returns the Pods that a Service selects, by name; none of a Service without a selector, or of one of type
    /// `ExternalName`.
    fn selected_pods(&self, service: &Service) -> Vec<Arc<Pod>> {
        match &service.selector {
            Some(selector) if !service.external_name => self.pods(&service.namespace, selector),
            _ => Vec::new(),
        }
    }

    /// Returns the Service of this key, as the controllers of selected Pods see it.
    fn selecting_service(&self, key: &ObjectKey) -> SelectingService {
        let is_withheld = self.withholds_service(key);
        match self.service(key) {
            None if is_withheld => SelectingService::Withheld,
            None => SelectingService::Missing,
            Some(service) if service.selector.is_none() || service.external_name => SelectingService::Ignored,
            Some(service) => SelectingService::Selects(service),
        }
    }
}

/// Result of [`Cluster::selecting_service`].
#[derive(Clone, Debug, PartialEq)]
pub enum SelectingService {
    /// There is no Service.
    Missing,
    /// There is no Service, but one may exist.
    Withheld,
    /// The Service has no selector, or is of type `ExternalName`: what exists for it is kept (EP-4, ES-2).
    Ignored,
    /// The Service selects Pods.
    Selects(Arc<Service>),
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// A cache that lacks a Service, until the right list arrives after its read.
    struct LateList(Cell<bool>);

    impl Cluster for LateList {
        fn service(&self, _: &ObjectKey) -> Option<Arc<Service>> {
            self.0.set(true);
            None
        }

        fn withholds_service(&self, _: &ObjectKey) -> bool {
            !self.0.get()
        }
    }

    #[test]
    fn a_service_that_is_stored_during_the_read_is_not_missing() {
        let cluster = LateList(Cell::new(false));
        assert_eq!(cluster.selecting_service(&ObjectKey::new("ns", "web")), SelectingService::Withheld);
    }
}

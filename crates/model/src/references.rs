//! Objects to which stored slices and Endpoints refer.
//!
//! A cache that lacks many of them may be wrong: what refers to them was written when they existed.

use std::sync::Arc;

use crate::well_known::{MIRRORING_CONTROLLER, SLICE_CONTROLLER};
use crate::{EndpointSlice, Endpoints, ObjectKey, TargetRef, Text, Uid};

/// Stored slices and Endpoints of all owners.
#[derive(Clone, Copy, Debug)]
pub struct Written<'a> {
    /// Slices of all controllers; those of others than the two of Kubernetes are ignored.
    pub slices: &'a [Arc<EndpointSlice>],
    /// Endpoints, custom ones included.
    pub endpoints: &'a [Arc<Endpoints>],
}

impl<'a> Written<'a> {
    /// Returns the Pods of endpoints and addresses that were computed from Pods, in no order and with repetitions. Without
    /// them, the endpoints would be removed.
    pub fn pods(self) -> impl Iterator<Item = (ObjectKey, Uid)> {
        let slices = self.slices_of(SLICE_CONTROLLER).flat_map(|slice| &slice.endpoints);
        let of_slices = slices.filter_map(|endpoint| endpoint.target_ref.as_ref());
        let of_endpoints = self.endpoints.iter().filter(|it| it.is_managed()).flat_map(|it| targets(it));
        of_slices.chain(of_endpoints).filter_map(pod)
    }

    /// Returns the Nodes of endpoints that were computed from Pods, in no order and with repetitions.
    pub fn nodes(self) -> impl Iterator<Item = (ObjectKey, Uid)> {
        let endpoints = self.slices_of(SLICE_CONTROLLER).flat_map(|slice| &slice.endpoints);
        let names = endpoints.filter_map(|endpoint| endpoint.node_name.clone()).filter(|name| !name.is_empty());
        names.map(|name| (ObjectKey { namespace: Text::new(), name }, Uid::default()))
    }

    /// Returns the Services of slices and Endpoints, in no order and with repetitions.
    pub fn services(self) -> impl Iterator<Item = (ObjectKey, Uid)> {
        let of_slices = self.slices_of(SLICE_CONTROLLER).filter_map(|slice| owner(slice, "Service"));
        let of_mirrored = self.slices_of(MIRRORING_CONTROLLER).filter_map(|slice| owner(slice, "Service"));
        let of_endpoints = self.endpoints.iter().map(|it| {
            let key = ObjectKey { namespace: it.metadata.namespace.clone(), name: it.metadata.name.clone() };
            (key, Uid::default())
        });
        of_slices.chain(of_mirrored).chain(of_endpoints)
    }

    /// Returns the Endpoints of mirrored slices, in no order and with repetitions.
    pub fn endpoints(self) -> impl Iterator<Item = (ObjectKey, Uid)> {
        self.slices_of(MIRRORING_CONTROLLER).filter_map(|slice| owner(slice, "Endpoints"))
    }

    fn slices_of(self, controller: &'static str) -> impl Iterator<Item = &'a EndpointSlice> {
        self.slices.iter().map(|slice| &**slice).filter(move |slice| slice.is_managed_by(controller))
    }
}

/// Returns the targets of all addresses, ready or not.
pub fn targets(endpoints: &Endpoints) -> impl Iterator<Item = &TargetRef> {
    let addresses = endpoints.subsets.iter().flat_map(|it| it.addresses.iter().chain(&it.not_ready_addresses));
    addresses.filter_map(|address| address.target_ref.as_ref())
}

/// Returns key and uid of the Pod that a target names; `None` for another kind.
pub fn pod(target: &TargetRef) -> Option<(ObjectKey, Uid)> {
    let key = || ObjectKey { namespace: target.namespace().clone(), name: target.name().clone() };
    (target.kind() == "Pod").then(|| (key(), target.uid().clone()))
}

/// Returns the key of the Service label, and the uid of the owner if it has this kind.
fn owner(slice: &EndpointSlice, kind: &str) -> Option<(ObjectKey, Uid)> {
    let name = slice.label(crate::well_known::SERVICE_NAME_LABEL)?.clone();
    let owners = &slice.metadata.owner_references;
    let uid = owners.iter().find(|it| it.kind == kind && it.name == name).map(|it| it.uid.clone());
    Some((ObjectKey { namespace: slice.metadata.namespace.clone(), name }, uid.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;
    use crate::well_known::ENDPOINTS_CONTROLLER;

    fn slice(name: &str, controller: &str, owner: &Value, endpoints: &Value) -> Arc<EndpointSlice> {
        let labels = json!({"kubernetes.io/service-name": name, "endpointslice.kubernetes.io/managed-by": controller});
        let metadata = json!({"namespace": "shop", "name": name, "labels": labels, "ownerReferences": [owner]});
        let slice = json!({"metadata": metadata, "addressType": "IPv4", "endpoints": endpoints});
        Arc::new(serde_json::from_value(slice).expect("a slice"))
    }

    fn endpoints(name: &str, controller: Option<&str>, pods: &[&str]) -> Arc<Endpoints> {
        let labels = controller.map(|it| json!({"endpoints.kubernetes.io/managed-by": it}));
        let address = |pod: &&str| json!({"ip": "10.0.0.1", "targetRef": target("Pod", pod)});
        let addresses: Vec<_> = pods.iter().map(address).collect();
        let metadata = json!({"namespace": "shop", "name": name, "labels": labels});
        let endpoints = json!({"metadata": metadata, "subsets": [{"notReadyAddresses": addresses}]});
        Arc::new(serde_json::from_value(endpoints).expect("Endpoints"))
    }

    fn target(kind: &str, name: &str) -> Value {
        json!({"kind": kind, "namespace": "shop", "name": name, "uid": format!("uid-{name}")})
    }

    type References = Vec<(ObjectKey, Uid)>;

    /// `cache` has a Pod and an external endpoint, `db` is mirrored, `other` has another controller.
    #[rstest]
    #[case::pods(|it: Written<'_>| it.pods().collect(), &["shop/cache-0 uid-cache-0", "shop/cache-1 uid-cache-1"])]
    #[case::nodes(|it: Written<'_>| it.nodes().collect(), &["n1 "])]
    #[case::services(|it: Written<'_>| it.services().collect(), &["shop/cache uid-1", "shop/db ", "shop/cache ", "shop/db "])]
    #[case::endpoints(|it: Written<'_>| it.endpoints().collect(), &["shop/db uid-2"])]
    fn references_are_those_of_the_kinds_that_removals_follow_from(
        #[case] of: fn(Written<'_>) -> References,
        #[case] expected: &[&str],
    ) {
        let endpoint = json!({"addresses": ["10.0.0.1"], "nodeName": "n1", "targetRef": target("Pod", "cache-0")});
        let vm = json!({"addresses": ["10.0.0.2"], "targetRef": target("VirtualMachine", "vm")});
        let owner = |kind: &str, name: &str, uid: &str| json!({"kind": kind, "name": name, "uid": uid});
        let slices = [
            slice("cache", SLICE_CONTROLLER, &owner("Service", "cache", "uid-1"), &json!([endpoint, vm])),
            slice("db", MIRRORING_CONTROLLER, &owner("Endpoints", "db", "uid-2"), &json!([endpoint])),
            slice("other", "mesh.example.com", &owner("Service", "other", "uid-3"), &json!([endpoint])),
        ];
        let endpoints = [
            endpoints("cache", Some(ENDPOINTS_CONTROLLER), &["cache-1"]),
            endpoints("db", None, &["of-a-custom-object"]),
        ];
        let references = of(Written { slices: &slices, endpoints: &endpoints });
        let shown: Vec<_> = references.iter().map(|(key, uid)| format!("{key} {uid}")).collect();
        assert_eq!(shown, expected);
    }
}

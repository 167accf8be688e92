//! Objects that the endpoint controllers read and write.

use serde_json::Value;

use super::object::{name, namespace};

/// Services, Pods, Nodes, Endpoints and slices of all namespaces, as the API server serves them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Content {
    /// `v1` Services.
    pub services: Vec<Value>,
    /// `v1` Pods.
    pub pods: Vec<Value>,
    /// `v1` Nodes.
    pub nodes: Vec<Value>,
    /// `v1` Endpoints.
    pub endpoints: Vec<Value>,
    /// `discovery.k8s.io/v1` EndpointSlices.
    pub slices: Vec<Value>,
}

impl Content {
    pub(super) fn service(&self, in_namespace: &str, named: &str) -> Option<&Value> {
        find(&self.services, in_namespace, named)
    }

    pub(super) fn endpoints_of(&self, in_namespace: &str, named: &str) -> Option<&Value> {
        find(&self.endpoints, in_namespace, named)
    }

    pub(super) fn node(&self, named: &str) -> Option<&Value> {
        find(&self.nodes, "", named)
    }
}

fn find<'a>(objects: &'a [Value], in_namespace: &str, named: &str) -> Option<&'a Value> {
    objects.iter().find(|it| namespace(it) == in_namespace && name(it) == named)
}

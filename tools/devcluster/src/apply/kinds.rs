//! Mapping of kinds to resources, from discovery documents.

use std::collections::BTreeMap;

use serde::Deserialize;

/// Resource of a kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Resource {
    /// Plural name, used in paths.
    pub(crate) plural: String,
    /// Whether the resource is namespaced.
    pub(crate) namespaced: bool,
    /// Whether there is a `status` subresource.
    pub(crate) has_status: bool,
}

/// Resources by `apiVersion` and kind.
#[derive(Debug, Default)]
pub(crate) struct Kinds {
    resources: BTreeMap<(String, String), Resource>,
}

/// Subset of `metav1.APIResourceList`.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct ResourceList {
    #[serde(default)]
    resources: Vec<ApiResource>,
}

#[derive(Debug, Deserialize)]
struct ApiResource {
    name: String,
    kind: String,
    #[serde(default)]
    namespaced: bool,
}

impl Kinds {
    /// Adds the resources of a group version.
    pub(crate) fn add(&mut self, api_version: &str, list: &ResourceList) {
        let subresources = || list.resources.iter().filter_map(|resource| resource.name.split_once('/'));
        for ApiResource { name, kind, namespaced } in &list.resources {
            if name.contains('/') {
                continue;
            }
            let has_status = subresources().any(|of| of == (name.as_str(), "status"));
            let resource = Resource { plural: name.clone(), namespaced: *namespaced, has_status };
            self.resources.insert((api_version.to_owned(), kind.clone()), resource);
        }
    }

    /// Returns the resource of a kind; `None` if the server does not serve it.
    pub(crate) fn resource(&self, api_version: &str, kind: &str) -> Option<&Resource> {
        self.resources.get(&(api_version.to_owned(), kind.to_owned()))
    }
}

/// Returns the path of the discovery document of a group version.
pub(crate) fn discovery_path(api_version: &str) -> String {
    format!("{}/{api_version}", if api_version.contains('/') { "/apis" } else { "/api" })
}

/// Returns the path of a collection; `namespace` is ignored for a cluster-scoped resource.
pub(crate) fn collection_path(api_version: &str, resource: &Resource, namespace: &str) -> String {
    let base = discovery_path(api_version);
    if resource.namespaced {
        format!("{base}/namespaces/{namespace}/{}", resource.plural)
    } else {
        format!("{base}/{}", resource.plural)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn core() -> Kinds {
        let list = json!({"kind": "APIResourceList", "groupVersion": "v1", "resources": [
            {"name": "pods", "kind": "Pod", "namespaced": true, "verbs": ["get"]},
            {"name": "pods/status", "kind": "Pod", "namespaced": true},
            {"name": "pods/eviction", "kind": "Eviction", "namespaced": true},
            {"name": "endpoints", "kind": "Endpoints", "namespaced": true},
            {"name": "nodes", "kind": "Node", "namespaced": false},
            {"name": "nodes/status", "kind": "Node", "namespaced": false},
        ]});
        let mut kinds = Kinds::default();
        kinds.add("v1", &serde_json::from_value(list).unwrap());
        kinds
    }

    #[rstest]
    #[case("v1", "Pod", Some(("pods", true, true)))]
    #[case("v1", "Endpoints", Some(("endpoints", true, false)))]
    #[case("v1", "Node", Some(("nodes", false, true)))]
    #[case::a_subresource_is_no_kind("v1", "Eviction", None)]
    #[case::other_group("apps/v1", "Pod", None)]
    fn kinds_map_to_resources(
        #[case] api_version: &str,
        #[case] kind: &str,
        #[case] expect: Option<(&str, bool, bool)>,
    ) {
        let kinds = core();
        let got = kinds.resource(api_version, kind);
        assert_eq!(got.map(|resource| (resource.plural.as_str(), resource.namespaced, resource.has_status)), expect);
    }

    #[rstest]
    #[case("v1", true, "/api/v1/namespaces/shop/things")]
    #[case("v1", false, "/api/v1/things")]
    #[case("discovery.k8s.io/v1", true, "/apis/discovery.k8s.io/v1/namespaces/shop/things")]
    fn collection_paths_of_resources(#[case] api_version: &str, #[case] namespaced: bool, #[case] expect: &str) {
        let resource = Resource { plural: "things".to_owned(), namespaced, has_status: false };
        assert_eq!(collection_path(api_version, &resource, "shop"), expect);
    }
}
